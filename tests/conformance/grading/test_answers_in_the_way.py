"""Which answers are named as the reason why a requirement was not exercised."""

import json
from dataclasses import replace
from typing import Any, Final

import pytest

from hookproof.conformance.grading.answers_in_the_way import fields_without_value
from hookproof.conformance.grading.refused_requests import LONGEST_QUOTED, what_was_said
from hookproof.conformance.model.evidence import Evidence, Exchange
from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.model.judgement import quoting
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.questions.evidence import SecretOfAnotherForm
from hookproof.spec.about import About
from tests.conformance.canned_evidence import (
    CannedObservation,
    OtherObservation,
    exchange,
    missing,
    observation,
    seen,
)
from tests.conformance.grading.canned_checks import (
    REQUIREMENT,
    HeavyObservation,
    bound,
    declines,
    entry,
    experiment,
    is_ruled_out,
    passes_exchanges,
    says_nothing,
)

LISTED = {"content": [{"uid": "l1"}], "pagination": {}}
NO_SOURCE = (
    "listSources shows no source, and no operation creates one: make some at the target, or give"
    " target.yaml a provision hook create_source."
)
UNKNOWN = {"portalLinkID": "made up"}


def reasons(
    *observations: Evidence,
    operations: tuple[str, ...] = (),
    fields: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """Why a requirement of these operations is not exercised of which a check says nothing."""
    judged = entry(
        bound(says_nothing),
        requirement=replace(
            REQUIREMENT, operations=operations, about=About(law="typed", fields=fields)
        ),
        observations=observations,
    )
    assert judged.verdict is Verdict.NOT_EXERCISED
    return judged.reasons


def a_page(query: str, **answer: Any) -> Exchange:
    return exchange("page", "listSources", query=query, **{"data": LISTED, **answer})


def test_an_operation_that_never_succeeded_is_the_only_reason() -> None:
    refused = exchange(status=401)
    beside = missing("it takes two projects")
    observed = seen(refused, refused, exchange(problem="it was reset"))
    assert reasons(observed, beside, operations=("createEndpoint",)) == (
        (
            'Every createEndpoint that this rests on was answered 401 or not at all: "done";'
            " a success of"
            " one would help."
        ),
    )


def test_a_refusal_of_what_may_be_refused_is_no_reason() -> None:
    wrong_key, odd = exchange("fetch", status=401, key="wrong"), exchange("tried", status=404)
    reserved = exchange("reserved: Host", status=422)
    assert not [
        reason
        for reason in reasons(seen(wrong_key, odd, reserved), operations=("createEndpoint",))
        if "would help" in reason
    ]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (
            None,
            "listSources succeeded, but showed nothing in data; an answer that does would help.",
        ),
        (
            {"content": 3},
            "listSources succeeded, but showed no array data.content; one would help.",
        ),
        (
            {"content": []},
            NO_SOURCE,
        ),
    ],
)
def test_an_operation_that_showed_nothing_is_named_with_what_it_lacks(
    data: Any, reason: str
) -> None:
    observed = seen(exchange("page", "listSources", data=data))
    assert reasons(observed, operations=("listSources",)) == (reason,)


def test_a_trial_that_the_dialect_may_refuse_is_no_reason() -> None:
    trial = observation(SecretOfAnotherForm, exchange("tried", status=400), field="secret")
    created = replace(trial, exchanges=(exchange("tried", data={"uid": "e1"}),))
    both = Gathered(experiment="x", observations=(created, trial))
    check = bound(says_nothing, evidence=(SecretOfAnotherForm,))
    made = (experiment("x", SecretOfAnotherForm),)
    (reason,) = entry(check, gathered={"x": both}, every_experiment=made).reasons
    assert "would help" not in reason


def test_what_refused_requests_have_alone_tells_them_from_those_that_succeeded() -> None:
    observed = seen(
        a_page("?perPage=2&sort=ASC"),
        a_page("?perPage=2&sort=DESC", status=400),
        a_page("?perPage=3&sort=DESC", status=400),
    )
    assert reasons(observed, operations=("listSources",)) == (
        (
            'In canned, canned, listSources with sort=DESC was answered 400 (2 times): "done";'
            " a success"
            " of it would help."
        ),
    )


def test_a_parameter_that_is_refused_whatever_its_value_is_named_with_its_values() -> None:
    sizes = [a_page(f"?perPage={size}", status=400) for size in (1, 2, 3, 4, 5)]
    (reason,) = reasons(seen(a_page(""), *sizes), operations=("listSources",))
    assert "listSources with perPage=1, 2, 3 and 2 more was answered 400 (5 times): " in reason


