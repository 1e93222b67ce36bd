"""What is assumed of a target accuses nobody; what it does wrong is found all the same."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.command import check, reported_requirements
from tests.conformance.reference_server import reference_server, write_target_file
from tests.source_tree import ROOT

KEY_OF = {"contrary": "HookKey key={key}"}
# What a learned dialect says of a target whose signatures could not be explained.
UNEXPLAINED = {"extends": "undecided", "name": "learned", "summary": "Learned."}


def requirements(
    folder: Path, *options: str, only: Iterable[str] = (), **settings: Any
) -> tuple[Any, dict[str, Any]]:
    """The result of a quick check of a server with these options, and its requirements."""
    selected = [word for selector in only for word in ("--only", selector)]
    with reference_server(folder, ROOT, "p1", "p2", options=options) as ready:
        target = write_target_file(
            folder, ready["api"], "p1", "p2", **{"dialect": None, **settings}
        )
        words = ("--target", target, "--profile", "quick", *selected)
        done = check(folder, *words, timeout_s=300)
    return done, reported_requirements(folder)


def failed(judged: dict[str, Any]) -> list[str]:
    return [name for name, each in judged.items() if each["verdict"] in ("fail", "error")]


@pytest.mark.parametrize("name", ["contrary", "convoy", "reference", "standard-webhooks"])
def test_a_correct_server_of_any_dialect_is_accused_of_nothing(tmp_path: Path, name: str) -> None:
    settings: dict[str, Any] = {}
    if name in KEY_OF:  # without a key that it takes nothing is asked
        known = {"authentication": {"key_format": KEY_OF[name]}}
        settings["dialect"] = {**UNEXPLAINED, **known}
    done, judged = requirements(tmp_path, "--dialect", name, **settings)
    assert failed(judged) == [], done.out
    assert " · assumed " in done.out
    assert ("No dialect was given" in done.out) is not bool(settings)
    report = json.loads((tmp_path / "hookproof-report" / "report.json").read_text())
    assert "signatures.simple.header" in report["assumed"]


def test_a_signature_that_nothing_explains_is_named_and_accuses_nobody(tmp_path: Path) -> None:
    own = tmp_path / "theirs.yaml"
    own.write_text(
        "extends: reference\nname: theirs\nsummary: s\n"
        "signatures: {simple: {header: Acme-Proof, signed: 'acme {body}'},"
        " advanced: {header: Acme-Proof, signed: 'acme {body}'}}\n"
    )
    # What depends on signatures, besides their section: secrets, their rolls, the two formats.
    only = ("2.3", "2.4", "4.3", "6")
    done, judged = requirements(tmp_path, "--dialect", str(own), only=only, dialect=UNEXPLAINED)
    assert failed(judged) == [], done.out
    for name in ("6-6", "6-7"):
        assert judged[name]["verdict"] == "not_exercised"
        reason = " ".join(judged[name]["reasons"])
        assert ".header (X-Webhook-Signature) is assumed: give it in the dialect, or run" in reason
        assert "Found, not explained: Acme-Proof (32 bytes, different on each of" in reason
    assert "6-13" not in failed(judged)
    assert "6-18" not in failed(judged)


@pytest.mark.parametrize(
    ("fault", "violated"),
    [("description_shown_as_null", {"4.2-5"}), ("every_seventh_unsigned", {"6-6", "6-7"})],
)
def test_what_no_answer_excuses_is_found_without_a_dialect(
    tmp_path: Path, fault: str, violated: set[str]
) -> None:
    done, judged = requirements(tmp_path, "--fault", fault, only=violated)
    assert done.code == 1, done.out
    assert violated & {*failed(judged)}, failed(judged)
