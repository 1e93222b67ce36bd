"""`hookproof check-consumer` as people and programs use it."""

import json
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner, Result

from hookproof.cli import cli
from hookproof.receiver.consumer.finding import requirements
from tests.receiver.consumer.zoo import (
    SECRET,
    AgeNotJudged,
    GoodConsumer,
    NothingVerified,
    Refused,
)
from tests.receiver.sending.consumer_thread import Recorder, serving
from tests.source_tree import ROOT

GIVEN: Final = ("--scheme", "standard-webhooks", "--secret", SECRET)
FEW: Final = ("--only", "takes-right", "--only", "refuses-o*")


def check(url: str, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["check-consumer", f"{url}/hooks", *GIVEN, *arguments])


def test_a_good_consumer_conforms_and_a_line_says_so() -> None:
    with serving(GoodConsumer()) as url:
        result = check(url, *FEW, "--effect", f"{url}/effects")
    assert result.exit_code == 0, result.output
    *lines, last = result.output.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "ok    takes-right",
        "ok    refuses-other-secret",
        "ok    refuses-old",
    ]
    assert last.startswith("CONFORMS  pass 3/3 \u00b7 ")


def test_what_fails_is_shown_with_its_proof_and_how_to_mend_it() -> None:
    with serving(AgeNotJudged()) as url:
        result = check(url, *FEW, "--effect", f"{url}/effects")
    assert result.exit_code == 1, result.output
    shown = result.output.splitlines()[2:]
    assert shown[0] == "FAIL  refuses-old: A delivery that was signed long ago is refused"
    assert shown[1].startswith("      proof: answered 200 in ")
    assert shown[1].endswith("and it had an effect")
    assert shown[2] == f"      mend:  {requirements()['refuses-old'].mend}"
    assert shown[3].startswith("DOES NOT CONFORM  pass 2/3 \u00b7 fail 1 \u00b7 ")


def test_the_report_as_json() -> None:
    with serving(AgeNotJudged()) as url:
        unchanged = ("--effect-command", "echo 7", "--effect-within", "0.5")
        result = check(url, *FEW, *unchanged, "--format", "json")
    report = json.loads(result.output)
    assert result.exit_code == report["exit_code"] == 3
    assert report["verdict"] == "incomplete"
    assert report["totals"] == {"pass": 2, "fail": 0, "not_exercised": 1, "not_applicable": 0}
    old = report["requirements"][2]
    assert (old["id"], old["verdict"]) == ("refuses-old", "not_exercised")
    assert "whether anything came of it is not known" in old["proof"]


def test_the_effect_of_a_command_is_read(tmp_path: Path) -> None:
    class WritingConsumer(NothingVerified):
        async def process(self, identifier: str, event: object) -> None:
            await super().process(identifier, event)
            (tmp_path / "effects").write_text(f"{self.effects}\n")

    (tmp_path / "effects").write_text("0\n")
    with serving(WritingConsumer()) as url:
        result = check(url, "--only", "refuses-old", "--effect-command", f"cat {tmp_path}/effects")
    assert result.exit_code == 1, result.output


def test_an_event_of_ones_own_is_sent_with_an_identifier_for_each(tmp_path: Path) -> None:
    body = tmp_path / "event.json"
    body.write_bytes(b'{"id": "HOOKPROOF_EVENT_ID", "note": "x"}')
    recorder = Recorder()
    with serving(recorder) as url:
        arguments = ("--body", str(body), "--header", "X-Id: HOOKPROOF_EVENT_ID")
        result = check(url, *arguments, "--only", "takes-*")
    assert result.exit_code == 0, result.output
    assert "skip  takes-beyond-ascii" in result.output  # the body has no place for a text
    whole = [each for each in recorder.requests if each.body.startswith(b'{"id": "evt_')]
    assert len({each.header("webhook-id") for each in whole}) > 8
    for each in whole:
        assert json.loads(each.body)["id"] == each.header("X-Id") == each.header("webhook-id")


class KnowsNoSuchEvent(GoodConsumer):
    async def process(self, identifier: str, event: object) -> None:
        raise Refused(422)


def test_a_consumer_that_refuses_an_event_that_it_does_not_know_is_not_accused(
    tmp_path: Path,
) -> None:
    with serving(KnowsNoSuchEvent()) as url:
        result = check(url)
        assert result.exit_code == 3
        assert "give one with --body" in result.output
        assert "FAIL" not in result.output
        (tmp_path / "event.json").write_bytes(b"{}")
        assert check(url, "--body", str(tmp_path / "event.json")).exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--only", "refuse-*"), "fits no requirement; there are takes-right, refuses-unsigned"),
        (("--exclude", "*"), "leave no requirement"),
        (("--effect", "http://127.0.0.1:1", "--effect-command", "x"), "leave one of them out"),
        (("--effect", "x"), "is not a URL"),
        (("--effect", "http://127.0.0.1:1"), "the effect is not known: http://127.0.0.1:1 cannot"),
        (("--effect-command", "exit 3"), "the command ended with 3"),
        (("--effect-command", "echo many"), "does not give a whole number but 'many"),
        (("--expired-secret", "whsec_*"), "the secret is not base64"),
        (("--body", "gone"), "cannot read gone"),
    ],
)
def test_what_cannot_be_used_is_told_in_a_line(arguments: tuple[str, ...], message: str) -> None:
    with serving(GoodConsumer()) as url:
        result = check(url, *arguments)
    assert result.exit_code in {2, 64}, result.output
    assert message in result.output


def test_a_consumer_that_is_not_there_is_unreachable() -> None:
    with serving(GoodConsumer()) as url:
        pass
    result = check(url)
    assert result.exit_code == 4
    assert "cannot be reached" in result.output


def test_the_page_of_consumers_lists_all_requirements() -> None:
    page = (ROOT / "docs" / "consumers.md").read_text(encoding="utf-8")
    for name, requirement in requirements().items():
        assert f"| `{name}` | {requirement.text.removesuffix('.')} |" in page, name
