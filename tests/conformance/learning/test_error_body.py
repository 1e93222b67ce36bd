"""The template of error bodies is found from refusals of several kinds."""

from typing import Any

import pytest

from hookproof.conformance.learning.error_body import error_template, own_template, shape
from hookproof.spec.dialect.reader import load_dialect, shipped_dialects

MESSAGES = [
    (401, "no key"),
    (404, "there is no such endpoint"),
    (422, "no name is given"),
    (422, "the name is too long"),
]
TEMPLATES: list[dict[str, Any]] = [
    *(dict(load_dialect(name).errors.body) for name in shipped_dialects()),
    {"detail": [{"msg": "{message}"}]},
    {"title": "{message}", "status": "{status}", "type": "about:blank"},
    {"status": False, "message": "{message}", "data": None},
]


def filled(template: Any, status: int, message: str) -> Any:
    if isinstance(template, dict):
        return {name: filled(value, status, message) for name, value in template.items()}
    if isinstance(template, list):
        return [filled(value, status, message) for value in template]
    if isinstance(template, str):
        return template.replace("{message}", message).replace("{status}", str(status))
    return template


@pytest.mark.parametrize("template", TEMPLATES, ids=str)
def test_a_template_is_found_from_what_it_makes(template: dict[str, Any]) -> None:
    bodies = [(filled(template, *each), each[0]) for each in MESSAGES]
    assert error_template(bodies) == template


def test_a_number_that_differs_is_left_out() -> None:
    bodies = [({"error": {"code": each[0], "text": each[1]}}, each[0]) for each in MESSAGES]
    assert error_template(bodies) == {"error": {"text": "{message}"}}
    assert error_template([({"codes": [each[0]]}, each[0]) for each in MESSAGES]) is None


def test_a_refusal_with_a_resource_is_told_from_one_without() -> None:
    empty = {"message": "no", "data": None}
    assert shape(empty) == shape({"message": "neither", "data": None})
    assert shape(empty) != shape({"message": "no", "data": {"uid": "e"}})


def test_bodies_of_different_shapes_have_no_template() -> None:
    assert error_template([({"error": "a"}, 400), ({"message": "b"}, 404)]) is None


def test_a_body_that_was_seen_once_is_learned_as_wide_as_it_may_be() -> None:
    body = {"code": 17, "ok": False, "text": "no", "more": [{"kind": "a", "at": 1.5}, "b"]}
    assert own_template(body) == {
        "ok": False,
        "text": "{message}",
        "more": [{"kind": "{any}"}, "{any}"],
    }
