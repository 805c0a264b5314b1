"""What a pod's annotations say of GPUs: a share of one, and which ones it got.

The rule   kumi.dev/gpu-share            thousandths of one GPU, 1 to 1000; 1000 is a whole one
           alibabacloud.com/gpu-milli    the same, where the first isn't said, of each of
           alibabacloud.com/gpu-count    so many GPUs, 1 where it isn't said; more than one are whole ones
           kumi.dev/gpu-index            the numbers of the GPUs that the pod has on its node, with commas between: written when
                                         it is bound, on nodes where it matters
           such a pod asks for no nvidia.com/gpu in its containers: the API knows no fractions of it
Source     Alibaba's GPU sharing, whose words the GPU trace of 2023 uses. The other two are Kumi's own.
Not here   what a share is worth: kumi.engine.placement.devices.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kumi.api.errors import FieldError

RESOURCE = "nvidia.com/gpu"
SHARE = "kumi.dev/gpu-share"
INDEX = "kumi.dev/gpu-index"
MILLI = "alibabacloud.com/gpu-milli"
COUNT = "alibabacloud.com/gpu-count"
WHOLE = 1000


class Wanted(NamedTuple):
    """Thousandths of GPUs in all, and of the one that is shared; 0: none is."""

    amount: int
    share: int


def wanted(annotations: Mapping[str, str], asked: int, path: str = "metadata.annotations") -> Wanted | list[FieldError]:
    """What the pod wants. `asked`: thousandths of nvidia.com/gpu that its containers ask for, which is the answer where the
    annotations say nothing. Else what is wrong with them, with its path."""
    key = next((key for key in (SHARE, MILLI) if key in annotations), None)
    count = 1
    errors: list[FieldError] = []
    if key != SHARE and COUNT in annotations:
        count = _number(annotations[COUNT], None)
        if not count:
            errors.append(_wrong(path, COUNT, annotations, "must be a whole number, 1 or more"))
    elif key is None:
        return Wanted(asked, 0)
    milli = _number(annotations[key], WHOLE) if key is not None else WHOLE
    if key is not None and not milli:
        errors.append(_wrong(path, key, annotations, "must be a whole number of thousandths of a GPU, from 1 to 1000"))
    elif key is not None and count > 1 and milli != WHOLE:
        errors.append(
            _wrong(path, key, annotations, "must be 1000 where there is more than one GPU: they are whole ones")
        )
    if asked:
        said = f"may not be said where containers ask for {RESOURCE}"
        errors.append(_wrong(path, key or COUNT, annotations, said))
    return errors or Wanted(count * milli, milli if milli < WHOLE else 0)


def errors_of(annotations: Mapping[str, str] | None, asked: int, path: str) -> list[FieldError]:
    """What is wrong with what they want."""
    found = wanted({key: str(value) for key, value in (annotations or {}).items()}, asked, path)
    return found if isinstance(found, list) else []


def numbers(annotations: Mapping[str, str]) -> tuple[int, ...]:
    """The GPUs that the pod has; () where that isn't written, or can't be read."""
    parts = annotations.get(INDEX, "").split(",")
    return tuple(int(p) for p in parts) if all(p.isascii() and p.isdigit() and len(p) < 5 for p in parts) else ()


def text(devices: tuple[int, ...]) -> str:
    """As it is written."""
    return ",".join(str(device) for device in devices)


def _number(written: str, most: int | None) -> int:
    """0 where it is none, or not from 1 to `most`."""
    if not (written.isascii() and written.isdigit() and len(written) < 10):
        return 0
    number = int(written)
    return number if most is None or number <= most else 0


def _wrong(path: str, key: str, annotations: Mapping[str, str], said: str) -> FieldError:
    return FieldError(f"{path}[{key}]", said, "FieldValueInvalid", annotations[key])
