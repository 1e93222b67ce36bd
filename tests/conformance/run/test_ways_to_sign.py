"""Services that sign with private keys: by each endpoint's secret, or by one key of their own; and
those that sign the URL and a date, with keys in hex.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from hookproof.conformance.target.capabilities import LAWS_OF_SECRETS, signed_by_service
from hookproof.spec.catalogue import load_catalogue
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.dialect.vocabulary import Algorithm
from tests.conformance.command import check, reported_requirements
from tests.conformance.reference_server import reference_server, write_target_file
from tests.source_tree import ROOT
from tests.spec.dialect_variants import variant, variant_mapping
from tests.spec.signing_dialects import FORMATS, SEEDS, own_key_answers

# What deliveries show of signatures, in the simple and in the advanced format.
ABOUT_SIGNATURES = tuple(
    f"--only={name}" for name in ("2.3-9", "2.4-3", "4.3-*", "6-6", "6-7", "6-8", "6-10")
)
URL_AND_DATE = {
    "signatures.secret.form": "hex",
    "signatures.simple.timestamp_header": "X-Sent",
    **{f"signatures.{name}.signed": "{url}.{timestamp}.{body}" for name in FORMATS},
    **{f"signatures.{name}.timestamp_unit": "rfc3339" for name in FORMATS},
}
OWN_KEY = own_key_answers(Algorithm.ED25519)
SECRETS_SIGN = {
    "2.4-3",
    "4.3-2",
    "4.3-3",
    "4.3-4",
    "4.3-5",
    "4.3-6",
    "4.3-7",
    "4.3-16",
    "6-8",
    "6-10",
}


def requirements(
    folder: Path, answers: Mapping[str, Any], *serving: str
) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code of a check of the reference server under a dialect, and what it reports."""
    (folder / "dialect.yaml").write_text(yaml.safe_dump(variant_mapping(answers)))
    options = ("--dialect", str(folder / "dialect.yaml"), *serving)
    with reference_server(folder, ROOT, "p1", "p2", options=options) as server:
        write_target_file(folder, server["api"], "p1", "p2", dialect="dialect.yaml")
        done = check(folder, "--target", "target.yaml", "--profile", "quick", *ABOUT_SIGNATURES)
    return done.code, reported_requirements(folder)


def ids(reported: Mapping[str, Mapping[str, Any]], verdict: str) -> set[str]:
    return {name for name, each in reported.items() if each["verdict"] == verdict}


@pytest.mark.parametrize("answers", [SEEDS, URL_AND_DATE], ids=["seeds", "URL and date"])
def test_whatever_secrets_sign_leaves_nothing_unexercised(
    tmp_path: Path, answers: Mapping[str, Any]
) -> None:
    code, reported = requirements(tmp_path, answers)
    assert (code, ids(reported, "fail")) == (0, set())
    assert ids(reported, "pass") >= SECRETS_SIGN


def test_a_key_of_the_service_accuses_nobody_and_says_what_it_does_not_show(tmp_path: Path) -> None:
    code, reported = requirements(tmp_path, OWN_KEY)
    assert (code, ids(reported, "fail")) == (3, set())
    assert ids(reported, "not_exercised") == SECRETS_SIGN
    assert {"2.3-9", "6-6", "6-7"} <= ids(reported, "pass")
    assert "a key of its own" in json.dumps(reported["6-8"])


@pytest.mark.parametrize(
    "answers", [SEEDS, OWN_KEY, URL_AND_DATE], ids=["seeds", "own key", "URL and date"]
)
def test_a_body_that_is_reserialised_after_signing_is_found(
    tmp_path: Path, answers: Mapping[str, Any]
) -> None:
    code, reported = requirements(tmp_path, answers, "--fault", "body_reserialised")
    assert code == 1
    assert {"6-6", "6-7"} <= ids(reported, "fail")


def test_only_the_formats_that_the_service_signs_by_itself_are_excused() -> None:
    catalogue = load_catalogue()
    simple = {name: each for name, each in OWN_KEY.items() if name.startswith("signatures.simple")}
    assert {*signed_by_service(load_dialect("reference"), catalogue)} == set()
    assert {*signed_by_service(variant(simple), catalogue)} == {"4.3-7"}
    assert {*signed_by_service(variant(OWN_KEY), catalogue)} == SECRETS_SIGN
    laws = {requirement.about.law for requirement in catalogue.requirements.values()}
    assert laws >= LAWS_OF_SECRETS.keys()
