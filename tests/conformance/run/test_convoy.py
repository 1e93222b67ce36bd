"""A server that departs from the document in all the ways in which Convoy does (docs/convoy.md)."""

import re
from pathlib import Path
from typing import Final

from hookproof.target.target_file import read_target_file
from tests.conformance.command import check, reported_requirements
from tests.conformance.reference_server import reference_server, write_target_file
from tests.source_tree import ROOT

# Each fault with what is reported for it.
REPORTED: Final = {
    "events_without_data": {"2.1-5"},
    "unknown_roll_is_invalid": {"4.3-20"},
    "disabled_ignored": {"3-2", "3-6", "4.8-14"},
    "advanced_by_default": {"2.3-8", "2.3-9"},
    "compact_form_signed": {"6-6", "6-7", "6-10", "2.3-9", "2.4-3"},
}
PROJECTS: Final = ("p1", "p2", "p3", "p4")


def test_the_target_file_of_the_page_is_accepted(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "convoy.md").read_text()
    (written,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    target = tmp_path / "target.yaml"
    target.write_text(written)
    variables = {name: f"a-{name}" for name in re.findall(r"\$\{(\w+)\}", written)}
    settings = read_target_file(target, variables).values
    assert set(settings["provision"]) == {
        "after_endpoint_created",
        "create_source",
        "create_portal_link",
    }
    assert settings["dialect"] == "convoy"


def test_each_departure_from_the_document_is_reported_and_nothing_else(tmp_path: Path) -> None:
    faults = tuple(word for fault in REPORTED for word in ("--fault", fault))
    options = ("--dialect", "convoy", *faults)
    with reference_server(tmp_path, ROOT, *PROJECTS, options=options) as ready:
        write_target_file(tmp_path, ready["api"], *PROJECTS, dialect="convoy")
        done = check(tmp_path, "--target", "target.yaml", "--profile", "quick", "--budget", "600")
    assert done.code == 1, done.out
    judged = reported_requirements(tmp_path)
    failed = {name for name, each in judged.items() if each["verdict"] in {"fail", "error"}}
    assert failed <= set().union(*REPORTED.values()), done.out
    for fault, requirements in REPORTED.items():
        assert failed & requirements, f"{fault} is not reported: {done.out}"
