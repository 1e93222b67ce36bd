"""Each bad consumer is named by what it does wrong, and by nothing else; good ones by nothing."""

import asyncio
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from aiohttp import web

from hookproof.process.exit_codes import ExitCode
from hookproof.receiver.cli.check_consumer import BODY, EVENT_ID, new_event
from hookproof.receiver.cli.signing_options import JSON, Signing
from hookproof.receiver.consumer.effect import effect_of_url
from hookproof.receiver.consumer.examination import Examination
from hookproof.receiver.consumer.finding import Finding, Verdict, exit_code, requirements
from hookproof.receiver.sending.attempt import Signer
from hookproof.receiver.sending.exchange import Consumer
from hookproof.receiver.signatures.judgement import contract_of_scheme
from hookproof.receiver.signatures.schemes.catalogue import load_scheme
from tests.receiver.consumer.zoo import (
    BAD,
    EXPIRED,
    GOOD,
    REFUSALS,
    SECRET,
    FirstPieceAlone,
    GoodConsumer,
    NothingVerified,
    Refused,
    SilentConsumer,
)
from tests.receiver.sending.consumer_thread import serving

STANDARD: Final = Signing(
    contract=contract_of_scheme(load_scheme("standard-webhooks")),
    secrets=(SECRET,),
    headers=(JSON,),
    url=None,
)
GITHUB: Final = Signing(
    contract=contract_of_scheme(load_scheme("github")),
    secrets=("a secret",),
    headers=(JSON, ("X-GitHub-Delivery", EVENT_ID)),
    url=None,
)


def examine(
    url: str,
    signing: Signing = STANDARD,
    *,
    sees_effect: bool = True,
    own_event: bool = True,
    pause_s: float = 0.01,
) -> list[Finding]:
    line = signing.line(url)
    assert line is not None
    consumer = Consumer.at(f"{url}/hooks", ca=None, timeout_s=20)
    expired = EXPIRED if signing is STANDARD else "an old secret"
    examination = Examination(
        consumer=replace(consumer, pause_s=pause_s),
        signer=Signer(
            contract=signing.contract,
            secrets=signing.secrets,
            line=line,
            size=2**20,
            expired=expired,
        ),
        new_event=partial(new_event, signing, BODY),
        own_event=own_event,
        effect=effect_of_url(f"{url}/effects", consumer.tls) if sees_effect else None,
        within_s=3,
        quiet_s=0.05,
        pause_s=0.01,
    )

    async def run() -> list[Finding]:
        return [each async for each in examination.findings(requirements())]

    return asyncio.run(run())


def named(findings: list[Finding], verdict: Verdict) -> dict[str, str]:
    return {each.id: each.proof for each in findings if each.verdict is verdict}


def pause_s(kind: object) -> float:
    """Between the pieces of a slow body: long enough that these see the first one alone."""
    return 0.5 if kind in {FirstPieceAlone, "first-chunk"} else 0.01


@pytest.mark.parametrize("kind", GOOD)
def test_a_good_consumer_is_not_named(kind: type[GoodConsumer]) -> None:
    with serving(kind()) as url:
        findings = examine(url)
    passed = named(findings, Verdict.PASS)
    assert passed.keys() == requirements().keys(), [
        (each.id, each.verdict, each.proof) for each in findings if each.id not in passed
    ]
    assert exit_code(findings) == ExitCode.CONFORMS


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_consumer_is_named_by_what_it_does_wrong(kind: type[GoodConsumer]) -> None:
    with serving(kind()) as url:
        findings = examine(url, pause_s=pause_s(kind))
    failed = named(findings, Verdict.FAIL)
    assert failed.keys() == BAD[kind], failed
    assert named(findings, Verdict.NOT_EXERCISED) == {}
    assert exit_code(findings) == ExitCode.DOES_NOT_CONFORM


def test_every_requirement_names_a_bad_consumer() -> None:
    assert set.union(*BAD.values()) | {"takes-right"} == requirements().keys()


@pytest.mark.parametrize("kind", [SilentConsumer, NothingVerified])
def test_whether_anything_came_of_a_wrong_delivery_is_not_known_without_its_effect(
    kind: type[GoodConsumer],
) -> None:
    with serving(kind()) as url:
        findings = examine(url, sees_effect=False)
    assert named(findings, Verdict.FAIL) == {}
    assert named(findings, Verdict.NOT_EXERCISED).keys() == {
        *REFUSALS, "one-effect", "one-effect-at-once",
    }  # fmt: skip
    assert "give --effect" in named(findings, Verdict.NOT_EXERCISED)["refuses-unsigned"]
    assert exit_code(findings) == ExitCode.INCOMPLETE


