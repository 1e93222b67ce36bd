"""A check does not fail an answer that it cannot read: other checks report what is unreadable."""

import pytest

from hookproof.conformance.model.evidence import Observation
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.lists.evidence import DefaultPageSize, PageSizeAboveMaximum
from hookproof.conformance.subjects.secrets.evidence import RollAnswer
from tests.conformance.canned_evidence import exchange, observation, verdict, verdicts
from tests.conformance.subjects.lists.examples import LINKS, list_request
from tests.conformance.subjects.secrets.examples import BODY, EXPIRING, NEW, secret, with_secrets


def roll_after(*uids: str) -> RollAnswer:
    """A conforming roll of an endpoint that was fetched before with the secrets of these uids;
    without any, it could not be fetched.
    """
    before = [with_secrets("fetch before", "getEndpoint", secret(uid, "given")) for uid in uids]
    shown = (EXPIRING, secret(NEW, "new-secret"))
    after = with_secrets("roll", "expireEndpointSecret", *shown, request=BODY)
    return observation(RollAnswer, *before, after, given=("given",))


def another_endpoint() -> RollAnswer:
    """An endpoint that was created in an answer without secrets, and fetched with one."""
    return observation(
        RollAnswer,
        with_secrets("create other", "createEndpoint"),
        with_secrets("roll", "expireEndpointSecret", secret(NEW)),
        with_secrets("fetch other", "getEndpoint", secret(NEW)),
        given=(),
    )


@pytest.mark.parametrize(
    ("requirements", "evidence", "dialect"),
    [
        ("4.3-17", roll_after(), "reference"),
        ("4.3-14", another_endpoint(), "reference"),
        ("8-12", list_request(DefaultPageSize, exchange("tried", LINKS, data=[])), "reference"),
        (
            "8-13",
            list_request(
                PageSizeAboveMaximum, exchange("tried", LINKS, dialect="contrary", data={})
            ),
            "contrary",
        ),
    ],
)
def test_what_cannot_be_read_is_not_a_failure(
    requirements: str, evidence: Observation, dialect: str
) -> None:
    assert Verdict.FAIL not in verdicts(requirements, evidence, dialect).values()


def test_a_success_where_only_a_refusal_is_right_fails_without_a_size() -> None:
    evidence = list_request(PageSizeAboveMaximum, exchange("tried", LINKS, data={}))
    assert verdict("8-13", evidence) is Verdict.FAIL


def test_the_same_roll_is_judged_where_the_secrets_before_were_read() -> None:
    old = str(EXPIRING["uid"])
    assert verdict("4.3-17", roll_after(old)) is Verdict.PASS
