"""Sends the requests of a recording once more.

A request is sent when as much time has passed since the first one as in the recorded run, and not
before what had been answered by then is answered now: it may ask for what those answers showed.
"""

import asyncio
import heapq
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, Final

import msgspec

from hookproof.conformance.experiments import all_experiments
from hookproof.conformance.model.evidence import Exchange, PreconditionFailed
from hookproof.conformance.model.ledger import LeftBehind
from hookproof.conformance.replay.existing_resources import ExistingResources
from hookproof.conformance.replay.new_values import NewValues
from hookproof.conformance.replay.recording import Recording, RequestKey, request_key
from hookproof.conformance.results.behaviour.stored_cases import StoredCase
from hookproof.conformance.results.redaction import Mask
from hookproof.conformance.run.target_watch import TargetWatch
from hookproof.conformance.target.circuit_breaker import Breaker
from hookproof.conformance.target.client import ApiClient, Key
from hookproof.conformance.target.definition import Project, Target
from hookproof.conformance.target.environment import Embedded, Environment, open_environment
from hookproof.conformance.target.hooks.created_endpoints import CreatedEndpoints
from hookproof.conformance.target.pacing import Pacing
from hookproof.conformance.target.preflight import reach
from hookproof.process.exit_codes import CommandError
from hookproof.receiver.client.control_api import ReceiverClient
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.replies.script import Reply
from hookproof.receiver.replies.token_server_settings import FieldNames, TokenServerSettings, Turn
from hookproof.spec.contract.service_contract import contract_for
from hookproof.target.hooks.provision import HookFailures

INTERRUPTED: Final = "it was interrupted"
# In seconds; what is still to come when the replay ends is given so long to be cancelled.
CANCELLED_WITHIN_S: Final = 5.0


@dataclass(slots=True, kw_only=True)
class Replayed:
    """What came of a replay.

    `answers` are masked; they and `deliveries` show what was asked as it was recorded. `took_s` is
    from the first request to the last answer. `received` is whether it was waited for deliveries;
    `problem` says why none can arrive. `cut` says why the replay ended early.
    """

    target: str
    embedded: bool
    answers: dict[RequestKey, Exchange] = field(default_factory=dict)
    deliveries: dict[tuple[str, int], ReceivedDelivery] = field(default_factory=dict)
    took_s: float = 0.0
    received: bool = False
    problem: str = ""
    cut: str | None = None
    outages: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    left: LeftBehind = field(default_factory=LeftBehind)

    def leave_out_unanswered(self) -> None:
        """Forget the requests that met an outage, which says nothing of what was asked."""
        for key in [key for key, answer in self.answers.items() if answer.status is None]:
            del self.answers[key]


async def replay(
    recording: Recording, subject: Target | Embedded, begins: Callable[[str], None]
) -> Replayed:
    """Send everything to the target; an interrupt ends it, and what came until then is kept.

    `begins` is called with the address of the target before the first request. Raises CommandError
    if it cannot begin.
    """
    breaker, failures, endpoints = Breaker(), HookFailures(), CreatedEndpoints()
    async with open_environment(subject) as opened:
        target = opened.target
        async with (
            endpoints.cleaned_up(target.provision, failures),
            ApiClient(
                target.base_url,
                contract_for(target.dialect),
                target.dialect,
                timeout_s=target.budgets.request_s,
                breaker=breaker,
                pacing=Pacing(target.budgets.requests_per_s),
                endpoints=endpoints,
                connection=target.connection,
            ) as api,
        ):
            reached = await reach(target, len(all_experiments()), api)
            environment = replace(opened, target=reached.target)
            mask = Mask.of(reached.target, target.dialect)
            sending = await _prepared(recording, environment, api, failures, mask)
            begins(target.base_url)
            replayed = await _watched(sending, environment, breaker)
    failures.mask(mask.quotation)
    replayed.hooks = failures.words
    replayed.left = endpoints.left_behind().masked(mask.text)
    replayed.outages = tuple(map(mask.text, replayed.outages))
    replayed.cut = replayed.cut and mask.text(replayed.cut)
    return replayed


