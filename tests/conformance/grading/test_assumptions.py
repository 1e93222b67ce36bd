"""A failure that stands only by an assumed answer is none."""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace

import pytest

from hookproof.conformance.grading.assumptions import standing, violated_in
from hookproof.conformance.grading.doubt import doubt_about
from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.model.verdict import Verdict
from hookproof.spec.dialect.answer import Undecided
from hookproof.spec.dialect.assumptions import wholly_assumed
from hookproof.spec.dialect.vocabulary import Reach
from tests.conformance.canned_evidence import (
    CannedObservation,
    checks_bound_to,
    context,
    exchange,
    seen,
)
from tests.conformance.checks.api.example import Example
from tests.conformance.checks.api.test_checks_of_the_api import EXAMPLES

REFUSED = exchange(status=422, request={"url": "https://a.invalid"})
FETCHED = exchange("fetch", "getEndpoint")


def judge_by(kind: str) -> Check:
    def judge(_seen: CannedObservation, rules: CheckContext) -> Iterator[Judgement]:
        proof = REFUSED if kind == "refusal" else FETCHED
        holds = kind == "holds"
        if kind == "answer":
            holds = rules.dialect.success.created.allows(299)
        if kind == "header":
            _ = rules.dialect.signatures.simple.header
        if kind == "examined":
            rules.require_same_signatures()
        yield judged(holds, "1-1", kind, expected=1, actual=2, exchanges=[proof])

    return Check(name=kind, requirements=("1-1",), evidence=(CannedObservation,), judge=judge)


def rules(*assumed: str) -> CheckContext:
    known = context()
    return replace(known, dialect=replace(known.dialect, assumed=assumed))


NOTHING_KNOWN = replace(context(), dialect=wholly_assumed(context().dialect))
HEADER = "signatures.simple.header"
REQUIRED = "requests.create_endpoint_requires"


@pytest.mark.parametrize(
    ("kind", "assumed", "named"),
    [
        ("answer", "success.created", "success.created (201) is assumed"),
        ("header", HEADER, f"{HEADER} (X-Webhook-Signature) is assumed"),
        ("examined", HEADER, "only assumed"),
        ("refusal", REQUIRED, REQUIRED),
    ],
)
def test_what_fails_by_an_assumed_answer_alone_does_not_stand(
    kind: str, assumed: str, named: str
) -> None:
    check, evidence = judge_by(kind), seen(REFUSED, FETCHED)
    before = list(check.judgements(evidence, rules(assumed)))
    assert [each.verdict for each in before] == [Verdict.FAIL]
    after = standing(check, evidence, before, rules(assumed))
    assert after.judgements == []
    assert named in after.assumed["1-1"]
    assert "hookproof learn" in after.assumed["1-1"]
    assert not doubt_about([evidence], [check], rules(assumed)), "it would be gathered in vain"
    unrelated = rules("retry.jitter")
    assert standing(check, evidence, before, unrelated).judgements == before
    assert standing(check, evidence, before, context()).judgements == before


REACH = "delivery.reach"
MASK = "representation.mask"


def judge_behind(field: str, *, is_excused: bool) -> Check:
    """A check that reads an answer before it finds a failure, and holds by one of its values."""

    def judge(_seen: CannedObservation, rules: CheckContext) -> Iterator[Judgement]:
        answers = rules.dialect
        value = answers.delivery.reach.value if field == REACH else answers.representation.mask
        holds = is_excused and value in (Reach.OWNED_ENDPOINTS, "shown-as-mask")
        yield judged(holds, "6-3", "behind", expected=1, actual=2, exchanges=[FETCHED])

    return Check(name="behind", requirements=("6-3",), evidence=(CannedObservation,), judge=judge)


@pytest.mark.parametrize("field", [REACH, MASK])
@pytest.mark.parametrize("is_excused", [False, True])
def test_a_failure_behind_an_assumed_answer_stands_if_no_value_of_it_excuses_it(
    field: str, is_excused: bool
) -> None:
    shown = exchange("fetch", "getEndpoint", data={"secrets": [{"value": "shown-as-mask"}]})
    check, evidence = judge_behind(field, is_excused=is_excused), seen(FETCHED, shown)
    for assumed in (rules(field), NOTHING_KNOWN):
        before = list(check.judgements(evidence, assumed))
        after = standing(check, evidence, before, assumed)
        assert [each.verdict for each in before] == [Verdict.FAIL]
        assert violated_in(after.judgements) == (set() if is_excused else {"6-3"})
        assert ("6-3" in after.assumed) == is_excused


