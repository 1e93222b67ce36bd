"""What a target has no licence for is left out of a run, and says why; nothing else is."""

import asyncio
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from hookproof.load.plan import counts_as_delivered
from hookproof.load.profile.load_profile import LoadEndpointSettings, load_profile
from hookproof.load.target.client import TargetClient, TargetRefusal
from hookproof.load.target.hook_calls import HookCalls
from hookproof.load.target.preparation import (
    EndpointCreator,
    LoadPreparation,
    PlacedEndpoint,
    longest_pause_s,
)
from hookproof.load.target.settings import TargetSettings, target_settings
from hookproof.receiver.replies.script import Reply
from hookproof.spec.contract.service_contract import contract_for
from hookproof.spec.dialect.answer import NOT_ASKED, Answer
from hookproof.spec.dialect.vocabulary import SuccessStatus
from hookproof.target.file_schema import Presence
from hookproof.target.settings import Flags

SETTINGS = target_settings(Flags(), {})
WANTED = LoadEndpointSettings(
    count=2,
    limited=1,
    rate_limit=10,
    rate_limit_duration_s=1,
    http_timeout_s=3,
    advanced_signatures=True,
)


class CannedTarget(TargetClient):
    """Refuses endpoints with any of these fields set; shows what `shows` says of the others."""

    def __init__(
        self,
        *unlicensed: str,
        shows: Mapping[str, Any] | None = None,
        has_no_effect: bool = True,
    ) -> None:
        super().__init__(SETTINGS, HookCalls.of(SETTINGS).mask)
        self._unlicensed = unlicensed
        self._shows = {"uid": "e"} if shows is None else shows
        self._has_no_effect = has_no_effect
        self.bodies: list[dict[str, Any]] = []

    async def call(
        self, method: str, path: str, body: object = None, *, needs_data: bool = True
    ) -> Mapping[str, Any]:
        assert isinstance(body, dict)
        self.bodies.append(body)
        if any(body.get(name) for name in self._unlicensed):
            raise TargetRefusal("no licence", has_no_effect=self._has_no_effect)
        return self._shows


def created(
    target: CannedTarget, settings: TargetSettings = SETTINGS, receiver: str = "https://r"
) -> tuple[list[PlacedEndpoint], dict[str, str]]:
    creation = EndpointCreator(
        settings=settings,
        target=target,
        hooks=HookCalls.of(settings),
        path="/endpoints",
        receivers=[receiver],
    )

    async def create() -> list[PlacedEndpoint]:
        return [await creation.create(WANTED, number) for number in range(WANTED.count)]

    return asyncio.run(create()), creation.left_out


@pytest.mark.parametrize(
    ("receiver", "is_named"), [("https://127.0.0.1:8443", True), ("https://localhost:8443", False)]
)
def test_a_refused_endpoint_at_an_address_has_a_hint(receiver: str, is_named: bool) -> None:
    with pytest.raises(TargetRefusal) as refused:
        created(CannedTarget("url"), receiver=receiver)
    hint = f"takes no endpoint URL with an address, as in {receiver}, give --receiver-url"
    assert (hint in str(refused.value)) == is_named


def test_a_target_that_has_everything_is_asked_once_for_each_endpoint() -> None:
    target = CannedTarget()
    endpoints, left_out = created(target)
    assert ([endpoint.limited for endpoint in endpoints], left_out) == ([True, False], {})
    assert len(target.bodies) == 2


@pytest.mark.parametrize("name", ["rate_limit", "http_timeout", "advanced_signatures"])
def test_what_is_refused_is_left_out_and_the_rest_is_kept(name: str) -> None:
    target = CannedTarget(name)
    endpoints, left_out = created(target)
    assert left_out == {name: "the target refuses an endpoint with it: no licence"}
    kept = {"rate_limit", "http_timeout", "advanced_signatures"} - {name}
    accepted = next(body for body in target.bodies if not body.get(name))
    assert all(accepted[other] for other in kept)
    assert endpoints[0].limited is (name != "rate_limit")
    assert endpoints[0].receiving.advanced is (name != "advanced_signatures")
    assert not target.bodies[-1].get(name), "the second endpoint asked for it again"
    assert len({body["url"] for body in target.bodies}) == len(target.bodies)