def replayed_cases(
    recording: Recording, replayed: Replayed
) -> tuple[list[StoredCase], list[StoredCase]]:
    """The observations as recorded and as replayed, both with only what was sent again, and with
    deliveries where it was waited for them. Requests for access tokens are no deliveries: how many
    there are depends on how long tokens lived, which is not recorded.
    """
    token_servers = _token_servers(recording)
    before, after = list[StoredCase](), list[StoredCase]()
    for case in recording.cases:
        sent = tuple(each for each in case.exchanges if request_key(each) in replayed.answers)
        answers = tuple(replayed.answers[request_key(each)] for each in sent)
        awaited = tuple(
            delivery
            for delivery in case.deliveries
            if replayed.received and delivery.token not in token_servers
        )
        again = ((each.token, each.sequence) for each in awaited)
        arrived = tuple(replayed.deliveries[key] for key in again if key in replayed.deliveries)
        before.append(replace(case, exchanges=sent, deliveries=awaited))
        after.append(replace(case, exchanges=answers, deliveries=arrived))
    return before, after


async def _prepared(
    recording: Recording,
    environment: Environment,
    api: ApiClient,
    failures: HookFailures,
    mask: Mask,
) -> "_Sending":
    """A receiver that answers as the recorded one did, and what is sent to the target."""
    target, receiver = environment.target, environment.receiver
    projects = _projects(recording, target)
    servers = _token_servers(recording)
    await asyncio.gather(
        *(receiver.script(token, replies) for token, replies in recording.replies.items()),
    )
    await asyncio.gather(
        *(receiver.token_server(token, settings) for token, settings in servers.items())
    )
    values = NewValues(
        recording,
        target.dialect,
        projects,
        receiver_url=environment.answering_url.rpartition("/")[0],
        nonce=secrets.token_hex(len(recording.header.nonce) // 2),
        pair=await receiver.client_certificate("replay"),
    )
    existing = ExistingResources(
        recording.requests,
        projects,
        api=api,
        provision=target.provision,
        failures=failures,
        plain=values.plain,
        takes_place=values.put,
    )
    return _Sending(
        recording=recording,
        api=api,
        receiver=receiver,
        projects=projects,
        values=values,
        existing=existing,
        mask=mask,
        delivery_s=target.budgets.delivery_s,
    )


def _projects(recording: Recording, target: Target) -> dict[str, Project]:
    """The target's projects in the place of the recorded ones: those of the same ids, then the
    others in their order; raises CommandError if there are fewer.
    """
    own = {project.id: project for project in target.projects}
    used = recording.projects
    others = iter([project for project in target.projects if project.id not in used])
    try:
        return {name: own[name] if name in own else next(others) for name in used}
    except StopIteration:
        raise CommandError(
            f"the recorded run worked in {len(used)} projects, and the target has"
            f" {len(target.projects)}: name {len(used)} with --project and --api-key, or in"
            " target.yaml"
        ) from None


def _token_servers(recording: Recording) -> dict[str, TokenServerSettings]:
    """Token endpoints for all endpoints with OAuth 2 whose tokens the receiver issued, by its own
    tokens; they give one to everybody.
    """
    found: dict[str, TokenServerSettings] = {}
    ours = f"{recording.header.receiver_url}/"
    for request in recording.requests:
        body = request.request_json
        settings = body.get("authentication") if isinstance(body, dict) else None
        oauth2 = settings.get("oauth2") if isinstance(settings, dict) else None
        url = oauth2.get("url") if isinstance(oauth2, dict) else None
        if isinstance(oauth2, dict) and isinstance(url, str) and url.startswith(ours):
            token = url.removeprefix(ours).partition("/")[0]
            replies = recording.replies.get(token, ())
            found[token] = TokenServerSettings(
                fields=_field_names(oauth2.get("field_mapping")),
                turns=tuple(map(_turn, replies)) or (Turn(),),
            )
    return found


def _turn(reply: Reply) -> Turn:
    return Turn() if reply.status == HTTPStatus.OK and not reply.hang else Turn(reply=reply)


def _field_names(mapping: Any) -> FieldNames:
    with suppress(msgspec.ValidationError):
        return msgspec.convert(mapping, FieldNames)
    return FieldNames()


async def _watched(sending: "_Sending", environment: Environment, breaker: Breaker) -> Replayed:
    """Send all, unless the target stops answering, or an interrupt comes."""
    replayed = Replayed(target=environment.target.base_url, embedded=environment.embedded)
    task = asyncio.create_task(sending.send_all(replayed))

    def give_up(reason: str) -> None:
        replayed.cut = replayed.cut or reason
        replayed.leave_out_unanswered()
        task.cancel()

    sending.api.pacing.give_up = give_up
    watch = TargetWatch(sending.api, environment.target.projects[0], breaker, give_up=give_up)
    watching = asyncio.create_task(watch.keep_watching())
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        replayed.cut = INTERRUPTED
        task.cancel()
    breaker.open()
    watching.cancel()
    await asyncio.wait({task, watching}, timeout=CANCELLED_WITHIN_S)
    if replayed.cut is None:
        task.result()
    replayed.outages = tuple(outage.words for outage in watch.outages)
    return replayed


@dataclass(slots=True, kw_only=True)
class _Sending:
    recording: Recording
    api: ApiClient
    receiver: ReceiverClient
    projects: Mapping[str, Project]
    values: NewValues
    existing: ExistingResources
    mask: Mask
    delivery_s: float

    async def send_all(self, replayed: Replayed) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        first = self.recording.requests[0].sent_at
        under_way: list[tuple[float, int, asyncio.Task[None]]] = []
        try:
            for number, request in enumerate(self.recording.requests):
                while under_way and under_way[0][0] <= request.sent_at:
                    await heapq.heappop(under_way)[2]
                await self.existing.make_for(request)
                await asyncio.sleep(began + request.sent_at - first - loop.time())
                ended_at = request.sent_at + request.duration_s
                task = asyncio.create_task(self._send(request, replayed))
                heapq.heappush(under_way, (ended_at, number, task))
            await asyncio.gather(*(task for _, _, task in under_way))
            replayed.took_s = loop.time() - began
            await self._receive(replayed)
        finally:
            replayed.took_s = replayed.took_s or loop.time() - began
            for _, _, task in under_way:
                task.cancel()
            await asyncio.gather(*(task for _, _, task in under_way), return_exceptions=True)

    async def _send(self, request: Exchange, replayed: Replayed) -> None:
        known = self.projects.get(request.project)
        project = Project(
            id=self.values.plain(request.project) if known is None else known.id,
            api_key=self.values.api_key(request),
        )
        key = Key(request.key)
        own = self.api.headers(project, key, has_json=False)
        answer = await self.api.send(
            operation_id=request.operation_id,
            role=request.role,
            project=project,
            method=request.method,
            target=self.values.target(request),
            content=self.values.content(request),
            headers=(*own, *self.values.headers(request)),
            key=key,
        )
        self.values.learn(request, answer)
        replayed.answers[request_key(request)] = replace(
            self.mask.exchange(answer),
            project=request.project,
            url=request.url,
            request_headers=request.request_headers,
            request_body=request.request_body,
        )

    async def _receive(self, replayed: Replayed) -> None:
        """Wait until as many deliveries have arrived at each token as the recorded run saw."""
        numbers: dict[str, int] = {}
        for case in self.recording.cases:
            for delivery in case.deliveries:
                number = max(delivery.sequence, numbers.get(delivery.token, 0))
                numbers[delivery.token] = number
        try:
            arrived = await asyncio.gather(
                *(
                    self.receiver.deliveries(token, number, self.delivery_s)
                    for token, number in numbers.items()
                )
            )
        except PreconditionFailed as failed:
            replayed.problem = str(failed)
            return
        for delivery in (each for deliveries in arrived for each in deliveries):
            body = self.values.recorded(delivery.body)
            replayed.deliveries[delivery.token, delivery.sequence] = replace(delivery, body=body)
        replayed.received = True
