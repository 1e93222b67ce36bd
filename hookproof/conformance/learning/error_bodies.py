"""Learns the bodies of refusals (section 7): that of most, and those that single refusals have."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from jsonschema_rs import Draft202012Validator

from hookproof.conformance.learning.error_body import ANY, error_template, own_template, shape
from hookproof.conformance.learning.session import ProbeSession
from hookproof.conformance.model.evidence import NOT_JSON, Exchange
from hookproof.conformance.observations.answer import refused
from hookproof.spec.contract.responses import template_schema
from hookproof.spec.dialect.groups.errors import KEY_REFUSALS

BODIES: Final = "errors.bodies"
MISTAKE: Final = "errors.invalid_value"
# The name of a refusal in errors.bodies, by the field that has its status.
REFUSALS_OF_KEYS: Final = {
    f"authentication.{field}": refusal for refusal, field in KEY_REFUSALS.items()
}


def read_error_bodies(session: ProbeSession) -> None:
    """Learn the body of refusals from all that were seen."""
    refusals = [
        each
        for each in session.exchanges
        if refused(each) and each.json is not NOT_JSON and isinstance(each.json, dict)
    ]
    if not refusals:
        session.answers.miss("errors.body", "no refusal has a JSON object as its body")
        return
    kinds = Counter(
        (each.response_header("Content-Type") or "").partition(";")[0].strip().lower()
        for each in refusals
    )
    kind, count = kinds.most_common(1)[0]
    if kind:
        session.answers.see("errors.content_type", kind, shown_by=refusals[0], count=count)
    shapes: dict[frozenset[Any], list[Exchange]] = {}
    for each in refusals:
        shapes.setdefault(shape(each.json), []).append(each)
    alike = max(shapes.values(), key=len)  # a duplicate may be refused with an event, for one
    template = error_template([(each.json, each.status or 0) for each in alike])
    if template is None:
        session.answers.miss("errors.body", "refusals have bodies of different shapes")
        return
    template = _in_common(template, _bodies_of_mistakes(session, refusals))
    session.answers.see("errors.body", template, shown_by=alike[0], count=len(alike))
    _read_own_bodies(session, template)


def _bodies_of_mistakes(
    session: ProbeSession, refusals: Sequence[Exchange]
) -> list[Mapping[str, Any]]:
    """The bodies of what was refused as a mistaken value is, unless it is known to be another."""
    statuses = {each.status for each in session.refusals.get(MISTAKE, ())}
    others = {
        id(each) for name, known in session.refusals.items() if name != MISTAKE for each in known
    }
    return [each.json for each in refusals if each.status in statuses and id(each) not in others]


def _in_common(template: Mapping[str, Any], bodies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the template has in common with these bodies.

    Those of mistakes of several kinds often differ in a text that names the kind, and in the list
    of what is mistaken: in a body, in the query, or nothing that could be named.
    """
    common = {}
    for name, value in template.items():
        if all(_fits({name: value}, body) for body in bodies):
            common[name] = value
        elif all(isinstance(body.get(name), str) for body in bodies):
            common[name] = ANY
    return common


def _fits(template: Mapping[str, Any], body: Mapping[str, Any]) -> bool:
    return Draft202012Validator(template_schema(template)).is_valid(body)


def _read_own_bodies(session: ProbeSession, usual: Mapping[str, Any]) -> None:
    """Learn which refusals have another body than the usual one, or none."""
    validator = Draft202012Validator(template_schema(usual))
    bodies: dict[str, dict[str, Any] | None] = {}
    proofs = [one for answers in session.refusals.values() for one in answers]
    for field, answers in session.refusals.items():
        unlike = [each for each in answers if not validator.is_valid(_body(each))]
        if not unlike:
            continue
        name = REFUSALS_OF_KEYS.get(field, field.removeprefix("errors."))
        if len(unlike) < len(answers) or not _is_own_body(unlike):
            session.answers.miss(
                BODIES, f"{name} has several bodies, or one that is no JSON object"
            )
            return
        bodies[name] = None if _is_empty(unlike[0]) else own_template(_body(unlike[0]))
    if proofs:
        session.answers.see(BODIES, bodies, shown_by=proofs[0], count=len(proofs))


def _is_own_body(answers: Sequence[Exchange]) -> bool:
    """Whether refusals all have no body, or objects with the same members."""
    if any(map(_is_empty, answers)):
        return all(map(_is_empty, answers))
    bodies = [_body(each) for each in answers]
    return all(isinstance(body, dict) and shape(body) == shape(bodies[0]) for body in bodies)


def _is_empty(answer: Exchange) -> bool:
    return not answer.response_body


def _body(answer: Exchange) -> Any:
    return None if answer.json is NOT_JSON else answer.json