def test_what_a_requirement_asks_is_no_failure_by_each_value_of_it() -> None:
    """A service may do what no dialect has a word for: 4.8-13 asks what a broadcast reaches."""

    def judge(_seen: CannedObservation, rules: CheckContext) -> Iterator[Judgement]:
        _ = rules.dialect.delivery.reach.value
        yield judged(False, "4.8-13", "asked", expected=1, actual=2, exchanges=[FETCHED])

    check = Check(
        name="asked", requirements=("4.8-13",), evidence=(CannedObservation,), judge=judge
    )
    before = list(check.judgements(seen(FETCHED), NOTHING_KNOWN))
    assert standing(check, seen(FETCHED), before, NOTHING_KNOWN).judgements == []


def broken(requirement: str, **fields: str) -> list[Example]:
    return [
        each
        for each in EXAMPLES
        if each.requirement == requirement
        if all(getattr(each.broken, name, None) == value for name, value in fields.items())
    ]


@pytest.mark.parametrize(
    ("assumed", "examples"),
    [
        ("paging.owner_filter", broken("4.4-11", field="name")),
        ("paging.owner_filter", broken("4.7-9", field="provider")),
        ("requests.expiration_minimum", broken("8-17", field="name")),
        ("requests.create_broadcast_event_requires", broken("2.8-8")),
    ],
)
def test_an_assumed_answer_hides_nothing_that_is_about_another(
    assumed: str, examples: list[Example]
) -> None:
    assert examples
    for example in examples:
        evidence, violated = example.broken, set[str]()
        observed = seen(evidence) if isinstance(evidence, Exchange) else evidence
        for check in checks_bound_to([example.requirement], evidence):
            before = list(check.judgements(observed, rules(assumed)))
            after = standing(check, observed, before, rules(assumed)).judgements
            violated |= violated_in(after)
        assert example.requirement in violated, str(example)


@pytest.mark.parametrize(
    ("word", "stands"), [("auth_api_key", False), ("auth_basic", True), ("auth_oauth2", True)]
)
def test_the_assumed_word_for_one_kind_of_credentials_hides_nothing_about_another(
    word: str, stands: bool
) -> None:
    api_key = {"header_name": "X-Key", "header_value": "key"}
    created = exchange(request={"authentication": {"type": "api_key", "api_key": api_key}})

    def judge(_seen: CannedObservation, _rules: CheckContext) -> Iterator[Judgement]:
        yield judged(False, "2.5-9", "no key", expected=1, actual=2, exchanges=[created])

    check = Check(name="key", requirements=("2.5-9",), evidence=(CannedObservation,), judge=judge)
    before = list(check.judgements(seen(created), rules(f"words.{word}")))
    after = standing(check, seen(created), before, rules(f"words.{word}"))
    assert bool(after.judgements) is stands


@pytest.mark.parametrize("kind", ["stated", "holds"])
def test_what_rests_on_no_answer_stands(kind: str) -> None:
    check, evidence = judge_by(kind), seen(FETCHED)
    before = list(check.judgements(evidence, NOTHING_KNOWN))
    assert standing(check, evidence, before, NOTHING_KNOWN).judgements == before


def test_a_request_like_one_that_succeeded_is_known_to_be_acceptable() -> None:
    taken = replace(REFUSED, status=201)
    check, evidence = judge_by("refusal"), seen(REFUSED, taken)
    before = list(check.judgements(evidence, NOTHING_KNOWN))
    assert standing(check, evidence, before, NOTHING_KNOWN).judgements == before


@pytest.mark.parametrize(
    ("advanced", "fails"), [(False, False), (True, True)], ids=["one signature", "several"]
)
def test_a_separator_matters_where_several_secrets_sign(advanced: bool, fails: bool) -> None:
    form = "advanced" if advanced else "simple"
    known = rules(f"signatures.{form}.separator").without_assumed
    with pytest.raises(Undecided) if fails else nullcontext():
        known.require_same_verification(
            advanced=advanced, several=True, out_of_time=False, verified=True
        )
