"""What the doctor examines, one thing after the other, with a result for each.

A result is ok, or says what to do, or that something was not tried and why. What could only fail
for a reason already reported is not tried.
"""

import asyncio
import random
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, Self
from urllib.parse import urlsplit

from hookproof.conformance.doctor.counting_relay import Relay, relay
from hookproof.conformance.doctor.dialect_comparison import disagreements
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.learning.candidates import candidates
from hookproof.conformance.learning.probes.access import KEY_FORMAT
from hookproof.conformance.learning.session import with_key_format
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.tolerances import SKEW_S, distant
from hookproof.conformance.observations.secret_windows import skew_s
from hookproof.conformance.reports.summary import earlier_words, left_words
from hookproof.conformance.results.redaction import Mask
from hookproof.conformance.target.circuit_breaker import Breaker
from hookproof.conformance.target.client import ApiClient
from hookproof.conformance.target.definition import Project, Target
from hookproof.conformance.target.environment import READY_WITHIN_S, copy_ca, tls_options
from hookproof.conformance.target.hooks.created_endpoints import CreatedEndpoints
from hookproof.conformance.target.pacing import SLOWER, Pacing
from hookproof.conformance.target.preflight import (
    LISTS,
    is_list_answer,
    measure_round_trip_s,
    refusal_statuses,
    unreachable_advice,
    with_fresh_projects,
)
from hookproof.process.exit_codes import ExitCode
from hookproof.process.private_folder import private_folder
from hookproof.receiver.client.child_process import child
from hookproof.receiver.client.control_api import ReceiverClient
from hookproof.receiver.http.address import Address
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.contract.service_contract import contract_for
from hookproof.target.connection import UNVERIFIED
from hookproof.target.hooks.provision import HookFailed, HookFailures

DELIVERS: Final = "a delivery arrives"
# How long after the end of a connection its request may still be on its way to the inbox.
GRACE_S: Final = 1.0
# How often it is looked for handshakes that failed, and how many of them show what is wrong.
LOOKS_EVERY_S: Final = 0.5
SEVERAL: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorResult:
    """One thing that was examined; `advice` says what is wrong and what to do, and is empty if
    nothing is. `untried` is why it was not examined, if it was not. With an `exit_code` of 0 the
    target can be judged all the same. Without what is `needed` no dialect helps.
    """

    what: str
    advice: str = ""
    untried: str = ""
    exit_code: ExitCode = ExitCode.USAGE
    needed: bool = False

    @property
    def ok(self) -> bool:
        return not self.advice and not self.untried


@dataclass(slots=True)
class CleanUp:
    """What an examination has created at the target, and what becomes of that; `mask` knows the
    credentials that it has seen.
    """

    mask: Mask
    endpoints: CreatedEndpoints = field(default_factory=CreatedEndpoints)
    failures: HookFailures = field(default_factory=HookFailures)

    @classmethod
    def of(cls, target: Target) -> Self:
        return cls(Mask.of(target, target.dialect))

    def results(self) -> Iterator[DoctorResult]:
        """The hooks that failed, and what is left; to be called when the examination has ended."""
        self.failures.mask(self.mask.quotation)
        for words in self.failures.words:
            yield DoctorResult(what="the hooks that clean up work", advice=words)
        left = self.endpoints.left_behind().masked(self.mask.text)
        named = ", ".join(
            f"{each.uid or 'without a uid that was shown'} of project {each.project}"
            for each in left.endpoints
        )
        notes = [(f"the endpoint {named}", words) for words in left_words(left)]
        notes += [("the endpoints of the project", words) for words in earlier_words(left)]
        for what, words in notes:
            yield DoctorResult(what=what, advice=words, exit_code=ExitCode.CONFORMS)


