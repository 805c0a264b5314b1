"""JSON Web Tokens of one key and one algorithm (ES256), so that nothing about a token is up to whoever sends it.

    sign(key, claims) -> "HEADER.CLAIMS.SIGNATURE"        each part base64url without padding
    verified(keys, token) -> claims                       None unless a key of ours signed exactly that
    public(key) -> a JSON Web Key                         for those who check tokens themselves
A key's id is the SHA-256 of its public half: the same key has the same id in every process.
Source     RFC 7515 (JWS), 7517 (JWK), 7518 (ES256), 7519 (JWT).
Not here   what the claims say: tokens.py.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature

from kumi.api.wire import JsonObject

ALGORITHM = "ES256"
_SIZE = 32
"""bytes of each half of a signature and of a point"""
LONGEST = 16 * 1024
"""characters of a token that is looked at"""


def key_id(key: ec.EllipticCurvePublicKey) -> str:
    """The id of a key."""
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return encode(hashlib.sha256(key.public_bytes(serialization.Encoding.DER, form)).digest())


def sign(key: ec.EllipticCurvePrivateKey, claims: JsonObject) -> str:
    """A token."""
    header = {"alg": ALGORITHM, "kid": key_id(key.public_key())}
    signed = f"{encode(orjson.dumps(header))}.{encode(orjson.dumps(claims))}"
    r, s = decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
    return f"{signed}.{encode(r.to_bytes(_SIZE, 'big') + s.to_bytes(_SIZE, 'big'))}"


def verified(keys: Mapping[str, ec.EllipticCurvePublicKey], token: str) -> JsonObject | None:
    """The claims of a token that one of these keys, by id, signed; None for any other text."""
    if len(token) > LONGEST or token.count(".") != 2:
        return None
    signed, _, signature = token.rpartition(".")
    try:
        header, claims, raw = (decode(part) for part in (*signed.split("."), signature))
        said = orjson.loads(header)
        key = keys.get(str(said["kid"])) if said["alg"] == ALGORITHM else None
        if key is None or len(raw) != 2 * _SIZE:
            return None
        halves = (int.from_bytes(raw[:_SIZE], "big"), int.from_bytes(raw[_SIZE:], "big"))
        key.verify(encode_dss_signature(*halves), signed.encode(), ec.ECDSA(hashes.SHA256()))
        found = orjson.loads(claims)
    except (ValueError, KeyError, TypeError, InvalidSignature):
        return None
    return found if isinstance(found, dict) else None


def public(key: ec.EllipticCurvePublicKey) -> JsonObject:
    """The key as others may have it."""
    point = key.public_numbers()
    return {
        "use": "sig",
        "kty": "EC",
        "kid": key_id(key),
        "crv": "P-256",
        "alg": ALGORITHM,
        "x": encode(point.x.to_bytes(_SIZE, "big")),
        "y": encode(point.y.to_bytes(_SIZE, "big")),
    }


def encode(data: bytes) -> str:
    """base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    """What `encode` encoded. ValueError for any other text, that which only decodes to the same too."""
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error
    if encode(data) != text:
        raise ValueError("this is no base64url")
    return data
