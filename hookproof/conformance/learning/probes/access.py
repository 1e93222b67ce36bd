"""How a key is presented, what it opens, and how requests without a right one are refused
(section 5).
"""

from collections import Counter
from dataclasses import replace

from hookproof.conformance.learning.candidates import candidates
from hookproof.conformance.learning.learned_answers import LearnedAnswers
from hookproof.conformance.learning.session import (
    GET,
    LINKS,
    SOURCES,
    ProbeSession,
    see_refusals,
    unknown_uid,
)
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import refused, shown_uid
from hookproof.conformance.subjects.keys.experiment import attempts_in_other_formats
from hookproof.conformance.target.client import Key
from hookproof.conformance.target.definition import Project
from hookproof.conformance.target.preflight import is_list_answer, setup_problem
from hookproof.process.exit_codes import CommandError
from hookproof.spec.dialect.vocabulary import Acceptance, KeyScope

KEY_FORMAT = "authentication.key_format"
UNKNOWN = "errors.unknown_resource"
SCOPE = "authentication.key_scope"
FOREIGN = "authentication.foreign_key_status"


async def find_key_format(session: ProbeSession) -> None:
    """Learn how the Authorization header carries the key.

    Raises CommandError if the target cannot be reached, or accepts the key in no form.
    """
    forms = candidates(KEY_FORMAT, session.answers.extended)
    asked: list[Exchange] = []
    for form in forms:
        await session.use_key_format(form)
        for operation_id in (SOURCES, LINKS):
            answer = await session.call(operation_id, f"with the key as {form!r}")
            asked.append(answer)
            if is_list_answer(answer):
                session.answers.see(KEY_FORMAT, form, shown_by=answer)
                session.listing = operation_id
                return
            if answer.status is None:
                break
    raise _why_none(session, asked, forms)


def _why_none(session: ProbeSession, asked: list[Exchange], forms: tuple[str, ...]) -> CommandError:
    odd = [answer for answer in asked if not refused(answer)]
    if odd:
        problem = setup_problem(session.target, session.project, [*odd[:2], odd[-1]])
        if problem is not None:
            return problem
    statuses = ", ".join(sorted({str(answer.status or answer.problem) for answer in asked}))
    return CommandError(
        f"the target accepts the key of project {session.project.id!r} in none of the"
        f" {len(forms)} forms that were tried (answered {statuses}); check the URL, the key and the"
        " project, or name the form of the header: put authentication.key_format into a dialect"
        " file that extends undecided, and give --extends FILE"
    )


async def probe_keys(session: ProbeSession) -> None:
    """Learn the statuses of requests without a key, with a wrong one, and for no project."""
    for field, key, role in (
        ("authentication.missing_key_status", Key.NONE, "without a key"),
        ("authentication.wrong_key_status", Key.WRONG, "with a key that was never issued"),
    ):
        answer = await session.call(session.listing, role, key=key)
        see_status(session, field, answer)
    await _probe_other_formats(session)
    nowhere = Project(id=unknown_uid(session.project.id), api_key=session.project.api_key)
    answer = await session.call(
        session.listing, "in a project that does not exist", project=nowhere
    )
    see_status(session, "errors.unknown_project", answer)


async def _probe_other_formats(session: ProbeSession) -> None:
    """Learn whether the key is taken in another format, too."""
    field = "authentication.other_key_formats"
    known = session.answers.dialect.authentication.key_format
    answers = [
        await session.call(
            session.listing,
            "with the key in another format",
            key=attempt.key,
            headers=attempt.headers,
        )
        for attempt in attempts_in_other_formats(known, session.project.api_key)
    ]
    taken = [answer for answer in answers if is_list_answer(answer)]
    unclear = [answer for answer in answers if not refused(answer)]
    if taken:
        session.answers.see(field, Acceptance.TAKEN.value, shown_by=taken[0], count=len(taken))
    elif unclear:
        miss_undecided(session, field, unclear[0])
    else:
        session.answers.see(
            field, Acceptance.REFUSED.value, shown_by=answers[0], count=len(answers)
        )