async def examine(target: Target, clean_up: CleanUp) -> AsyncIterator[DoctorResult]:
    """Examine what judging the target needs; raises CommandError if that is impossible."""
    pacing = Pacing(target.budgets.requests_per_s)
    client = partial(
        ApiClient,
        target.base_url,
        contract_for(target.dialect),
        timeout_s=target.budgets.request_s,
        pacing=pacing,
        endpoints=clean_up.endpoints,
        connection=target.connection,
    )
    async with (
        clean_up.endpoints.cleaned_up(target.provision, clean_up.failures),
        client(target.dialect, breaker=Breaker()) as api,
    ):
        provisioned = await with_fresh_projects(target, 0)
        clean_up.mask = mask = Mask.of(provisioned, target.dialect)
        exchanges = [
            await api.call(LISTS[0], role="doctor", project=project)
            for project in provisioned.projects
        ]
        first = exchanges[0]
        if first.status is None:
            advice = f"{first.problem}; {unreachable_advice(first.problem or '')}"
            yield DoctorResult(
                what=f"the target answers at {target.base_url}",
                advice=advice,
                exit_code=ExitCode.UNREACHABLE,
            )
            return
        yield DoctorResult(
            what=f"the target answers at {target.base_url}, in {first.duration_s * 1000:.0f} ms"
        )
        if not target.is_verified:
            yield DoctorResult(
                what="the certificate of the API",
                advice=UNVERIFIED,
                exit_code=ExitCode.CONFORMS,
            )
        key_results = [
            _key_result(provisioned, project, exchange)
            for project, exchange in zip(provisioned.projects, exchanges, strict=True)
        ]
        if first.status in refusal_statuses(target.dialect):
            form = await _accepted_form(provisioned, client)
            if form is not None:
                key_results[0] = replace(key_results[0], advice=_of_another_form(target, form))
        for result in key_results:
            yield result
        yield _clock_result(first)
        if not key_results[0].ok:
            reason = f"the key of project {provisioned.projects[0].id} is not accepted"
            yield DoctorResult(what=DELIVERS, untried=reason)
            return
        async for result in _check_deliveries(provisioned, api, mask):
            yield result
        if api.pacing.put_off:
            yield DoctorResult(
                what="the target limits how fast it is called",
                advice=f"{api.pacing.words}; {SLOWER}",
                exit_code=ExitCode.CONFORMS,
            )


def _key_result(target: Target, project: Project, exchange: Exchange) -> DoctorResult:
    what = f"the key of project {project.id} is accepted"
    if is_list_answer(exchange):
        return DoctorResult(what=what)
    if exchange.status in refusal_statuses(target.dialect):
        dialect = f"that the dialect {target.dialect.name} is the target's"
        return DoctorResult(
            what=what,
            advice=f"refused with {exchange.status}; check the key, the project, and {dialect}",
        )
    outcome = exchange.status or exchange.problem
    advice = (
        f"GET {exchange.url} was answered {outcome} where a 2xx with the envelope of section 2.1"
        " was expected; is it the URL of this API?"
    )
    return DoctorResult(what=what, advice=advice)


async def _accepted_form(target: Target, client: Callable[..., ApiClient]) -> str | None:
    """Another form of the Authorization header in which the first key is accepted, if any is."""
    for form in candidates(KEY_FORMAT, target.dialect):
        if form != target.dialect.authentication.key_format:
            async with client(with_key_format(target.dialect, form), breaker=Breaker()) as api:
                answer = await api.call(LISTS[0], role="doctor", project=target.projects[0])
            if is_list_answer(answer):
                return str(form)
    return None


def _of_another_form(target: Target, form: str) -> str:
    known = target.dialect.authentication.key_format
    return f"{KEY_FORMAT} says {known!r}; the target accepts the key as {form!r}"


def _clock_result(exchange: Exchange) -> DoctorResult:
    skew = skew_s(exchange)
    what = "the target's clock agrees with ours"
    if exchange.response_header("Date") is None:
        return DoctorResult(what=what, untried="its answers have no Date")
    if not skew:
        return DoctorResult(what=f"{what} to {SKEW_S:g} s")
    ahead = f"it is {abs(skew):.0f} s {'ahead' if skew > 0 else 'behind'}"
    return DoctorResult(
        what=what, advice=f"{ahead}: signed times and expiries would be misjudged; set both clocks"
    )


async def _check_deliveries(
    target: Target, api: ApiClient, mask: Mask
) -> AsyncIterator[DoctorResult]:
    if not target.receiver.can_be_trusted:
        advice = (
            "none is named: make one with `hookproof ca DIR`, let the target trust DIR/ca.pem,"
            " and give --ca-dir DIR"
        )
        yield DoctorResult(what="the target trusts the receiver's CA", advice=advice)
        yield DoctorResult(what=DELIVERS, untried="without a CA nothing can be delivered")
        return
    with private_folder() as folder:
        ca = copy_ca(target.receiver, folder)
        bind = Address.parse(target.receiver.bind)
        async with relay(bind) as counting:
            own = replace(bind, port=counting.port).url("https")
            public = target.receiver.public_url or own
            arguments = [
                "receive",
                "--bind",
                "127.0.0.1:0",
                "--ca-dir",
                str(ca),
                "--public-url",
                public,
                *tls_options(target.receiver),
            ]
            async with (
                child(arguments, deadline_s=READY_WITHIN_S) as ready,
                ReceiverClient(ready["control"]) as receiver,
            ):
                counting.forward_to("127.0.0.1", urlsplit(ready["listening"]).port or 0)
                async for result in _check_delivery(target, api, receiver, counting, public, mask):
                    yield result


