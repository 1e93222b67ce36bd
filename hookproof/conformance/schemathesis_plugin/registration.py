"""Registers the checks and hooks with Schemathesis: one check for each requirement.

All of them leave other APIs alone, since what is registered is so for the whole process.
"""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from threading import Lock, local
from typing import Any, Final

import schemathesis
from schemathesis import Case, CheckContext, HookContext, Response

from hookproof.conformance.generation.reserved_hosts import with_reserved_hosts
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement
from hookproof.conformance.observations.answer import LISTS, SHOWS, was_accepted
from hookproof.conformance.schemathesis_plugin.deliveries import deliveries_of
from hookproof.conformance.schemathesis_plugin.exchanges import (
    answer_beside,
    exchange_of,
    is_of_this_api,
    operation_of,
    resource_parameter,
)
from hookproof.conformance.schemathesis_plugin.histories import CHANGING
from hookproof.conformance.schemathesis_plugin.other_project import OtherProject
from hookproof.conformance.schemathesis_plugin.rules import (
    BROADCAST,
    Rules,
    judged_requirements,
)
from hookproof.conformance.target.definition import Project, Target
from hookproof.process.exit_codes import CommandError
from hookproof.process.messages import print_text
from hookproof.spec.catalogue import Requirement
from hookproof.spec.contract.published import document_of
from hookproof.spec.openapi_document import openapi_document
from hookproof.spec.strict_yaml.file_problem import FileProblems
from hookproof.target.settings import Flags, dialect_of, receiver_of
from hookproof.target.target_file import NO_FILE

DIALECT: Final = "HOOKPROOF_DIALECT"
PROJECT: Final = "HOOKPROOF_PROJECT"
API_KEY: Final = "HOOKPROOF_API_KEY"
CREATION: Final = "createEndpoint"
# The phase that follows the links of the document.
LINKED: Final = "stateful"
# The most requests whose begin is known while they are on the way.
MOST_ON_THE_WAY: Final = 1000


@dataclass(slots=True)
class _State:
    """What the process knows: the rules of single schemas, by `id`; and when the requests of cases
    began, and their exchanges, by the identifiers of the cases.
    """

    rules: dict[int, tuple[object, Rules]] = field(default_factory=dict)
    begun: dict[str, float] = field(default_factory=dict)
    exchanges: dict[str, Exchange] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)


_state: Final = _State()
_last: Final = local()


def check_name(requirement: str) -> str:
    """The name of a requirement's check, for options and settings of Schemathesis."""
    return f"hookproof_{requirement.replace('.', '_').replace('-', '_')}"


def register() -> None:
    """Register all checks and hooks; once is enough.

    Where HOOKPROOF_DIALECT names no dialect, the process ends: of any exception Schemathesis shows
    the traceback.
    """
    if os.environ.get(DIALECT):
        try:
            _rules_of_environment()
        except CommandError as problem:
            print_text(f"{DIALECT}: {problem}", err=True)
            raise SystemExit(int(problem.exit_code)) from None
    for requirement in judged_requirements():
        schemathesis.check(_check(requirement))
    for hook in (before_load_schema, before_call, after_call):
        schemathesis.hook(hook)


def use_rules(schema: object, rules: Rules) -> None:
    """Judge what is generated from this schema by these rules."""
    _state.rules[id(schema)] = (schema, rules)


def before_load_schema(_context: HookContext, raw_schema: dict[str, Any]) -> None:
    """Replace the document that is for any dialect by that of HOOKPROOF_DIALECT, if it is set."""
    general = openapi_document()["info"]["title"]
    if os.environ.get(DIALECT) and raw_schema.get("info", {}).get("title") == general:
        document = document_of(_rules_of_environment().dialect)
        raw_schema.update({**document, "servers": raw_schema.get("servers", [])})


def before_call(_context: HookContext, case: Case[Any], arguments: dict[str, Any]) -> None:
    """Let endpoints lead to nobody, send what tells more, and note what is on the way."""
    if not is_of_this_api(case.operation.path):
        return
    body = with_reserved_hosts(case.body) if isinstance(case.body, dict) else case.body
    if body != case.body:
        case.body = body
    with _state.lock:
        _state.begun[case.id] = time.time()
        _forget_oldest(_state.begun)
    operation_id = operation_of(case.operation.path, case.method)
    rules = _rules_of(case)
    if operation_id in SHOWS and resource_parameter(case.operation.path) in case.path_parameters:
        _ask_for_resource(rules, operation_id, case)
    if not _is_valid(case):
        return
    if operation_id in LISTS and (query := rules.walks.query(case.id, operation_id)) is not None:
        case.query = dict(query)
    if operation_id == CREATION and (told := rules.creations.body()) is not None:
        arguments["json"] = told
    if operation_id == BROADCAST and rules.deliveries is not None:
        marked = rules.deliveries.broadcast_body(case.id, case.body)
        if marked is not None:
            arguments["json"] = marked


def _ask_for_resource(rules: Rules, operation_id: str, case: Case[Any]) -> None:
    """Let a request be for a resource that was shown, and expect what changes it."""
    name = str(resource_parameter(case.operation.path))
    uid = str(case.path_parameters[name])
    if _is_valid(case):
        is_linked = case.meta is not None and case.meta.phase.name == LINKED
        uid = rules.known_identifier(
            SHOWS[operation_id],
            uid,
            is_linked=is_linked,
            changes=operation_id in CHANGING,
        )
        if uid != case.path_parameters[name]:
            case.path_parameters = {**case.path_parameters, name: uid}
    if operation_id in CHANGING:
        rules.histories.begin_change(case.id, uid)
        rules.walks.forget_links()
        if rules.deliveries is not None:
            rules.deliveries.forget(uid)


