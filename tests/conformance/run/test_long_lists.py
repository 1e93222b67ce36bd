"""A list that is too long to be walked is judged by what one owner has in it (section 4.4)."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conformance.command import check, reported_requirements
from tests.conformance.reference_server import reference_server, write_target_file
from tests.source_tree import ROOT

# The quick profile walks through 12 pages of 20.
LINKS = 300
LAWS = ["4.4-5", "4.4-6", "4.4-7", "4.4-8", "4.4-9", "4.4-10", "4.4-11", "4.4-12", "4.4-13"]


def verdicts(folder: Path, *faults: str) -> dict[str, Any]:
    links = [{"name": f"link {number}", "owner_id": "somebody"} for number in range(LINKS)]
    (folder / "fixtures.yaml").write_text(yaml.safe_dump({"portal_links": links, "sources": []}))
    options = ("--fixtures", str(folder / "fixtures.yaml"), *faults)
    with reference_server(folder, ROOT, "p1", "p2", options=options) as ready:
        write_target_file(folder, ready["api"], "p1", "p2")
        (folder / "laws").write_text("\n".join(LAWS))
        check(folder, "--target", "target.yaml", "--profile", "quick", "--only", "@laws")
    judged = reported_requirements(folder)
    return {law: judged[law]["verdict"] for law in LAWS}


def test_everything_about_a_long_list_is_exercised(tmp_path: Path) -> None:
    assert verdicts(tmp_path) == dict.fromkeys(LAWS, "pass")


@pytest.mark.parametrize(
    ("faults", "broken"),
    [
        (["prev_leads_forward", "ascending_by_default"], ["4.4-5", "4.4-7", "4.4-8"]),
        (["filters_find_one"], ["4.4-10", "4.4-12"]),
        (["filters_ignored"], ["4.4-9", "4.4-11", "4.4-13"]),
    ],
    ids=["order", "left out", "let through"],
)
def test_faults_of_a_long_list_are_found(
    tmp_path: Path, faults: list[str], broken: list[str]
) -> None:
    judged = verdicts(tmp_path, *(word for fault in faults for word in ("--fault", fault)))
    assert [law for law, verdict in judged.items() if verdict == "fail"] == broken
