"""`schemathesis run` with the shipped settings: clean servers pass, and a fault is reported by the
requirement that it violates.
"""

from pathlib import Path

import pytest

from hookproof.conformance.mutants.catalogue import find_dialect, list_faults
from hookproof.conformance.schemathesis_plugin.registration import check_name
from hookproof.process.exit_codes import ExitCode
from tests.conformance.schemathesis_plugin.stock_run import (
    DOCUMENT,
    run_schemathesis,
    served,
    settings_for,
)

BROADCAST = "POST /api/v1/projects/{projectID}/events/broadcast"
DIALECTS = ("reference", "contrary", "standard-webhooks")


def key_as_in(dialect: str, settings: str) -> str:
    """Settings with the header of the key as this dialect writes it."""
    (theirs,) = (line for line in settings.splitlines() if line.startswith("headers = "))
    own = settings_for(dialect, hooks=True)
    (ours,) = (line for line in own.splitlines() if line.startswith("headers = "))
    return settings.replace(theirs, ours)


@pytest.mark.parametrize("hooks", [True, False], ids=["hooks", "alone"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_clean_server_passes(tmp_path: Path, dialect: str, hooks: bool) -> None:
    with served(tmp_path, dialect) as url:
        shown = run_schemathesis(
            tmp_path,
            url,
            document=f"{url}/openapi.yaml",
            settings=settings_for(dialect, hooks=hooks),
            dialect=dialect,
            receives=True,
        )
        general = run_schemathesis(
            tmp_path,
            url,
            document=DOCUMENT,
            settings=key_as_in(dialect, settings_for(None, hooks=hooks)),
        )
    assert (shown.code, shown.failures) == (0, ()), shown.out
    assert (general.code, general.failures) == (0, ()), general.out
    # endpoints were created and fetched along the links, which an unknown key or project would hide
    assert "8 selected / 8 total" in shown.out


@pytest.mark.parametrize(
    ("fault", "requirement", "phases"),
    [
        ("accepted_is_ok", "4.6-2", ["coverage"]),
        ("description_shown_as_null", "4.2-5", ["coverage", "stateful"]),
        ("roll_clears_the_name", "4.3-11", ["coverage", "stateful"]),
        ("cursor_includes_its_row", "2.2-14", ["coverage"]),
    ],
)
def test_a_fault_is_reported_by_its_requirement(
    tmp_path: Path, fault: str, requirement: str, phases: list[str]
) -> None:
    with served(tmp_path, "reference", "--fault", fault) as url:
        run = run_schemathesis(
            tmp_path,
            url,
            settings=settings_for("reference", hooks=True),
            dialect="reference",
            phases=phases,
            examples=10,
        )
    assert run.code == 1
    assert requirement in run.violated, run.out
    assert f"`{check_name(requirement)}`" in run.out
    assert f"{requirement} (" in run.out
    assert "Expected: " in run.out


@pytest.mark.parametrize(
    ("fault", "requirement"),
    [
        ("every_seventh_lost", "1-1"),
        ("every_seventh_doubled", "4.8-15"),
        ("every_seventh_altered", "6-3"),
        ("custom_headers_dropped", "6-4"),
        ("body_reserialised", "6-7"),
        ("signature_cut_short", "6-10"),
    ],
)
def test_a_fault_of_deliveries_is_reported_with_the_broadcast(
    tmp_path: Path, fault: str, requirement: str
) -> None:
    with served(tmp_path, "reference", "--fault", fault) as url:
        run = run_schemathesis(
            tmp_path,
            url,
            *("--include-operation-id", "createBroadcastEvent"),
            settings=settings_for("reference", hooks=True),
            dialect="reference",
            phases=["coverage"],
            receives=True,
        )
    assert run.code == 1
    assert requirement in run.violated, run.out
    assert {each for failure in run.failures for each in failure["operations"]} == {BROADCAST}
    (described,) = (each for each in list_faults(find_dialect("reference")) if each.name == fault)
    assert run.violated <= {*described.violates}


def test_an_unknown_dialect_ends_the_run_in_a_line(tmp_path: Path) -> None:
    run = run_schemathesis(
        tmp_path,
        "http://127.0.0.1:1",
        settings=settings_for(None, hooks=True),
        dialect="nosuch",
    )
    assert run.code == ExitCode.USAGE
    (line,) = run.out.splitlines()
    assert line.startswith("HOOKPROOF_DIALECT: nosuch")
