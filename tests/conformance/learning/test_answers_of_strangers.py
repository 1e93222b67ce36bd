"""Answers of services that differ from the usual ones are learned as they are, or not at all."""

import asyncio
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from hookproof.conformance.learning.deliveries.learning import probe_reserved_headers
from hookproof.conformance.learning.error_bodies import read_error_bodies
from hookproof.conformance.learning.learned_answers import LearnedAnswers
from hookproof.conformance.learning.probes import optional_requests
from hookproof.conformance.learning.probes.access import probe_key_scope, probe_keys, see_status
from hookproof.conformance.learning.probes.authentication import probe_masks
from hookproof.conformance.learning.probes.lists import fill_lists
from hookproof.conformance.learning.probes.representation import read_forms
from hookproof.conformance.learning.probes.rolls import read_time, shown_secrets, shown_window_s
from hookproof.conformance.learning.session import ProbeSession
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.target.definition import Project
from hookproof.spec.contract.service_contract import contract_for
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.dialect.vocabulary import UNIX_UNITS, TimestampForm
from hookproof.target.hooks.provision import HookFailures, Provision
from hookproof.target.hooks.wanted_resources import ENOUGH
from tests.conformance.canned_evidence import NOW, exchange
from tests.conformance.learning.scripted_session import Call, ScriptedSession

UNDECIDED = load_dialect("undecided")


def _secret(created_s: float, ends_s: float | None) -> dict[str, Any]:
    ends = None if ends_s is None else str(round(1000 * (NOW + ends_s)))
    return {"created_at": str(round(1000 * (NOW + created_s))), "expires_at": ends}


OLDEST, OLD, NEW = _secret(-60, 600), _secret(-30, 3600), _secret(0, None)


@pytest.mark.parametrize("listed", [[OLDEST, OLD, NEW], [NEW, OLD, OLDEST]])
def test_the_secret_that_a_roll_replaced_is_known_in_any_order(listed: list[Any]) -> None:
    answer = exchange(data={"secrets": listed}, status=200, sent_at=NOW, duration_s=0.1)
    assert shown_secrets(answer) == [OLDEST, OLD, NEW]
    assert shown_window_s(answer) == pytest.approx((3600, 3600))


def test_secrets_without_ends_stay_in_their_order() -> None:
    listed = [_secret(-30, None), _secret(0, None)]
    assert shown_secrets(exchange(data={"secrets": listed}, status=200)) == listed


def _refusal(**mistake: str) -> Exchange:
    body = {"title": "Unprocessable", "detail": "No.", "invalid": [mistake]}
    return exchange(status=422, body=body)


def _template(mistakes: list[Exchange], *others: Exchange) -> Any:
    answers = LearnedAnswers("undecided", UNDECIDED)
    refusals = {"errors.invalid_value": mistakes, "errors.malformed_body": [*others]}
    session = SimpleNamespace(exchanges=[*mistakes, *others], answers=answers, refusals=refusals)
    read_error_bodies(cast("ProbeSession", session))
    return answers.value("errors.body")


def test_a_list_that_differs_by_mistake_is_no_part_of_the_error_body() -> None:
    usual = [_refusal(pointer="/name", detail=text) for text in ("missing", "too long")]
    in_query = _refusal(parameter="perPage", detail="too large")
    whole = {"title": "Unprocessable", "detail": "No."}
    without = exchange(status=422, body=whole)
    assert _template([*usual, in_query]) == _template([*usual, without]) == whole
    assert set(_template(usual, without)["invalid"][0]) == {"pointer", "detail"}


def test_a_text_that_names_the_mistake_may_be_any() -> None:
    mistakes = [
        exchange(status=422, body={"type": "invalid", "status": 422, "detail": detail})
        for detail in ("No name.", "Too long.")
    ]
    lost = {"type": "cursor", "detail": "No such page.", "hint": ""}
    mistakes.append(exchange(status=400, body=lost))
    assert _template(mistakes) == {"type": "{any}", "detail": "{message}"}


