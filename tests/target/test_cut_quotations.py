"""What a hook gave is quoted only in part, and no credential at the cut is shown in part."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from hookproof.conformance.model.evidence import PreconditionFailed
from hookproof.conformance.target.definition import Project, Target
from hookproof.conformance.target.hooks.noted_provision import noted_provision
from hookproof.conformance.target.preflight import with_fresh_projects
from hookproof.process.exit_codes import CommandError
from hookproof.spec.dialect.reader import load_dialect
from hookproof.target.hooks.http_steps import HttpStep, http_hook
from hookproof.target.hooks.provision import (
    LONGEST_QUOTED,
    Hook,
    HookFailed,
    HookFailures,
    Provision,
)
from hookproof.target.masking.quotation_mask import QuotationMask
from tests.conformance.planted_credentials import credentials
from tests.conformance.scripted_target import response, stand_in

KEY, SHOWN, *_ = credentials()[0::5]
PROJECT = Project(id="p1", api_key=KEY)
DIALECT = load_dialect("reference")


def key_in_text(padding: str) -> str:
    return f"{padding}{KEY}"


def secret_in_json(padding: str) -> str:
    return json.dumps({"name": padding, "secret": SHOWN})


def answers_with_a_credential_at_the_cut() -> Iterator[str]:
    for told, credential in ((key_in_text, KEY), (secret_in_json, SHOWN)):
        for shown in range(6, len(credential), 5):
            yield told("x" * (LONGEST_QUOTED - told("").index(credential) - shown))


ANSWERS = tuple(answers_with_a_credential_at_the_cut())


def mask() -> Callable[[str], str]:
    return QuotationMask([PROJECT], DIALECT).quotation


def shows_a_beginning(text: str) -> bool:
    return KEY[:6] in text or SHOWN[:6] in text


def http_failure(answer: str) -> HookFailed:
    """How the step of a hook fails that is answered so."""
    with stand_in(lambda _: response(422, answer.encode())) as url:
        hook = http_hook("create_source", [HttpStep(url=url)], timeout_s=60)
        with pytest.raises(HookFailed) as failed:
            asyncio.run(hook({"project": {"id": "p1", "api_key": KEY}}))
    return failed.value


def failing_with(answer: str) -> Hook:
    async def fail(arguments: Mapping[str, Any]) -> object:
        raise HookFailed("create_source", "it was answered:", answer)

    return fail


def test_the_cut_is_within_the_credentials() -> None:
    cut = [" ".join(answer.split())[:LONGEST_QUOTED] for answer in ANSWERS]
    assert all(map(shows_a_beginning, cut))
    assert not any(KEY in text or SHOWN in text for text in cut)


@pytest.mark.parametrize("answer", ANSWERS)
def test_the_answer_to_a_step_is_masked_before_it_is_cut(answer: str) -> None:
    said = str(http_failure(answer).masked(mask()))
    assert " was answered 422: " in said
    assert not shows_a_beginning(said)
    _, _, quoted = said.partition("422: ")
    assert len(quoted) <= LONGEST_QUOTED


def test_so_is_what_a_hook_returns() -> None:
    async def returns(arguments: Mapping[str, Any]) -> object:
        return {"uid": [f"{'x' * (LONGEST_QUOTED - 10)}{KEY}"]}

    provision = Provision(hooks={"create_source": returns})
    with pytest.raises(HookFailed) as failed:
        asyncio.run(provision.create_source(PROJECT, {}))
    assert shows_a_beginning(str(failed.value))
    said = str(failed.value.masked(mask()))
    assert "it returned [" in said
    assert not shows_a_beginning(said)


@pytest.mark.parametrize("answer", ANSWERS)
def test_so_is_the_first_failure_of_a_hook_in_a_run(answer: str) -> None:
    failures = HookFailures()
    for number in range(2):
        failures.note(HookFailed("create_source", f"request {number} was answered:", answer))
    failures.mask(mask())
    (words,) = failures.words
    assert words.startswith("create_source failed: request 0 was answered: ")
    assert words.endswith("; it failed 2 times")
    assert not shows_a_beginning(words)


@pytest.mark.parametrize("answer", ANSWERS)
def test_so_is_the_reason_why_something_is_not_observed(answer: str) -> None:
    failures, hooks = HookFailures(), {"create_source": failing_with(answer)}
    noted = noted_provision(Provision(hooks=hooks), failures, mask())
    with pytest.raises(PreconditionFailed) as failed:
        asyncio.run(noted.create_source(PROJECT, {}))
    assert "it was answered: " in str(failed.value)
    assert not shows_a_beginning(str(failed.value))
    assert failures.words


@pytest.mark.parametrize("answer", ANSWERS)
def test_so_is_why_no_fresh_project_is_made(answer: str) -> None:
    target = Target(
        base_url="http://127.0.0.1:1",
        projects=(PROJECT,),
        dialect=DIALECT,
        provision=Provision(hooks={"fresh_project": failing_with(answer)}),
    )
    with pytest.raises(CommandError) as failed:
        asyncio.run(with_fresh_projects(target, 9))
    assert "it was answered: " in str(failed.value)
    assert not shows_a_beginning(str(failed.value))
