"""A service may drop settings that it is given: by its dialect, or where that is left open."""

from typing import Any

import pytest

from hookproof.conformance.checks.given_settings import (
    require_given_contact,
    require_given_timeout,
)
from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.verdict import Verdict
from tests.conformance.canned_evidence import all_verdicts
from tests.conformance.checks.api.example import created
from tests.conformance.subjects.endpoints.examples import shown_with
from tests.spec.dialect_variants import UNDECIDED, variant

DEFAULT_S = 30  # of the reference dialect
CONTACT = "on-call@example.org"
PASS, FAIL = Verdict.PASS, Verdict.FAIL


def judged(setting: str, given: Any, shown: Any, answer: Any) -> Verdict | None:
    """The verdict on an endpoint that was given one thing and shows another."""
    about = "given_http_timeout" if setting == "http_timeout" else "given_contacts"
    evidence = shown_with(created({setting: shown}, {setting: given}))
    found = all_verdicts(evidence, {f"requests.{about}": answer})
    return found.get("4.1-10" if setting == "http_timeout" else "4.1-14")


@pytest.mark.parametrize(
    ("answer", "as_given", "as_default", "as_neither"),
    [
        ("kept", PASS, FAIL, FAIL),
        ("dropped", FAIL, PASS, FAIL),
        (UNDECIDED, PASS, None, FAIL),
        ({"one_of": ["dropped", "kept"]}, PASS, PASS, FAIL),
    ],
)
def test_a_setting_is_shown_as_the_dialect_says(
    answer: Any, as_given: Verdict, as_default: Verdict | None, as_neither: Verdict
) -> None:
    assert judged("http_timeout", 7, 7, answer) is as_given
    assert judged("http_timeout", 7, DEFAULT_S, answer) is as_default
    assert judged("http_timeout", 7, 8, answer) is as_neither
    assert judged("http_timeout", 7, None, answer) is as_neither
    assert judged("support_email", CONTACT, CONTACT, answer) is as_given
    assert judged("support_email", CONTACT, None, answer) is as_default
    assert judged("support_email", CONTACT, "other@example.org", answer) is as_neither


def test_a_time_out_that_may_not_be_in_force_is_not_held_against_the_service() -> None:
    unsaid = variant({"requests.given_http_timeout": UNDECIDED})
    dropped = created({"http_timeout": DEFAULT_S}, {"http_timeout": 2})
    with pytest.raises(NotExaminedError, match="given_http_timeout"):
        require_given_timeout(dropped, unsaid)
    require_given_timeout(dropped, variant({}))
    require_given_timeout(created({"http_timeout": 2}, {"http_timeout": 2}), unsaid)


def test_a_contact_that_may_be_dropped_has_to_be_shown_to_miss_a_message() -> None:
    unsaid = variant({"requests.given_contacts": UNDECIDED})
    with pytest.raises(NotExaminedError, match="given_contacts"):
        require_given_contact("support_email", created({}, {"support_email": CONTACT}), unsaid)
    shown = created({"support_email": CONTACT}, {"support_email": CONTACT})
    require_given_contact("support_email", shown, unsaid)