async def _check_delivery(
    target: Target,
    api: ApiClient,
    receiver: ReceiverClient,
    counting: Relay,
    public: str,
    mask: Mask,
) -> AsyncIterator[DoctorResult]:
    """Create an endpoint, broadcast an event, and examine how far the delivery gets."""
    round_trip_s = await measure_round_trip_s(target.projects[0], api)
    target = replace(target, budgets=target.budgets.over(round_trip_s))
    bodies = RequestBodies(
        dialect=target.dialect,
        random=random.Random(),
        word=lambda stem: f"{stem}-doctor{secrets.token_hex(4)}",
    )
    token, project = await receiver.new_token(), target.projects[0]
    created = await api.call(
        "createEndpoint",
        role="doctor",
        project=project,
        body=bodies.reached_endpoint(url=token.url),
    )
    yield _call_result("an endpoint can be created", mask.exchange(created))
    if not created.succeeded:
        yield DoctorResult(what=DELIVERS, untried="there is no endpoint")
        return
    shown = created.data if isinstance(created.data, dict) else {}
    try:
        await target.provision.after_endpoint_created(project, shown)
    except HookFailed as failure:
        advice = str(failure.masked(mask.quotation))
        yield DoctorResult(what="the hook after_endpoint_created works", advice=advice)
        yield DoctorResult(what=DELIVERS, untried="the endpoint may not be ready")
        return
    await asyncio.sleep(distant(target.dialect.delivery.visible_within_s, round_trip_s))
    # A dialect's visit of a new endpoint is no delivery, and shows nothing of the event.
    visits = len(await receiver.deliveries(token.token, count=0, timeout_s=0))
    marker = bodies.word("event")
    sent = await api.call(
        "createBroadcastEvent",
        role="doctor",
        project=project,
        body=bodies.broadcast(data={"marker": marker}),
    )
    yield _call_result("an event can be broadcast", mask.exchange(sent))
    yield _dialect_result(target, created, sent)
    if not sent.succeeded:
        yield DoctorResult(what=DELIVERS, untried="there is no event")
        return
    arrived = await _arrived(receiver, token.token, visits, target.budgets.delivery_s)
    delivered = any(marker.encode() in delivery.body for delivery in arrived)
    for result in _reach_results(target, counting.connections, len(arrived), delivered, public):
        yield result


async def _arrived(
    receiver: ReceiverClient, token: str, visits: int, within_s: float
) -> tuple[ReceivedDelivery, ...]:
    """Wait for one request more than the visits; in vain, if the sender breaks off each of several
    TLS handshakes.
    """
    clock = asyncio.get_running_loop().time
    ends = clock() + within_s
    while True:
        left_s = ends - clock()
        step_s = min(LOOKS_EVERY_S, left_s) if left_s > 0 else GRACE_S
        arrived = await receiver.deliveries(token, count=visits + 1, timeout_s=step_s)
        if len(arrived) > visits or left_s <= 0:
            return arrived
        handshakes = await receiver.tls_handshakes()
        if handshakes.begun >= SEVERAL and not handshakes.completed:
            return arrived


def _dialect_result(target: Target, created: Exchange, sent: Exchange) -> DoctorResult:
    """Whether the first answers are as the dialect says."""
    name = target.dialect.name
    wrong = dict.fromkeys(disagreements(target.dialect, created, sent if sent.succeeded else None))
    if not wrong:
        return DoctorResult(what=f"the answers agree with the dialect {name}")
    return DoctorResult(
        what=f"the dialect {name} says otherwise than the answers",
        advice=f"{'; '.join(wrong)}; correct it, or let `hookproof learn` find it out",
        exit_code=ExitCode.CONFORMS,
    )


def _call_result(what: str, exchange: Exchange) -> DoctorResult:
    if isinstance(exchange.data, dict):
        return DoctorResult(what=what)
    excerpt = exchange.response_body[:200].decode(errors="replace")
    advice = (
        f"{exchange.operation_id} was answered {exchange.status or exchange.problem}: {excerpt}"
    )
    if exchange.succeeded:
        expected = "a success has the resource as an object in `data` (section 2.1)"
        return DoctorResult(what=what, advice=f"{advice}; {expected}")
    return DoctorResult(
        what=what, advice=f"{advice}; does the dialect name what the target requires?"
    )


def _reach_results(
    target: Target, connections: int, requests: int, delivered: bool, public: str
) -> list[DoctorResult]:
    reached, trusted = (
        f"the target reaches the receiver at {public}",
        f"the target trusts {target.receiver.authority}",
    )
    within_s = round(target.budgets.delivery_s, 1)
    if requests:
        advice = f"{requests} requests came within {within_s:g} s, and none with the event's data"
        return [
            DoctorResult(what=reached),
            DoctorResult(what=trusted),
            DoctorResult(what=DELIVERS, advice="" if delivered else advice),
        ]
    if not connections:
        advice = f"no connection came within {within_s:g} s: {target.receiver.reach_advice}"
        return [DoctorResult(what=reached, advice=advice, needed=True)]
    advice = (
        f"it connected {connections} times and sent no request: {target.receiver.trust_advice};"
        " restart it if it reads authorities only when it starts"
    )
    return [DoctorResult(what=reached), DoctorResult(what=trusted, advice=advice, needed=True)]
