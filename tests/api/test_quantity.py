from __future__ import annotations

from decimal import ROUND_UP, Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api import quantity
from kumi.api.quantity import MAX, QuantityError, is_on_nodes

SUFFIXES = {
    "n": "1e-9",
    "u": "1e-6",
    "m": "1e-3",
    "": "1",
    "k": "1e3",
    "M": "1e6",
    "G": "1e9",
    "T": "1e12",
    "P": "1e15",
    "E": "1e18",
}
SUFFIXES |= {f"{letter}i": str(1024**power) for power, letter in enumerate("KMGTPE", 1)}
SUFFIXES |= {f"e{power}": f"1e{power}" for power in range(-12, 13)} | {"E3": "1e3", "E-3": "1e-3", "e+2": "1e2"}


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, Decimal]:
    """A quantity as text, and exactly what it says."""
    whole = draw(st.integers(0, 10**20))
    part = draw(st.text("0123456789", max_size=12))
    sign = draw(st.sampled_from(["", "+", "-"]))
    suffix = draw(st.sampled_from(sorted(SUFFIXES)))
    number = f"{whole}.{part}" if part else str(whole)
    with localcontext() as context:
        context.prec = 100
        value = Decimal(number) * Decimal(SUFFIXES[suffix])
    return f"{sign}{number}{suffix}", -value if sign == "-" else value


def up(value: Decimal) -> int:
    with localcontext() as context:
        context.prec = 100
        return int(value.to_integral_value(ROUND_UP))


@given(texts(), st.sampled_from(["cpu", "memory", "nvidia.com/gpu", "pods"]))
def test_an_amount_is_the_least_that_is_not_less_than_the_text(text: tuple[str, Decimal], resource: str) -> None:
    written, value = text
    with localcontext() as context:
        context.prec = 100
        nano = Decimal(up(value * 10**9)) / 10**9
        wanted = up(nano * quantity.unit_of(resource))
    assert quantity.parse(written, resource) == max(-MAX, min(MAX, wanted))


@given(
    st.integers(-(10**15), 10**15),
    st.sampled_from(["cpu", "memory"]),
    st.sampled_from(["binary", "decimal", "exponent", None]),
)
def test_what_is_formatted_reads_back_as_the_same_amount(
    amount: int, resource: str, family: quantity.Family | None
) -> None:
    assert quantity.parse(quantity.format(amount, resource, family), resource) == amount


@given(texts())
def test_the_canonical_text_is_a_fixed_point_and_says_the_same(text: tuple[str, Decimal]) -> None:
    once = quantity.canonical(text[0])
    assert quantity.canonical(once) == once
    assert quantity.nano(once) == quantity.nano(text[0])


@given(texts(), texts())
def test_a_larger_text_is_never_a_smaller_amount(a: tuple[str, Decimal], b: tuple[str, Decimal]) -> None:
    small, large = sorted([a, b], key=lambda text: text[1])
    assert quantity.nano(small[0]) <= quantity.nano(large[0])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("4", "4"),
        ("500m", "500m"),
        ("0.5", "500m"),
        ("2Gi", "2Gi"),
        ("1.5Gi", "1536Mi"),
        ("1024Mi", "1Gi"),
        ("2000Mi", "2000Mi"),
        ("1000", "1k"),
        ("1e3", "1e3"),
        ("100Ki", "100Ki"),
        ("1000Ki", "1000Ki"),
        ("0Gi", "0"),
        ("-1", "-1"),
        (2, "2"),
        (0.5, "500m"),
    ],
)
def test_a_quantity_is_shown_in_the_form_that_it_was_written_in(text: str | float, shown: str) -> None:
    assert quantity.canonical(text) == shown


def test_an_amount_without_a_family_is_shown_as_people_write_that_resource() -> None:
    assert quantity.format(2 * 1024**3, "memory") == "2Gi"
    assert quantity.format(1500, "cpu") == "1500m"
    assert quantity.format(8000, "nvidia.com/gpu") == "8"
    assert quantity.format_amount("cpu", 4000) == "4"


def test_what_is_too_large_for_an_amount_is_the_largest_one() -> None:
    assert quantity.parse("1e30", "cpu") == MAX
    assert quantity.parse("10Ei", "memory") == MAX
    assert quantity.parse("-1e99999999", "memory") == -MAX
    assert quantity.parse_amount("cpu", "9E") == MAX


@pytest.mark.parametrize(
    "text", ["", " ", "abc", "1KB", "1 Gi", "--1", "1e", "1.2.3", "Gi", ".", "1i", "0x1", "1_0", "١", True, None]
)
def test_what_is_no_quantity_is_told_with_what_was_written(text: object) -> None:
    with pytest.raises(QuantityError) as told:
        quantity.parse(text, "cpu")  # type: ignore[arg-type]
    assert repr(text) in str(told.value)
    with pytest.raises(QuantityError):
        quantity.canonical(text)  # type: ignore[arg-type]


def test_units_are_thousandths_for_what_comes_in_parts_of_a_cpu_or_as_a_device() -> None:
    assert [quantity.unit_of(name) for name in ("cpu", "pods", "nvidia.com/gpu")] == [1000, 1000, 1000]
    assert [quantity.unit_of(name) for name in ("memory", "ephemeral-storage", "hugepages-2Mi")] == [1, 1, 1]


@pytest.mark.parametrize(
    ("amount", "family", "text"),
    [
        (0, "binary", "0"),
        (2**30 * 10**9, "binary", "1Gi"),
        (5 * 10**8, "decimal", "500m"),
        (2 * 10**12, "decimal", "2k"),
    ],
)
def test_thousand_millionths_are_told_in_the_family_that_is_asked_for(
    amount: int, family: quantity.Family, text: str
) -> None:
    assert quantity.nano_text(amount, family) == text


@pytest.mark.parametrize(
    ("resource", "there"),
    [
        ("cpu", True),
        ("memory", True),
        ("pods", True),
        ("ephemeral-storage", True),
        ("hugepages-2Mi", True),
        ("attachable-volumes-csi", True),
        ("nvidia.com/gpu", True),
        ("requests.cpu", False),
        ("limits.memory", False),
        ("requests.nvidia.com/gpu", False),
        ("count/pods", False),
        ("count/jobs.batch", False),
        ("services", False),
        ("gpu", False),
    ],
)
def test_what_only_quotas_count_is_on_no_node(resource: str, there: bool) -> None:
    assert is_on_nodes(resource) is there


@pytest.mark.parametrize("resource", ["cpu", "requests.cpu", "limits.cpu"])
def test_half_a_core_is_half_a_core_in_a_quota_too(resource: str) -> None:
    assert quantity.parse("500m", resource) == 500
