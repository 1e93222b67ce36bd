"""A service whose schedule of retries nobody knows: what a roll breaks is seen all the same."""

from pathlib import Path

import pytest

from tests.conformance.command import check, reported_requirements
from tests.conformance.reference_server import reference_server, write_target_file
from tests.source_tree import ROOT
from tests.spec.dialect_variants import UNDECIDED, variant_mapping

LOST_BY_A_ROLL = "part_missing@delivery.sent.client_certificate.rolled"


@pytest.mark.parametrize(
    ("faults", "code", "verdict"),
    [((), 0, "pass"), (("--fault", LOST_BY_A_ROLL), 1, "fail")],
    ids=["conforming", "lost by a roll"],
)
def test_a_certificate_is_expected_after_a_roll_although_retries_are_not_known(
    tmp_path: Path, faults: tuple[str, ...], code: int, verdict: str
) -> None:
    schedule = ("attempts", "initial_s", "factor", "maximum_s")
    unknown = variant_mapping({f"retry.{name}": dict(UNDECIDED) for name in schedule})
    with reference_server(tmp_path, ROOT, "p1", "p2", options=faults) as ready:
        write_target_file(tmp_path, ready["api"], "p1", "p2", dialect=unknown)
        done = check(tmp_path, "--target", "target.yaml", "--only", "2.3-17")
    assert done.code == code, done.err
    assert reported_requirements(tmp_path)["2.3-17"]["verdict"] == verdict
