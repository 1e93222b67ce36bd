"""What becomes of a word that the dialect does not list is judged by its field (section 2.9)."""

import pytest

from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.questions.evidence import Unlisted
from tests.conformance.canned_evidence import verdicts
from tests.conformance.checks.api.example import created, refusal, request_tried

REFUSED, TAKEN = refusal(400), created(role="tried")


@pytest.mark.parametrize(
    ("field", "single", "refuses"),
    [
        ("auth_type", "auth_type", False),
        ("auth_type", "type", True),
        ("authentication.type", "type", False),
        ("authentication.oauth2.authentication_type", "authentication_type", False),
        ("authentication.oauth2.authentication_type", "type", True),
    ],
)
def test_the_answer_for_a_field_decides_about_its_words(
    field: str, single: str, refuses: bool
) -> None:
    for answer in (REFUSED, TAKEN):
        found = verdicts(
            "2.9-9",
            request_tried(Unlisted.WORD, answer, field=field),
            {"words.other_words": "refused", "words.other_words_of": {single: "ignored"}},
        )
        is_right = (answer is REFUSED) is refuses
        assert found == {"2.9-9": Verdict.PASS if is_right else Verdict.FAIL}
