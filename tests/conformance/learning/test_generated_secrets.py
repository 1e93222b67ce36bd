"""What generated secrets show of themselves, before any signature is explained."""

import asyncio
import base64
import itertools
from collections.abc import Callable
from typing import Any

import pytest

from hookproof.conformance.learning.probes.representation import probe_secrets
from tests.conformance.learning.scripted_session import Call, ScriptedSession

FORM = "signatures.secret.form"


@pytest.mark.parametrize(
    ("written", "form", "is_seen"),
    [
        (lambda number: f"{number:032x}", "text", False),  # or the bytes that it writes in hex
        (lambda number: base64.b64encode(number.to_bytes(16)).decode(), "base64", False),
        (lambda number: f"secret no. {number}", "text", True),
    ],
)
def test_digits_and_letters_do_not_show_whether_they_are_the_key_or_write_it(
    written: Callable[[int], str], form: str, is_seen: bool
) -> None:
    numbers = itertools.count(2**127, 2**121 + 12345678901)

    def answer(call: Call) -> tuple[int, Any]:
        return 200, {"uid": "ep-1", "secrets": [{"value": written(next(numbers))}]}

    session = ScriptedSession(answer)
    asyncio.run(probe_secrets(session))
    assert session.answers.value(FORM) == form
    assert session.answers.is_seen(FORM) is is_seen
    assert (FORM in session.answers.assumed) is not is_seen