def test_a_field_of_a_body_is_named_with_its_value_if_that_is_true_or_false() -> None:
    url = {"url": "https://a.example"}
    accepted = exchange("enabled", data={"uid": "e1"}, request={**url, "is_disabled": False})
    refused = exchange("disabled", status=422, request={**url, "is_disabled": True})
    (reason,) = reasons(seen(accepted, refused), operations=("createEndpoint",))
    assert "createEndpoint with is_disabled=true was answered 422: " in reason
    titled = exchange("titled", status=422, request={**url, "name": "n"})
    (reason,) = reasons(seen(accepted, titled), operations=("createEndpoint",))
    assert "createEndpoint with name was answered 422: " in reason


def test_refused_requests_without_a_peculiarity_are_named_by_what_they_carried() -> None:
    body = dict.fromkeys(("name", "url", "description", "owner_id"), "x")
    oauth2 = {**body, "authentication": {"type": "oauth2", "oauth2": {}}}
    for sent, told in (
        (None, "createEndpoint was"),
        ({"url": "x"}, "createEndpoint with url was"),
        (oauth2, "createEndpoint with authentication=oauth2, name, url and 2 more was"),
    ):
        accepted = exchange("first", data={"uid": "e1"}, request=sent)
        refused = exchange("second", status=400, request=sent)
        (reason,) = reasons(seen(accepted, refused), operations=("createEndpoint",))
        assert f"{told} answered 400: " in reason


SAID: tuple[tuple[Any, str], ...] = (
    ({"message": "not in this licence"}, "not in this licence"),
    ({"status": False, "error": {"message": "no"}}, "no"),
    ({"detail": [{"loc": ["body", "name"], "msg": 'too "long"'}]}, "body.name: too 'long'"),
    ({"detail": "x" * 500}, f"{'x' * 119}…"),
    ({"status": False}, ""),
    ("<html>no</html>", ""),
    ("Quota\n exceeded", "Quota exceeded"),
)


@pytest.mark.parametrize(("body", "quoted"), SAID)
def test_a_reason_quotes_what_a_refusal_said(body: Any, quoted: str) -> None:
    text = body if isinstance(body, str) else json.dumps(body)
    refused = replace(exchange(status=400), response_body=text.encode())
    (reason,) = reasons(seen(refused), operations=("createEndpoint",))
    said = f': "{quoted}"' if quoted else ""
    assert f"was answered 400{said}; a success of one would help." in reason


def test_what_was_given_up_says_what_the_refused_request_carried_and_what_it_was_told() -> None:
    accepted = exchange("plain", data={"uid": "e1"}, request={"url": "x"})
    oauth2 = {"url": "x", "authentication": {"type": "oauth2"}}
    refused = exchange("authorized", status=400, request=oauth2, body={"message": r"no \1"})
    for words in ("", " as 'authorized'", " with oauth2"):
        text = f"createEndpoint{words} was answered 400; a success of it would help"
        given_up = replace(missing(text), exchanges=(refused,))
        (reason,) = reasons(given_up, seen(accepted), operations=("createEndpoint",))
        assert reason == (
            r'createEndpoint with authentication=oauth2 was answered 400: "no \1"; a success of it'
            " would help."
        )


def test_what_leads_to_an_operation_is_a_reason_where_the_operation_itself_succeeded() -> None:
    fetched = exchange("fetch", "getEndpoint", data={"uid": "e1"})
    prepared = exchange("prepare", "updatePortalLink", status=500)
    assert reasons(seen(prepared, fetched), operations=("getEndpoint",)) == (
        (
            'Every updatePortalLink that this rests on was answered 500: "done";'
            " a success of one would"
            " help."
        ),
    )
    refused = exchange("fetch", "getEndpoint", status=404)
    (reason,) = reasons(seen(prepared, fetched, refused), operations=("getEndpoint",))
    assert "getEndpoint was answered 404: " in reason
    created = exchange("create", data=None)
    assert reasons(seen(created, fetched), operations=("getEndpoint",)) == (
        "createEndpoint succeeded, but showed nothing in data; an answer that does would help.",
    )


def test_an_answer_that_neither_accepts_nor_refuses_a_trial_is_named() -> None:
    control, tried = exchange("control", data={"uid": "e1"}), exchange("tried", status=500)
    assert reasons(seen(control, tried), operations=("createEndpoint",)) == (
        (
            "In canned, canned, createEndpoint was answered 500, which neither accepts nor refuses"
            " it; an answer that does either would help."
        ),
    )


