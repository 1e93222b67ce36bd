"""The first requests to a target: can it be reached, is it this service, does it accept the keys?

Without this, a wrong URL or key would make a target fail every requirement. A target is refused
only for what all its answers have in common: one operation that is broken is for the run to judge.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from statistics import median
from typing import Final, Protocol

from hookproof.conformance.model.evidence import NOT_JSON, Exchange
from hookproof.conformance.target.client import ApiClient
from hookproof.conformance.target.definition import Project, Target
from hookproof.conformance.target.project_assignment import projects_needed
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.spec.dialect.model import Dialect
from hookproof.target.hooks.provision import HookFailed
from hookproof.target.masking.quotation_mask import QuotationMask

ROLE: Final = "preflight"
# They change nothing and need nothing to exist.
LISTS: Final = ("listSources", "listPortalLinks")
# How many of them show how far away the target is, and about how many seconds they may take.
MEASURED: Final = 5
MEASURED_WITHIN_S: Final = 2.0
# A target whose answers take longer than this, and so many times as long as its quickest, is busy
# with what came before the run. It is waited for until so many answers in a row are quick.
BUSY_S: Final = 1.0
BUSY_TIMES: Final = 5
QUICK_AGAIN: Final = 3
# How long at most, in seconds, and where no answer was quick: it may be a slow one.
RESTS_WITHIN_S: Final = 60.0
# Not more than this part of the time of a run.
PART_FOR_REST: Final = 2
SLOW_WITHIN_S: Final = 10.0
PAUSE_S: Final = 0.5
# An identifier that no endpoint has.
UNKNOWN: Final = "hookproof-preflight"
ENVELOPE: Final = frozenset({"message", "status", "data"})
KEY_REFUSALS: Final = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
REDIRECTS: Final = range(300, 400)
SERVER_ERRORS: Final = range(500, 600)
# What OpenSSL says of a certificate that it does not trust.
DISTRUSTED: Final = "CERTIFICATE_VERIFY_FAILED"
OTHER_CA: Final = "name the CA of its certificate as connection.ca in target.yaml"


class Calls(Protocol):
    """What calls operations of a target."""

    async def call(self, operation_id: str, *, role: str, project: Project) -> Exchange: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """A target that answers: with all its projects, and how long that takes it, in seconds.

    `waited` says in words why it was waited for before, if it was; `waited_s` how long.
    """

    target: Target
    answer_s: float
    round_trip_s: float
    waited: str = ""
    waited_s: float = 0.0


async def reach(target: Target, experiments: int, api: ApiClient) -> Reached:
    """Reach the target in projects for this number of experiments; raises CommandError."""
    try:
        async with asyncio.timeout(target.budgets.of_the_run()):
            usable = await with_fresh_projects(target, experiments)
            answer_s = await check_access(usable, api)
            first, most_s = usable.projects[0], target.budgets.of_the_run() / PART_FOR_REST
            durations = await _round_trips_s(first, api)
            rest = await wait_for_rest(
                first, api, [answer_s, *durations], min(most_s, RESTS_WITHIN_S)
            )
            return Reached(
                target=usable,
                answer_s=min(answer_s, rest.quickest_s),
                round_trip_s=(
                    await measure_round_trip_s(first, api)
                    if rest.waited_s
                    else round(median(durations), 4)
                ),
                waited=rest.words,
                waited_s=rest.waited_s,
            )
    except TimeoutError:
        raise CommandError(_out_of_time(target, api), ExitCode.UNREACHABLE) from None


async def check_access(target: Target, api: ApiClient) -> float:
    """Make a few harmless calls in each project; return how long an answer takes, in seconds.

    Raises CommandError if the target cannot be reached, is not a server of this API, or refuses a
    key.
    """
    first, *others = target.projects
    answers = await _check_service(target, first, api)
    refusals = await asyncio.gather(*(key_refusal(target, project, api) for project in others))
    for refusal in filter(None, refusals):
        raise refusal
    return min(answer.duration_s for answer in answers)


async def measure_round_trip_s(project: Project, api: Calls) -> float:
    """The median time of a few cheap requests, one after the other."""
    return round(median(await _round_trips_s(project, api)), 4)


async def _round_trips_s(project: Project, api: Calls) -> list[float]:
    durations: list[float] = []
    while len(durations) < MEASURED and sum(durations) < MEASURED_WITHIN_S:
        listed = await api.call(LISTS[0], role=ROLE, project=project)
        durations.append(listed.duration_s)
    return durations


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """How long a target was waited for, and how long its slowest, its quickest and its last answers
    took, in seconds.
    """

    waited_s: float
    slowest_s: float
    quickest_s: float
    last_s: float

    @property
    def words(self) -> str:
        """What was waited for, and why; empty if the target was at rest."""
        if not self.waited_s:
            return ""
        return (
            f"waited {self.waited_s:.0f} s for the target to come to rest: its answers took up to"
            f" {self.slowest_s:.1f} s when the run began, and {self.last_s:.1f} s at last"
        )


async def wait_for_rest(
    project: Project,
    api: Calls,
    durations: Sequence[float],
    most_s: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Rest:
    """Ask a target whose first answers took so long until it answers quickly again, for `most_s`
    seconds; one that has not been quick may be a slow one, and is waited for less long.
    """
    slowest_s, quickest_s, last_s = max(durations), min(durations), durations[-1]
    began, quick, waited_s = clock(), 0, 0.0
    while slowest_s > BUSY_S and quick < QUICK_AGAIN and waited_s < most_s:
        if quickest_s * BUSY_TIMES > slowest_s and waited_s >= SLOW_WITHIN_S:
            break
        await sleep(PAUSE_S)
        listed = await api.call(LISTS[0], role=ROLE, project=project)
        if listed.status is None and listed.duration_s < BUSY_S:
            break  # it is gone: nobody listens there
        last_s, waited_s = listed.duration_s, clock() - began
        slowest_s, quickest_s = max(slowest_s, last_s), min(quickest_s, last_s)
        quick = 0 if last_s > BUSY_S else quick + 1
    return Rest(waited_s=waited_s, slowest_s=slowest_s, quickest_s=quickest_s, last_s=last_s)


async def with_fresh_projects(target: Target, experiments: int) -> Target:
    """The target with as many projects as this number of experiments needs, if a hook creates them;
    raises CommandError.
    """
    missing = projects_needed(experiments) - len(target.projects)
    if not target.provision.has("fresh_project") or missing <= 0:
        return target
    try:
        created = await asyncio.gather(*(target.provision.fresh_project() for _ in range(missing)))
    except HookFailed as failure:
        mask = QuotationMask(target.projects, target.dialect, target.connection.headers)
        raise CommandError(str(failure.masked(mask.quotation))) from None
    return replace(target, projects=(*target.projects, *(Project(**fields) for fields in created)))


def _out_of_time(target: Target, api: ApiClient) -> str:
    """The message for a target that used up the time of the run before anything could begin."""
    budget = f"the time budget of {target.budgets.of_the_run():g} s"
    limit = f"; {api.pacing.words}" if api.pacing.put_off else ""
    return f"target unreachable: {target.base_url}: no answer within {budget}{limit}"


async def _check_service(target: Target, project: Project, api: ApiClient) -> Sequence[Exchange]:
    """Return what the first project answers; raises CommandError if it is not from a server of this
    API.
    """
    listed = await _list(LISTS[0], project, api)
    unknown = await _fetch_unknown(project, api)
    answers = [listed, unknown]
    if not is_list_answer(listed) or _alike(unknown, listed):
        answers += await asyncio.gather(
            _list(LISTS[1], project, api), _create_nothing(project, api)
        )
    refusal = setup_problem(target, project, answers)
    if refusal is not None:
        raise refusal
    return answers


async def _list(operation_id: str, project: Project, api: ApiClient) -> Exchange:
    return await api.call(operation_id, role=ROLE, project=project)


async def _create_nothing(project: Project, api: ApiClient) -> Exchange:
    """A creation that is refused, unless the target takes an endpoint without a URL."""
    return await api.call("createEndpoint", role=ROLE, project=project, body={})


async def _fetch_unknown(project: Project, api: ApiClient) -> Exchange:
    path = {"endpointID": UNKNOWN}
    return await api.call("getEndpoint", role=ROLE, project=project, path=path)


async def key_refusal(target: Target, project: Project, api: ApiClient) -> CommandError | None:
    """Why nothing can be done in a project, if all its answers are refusals of the key."""
    refused = []
    for ask in (partial(_list, LISTS[0]), partial(_list, LISTS[1]), _create_nothing):
        answer = await ask(project, api)
        if answer.status is not None and answer.status not in refusal_statuses(target.dialect):
            return None
        refused.append(answer)
    return _unreachable(target, refused) or _key_refused(target, project, refused[0])


def is_list_answer(exchange: Exchange) -> bool:
    """Whether it is a success in the envelope, or in what is left of it (section 2.1)."""
    return exchange.succeeded and _has_envelope(exchange)


def setup_problem(
    target: Target, project: Project, answers: Sequence[Exchange]
) -> CommandError | None:
    """What these answers to different requests have in common that no server of this API can have.

    The first is to a list operation, the second to a request for what does not exist.
    """
    listed, unknown = answers[:2]
    lists = [answer for answer in answers if answer.operation_id in LISTS]
    if any(map(is_list_answer, lists)):
        same = all(_alike(unknown, answer) for answer in lists)
        return _not_this_api(target, "every request is answered alike", listed) if same else None
    return (
        _unreachable(target, answers)
        or _server_error(target, answers)
        or _refused_everywhere(target, project, answers)
        or _foreign_answers(target, answers)
    )


def _unreachable(target: Target, answers: Sequence[Exchange]) -> CommandError | None:
    if any(answer.status is not None for answer in answers):
        return None
    problem = answers[0].problem or ""
    return CommandError(
        f"target unreachable: {target.base_url}: {problem}; {unreachable_advice(problem)}",
        ExitCode.UNREACHABLE,
    )


def unreachable_advice(problem: str) -> str:
    """What to do about a request that got no answer for this reason."""
    return OTHER_CA if DISTRUSTED in problem else "is it running, and is the URL right?"


def _server_error(target: Target, answers: Sequence[Exchange]) -> CommandError | None:
    if not all(answer.status is None or answer.status in SERVER_ERRORS for answer in answers):
        return None
    statuses = ", ".join(sorted({str(answer.status or "nothing") for answer in answers}))
    return CommandError(
        f"target unreachable: {target.base_url}: every request is answered {statuses}"
        f" (first GET {answers[0].url}); is the service up, and is it behind a proxy?",
        ExitCode.UNREACHABLE,
    )


def _refused_everywhere(
    target: Target, project: Project, answers: Sequence[Exchange]
) -> CommandError | None:
    """A key that is refused, or a path under which there is nothing."""
    refusals = refusal_statuses(target.dialect)
    lists = [answer for answer in answers if answer.operation_id in LISTS]
    created = answers[-1]
    if created.status in refusals and all(answer.status in refusals for answer in lists):
        return _key_refused(target, project, answers[0])
    if len({answer.status for answer in answers}) == 1 and answers[0].status not in (
        *range(200, 400),
        None,
    ):
        return _not_this_api(target, f"every request is answered {answers[0].status}", answers[0])
    return None


def _key_refused(target: Target, project: Project, exchange: Exchange) -> CommandError:
    return CommandError(
        f"the target refused the key of project {project.id!r} with {exchange.status}"
        f" (GET {exchange.url}); check the key and the project,"
        f" and that the dialect {target.dialect.name} is the target's"
    )


def _foreign_answers(target: Target, answers: Sequence[Exchange]) -> CommandError | None:
    """Answers that are not of this API at all."""
    first = answers[0]
    if all(answer.status in REDIRECTS for answer in answers):
        elsewhere = first.response_header("Location")
        return _not_this_api(target, f"every request is redirected, to {elsewhere}", first)
    if all(answer.json is NOT_JSON for answer in answers):
        kind = first.response_header("Content-Type")
        return _not_this_api(target, f"no answer is JSON but {kind}", first)
    if not any(_has_envelope(answer) for answer in answers):
        return _not_this_api(target, "no answer has the envelope of section 2.1", first)
    return None


def _alike(unknown: Exchange, listed: Exchange) -> bool:
    return unknown.succeeded and listed.succeeded and unknown.data == listed.data


def _has_envelope(exchange: Exchange) -> bool:
    return isinstance(exchange.json, dict) and not ENVELOPE.isdisjoint(exchange.json)


def _not_this_api(target: Target, what: str, first: Exchange) -> CommandError:
    return CommandError(
        f"the target at {target.base_url} is not a server of this API: {what}"
        f" (first GET {first.url}: {first.status}); check the URL, the project and the key"
    )


def refusal_statuses(dialect: Dialect) -> set[int]:
    """The statuses with which a target refuses a key (section 5): the dialect's, and HTTP's own."""
    answers = dialect.authentication
    refusals = (answers.missing_key_status, answers.wrong_key_status, answers.foreign_key_status)
    return {status for answer in refusals for status in answer.allowed} | KEY_REFUSALS
