"""The schemathesis baseline: schemathesis is really run, and its results are kept as they come."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from hookproof.conformance.mutants import cli
from hookproof.conformance.mutants import schemathesis_baseline as baseline
from hookproof.conformance.mutants.campaign import CampaignPlan, CampaignSettings, plan_campaign
from hookproof.conformance.mutants.catalogue import NamedDialect
from hookproof.conformance.mutants.schemathesis_baseline import (
    OnReport,
    read_baseline,
    record_baseline,
    run_schemathesis_baseline,
)
from hookproof.process.exit_codes import CommandError


def test_each_result_is_kept_beside_those_before(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    assert read_baseline(path) is None
    record_baseline({"one": ["old"], "two": []}, path)
    record_baseline({"one": ["new"]}, path)
    assert read_baseline(path) == {"one": ["new"], "two": []}


def test_only_what_is_not_reported_of_the_clean_server_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(baseline, "EXAMPLES", 1)
    reported: dict[str, Sequence[str]] = {}
    plan = plan_campaign(
        CampaignSettings(patterns=("created_is_ok",), dialects=("reference",), jobs=1)
    )
    run_schemathesis_baseline(plan, reported.__setitem__)
    assert list(reported) == ["clean", "created_is_ok"]
    assert reported["created_is_ok"]
    assert not set(reported["created_is_ok"]) & set(reported["clean"])


def test_a_run_that_does_not_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baseline, "ENDS_WITHIN_S", 0.0)
    plan = plan_campaign(
        CampaignSettings(patterns=("created_is_ok",), dialects=("reference",), jobs=1)
    )
    with pytest.raises(CommandError, match="did not end within"):
        run_schemathesis_baseline(plan, lambda _name, _findings: None)


def test_each_server_is_compared_with_the_clean_one_of_its_dialect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def findings(dialect: NamedDialect, deviations: Sequence[str], _seed: int) -> set[str]:
        usual = dialect.name if dialect.name == "contrary" else "reference"
        return {f"usual under {usual}", *(["found"] if deviations else [])}

    monkeypatch.setattr(baseline, "_findings", findings)
    reported: dict[str, Sequence[str]] = {}
    names = ("created_is_ok", "event_type_in_capitals", "further_members", "dropping")
    run_schemathesis_baseline(plan_campaign(CampaignSettings(patterns=names)), reported.__setitem__)
    assert reported == {
        "clean": ["usual under reference"],
        "created_is_ok": ["found"],
        "further_members": ["found"],
        "dropping": [],
        "clean under contrary": ["usual under contrary"],
        "event_type_in_capitals": ["found"],
    }


@pytest.mark.parametrize("option", ["--schemathesis-baseline", "--stock"])
def test_the_option_and_its_former_name_run_schemathesis(
    option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_canned(plan: CampaignPlan, on_report: OnReport) -> None:
        on_report("created_is_ok", ["found"])

    recorded: dict[str, Sequence[str]] = {}
    monkeypatch.setattr(cli, "run_schemathesis_baseline", run_canned)
    monkeypatch.setattr(cli, "record_baseline", recorded.update)
    words = [option, "--fault", "created_is_ok", "--dialect", "reference"]
    result = CliRunner().invoke(cli.mutants, words)
    assert (result.exit_code, result.output) == (0, "  1 created_is_ok\n")
    assert recorded == {"created_is_ok": ["found"]}