@pytest.mark.parametrize(
    ("listed", "cause"),
    [
        ({"status": 401}, "every listPortalLinks that this rests on was answered 401: "),
        ({"data": {"content": [{}]}}, "listPortalLinks succeeded, but showed no uid in"),
    ],
)
def test_an_operation_that_could_not_be_called_is_named_with_what_was_unknown(
    listed: dict[str, Any], cause: str
) -> None:
    """What is asked of made-up identifiers does not count as a call."""
    inventory = exchange("inventory", "listPortalLinks", **listed)
    made_up = exchange("sweep", "getPortalLink", status=404, path=UNKNOWN)
    (reason,) = reasons(seen(inventory, made_up), operations=("getPortalLink", "updatePortalLink"))
    begin = "No portal link is known to call getPortalLink and updatePortalLink with: "
    assert reason.startswith(begin + cause)
    assert reason.endswith(" So would portal links named under fixtures in target.yaml.")


def test_an_endpoint_without_uid_is_why_it_could_not_be_called() -> None:
    assert reasons(seen(exchange(data={"name": "n"})), operations=("getEndpoint",)) == (
        (
            "No endpoint is known to call getEndpoint with: createEndpoint succeeded, but showed"
            " no uid in data; one would help."
        ),
    )


def test_an_operation_that_was_not_called_for_another_reason_is_no_reason() -> None:
    given_up = missing("it takes two projects")
    assert reasons(given_up, operations=("getPortalLink",)) == ("It takes two projects.",)


def test_without_any_event_nothing_else_is_a_reason_for_missing_deliveries() -> None:
    created, refused = (
        exchange(data={"uid": "e1"}),
        exchange("event", "createBroadcastEvent", status=500),
    )
    assert reasons(seen(created, refused), missing("too long to wait")) == (
        (
            'Every createBroadcastEvent that this rests on was answered 500: "done";'
            " a success of one would"
            " help."
        ),
    )


def test_what_was_given_up_for_an_operation_that_never_succeeded_says_so() -> None:
    refused = exchange("inventory", "listPortalLinks", status=401)
    given_up = replace(missing("page 1 of listPortalLinks was answered 401"), exchanges=(refused,))
    fetched = exchange("fetch", "getEndpoint", data={"uid": "e1"})
    asked = ("getEndpoint", "getPortalLink")
    assert reasons(seen(fetched), given_up, operations=asked) == (
        (
            'Every listPortalLinks that this rests on was answered 401: "done";'
            " a success of one would"
            " help. So would portal links named under fixtures in target.yaml."
        ),
    )
    listed = exchange("page", "listPortalLinks", data=LISTED)
    assert reasons(seen(fetched, listed), given_up, operations=asked) == (
        'Page 1 of listPortalLinks was answered 401: "done".',
    )


def test_no_heavier_profile_is_promised_where_the_target_did_not_show_it() -> None:
    evidence = (CannedObservation, HeavyObservation)
    refused = (seen(exchange("a", data={"uid": "e1"}), exchange("b", status=400)),)
    given_up = (replace(missing("it was refused"), exchanges=(exchange(data={"uid": "e1"}),)),)
    for observations in (refused, (seen(exchange(data={"uid": "e1"})),), given_up):
        judged = entry(
            bound(says_nothing, evidence=evidence), observations=observations, profile=Profile.QUICK
        )
        assert judged.reasons
        assert not [reason for reason in judged.reasons if "--profile" in reason]


def test_what_the_target_answered_comes_before_what_the_setup_lacks() -> None:
    refused = replace(missing("the first was refused"), exchanges=(exchange(status=400),))
    other = missing("one project only", "OtherObservation")
    gathered = {
        "x": Gathered(experiment="x", observations=(refused,)),
        "y": Gathered(experiment="y", observations=(seen(exchange(data={"uid": "e1"})), other)),
    }
    judged = entry(
        bound(says_nothing, evidence=(OtherObservation, CannedObservation)), gathered=gathered
    )
    assert judged.reasons == ("The first was refused.", "One project only.")


def test_a_cut_is_a_reason_beside_what_was_answered_before_it() -> None:
    cut = Gathered(
        experiment="x", observations=(seen(exchange(status=500)),), ending=Ending.CUT, reason="over"
    )
    judged = entry(bound(says_nothing), gathered={"x": cut})
    assert judged.reasons == (
        "The experiment x was cut short: Over.",
        (
            'Every createEndpoint that this rests on was answered 500: "done";'
            " a success of one would help."
        ),
    )