def after_call(_context: HookContext, case: Case[Any], response: Response) -> None:
    """Keep the exchange for the checks, and wait for the deliveries that it causes."""
    if not is_of_this_api(case.operation.path) or _is_in_part(response):
        return
    rules = _rules_of(case)
    exchange = _exchange(response, case, rules)
    with _state.lock:
        _state.exchanges[case.id] = exchange
        _forget_oldest(_state.exchanges)
    if rules.other is not None and was_accepted(exchange):
        rules.other.find(partial(_send_beside, response, rules, rules.other.project))
    if rules.deliveries is not None and operation_of(case.operation.path, case.method) == BROADCAST:
        rules.deliveries.await_broadcast(case.id, exchange)
        if was_accepted(exchange):
            rules.deliveries.listen(partial(_send_beside, response, rules, None, CREATION))


def _send_beside(
    response: Response,
    rules: Rules,
    project: Project | None,
    operation_id: str,
    body: Mapping[str, Any] | None,
) -> Exchange | None:
    """Send a request of our own, as the one that was accepted: in its project and with its key, or
    in another project and with that one's key.
    """
    sent_at = time.time()
    answer = answer_beside(
        response,
        operation_id,
        body,
        project=None if project is None else project.id,
        authorization=_authorization(rules, project),
    )
    return None if answer is None else _exchange_of(answer, rules, sent_at)


def _authorization(rules: Rules, project: Project | None) -> str | None:
    """The header with the key of a project, if one is given."""
    key_format = rules.dialect.authentication.key_format
    return None if project is None else key_format.replace("{key}", project.api_key)


def _check(requirement: Requirement) -> Any:
    def check(_context: CheckContext, response: Response, case: Case[Any]) -> bool | None:
        if not is_of_this_api(case.operation.path):
            return None
        failures = _violations(response, case).get(requirement.id)
        if failures:
            raise AssertionError(_words(requirement, failures[0]))
        return None

    check.__name__ = check_name(requirement.id)
    check.__doc__ = requirement.text
    return check


def _violations(response: Response, case: Case[Any]) -> Mapping[str, list[Judgement]]:
    """What a response violates; it is judged once for all requirements."""
    last = getattr(_last, "judged", None)
    if last is None or last[0] is not response:
        last = (response, _judged(response, case))
        _last.judged = last
    violations: Mapping[str, list[Judgement]] = last[1]
    return violations


def _judged(response: Response, case: Case[Any]) -> Mapping[str, list[Judgement]]:
    if _is_in_part(response):
        return {}
    rules = _rules_of(case)
    with _state.lock:
        exchange = _state.exchanges.pop(case.id, None)
    if exchange is None:  # it was not sent by `case.call`
        exchange = _exchange(response, case, rules)
    return rules.violations(case.id, exchange, is_valid=_is_valid(case))


def _forget_oldest(known: dict[str, Any]) -> None:
    while len(known) > MOST_ON_THE_WAY:
        del known[next(iter(known))]


def _is_in_part(response: Response) -> bool:
    """Whether only the begin of a body was kept."""
    return response.content_size != len(response.content or b"")


def _is_valid(case: Case[Any]) -> bool:
    """Whether a request was meant to fit the contract."""
    return case.meta is None or case.meta.generation.mode.is_positive


def _exchange(response: Response, case: Case[Any], rules: Rules) -> Exchange:
    with _state.lock:
        sent_at = _state.begun.pop(case.id, None)
    return _exchange_of(response, rules, sent_at)


def _exchange_of(response: Response, rules: Rules, sent_at: float | None) -> Exchange:
    project = rules.project
    return exchange_of(
        response,
        project="" if project is None else project.id,
        authorization=_authorization(rules, project),
        sent_at=sent_at,
    )


def _rules_of(case: Case[Any]) -> Rules:
    known = _state.rules.get(id(case.operation.schema))
    return _rules_of_environment() if known is None else known[1]


@cache
def _rules_of_environment() -> Rules:
    """The rules as `hookproof check` has them without a target file; raises CommandError."""
    value, ca_dir = os.environ.get, os.environ.get("HOOKPROOF_CA_DIR")
    flags = Flags(
        dialect=value(DIALECT) or None,
        receiver_bind=value("HOOKPROOF_RECEIVER_BIND") or None,
        receiver_url=value("HOOKPROOF_RECEIVER_URL") or None,
        ca_dir=Path(ca_dir) if ca_dir else None,
    )
    try:
        dialect = dialect_of(flags, NO_FILE).dialect
    except FileProblems as problems:
        raise CommandError(str(problems)) from None
    project, key = os.environ.get(PROJECT), os.environ.get(API_KEY)
    if not (project and key):
        return Rules(dialect)
    own = Project(id=project, api_key=key)
    target = Target(
        base_url="", projects=(own,), dialect=dialect, receiver=receiver_of(flags, NO_FILE)
    )
    second, its_key = os.environ.get(f"{PROJECT}_2"), os.environ.get(f"{API_KEY}_2")
    other = None
    if second and its_key:
        other = OtherProject(Project(id=second, api_key=its_key), dialect)
    return Rules(dialect, own, deliveries_of(target), other)


def _words(requirement: Requirement, failure: Judgement) -> str:
    """What a failure says: the requirement, its sentence, and what was wrong."""
    earlier = [
        f"{each.method} {each.operation_id} ({each.status})" for each in failure.exchanges[:-1]
    ]
    lines = [
        f"{requirement.id} ({requirement.level.value}): {requirement.text}",
        "",
        failure.message,
        f"Expected: {failure.expected}",
        f"Actual:   {failure.actual}",
        *([f"After:    {', '.join(earlier)}"] if earlier else []),
        f"`hookproof explain {requirement.id}` tells more.",
    ]
    return "\n".join(lines)
