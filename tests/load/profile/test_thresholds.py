"""A threshold is read as its author meant it, or refused with what was expected."""

import pytest

from hookproof.load.profile.thresholds import BadThreshold, Threshold


@pytest.mark.parametrize(
    ("text", "figures", "crossed"),
    [
        ("delivery_p99 > 2s", {"delivery_p99": 2.1}, True),
        ("delivery_p99 > 2s", {"delivery_p99": 2.0}, False),
        ("delivery_p99>250ms", {"delivery_p99": 0.3}, True),
        ("lost > 0", {"lost": 0}, False),
        ("ingest_rps < 500/s", {"ingest_rps": 499.9}, True),
        ("allowance_used < 80%", {"allowance_used": 0.79}, True),
        ("allowance_used < 0.8", {"allowance_used": 0.81}, False),
    ],
)
def test_a_threshold_is_crossed_where_its_comparison_holds(
    text: str, figures: dict[str, float], crossed: bool
) -> None:
    assert (Threshold.parse(text).crossed(figures) is not None) is crossed


def test_a_figure_that_could_not_be_measured_crosses_its_threshold() -> None:
    assert "could not be measured" in str(
        Threshold.parse("overshoot > 0").crossed({"overshoot": None})
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("delivery_p9 > 2s", "did you mean delivery_p9"),
        ("lost > 2s", "not in s"),
        ("delivery_p99 > 2", "not in no unit"),
        ("lost", "write one like"),
        ("lost => 1", "write one like"),
    ],
)
def test_what_is_not_a_threshold_is_refused_with_what_was_expected(
    text: str, expected: str
) -> None:
    with pytest.raises(BadThreshold, match=expected):
        Threshold.parse(text)
