"""What `learn` writes and shows has no credential of the target, whatever the target answers."""

import json
from pathlib import Path
from typing import Final

import pytest

from hookproof.conformance.learning.error_body import error_template
from hookproof.conformance.learning.learned_answers import LearnedAnswers
from hookproof.conformance.learning.learner import Learned, take_out_credentials
from hookproof.conformance.learning.report import lines, page
from hookproof.conformance.learning.session import ProbeSession
from hookproof.conformance.learning.written_files import dialect_text
from hookproof.conformance.model.ledger import LeftBehind
from hookproof.conformance.target.definition import Project, Target
from hookproof.spec.dialect.reader import load_dialect, load_dialect_mapping
from hookproof.target.masking.known_credentials import unescaped
from tests.conformance.canned_evidence import exchange
from tests.conformance.planted_credentials import (
    ENCODINGS,
    FIELDS,
    SHAPES,
    WRAPPINGS,
    credentials,
    traces,
    traces_in,
)

KEY: Final = "embedded-Zm9vYmFyYmF6cXV4"


def written(answers: LearnedAnswers, session: ProbeSession) -> str:
    """Everything that the command writes into files and onto the console."""
    learned = Learned(answers=answers, exchanges=len(session.exchanges), left=LeftBehind())
    console = "\n".join(lines(learned))
    return "\n".join([dialect_text(answers, Path()), page(learned, session.target), console])


def a_session() -> ProbeSession:
    dialect = load_dialect("undecided")
    projects = (Project(id="p1", api_key=KEY),)
    target = Target(base_url="http://127.0.0.1:5005", projects=projects, dialect=dialect)
    return ProbeSession(target=target, answers=LearnedAnswers("undecided", dialect))


def test_no_planted_credential_is_in_what_is_learned() -> None:
    session = a_session()
    shapes = [shape for name, shape in SHAPES.items() if name != "number"]
    fields, wrappings = list(FIELDS.values()), list(WRAPPINGS.values())
    planted = credentials()
    for number, secret in enumerate(planted):
        shape = shapes[number // len(fields) % len(shapes)]
        resource = fields[number % len(fields)](shape(secret))
        shown = wrappings[number % len(wrappings)](resource)
        session.exchanges.append(
            exchange("show", "getEndpoint", data=shown, path={"endpointID": "e"})
        )
    bodies = [
        (
            {
                "status": False,
                "message": f"wrong number {number}",
                "key": f"it was {KEY}",
                **{
                    f"{name} {place}": encode(secret)
                    for place, secret in enumerate(planted)
                    for name, encode in [list(ENCODINGS.items())[place % len(ENCODINGS)]]
                    if isinstance(encode(secret), str)
                },
            },
            400,
        )
        for number in range(3)
    ]
    session.answers.see("errors.body", error_template(bodies), shown_by=f"the key is {KEY}")
    for field, secret in zip(session.answers.fields, planted, strict=False):
        session.answers.miss(field, f'it was refused: {{"message": "{secret}"}}')
    assert planted[0] in written(session.answers, session)
    take_out_credentials(session)
    shown = written(session.answers, session).encode()
    assert traces_in(shown, [*planted, KEY]) == []
    mapping = session.answers.mapping()
    assert load_dialect_mapping(mapping, "learned") == session.answers.dialect


def test_what_no_credential_is_part_of_stays_as_it_was_learned() -> None:
    session = a_session()
    template = {"status": False, "message": "{message}", "code": ["E{status}", 5, None]}
    session.answers.see("errors.body", template, shown_by="POST createEndpoint: 400")
    session.answers.see("success.created", 202, shown_by="POST createEndpoint: 202")
    before = session.answers.mapping()
    session.exchanges.append(exchange(data={"secret": "createEndpoint"}))
    take_out_credentials(session)
    assert session.answers.mapping() == before


@pytest.mark.parametrize(
    "spelled",
    [
        KEY,
        "".join(f"\\u{ord(letter):04x}" for letter in KEY),
        "".join(f"%{ord(letter):02x}" for letter in KEY),
        f"it is {KEY}",
    ],
)
def test_a_key_that_came_as_the_name_of_a_member_is_not_written(spelled: str) -> None:
    session = a_session()
    body = json.loads(f'{{"status": false, "message": "no", "{spelled}": {{"{spelled}": "x"}}}}')
    template = error_template([({**body, "message": f"no {n}"}, 400) for n in range(3)])
    assert template is not None
    session.answers.see("errors.body", template, shown_by="POST createEndpoint: 400")
    take_out_credentials(session)
    shown = written(session.answers, session)
    assert "$HOOKPROOF_API_KEY" in shown
    assert [trace for trace in traces(KEY) if trace in unescaped(shown.encode()).content] == []


def test_a_key_that_was_learned_as_an_answer_is_not_written() -> None:
    session = a_session()
    session.answers.see("delivery.event_id_header", KEY, shown_by="a delivery")
    take_out_credentials(session)
    assert KEY not in written(session.answers, session)