async def probe_key_scope(session: ProbeSession, created: Exchange | None) -> None:
    """Learn whether a key opens other projects than its own, with an endpoint of its own project.

    Where a key opens every path, the endpoint is found under the other project's path only if the
    key decides which project is meant. It takes two projects.
    """
    others = session.target.projects[1:]
    if not others:
        _miss_scope(session, "a second project would show it: repeat --project and --api-key")
        _read_what_a_path_decides(session.answers)
        return
    if not session.answers.is_seen("authentication.wrong_key_status"):
        reason = "a key that was never issued is not refused either; `hookproof check` judges that"
        _miss_scope(session, reason)
        return
    own = await session.call(session.listing, "in the other project", project=others[0])
    if not is_list_answer(own):
        _miss_scope(session, f"the other project is refused to its own key ({own.status})")
        return
    foreign = replace(others[0], api_key=session.project.api_key)
    answer = await session.call(session.listing, "with the key of another project", project=foreign)
    if is_list_answer(answer):
        session.answers.miss(FOREIGN, "the key of one project opens the other")
        await _probe_whose_project(session, foreign, shown_uid(created))
    elif refused(answer):
        session.answers.see(SCOPE, KeyScope.PROJECT.value, shown_by=answer)
        see_status(session, FOREIGN, answer)
    else:
        for field in (SCOPE, FOREIGN):
            miss_undecided(session, field, answer)


def _miss_scope(session: ProbeSession, reason: str) -> None:
    for field in (SCOPE, FOREIGN):
        session.answers.miss(field, reason)


def _read_what_a_path_decides(answers: LearnedAnswers) -> None:
    """A key that opened its own project under every path would open it under that of a project that
    does not exist.
    """
    nowhere = answers.answer("errors.unknown_project")
    if answers.is_seen(nowhere.field):
        by_path = [scope.value for scope in KeyScope if scope is not KeyScope.KEY_DECIDES]
        answers.see(SCOPE, *by_path, shown_by=nowhere.shown_by)


async def _probe_whose_project(session: ProbeSession, foreign: Project, uid: str | None) -> None:
    """Look for an endpoint of the key's own project under the path of another one."""
    if uid is None:
        session.answers.miss(SCOPE, "an endpoint would show it, and none can be created")
        return
    path = {"endpointID": uid}
    answer = await session.call(
        GET, "under another project, with the key of its own", path=path, project=foreign
    )
    if shown_uid(answer) == uid:
        session.answers.see(SCOPE, KeyScope.KEY_DECIDES.value, shown_by=answer)
    elif refused(answer):
        session.answers.see(SCOPE, KeyScope.ACCOUNT.value, shown_by=answer)
    else:
        miss_undecided(session, SCOPE, answer)


def miss_undecided(session: ProbeSession, field: str, answer: Exchange) -> None:
    """Note that an answer is neither a success nor a refusal, so that it teaches nothing."""
    session.answers.miss(
        field,
        f"a request was answered {answer.status or answer.problem}, which is neither a success nor"
        f" a refusal ({answer.role}); `hookproof check` judges that",
    )


def see_unknown_resource(session: ProbeSession, answer: Exchange) -> None:
    """Learn what an operation answers to an identifier that no resource has: the status that most
    operations have, and those of the others.
    """
    operation = answer.operation_id
    if not refused(answer) or operation is None:
        if not session.unknown_resources:
            see_status(session, UNKNOWN, answer)
        return
    seen = session.unknown_resources | {operation: answer}
    session.unknown_resources = seen
    session.refusals.setdefault(UNKNOWN, []).append(answer)
    usual, count = Counter(one.status for one in seen.values()).most_common(1)[0]
    first = next(one for one in seen.values() if one.status == usual)
    session.answers.see(UNKNOWN, usual, shown_by=first, count=count)
    others = {name: one for name, one in seen.items() if one.status != usual}
    if others:
        statuses = {name: {"unknown_resource": one.status} for name, one in others.items()}
        session.answers.see("errors.by_operation", statuses, shown_by=next(iter(others.values())))


def see_status(session: ProbeSession, field: str, answer: Exchange) -> None:
    """Learn a status if the request was refused, as it should be."""
    if refused(answer):
        session.refusals.setdefault(field, []).append(answer)
        see_refusals(session, field)
    else:
        session.answers.miss(
            field,
            f"the request was answered {answer.status or answer.problem} and not refused"
            f" ({answer.role}); `hookproof check` judges that",
        )