class _Session(SimpleNamespace):
    """A session whose target answers as `statuses` says, by the operation and the role."""

    async def call(self, operation_id: str, role: str, **_options: object) -> Exchange:
        status = next(
            (code for words, code in self.statuses.items() if words in f"{operation_id} {role}"),
            201,
        )
        return exchange(operation_id=operation_id, status=status)


def _learned(statuses: Mapping[str, int], field: str) -> Any:
    def answer(call: Call) -> tuple[int, Any]:
        sent = f"{call.operation} {call.role}"
        return next((code for words, code in statuses.items() if words in sent), 201), {"uid": "e1"}

    session, created = ScriptedSession(answer), exchange(data={"uid": "e1"})
    asyncio.run(optional_requests.probe_optional_requests(session, created, []))
    return session.answers.value(field)


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [({}, "taken"), ({"data that is": 422}, "refused"), ({"data that is a text": 422}, None)],
)
def test_data_of_all_kinds_is_taken_or_refused(
    statuses: Mapping[str, int], expected: str | None
) -> None:
    assert _learned(statuses, "requests.other_data") == expected


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [({}, "taken"), ({"Content-Type": 415}, "refused"), ({"createEndpoint without": 415}, None)],
)
def test_undeclared_bodies_are_taken_or_refused_by_all_operations(
    statuses: Mapping[str, int], expected: str | None
) -> None:
    assert _learned(statuses, "requests.undeclared_body") == expected


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ({}, ("ignored",)),
        ({"as a custom header": 422}, ("refused",)),
        ({"X-Signature as": 422}, ("refused", "ignored")),
        # The header of the other format is only assumed.
        ({"X-Webhook-Signature as": 422}, ("ignored",)),
        ({"Content-Type as": 400, "Host as": 400}, ("ignored", "refused")),
        ({"as a custom header": 429}, None),
    ],
)
def test_a_service_may_refuse_some_of_the_headers_that_it_sets(
    statuses: Mapping[str, int], expected: tuple[str, ...] | None
) -> None:
    answers = LearnedAnswers("undecided", UNDECIDED)
    answers.see("signatures.simple.header", "X-Signature", shown_by="a delivery")
    bodies = SimpleNamespace(broadcast=lambda **data: data)
    session = _Session(statuses=statuses, answers=answers, bodies=bodies)
    asyncio.run(probe_reserved_headers(cast("ProbeSession", session)))
    field = "delivery.reserved_headers"
    assert (answers.answer(field).values if answers.is_seen(field) else None) == expected


@pytest.mark.parametrize(
    ("status", "expected"), [(404, ("project", "account")), (200, None), (500, None)]
)
def test_a_project_that_does_not_exist_shows_that_a_key_does_not_decide(
    status: int, expected: tuple[str, ...] | None
) -> None:
    answers, own = LearnedAnswers("undecided", UNDECIDED), Project(id="p1", api_key="key")
    session = cast(
        "ProbeSession",
        _Session(
            statuses={"in a project that does not exist": status, "key": 401},
            answers=answers,
            refusals={},
            project=own,
            listing="listSources",
            target=SimpleNamespace(projects=(own,)),
            word=str,
        ),
    )
    asyncio.run(probe_keys(session))
    asyncio.run(probe_key_scope(session, None))
    field = "authentication.key_scope"
    assert (answers.answer(field).values if answers.is_seen(field) else None) == expected


def test_lists_are_filled_before_they_are_asked_for() -> None:
    created: list[str] = []

    async def hook(given: Mapping[str, Any]) -> object:
        created.extend(kind for kind in given if kind != "project")
        return None

    session = _Session(
        target=SimpleNamespace(
            provision=Provision(hooks={"create_portal_link": hook, "create_source": hook})
        ),
        hook_failures=HookFailures(),
        answers=SimpleNamespace(extended=load_dialect("reference")),
        nonce="a1b2",
        project=Project(id="p1", api_key="key"),
        api=SimpleNamespace(call=_empty_list),
    )
    asyncio.run(fill_lists(cast("ProbeSession", session)))
    assert created == ["portal_link"] * ENOUGH + ["source"] * ENOUGH