def test_what_the_target_file_promises_is_not_left_out() -> None:
    promising = replace(SETTINGS, capabilities={"rate_limit": Presence.YES})
    with pytest.raises(TargetRefusal, match="no licence"):
        created(CannedTarget("rate_limit"), promising)


def test_an_error_is_no_refusal_and_ends_the_preparation() -> None:
    target = CannedTarget("rate_limit", has_no_effect=False)
    with pytest.raises(TargetRefusal):
        created(target)
    assert len(target.bodies) == 1


def test_an_endpoint_is_used_whatever_its_answer_shows() -> None:
    endpoints, _ = created(CannedTarget(shows={}))
    assert [(endpoint.uid, endpoint.timeout_s) for endpoint in endpoints] == [("", 3.0), ("", 3.0)]


def prepared(left_out: dict[str, str], *timeouts_s: float | None) -> LoadPreparation:
    endpoints, _ = created(CannedTarget())
    return LoadPreparation(
        settings=SETTINGS,
        contract=contract_for(SETTINGS.dialect),
        receivers=("https://r",),
        hooks=HookCalls.of(SETTINGS),
        endpoints=[replace(endpoints[0], timeout_s=timeout_s) for timeout_s in timeouts_s],
        left_out=left_out,
    )


def test_a_profile_of_limits_runs_without_them_where_the_target_has_none() -> None:
    profile = load_profile("rate-limit")
    fitted = prepared({"rate_limit": "it has none"}).fitted(profile)
    assert fitted.endpoints.limited == 0
    judged = {threshold.figure for threshold in fitted.fail_if}
    assert judged == {"lost", "unverifiable", "refused", "duplicated", "altered"}
    assert prepared({}).fitted(profile) == profile


def test_a_mix_of_which_nothing_is_left_is_refused() -> None:
    profile = replace(load_profile("smoke"), mix={"listSources": 1})
    prepared({}).check(profile)
    with pytest.raises(TargetRefusal, match="no sources here"):
        prepared({"listSources": "no sources here"}).check(profile)


@pytest.mark.parametrize(("timeout_s", "succeeds"), [(0.4, False), (3.0, True), (None, True)])
def test_a_reply_that_comes_after_the_target_has_given_up_is_no_success(
    timeout_s: float | None, succeeds: bool
) -> None:
    chaos = load_profile("chaos")
    [slow] = [trouble for trouble in chaos.trouble if "delay_s" in trouble.reply]
    [plan] = prepared({}, timeout_s).plans(replace(chaos, trouble=(slow,)), "run")
    [period] = plan.reply_periods
    assert period.succeeds is succeeds


@pytest.mark.parametrize(
    ("answers", "counted"),
    [
        (Answer((SuccessStatus.ANY_2XX,)), {200, 204}),
        (Answer((SuccessStatus.ONLY_200,)), {200}),
        (NOT_ASKED, {200}),
    ],
    ids=["any 2xx", "only 200", "undecided"],
)
def test_what_counts_as_delivered_is_what_the_dialect_says(
    answers: Answer[SuccessStatus], counted: set[int]
) -> None:
    dialect = replace(SETTINGS.dialect, retry=replace(SETTINGS.dialect.retry, success=answers))
    replies = [Reply(status=status) for status in (200, 204, 302, 500)]
    assert {
        reply.status for reply in replies if counts_as_delivered(reply, dialect, math.inf)
    } == counted
    assert not counts_as_delivered(Reply(delay_s=2), dialect, 2.0)
    assert not counts_as_delivered(Reply(hang=True), dialect, math.inf)


def test_the_longest_pause_is_that_of_a_limit_or_of_the_retries() -> None:
    dialect = SETTINGS.dialect
    assert longest_pause_s(load_profile("smoke"), dialect) == 0
    assert longest_pause_s(load_profile("rate-limit"), dialect) == 1
    # Five attempts: waits of 1, 2, 4 and 8 s, and up to a fifth more.
    assert longest_pause_s(load_profile("chaos"), dialect) == pytest.approx(9.6)
