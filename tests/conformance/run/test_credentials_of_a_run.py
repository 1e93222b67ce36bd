"""Credentials are known from the exchange that shows them, and masked when something is written;
what is judged is what came.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.model.evidence import Evidence, Observation
from hookproof.conformance.run.intake import Intake
from hookproof.conformance.target.definition import Project
from hookproof.process.terminal_text import message_text
from hookproof.spec.dialect.reader import load_dialect
from hookproof.target.masking.quotation_mask import plain_keys
from tests.conformance.canned_evidence import CannedObservation, context
from tests.conformance.command import run_command
from tests.conformance.reference_server import ROOT, reference_server
from tests.conformance.run.experiment_runner import runner
from tests.conformance.scripted_target import empty_page, response, stand_in

SECRET = "whsec_5f1c9e0b2a7d4c63"
# Members, values and parts of paths of the document, of JSON and of URLs, or nearly so.
WORDS = (
    *("secret", "status", "data1", "true2", "token", "name", "project", "https"),
    *("endpoints", "message", "null", "created_at"),
)
RANDOM = "sk-5f1c9e0b2a7d4c63"


def test_a_secret_is_known_to_all_from_the_moment_when_an_answer_shows_it() -> None:
    """Although the observation that showed it is taken in last."""
    shown, echoed = asyncio.Event(), asyncio.Event()

    async def creates(context: ExperimentContext) -> AsyncIterator[Evidence]:
        trial = context.trial("creation")
        await trial.call("createEndpoint", role="create", body={"url": "https://a.invalid"})
        shown.set()
        await echoed.wait()
        yield trial.observe(CannedObservation)

    async def lists(context: ExperimentContext) -> AsyncIterator[Evidence]:
        trial = context.trial("list")
        await shown.wait()
        await trial.call("listPortalLinks", role="list")
        yield trial.observe(CannedObservation)
        echoed.set()

    def answer(head: bytes) -> bytes | None:
        if head.startswith(b"POST"):
            body = {"status": True, "message": "", "data": {"secrets": [{"value": SECRET}]}}
            return response(201, json.dumps(body).encode())
        if b"/portal-links" in head:
            return response(200, b'{"data": "it was %s"}' % SECRET.encode())
        return empty_page(head)

    written: list[Evidence] = []
    with stand_in(answer) as url, runner(url, creates, lists) as run:
        run.open()
        run.begin(Intake(run.mask, context().dialect, written.append))
        judged = run.gathered("lists").observations + run.gathered("creates").observations
    bodies = [each.exchanges[0].response_body for each in written]
    assert bodies[0] == b'{"data": "it was secret#1"}'
    assert SECRET.encode() not in b"".join(bodies)
    assert all(SECRET.encode() in each.exchanges[0].response_body for each in judged)


def test_a_secret_that_is_sent_is_known_before_it_is_answered() -> None:
    async def creates(context: ExperimentContext) -> AsyncIterator[Evidence]:
        trial = context.trial("creation")
        await trial.call("createEndpoint", role="create", body={"secret": SECRET})
        yield trial.observe(CannedObservation)

    masked: list[str] = []

    def answer(head: bytes) -> bytes:
        if head.startswith(b"POST"):
            masked.append(run.mask.text(f"a log line of {SECRET}"))
        return empty_page(head)

    with stand_in(answer) as url, runner(url, creates) as run:
        run.open()
        run.begin(Intake(run.mask, context().dialect))
        assert run.gathered("creates").observations
    assert masked == ["a log line of secret#1"]


@pytest.mark.parametrize("key", ["data", "5f1c9e0b2a7d", "https"])
def test_what_is_judged_is_what_came(key: str) -> None:
    async def lists(context: ExperimentContext) -> AsyncIterator[Evidence]:
        trial = context.trial("list")
        await trial.call("listPortalLinks", role="list")
        yield trial.observe(CannedObservation)

    body = json.dumps({"data": {key: key, "url": f"https://a.invalid/{key}"}}).encode()

    def answer(head: bytes) -> bytes:
        return response(200, body) if b"/portal-links" in head else empty_page(head)

    written: list[Evidence] = []
    with stand_in(answer) as url, runner(url, lists) as run:
        run.open()
        run.mask.know([Project(id="p9", api_key=key)])
        run.begin(Intake(run.mask, context().dialect, written.append))
        (observed,) = run.gathered("lists").observations
    assert isinstance(observed, Observation)
    assert observed.exchanges[0].response_body == body
    is_masked = key.encode() not in written[0].exchanges[0].response_body
    assert is_masked == (key == "5f1c9e0b2a7d")


def test_a_key_that_is_a_word_of_the_api_is_said_once_and_is_not_shown() -> None:
    dialect = load_dialect("reference")
    projects = [Project(id=f"p{n}", api_key=key) for n, key in enumerate(WORDS)]
    words = plain_keys(projects, dialect)
    assert words.startswith("the API key of the project p0, p1, p4, ... is a word")
    assert message_text(words) == words
    assert plain_keys([Project(id="p1", api_key=RANDOM)], dialect) == ""


def totals(folder: Path, url: str, key: str, project: str) -> tuple[Any, ...]:
    words: Sequence[str] = (
        *("--api-key", key, "--project", project, "--dialect", "reference", "--profile", "quick"),
        *("--seed", "7", "--ca-dir", str(folder / "ca"), "--out", f"report-{project}"),
        *(word for section in CHEAP for word in ("--only", section)),
    )
    done = run_command(folder, "check", url, *words)
    assert done.code == 0, f"{key}: {done.out}{done.err}"
    report = json.loads((folder / f"report-{project}" / "report.json").read_text())
    is_said = "is a word, or as short as one" in done.err
    return report["verdict"], report["totals"], is_said


# What takes little time: creations that are fetched again, secrets, keys, refusals, answers to
# broadcasts. Requirements of all exchanges would need all experiments.
CHEAP = ("2.3-4", "2.3-12", "2.4-4", "5-11", "4.2-7", "2.8-15")
AT_ONCE = 3


def test_a_key_that_is_a_word_changes_no_verdict(tmp_path: Path) -> None:
    keys = {f"of{number}": key for number, key in enumerate((RANDOM, *WORDS))}
    options = tuple(word for name, key in keys.items() for word in ("--project", f"{name}={key}"))
    with reference_server(tmp_path, ROOT, options=options) as ready:
        judge = partial(totals, tmp_path, ready["api"])
        with ThreadPoolExecutor(AT_ONCE) as pool:
            found = dict(zip(keys.values(), pool.map(judge, keys.values(), keys), strict=True))
    assert found[RANDOM][0] == "conforms"
    assert {key: result[:2] for key, result in found.items()} == dict.fromkeys(
        found, found[RANDOM][:2]
    )
    assert {key for key, result in found.items() if result[2]} == {*WORDS} - {"data1", "true2"}