class RefusesAll(GoodConsumer):
    async def taken(self, request: web.Request) -> int:
        return 422


class FailsAlways(GoodConsumer):
    async def taken(self, request: web.Request) -> int:
        return 500


@pytest.mark.parametrize("kind", [RefusesAll, FailsAlways])
@pytest.mark.parametrize("own_event", [True, False])
def test_without_a_right_delivery_that_is_taken_nothing_else_is_judged(
    kind: type[GoodConsumer], own_event: bool
) -> None:
    with serving(kind()) as url:
        findings = examine(url, own_event=own_event)
    assert named(findings, Verdict.FAIL).keys() == ({"takes-right"} if own_event else set())
    others = requirements().keys() - {"takes-right"}
    assert named(findings, Verdict.NOT_EXERCISED).keys() >= others


class LocksOut(GoodConsumer):
    """Refuses whoever has sent something wrong, from then on."""

    locked = False

    async def taken(self, request: web.Request) -> int:
        try:
            return 403 if self.locked else await super().taken(request)
        except Refused:
            self.locked = True
            raise


class Disturbed(GoodConsumer):
    """Fails once for what it refuses, and once for what it takes."""

    refusal = 500
    count = 0

    async def taken(self, request: web.Request) -> int:
        self.count += 1
        if self.count == 20:
            return 500
        try:
            return await super().taken(request)
        except Refused as refused:
            if refused.args[0] == 500:
                self.refusal = 401
            raise


class LimitsTheRate(GoodConsumer):
    """Every second request is one too many."""

    count = 0

    async def taken(self, request: web.Request) -> int:
        self.count += 1
        return await super().taken(request) if self.count % 2 else 429


class EffectOfItsOwn(GoodConsumer):
    """The number says nothing of the deliveries."""

    async def process(self, identifier: str, event: object) -> None:
        self.known.add(identifier)


@pytest.mark.parametrize("kind", [LocksOut, LimitsTheRate, EffectOfItsOwn, Disturbed])
def test_a_consumer_that_cannot_be_judged_is_not_named(kind: type[GoodConsumer]) -> None:
    with serving(kind()) as url:
        findings = examine(url)
    assert named(findings, Verdict.FAIL) == {}
    assert "takes-right" in named(findings, Verdict.PASS)


NODE: Final = shutil.which("node")
# Each consumer in JavaScript with all requirements that it does not meet; GitHub sends no time.
IN_JAVASCRIPT: Final = {
    "good": set(),
    "not-verified": REFUSALS - {"refuses-old", "refuses-changed-time"},
    "truthy": REFUSALS
    - {"refuses-old", "refuses-changed-time", "refuses-unsigned", "refuses-blank-signature"},
    "beginning-compared": {"refuses-half-signature"},
    "lengths-not-compared": {
        "refuses-unsigned",
        "refuses-blank-signature",
        "refuses-unreadable-signature",
        "refuses-half-signature",
    },
    "latin-1": {"takes-beyond-ascii"},
    "written-again": {"takes-indented", "takes-reordered", "survives-large"},
    "no-identifiers": {"one-effect", "one-effect-at-once"},
    "first-chunk": {"takes-chunked", "takes-slow", "survives-large"},
    "ends-by-bad-json": {"survives-compressed"},
}


@contextmanager
def in_javascript(kind: str) -> Iterator[str]:
    if NODE is None:
        pytest.skip("Node.js is not installed")
    zoo = Path(__file__).with_name("zoo.mjs")
    with subprocess.Popen(
        [NODE, zoo, kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        process.stdin.close()


@pytest.mark.parametrize("kind", IN_JAVASCRIPT)
def test_a_consumer_in_javascript_is_named_by_what_it_does_wrong(kind: str) -> None:
    with in_javascript(kind) as url:
        findings = examine(url, GITHUB, pause_s=pause_s(kind))
    failed = named(findings, Verdict.FAIL)
    assert failed.keys() == IN_JAVASCRIPT[kind], failed
    not_applicable = named(findings, Verdict.NOT_APPLICABLE)
    assert not_applicable["refuses-old"] == "the scheme sends no time"
