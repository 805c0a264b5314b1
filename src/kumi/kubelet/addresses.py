"""Addresses: one of 127.0.0.0/8 for each pod, unique among the live pods of the machine.

The rule   a cluster holds one block 127.B.0.0/16; pod number n gets the address after the last one given, wrapping
           around, that no live pod has. B starts from a hash of the data directory, so that it is the same after a restart.
Why        pods share the host's network; an address of its own lets each listen on the same port without a collision,
           and makes a name mean one pod.
Blocks     2 to 254: 127.0.0.1 and its like are the machine's (and 127.1.0.0/16 is somebody's habit). A block is held by
           an abstract Unix socket, which all users of the machine see and which dies with its holder.
Restart    a live pod keeps the address of its record, whatever block the cluster holds now.
"""

from __future__ import annotations

import socket
import zlib
from ipaddress import IPv4Address

from kumi.api.errors import KumiError

FIRST_BLOCK, LAST_BLOCK = 2, 254
_SIZE = 1 << 16
_RESERVED = 2
"""at either end of a block: network and broadcast are no addresses of anybody"""


class Block:
    """A held block; `number` is its second octet."""

    def __init__(self, number: int, holder: socket.socket) -> None:
        self.number, self._holder = number, holder

    def close(self) -> None:
        """Gives it back."""
        self._holder.close()


def hold_block(seed: str) -> Block:
    """A block that no other cluster of this machine holds. KumiError if all are held."""
    count = LAST_BLOCK - FIRST_BLOCK + 1
    start = zlib.crc32(seed.encode()) % count
    for step in range(count):
        number = FIRST_BLOCK + (start + step) % count
        holder = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            holder.bind(f"\0kumi-addresses-127.{number}")
        except OSError:
            holder.close()
            continue
        return Block(number, holder)
    raise KumiError("every address block of this machine is held: too many clusters run here")


class Addresses:
    """The addresses of a block and who has them."""

    def __init__(self, block: int) -> None:
        self._first = int(IPv4Address(f"127.{block}.0.0"))
        self._next = _RESERVED
        self._owner_by_address: dict[str, str] = {}
        self._address_by_owner: dict[str, str] = {}

    def take(self, owner: str) -> str:
        """The owner's address; a new one if it has none. KumiError when none is left."""
        if owner in self._address_by_owner:
            return self._address_by_owner[owner]
        for _ in range(_SIZE):
            address = str(IPv4Address(self._first + self._next))
            self._next = self._next + 1 if self._next < _SIZE - _RESERVED else _RESERVED
            if address not in self._owner_by_address:
                self.restore(owner, address)
                return address
        raise KumiError("no address is left for another pod")

    def restore(self, owner: str, address: str) -> None:
        """The owner has had this address since before the restart."""
        self._owner_by_address[address] = owner
        self._address_by_owner[owner] = address

    def release(self, owner: str) -> None:
        """The owner is gone."""
        address = self._address_by_owner.pop(owner, None)
        if address is not None:
            del self._owner_by_address[address]
