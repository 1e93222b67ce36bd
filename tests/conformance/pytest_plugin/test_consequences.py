"""What only follows from another failure, as the pytest plugin shows it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hookproof.conformance.model.evidence import Observation
from hookproof.conformance.model.gathered_evidence import Gathered
from hookproof.conformance.model.ledger import Entry
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.pytest_plugin.host import Host
from hookproof.conformance.pytest_plugin.settings import SessionSettings
from hookproof.conformance.results.baseline import Expectation
from hookproof.conformance.target.definition import Target
from hookproof.spec.catalogue import load_catalogue
from tests.conformance.canned_evidence import BASE_URL, context, exchange, observation
from tests.conformance.canned_run import PROJECTS
from tests.conformance.pytest_plugin.test_requirement_tests import OutcomePlugin, run_plugins

ROOT, CONSEQUENCE = "2.1-5", "2.2-1"


class NullLists:
    """Evidence of a target that shows null as the data of a list, in every experiment."""

    def begin(self, selected: Sequence[str]) -> None:
        """There is nothing to start."""

    def gathered(self, name: str) -> Gathered:
        shown = exchange("list", "listSources", data=None)
        return Gathered(experiment=name, observations=(observation(Observation, shown),))

    def quoted(self, value: Any) -> Any:
        return value

    def masked(self, entry: Entry) -> Entry:
        return entry

    def close(self) -> None:
        """There is nothing to end."""


def outcomes(folder: Path, *requirements: str, accepted: Sequence[str] = ()) -> dict[str, str]:
    """How the tests of these requirements end, by id; `accepted` are in the baseline."""
    catalogue = load_catalogue()
    settings = SessionSettings(
        subject=Target(base_url=BASE_URL, projects=PROJECTS, dialect=context().dialect),
        catalogue=catalogue,
        requirements=tuple(catalogue.requirements[name] for name in requirements),
        profile=Profile.QUICK,
        seed=0,
        baseline=tuple(
            Expectation(id=name, expected="fail", reason="We know.") for name in accepted
        ),
    )
    recording = OutcomePlugin()
    run_plugins(folder, Host(settings, NullLists()), recording)
    return {name.split()[0]: text for name, text in recording.texts.items()}


def test_a_consequence_is_skipped_and_its_root_fails(tmp_path: Path) -> None:
    texts = outcomes(tmp_path, ROOT, CONSEQUENCE)
    assert "fails, as follows from 2.1-5" in texts[CONSEQUENCE]
    assert "expected:" in texts[ROOT]


@pytest.mark.parametrize(
    ("requirements", "accepted"), [((CONSEQUENCE,), ()), ((ROOT, CONSEQUENCE), (ROOT,))]
)
def test_it_fails_where_its_root_is_not_selected_or_is_accepted(
    tmp_path: Path, requirements: tuple[str, ...], accepted: tuple[str, ...]
) -> None:
    text = outcomes(tmp_path, *requirements, accepted=accepted)[CONSEQUENCE]
    assert "expected:" in text
    assert "follows" not in text


def test_one_that_is_accepted_as_well_is_an_expected_failure(tmp_path: Path) -> None:
    both = (ROOT, CONSEQUENCE)
    texts = outcomes(tmp_path, *both, accepted=both)
    assert all("the baseline accepts it: We know." in texts[name] for name in both)