async def _empty_list(operation_id: str, **_options: object) -> Exchange:
    return exchange(operation_id=operation_id, data={"content": []}, status=200)


def _endpoint(**fields: Any) -> Exchange:
    common = {"uid": "e1", "url": "https://a.example", "created_at": "2025-01-02T03:04:05Z"}
    return exchange(status=201, data={**common, **fields}, request={})


def _link(**fields: Any) -> Exchange:
    return exchange(operation_id="getPortalLink", status=200, data={"uid": "l1", **fields})


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ([{"deleted_at": None}, {"deleted_at": None}], "null"),
        ([{"deleted_at": None}, {}], None),
        ([{}, {}], None),
    ],
)
def test_a_field_that_is_always_shown_otherwise_has_a_form_of_its_own(
    links: list[dict[str, Any]], expected: str | None
) -> None:
    answers = LearnedAnswers("undecided", UNDECIDED)
    session = SimpleNamespace(
        answers=answers,
        exchanges=[_endpoint(), *(_link(**fields) for fields in links)],
        contract=contract_for(load_dialect("reference")),
    )
    read_forms(cast("ProbeSession", session))
    assert answers.value("representation.no_value") == "absent"
    own = answers.value("representation.no_value_of") or {}
    assert own.get("PortalLink.deleted_at") == expected
    session.exchanges += [_link(deleted_at=None), _link()]
    read_forms(cast("ProbeSession", session))
    assert "PortalLink.deleted_at" not in (answers.value("representation.no_value_of") or {})


def test_a_mistake_may_have_several_statuses() -> None:
    answers = LearnedAnswers("undecided", UNDECIDED)
    session = cast("ProbeSession", SimpleNamespace(answers=answers, refusals={}))
    for status in (422, 400, 422):
        see_status(session, "errors.invalid_value", exchange(status=status))
    learned = answers.answer("errors.invalid_value")
    assert (learned.values, learned.count) == ((422, 400), 3)


@pytest.mark.parametrize(
    ("left_out", "masked"),
    [
        ([], []),
        (["d", "client_id"], ["authentication.oauth2.signing_key.d"]),
        (["password"], ["authentication.basic_auth.password"]),
    ],
)
def test_a_credential_that_is_left_out_counts_as_masked(
    left_out: list[str], masked: list[str]
) -> None:
    def shown(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {name: shown(member) for name, member in value.items() if name not in left_out}

    async def create(operation_id: str, role: str, *, body: dict[str, Any]) -> Exchange:
        return exchange(role, operation_id, status=201, data=shown(body), request=body)

    answers = LearnedAnswers("undecided", load_dialect("reference"))
    session = SimpleNamespace(answers=answers, word=str, endpoint=dict, call=create, credentials={})
    members = {
        "api_key": {"header_name": "X-Key", "header_value": "one"},
        "basic_auth": {"username": "two", "password": "three"},
        "oauth2": {"client_id": "four", "client_secret": "five"},
    }
    asyncio.run(probe_masks(cast("ProbeSession", session), members))
    learned = answers.value("representation.masked")
    assert [path for path in learned if path != "mtls_client_cert.client_key"] == masked


@pytest.mark.parametrize("form", UNIX_UNITS)
def test_the_unit_of_unix_times_is_told_by_their_digits(form: TimestampForm) -> None:
    answers = LearnedAnswers("undecided", UNDECIDED)
    now, far = (str(round(seconds * UNIX_UNITS[form])) for seconds in (NOW, 2**53))
    created = exchange(status=201, data={"uid": "e1", "created_at": now, "updated_at": far})
    session = SimpleNamespace(
        answers=answers, exchanges=[created], contract=contract_for(load_dialect("reference"))
    )
    read_forms(cast("ProbeSession", session))
    assert answers.value("representation.timestamp") == form
    assert read_time(now) == pytest.approx(NOW)
