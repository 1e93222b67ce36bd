"""`hookproof learn` as a user runs it, told nothing but URL, key and project."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from jsonschema_rs import Draft202012Validator

from hookproof.conformance.model.profile import Profile
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.dialect.writer import written_dialect
from tests.conformance.command import check, run_command
from tests.conformance.learn_all import learned_scores
from tests.conformance.learning_score import Outcome
from tests.conformance.reference_server import (
    RECEIVER_SETTINGS,
    reference_server,
    write_target_file,
)
from tests.conformance.scripted_target import closed_port, empty_page, stand_in
from tests.conformance.spoiling_proxy import ProxyAnswer, spoiling_proxy
from tests.source_tree import ROOT

# What deliveries with retries show, for which the quick profile has no time.
LATER = (
    "retry.",
    "delivery.",
    "representation.failure_rate",
    "representation.event_count",
    "errors.slow_request",
    "words.",
)


@pytest.mark.parametrize("name", ["reference", "contrary", "standard-webhooks"])
def test_a_shipped_dialect_is_learned_in_the_quick_profile(tmp_path: Path, name: str) -> None:
    found, _ = learned_scores(
        tmp_path, written_dialect(load_dialect(name)), Profile.QUICK, judge=False
    )
    assert [score.field for score in found if score.outcome is Outcome.WRONG] == []
    missed = [
        score.field
        for score in found
        if score.observable and score.outcome is Outcome.OPEN
        if not score.field.startswith(LATER)
    ]
    assert missed == []


def test_deliveries_that_come_late_are_waited_for(tmp_path: Path) -> None:
    found, _ = learned_scores(
        tmp_path,
        written_dialect(load_dialect("contrary")),  # whose visits arrive before the events
        Profile.QUICK,
        judge=False,
        options=("--variant", "late_deliveries"),
    )
    of_signatures = [score for score in found if score.field.startswith("signatures.")]
    assert {score.outcome for score in of_signatures if score.observable} == {Outcome.RIGHT}


def test_the_files_are_written_without_the_key_and_serve_check(tmp_path: Path) -> None:
    with reference_server(tmp_path, ROOT, "p1", options=("--dialect", "contrary")) as ready:
        words = (ready["api"], "--project", "p1", "--api-key", "key-p1", "--ca-dir", "ca")
        learned = run_command(tmp_path, "learn", *words, "--profile", "quick", "--out", "ours")
        assert learned.code == 0, learned.err
        assert "LEARNED  seen " in learned.out
        assert "Next: hookproof check --target ours/target.yaml" in learned.out
        folder = tmp_path / "ours"
        files = {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}
        assert sorted(files) == ["dialect.yaml", "learned.html", "target.yaml"]
        for kind in ("dialect", "target"):
            named = files[f"{kind}.yaml"].splitlines()[0].partition("$schema=")[2]
            validator = Draft202012Validator(json.loads((folder / named).read_text()))
            assert validator.is_valid(yaml.safe_load(files[f"{kind}.yaml"]))
        assert not any("key-p1" in text for text in files.values())
        only = ("--only", "4.9-2", "--profile", "quick")
        judged = check(tmp_path, "--target", "ours/target.yaml", *only, HOOKPROOF_API_KEY="key-p1")
    assert (judged.code, judged.err) == (0, ""), judged.out
    assert yaml.safe_load(files["dialect.yaml"])["success"]["get_endpoint"] == 203


def test_check_infers_a_dialect_and_says_so(tmp_path: Path) -> None:
    with reference_server(tmp_path, ROOT, "p1", options=("--dialect", "contrary")) as ready:
        words = (ready["api"], "--project", "p1", "--api-key", "key-p1", "--dialect", "infer")
        done = check(tmp_path, *words, "--only", "4.9-2", "--profile", "quick", "--out", "report")
    assert done.code == 0, done.out + done.err
    assert done.out.splitlines()[-1].startswith("CONFORMS  open 1/1")
    assert done.out.splitlines()[-1].endswith(" · dialect learned from the target")
    assert (tmp_path / "report" / "dialect.yaml").exists()


def test_a_key_that_is_accepted_in_no_form_is_reported_in_one_line(tmp_path: Path) -> None:
    with reference_server(tmp_path, ROOT, "p1") as ready:
        words = (ready["api"], "--project", "p1", "--api-key", "wrong-1")
        done = run_command(tmp_path, "learn", *words)
    assert (done.code, done.out) == (64, "")
    (_asking, line) = done.err.splitlines()
    assert "accepts the key of project 'p1' in none of the" in line
    assert "authentication.key_format" in line


def test_a_target_that_does_not_answer_is_unreachable(tmp_path: Path) -> None:
    with closed_port() as url:
        done = run_command(tmp_path, "learn", url, "--project", "p1", "--api-key", "key")
    assert done.code == 4
    assert "target unreachable" in done.err


def test_answers_without_resources_teach_nothing_about_resources(tmp_path: Path) -> None:
    with stand_in(empty_page) as url:
        words = (url, "--project", "p1", "--api-key", "key", "--profile", "quick")
        done = run_command(tmp_path, "learn", *words)
    assert done.code == 0, done.err
    dialect = yaml.safe_load((tmp_path / "hookproof" / "dialect.yaml").read_text())
    assert "representation" not in dialect
    assert "signatures" not in dialect


def test_without_a_target_the_usage_is_explained(tmp_path: Path) -> None:
    done = run_command(tmp_path, "learn")
    assert done.code == 64
    assert "give the target's URL, or --target" in done.err


def test_a_hook_that_fails_leaves_what_deliveries_would_show_open(tmp_path: Path) -> None:
    with reference_server(tmp_path, ROOT, "p1") as ready, closed_port() as nowhere:
        hooks = {"after_endpoint_created": [{"url": f"{nowhere}/subscriptions"}]}
        write_target_file(tmp_path, ready["api"], "p1", provision=hooks)
        done = run_command(tmp_path, "learn", "--target", "target.yaml", "--profile", "quick")
    assert done.code == 0, done.err
    assert "the provision hook after_endpoint_created failed" in done.out
    assert "✓ representation.identifier: ulid" in done.out
    assert sorted(path.name for path in (tmp_path / "hookproof").iterdir()) == [
        ".hookproof",
        "dialect.yaml",
        "learned.html",
    ]


def test_of_a_target_that_reaches_no_receiver_the_api_is_learned_and_what_to_do_is_said(
    tmp_path: Path,
) -> None:
    with reference_server(tmp_path, ROOT, "p1") as ready, closed_port() as nowhere:
        public_url = nowhere.replace("http://", "https://")
        receiver = {**RECEIVER_SETTINGS, "public_url": public_url}
        write_target_file(
            tmp_path, ready["api"], "p1", receiver=receiver, budgets={"delivery_s": 1}
        )
        done = run_command(tmp_path, "learn", "--target", "target.yaml", "--profile", "quick")
    assert done.code == 3, done.err
    last = done.out.splitlines()[-1]
    assert last.startswith("INCOMPLETE  no event of the first 6 s of a new endpoint arrived there")
    assert "and no connection came within 7 s: check that the target can open one to" in last
    assert public_url in last
    assert (tmp_path / "hookproof" / "dialect.yaml").exists()


@pytest.mark.parametrize(
    ("gone", "symptom"), [(None, "ServerDisconnectedError"), (502, "every request is answered 502")]
)
def test_a_target_that_stops_answering_is_told_with_what_was_learned_by_then(
    tmp_path: Path, gone: int | None, symptom: str
) -> None:
    def spoil(number: int, fetch: Callable[[], ProxyAnswer]) -> ProxyAnswer | None:
        if number < 30:
            return fetch()
        return None if gone is None else ProxyAnswer(status=gone, headers=(), body=b"")

    with (
        reference_server(tmp_path, ROOT, "p1") as ready,
        spoiling_proxy(ready["api"], spoil) as url,
    ):
        words = (url, "--project", "p1", "--api-key", "key-p1", "--ca-dir", "ca")
        learned = run_command(tmp_path, "learn", *words, "--profile", "quick", "--out", "ours")
    assert learned.code == 3, learned.err
    assert "The target stopped answering after 30 of " in learned.out
    assert symptom in learned.out
    assert "INCOMPLETE  the target stopped answering; the files hold what was" in learned.out
    assert (tmp_path / "ours" / "dialect.yaml").exists()
