"""The degrees of a dialect's answers: known, assumed, open."""

from dataclasses import replace
from pathlib import Path

import pytest

from hookproof.spec.dialect.answer import Answer, Undecided
from hookproof.spec.dialect.answers import answers_of
from hookproof.spec.dialect.assumptions import (
    as_acted_on,
    assumable_fields,
    assumed_fields,
    is_wholly_assumed,
    noted_assumptions,
    opened,
    wholly_assumed,
    without_assumed,
)
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect, load_dialect_mapping, shipped_dialects
from hookproof.spec.dialect.writer import written_dialect
from hookproof.spec.dialect_schema import dialect_schema
from tests.spec.dialect.test_all_mistakes import mistakes

HEADER = "signatures.simple.header"


def own(extends: str = "undecided", **answers: object) -> Dialect:
    return load_dialect_mapping(
        {"extends": extends, "name": "own", "summary": "s", **answers}, "own"
    )


def test_what_undecided_has_a_value_for_is_assumed_and_nothing_else() -> None:
    undecided = load_dialect("undecided")
    plain = [name for name, answer in answers_of(undecided) if not isinstance(answer, Answer)]
    assert set(undecided.assumed) == set(assumable_fields(undecided))
    assert set(undecided.assumed) <= set(plain)


def test_an_answer_of_ones_own_is_known_and_the_others_stay_assumed() -> None:
    dialect = own(signatures={"simple": {"header": "X-Own"}})
    assert HEADER not in dialect.assumed
    assert "signatures.simple.hash" in dialect.assumed
    assert "signatures.advanced.header" in dialect.assumed


def test_what_is_answered_may_be_called_assumed() -> None:
    dialect = own("reference", assumed=[HEADER], signatures={"simple": {"header": "X-Own"}})
    assert dialect.assumed == (HEADER,)
    assert load_dialect("reference").assumed == ()


def test_an_open_answer_is_not_assumed() -> None:
    reach = {"delivery": {"reach": {"undecided": "nobody knows"}}}
    assert assumed_fields(own("reference", assumed=["delivery.reach"], **reach)) == ()


@pytest.mark.parametrize("name", shipped_dialects())
def test_the_degrees_survive_writing(name: str) -> None:
    dialect = load_dialect(name)
    assert load_dialect_mapping(written_dialect(dialect), "written") == dialect


def test_a_field_that_does_not_exist_is_refused_with_the_one_that_was_meant(
    tmp_path: Path,
) -> None:
    (line,) = mistakes(tmp_path, "assumed: [retry.atempts]\n")
    assert "assumed[0]: expected the name of a field" in line
    assert "did you mean retry.attempts?" in line


def test_editors_know_the_names() -> None:
    items = dialect_schema()["properties"]["assumed"]["items"]
    assert HEADER in items["enum"]
    assert "summary" not in items["enum"]


def test_a_dialect_that_nobody_gave_is_assumed_wholly() -> None:
    dialect = wholly_assumed(load_dialect("reference"))
    assert is_wholly_assumed(dialect)
    assert "delivery.reach" in dialect.assumed
    # Fields that leave everything to others are not: `no_value` says all there is to say.
    assert "representation.no_value_of" not in dialect.assumed


def test_an_assumed_answer_is_open_or_cannot_be_read() -> None:
    dialect = replace(load_dialect("reference"), assumed=(HEADER, "delivery.reach"))
    known = without_assumed(dialect)
    with noted_assumptions() as noted:
        assert known.delivery.reach.allows("whatever")
        with pytest.raises(Undecided, match=HEADER):
            _ = known.signatures.simple.header
        assert known.signatures.advanced.header == dialect.signatures.advanced.header
    assert list(noted) == ["delivery.reach", HEADER]
    assert as_acted_on(known.signatures.simple).header == dialect.signatures.simple.header
    assert known.signatures != dialect.signatures
    assert opened(dialect).signatures == dialect.signatures


def test_a_known_dialect_is_left_as_it_is() -> None:
    reference = load_dialect("reference")
    assert without_assumed(reference) == reference
    assert as_acted_on(reference.signatures) is reference.signatures
