"""A key that is written otherwise than the dialect's format says (section 5)."""

from typing import Any

import pytest

from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.keys.evidence import KeyKind
from tests.conformance.canned_evidence import exchange, verdicts
from tests.conformance.subjects.keys.examples import call_with

OPENED = exchange("refused", "listSources", status=200, data={"content": []})
AUTHORIZED = exchange("authorized", "listSources", status=200, data={"content": []})


@pytest.mark.parametrize(
    ("answer", "kind", "expected"),
    [
        ("refused", KeyKind.FORMAT, {"5-13": Verdict.FAIL}),
        ("taken", KeyKind.FORMAT, {}),
        ({"one_of": ["taken", "refused"]}, KeyKind.FORMAT, {}),
        ({"undecided": "nobody asked"}, KeyKind.FORMAT, {}),
        ("taken", KeyKind.EMPTY, {"5-13": Verdict.FAIL}),
        ("taken", KeyKind.WRONG, {"5-9": Verdict.FAIL}),
    ],
)
def test_a_key_in_another_format_is_refused_where_the_dialect_takes_no_other(
    answer: Any, kind: KeyKind, expected: dict[str, Verdict]
) -> None:
    dialect = {"authentication.other_key_formats": answer}
    evidence = call_with(kind, OPENED, AUTHORIZED, operation_id="listSources")
    assert verdicts("5-9 5-13 5-14", evidence, dialect) == expected