def test_what_does_not_apply_as_far_as_was_seen_says_so_beside_what_was_not_seen() -> None:
    judged = entry(
        bound(declines), observations=(seen(exchange(data={"uid": "e1"})), missing("no luck"))
    )
    assert judged.verdict is Verdict.NOT_EXERCISED
    assert judged.reasons == (
        "As far as was seen, it does not apply: the document lets it lack this.",
        "No luck.",
    )


def test_nothing_else_is_said_of_what_the_dialect_rules_out() -> None:
    judged = entry(
        bound(is_ruled_out), observations=(seen(exchange(data={"uid": "e1"})), missing("no luck"))
    )
    assert (judged.verdict, judged.reasons) == (
        Verdict.NOT_APPLICABLE,
        ("the dialect has none of it",),
    )


def test_what_the_setup_lacks_is_no_reason_where_a_field_had_no_value() -> None:
    beside = (seen(exchange(data={"name": "n"})), missing("it takes two projects"))
    (reason,) = reasons(*beside, operations=("createEndpoint",), fields=("uid",))
    assert reason.endswith(" createEndpoint showed no value of uid; one would help.")
    assert reasons(*beside, operations=("createEndpoint",), fields=("name",)) == (
        "It takes two projects.",
    )


def test_what_a_refusal_said_is_masked_before_it_is_cut() -> None:
    key = "k7Zq2mXw9RtB4cYv"
    begin = "x" * (LONGEST_QUOTED - 8)
    for said in (json.dumps({"message": f"{begin} {key}"}), f"{begin} {key}"):
        refused = replace(exchange(status=400), response_body=said.encode())
        with quoting(lambda text: text.replace(key, "KEY")):
            assert what_was_said([refused]) == f': "{begin} KEY"'
    assert key[:4] in what_was_said([refused])


def test_without_any_experiment_nothing_was_called() -> None:
    (reason,) = entry(bound(says_nothing), gathered={}, every_experiment=()).reasons
    assert reason == "createEndpoint was never called; a call would help to see: It does."


def test_answers_of_every_experiment_are_counted_for_a_check_of_exchanges() -> None:
    def says_nothing_of_any(each: Exchange, _context: Any) -> Any:
        del each
        yield from ()

    check = replace(bound(passes_exchanges, evidence=(Exchange,)), judge=says_nothing_of_any)
    asked = replace(
        REQUIREMENT,
        operations=("createEndpoint",),
        about=About(law="typed", fields=("support_email", "secrets.value")),
    )
    observations = (seen(exchange(data={"uid": "e1"}), exchange("tried", status=400)),)
    judged = entry(check, requirement=asked, observations=observations)
    assert judged.reasons == (
        (
            "createEndpoint was answered 2 times (1 with success); none of that shows whether this"
            " is so: It does. createEndpoint showed no value of support_email, secrets; one would"
            " help."
        ),
    )


PAGED: Final = ("pagination.prev_page_cursor", "name")


def test_fields_have_no_value_where_no_answer_shows_one() -> None:
    page = exchange("page", "listSources", data={"content": [{"name": ""}], "pagination": {}})
    assert fields_without_value(PAGED, "listSources", [page]) == []
    shown = exchange("page", "listSources", data={"content": [{"uid": "s"}], "pagination": {}})
    unseen = ["name", "prev_page_cursor"]
    assert fields_without_value(PAGED, "listSources", [shown]) == unseen


@pytest.mark.parametrize("path", ["envelope.status", "appID", "content", "pagination", "data.x"])
def test_what_is_no_field_of_a_resource_is_never_without_value(path: str) -> None:
    endpoint = exchange(data={"uid": "e1"})
    assert fields_without_value([path], "createEndpoint", [endpoint]) == []


def test_a_field_that_another_operation_showed_is_named_all_the_same() -> None:
    created = exchange(data={"uid": "e1"})
    fetched = exchange("fetch", "getEndpoint", data={"uid": "e1", "secrets": [{"value": "s"}]})
    for path in ("secrets", "secrets.uid"):
        (reason,) = reasons(
            seen(created, fetched), operations=("createEndpoint", "getEndpoint"), fields=(path,)
        )
        assert reason.endswith(" createEndpoint showed no value of secrets; one would help.")
