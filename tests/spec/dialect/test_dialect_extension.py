"""Files of dialects: how they extend one another."""

from pathlib import Path

import pytest

from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.answers import answers_of, require_decided
from hookproof.spec.dialect.reader import load_decided_dialect, load_dialect, load_dialect_mapping
from hookproof.spec.dialect.vocabulary import Hash, TimeUnit
from hookproof.spec.strict_yaml.file_problem import FileProblems
from tests.spec.dialect.dialect_files import line_of, reference_text, refusal, written
from tests.spec.dialect_variants import variant


def test_a_dialect_that_extends_another_contains_only_what_differs(tmp_path: Path) -> None:
    text = (
        "extends: reference\nname: own\nsummary: Mine.\nretry: {attempts: 2}\nsignatures:"
        " {simple: {hash: sha512}}\n"
    )
    own, reference = load_dialect(written(tmp_path, text)), load_dialect("reference")
    differing = {
        path for path, answer in answers_of(own) if answer != dict(answers_of(reference))[path]
    }
    assert differing == {"name", "summary", "retry.attempts", "signatures.simple.hash"}
    assert (own.retry.attempts.value, own.signatures.simple.hash) == (2, Hash.SHA512)


def test_an_answer_replaces_the_inherited_one_completely() -> None:
    dialect = variant(
        {
            "errors.body": {"detail": "{message}"},
            "words.oauth2_expiry_units": {"seconds": "seconds"},
        }
    )
    assert dialect.errors.body == {"detail": "{message}"}
    assert dialect.words.oauth2_expiry_units == {"seconds": TimeUnit.SECONDS}
    mapping = {
        "extends": "contrary",
        "name": "v",
        "summary": "s",
        "words": {"endpoint_active": "active"},
    }
    assert load_dialect_mapping(mapping, "v").words.endpoint_active == Answer(("active",))


def test_null_replaces_an_inherited_header() -> None:
    assert (
        variant({"delivery.event_type_header": None}, extends="contrary").delivery.event_type_header
        is None
    )


def test_dialects_extend_one_another_by_paths_from_their_own_folder(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    written(tmp_path, "extends: deep/middle.yml\nname: own\nsummary: s\nretry: {jitter: 0}\n")
    written(
        tmp_path / "deep",
        "extends: ../top.yaml\nname: middle\nsummary: s\nretry: {attempts: 2}\n",
        "middle.yml",
    )
    written(tmp_path, reference_text(policy="policy: Top."), "top.yaml")
    own = load_dialect(f"{tmp_path}/own.yaml")
    assert (own.name, own.policy, own.retry.attempts.value, own.retry.jitter) == (
        "own",
        "Top.",
        2,
        0.0,
    )


def test_name_and_summary_are_not_inherited(tmp_path: Path) -> None:
    assert refusal(written(tmp_path, "extends: reference\n")) == [
        (
            "own.yaml:1: name: is missing; expected a word of small letters, digits and hyphens"
            " (name of the dialect)"
        ),
        "own.yaml:1: summary: is missing; expected a text (what kind of service it describes)",
    ]


def test_a_wrong_answer_beside_extends_is_reported_with_its_line(tmp_path: Path) -> None:
    text = (
        "extends: reference\nname: own\nsummary: s\n\nretry:\n  atempts: 3\n  jitter: 2\nretries:"
        " {}\n"
    )
    assert refusal(written(tmp_path, text)) == [
        "own.yaml:6: retry.atempts: unknown key; did you mean attempts?",
        (
            "own.yaml:7: retry.jitter: expected a number from 0 to 1 (largest random share by"
            " which a wait is lengthened); found 2"
        ),
        "own.yaml:8: retries: unknown key; did you mean retry?",
    ]


def test_a_contradiction_with_an_inherited_answer_is_reported_where_the_own_file_comes_closest(
    tmp_path: Path,
) -> None:
    text = (
        "extends: reference\nname: own\nsummary: s\n\nrequests:\n  http_timeout_maximum: 9\n"
        "retry:\n  maximum_s: 0\n"
    )
    assert [line.split(": ")[:2] for line in refusal(written(tmp_path, text))] == [
        ["own.yaml:1", "delivery.default_timeout_s"],
        ["own.yaml:7", "retry.initial_s"],
    ]


def test_a_problem_of_the_extended_file_is_reported_with_that_files_line(tmp_path: Path) -> None:
    top = reference_text(attempts="  attempts: five")
    written(tmp_path, top, "top.yaml")
    (problem,) = refusal(written(tmp_path, "extends: ./top.yaml\nname: own\nsummary: s\n"))
    assert problem.startswith(
        f"top.yaml:{line_of(top, 'attempts')}: retry.attempts: expected a whole number"
    )


@pytest.mark.parametrize(
    ("extends", "problem"),
    [
        (
            "refrence",
            (
                "refrence: no such dialect; expected one of: contrary, convoy, reference,"
                " standard-webhooks, undecided, or the path"
            ),
        ),
        ("none.yaml", "none.yaml: cannot be read: No such file or directory"),
        ("own.yaml", "this leads back to a dialect that extends it"),
        ("./sub/../own.yaml", "this leads back to a dialect that extends it"),
        ('"a\\0.yaml"', "cannot be read"),
        (
            "[reference]",
            (
                "expected a text that is not empty (the dialect that answers what is left out"
                " here); found a list"
            ),
        ),
        (
            "''",
            (
                "expected a text that is not empty (the dialect that answers what is left out"
                " here);"
                ' found ""'
            ),
        ),
    ],
)
def test_an_extension_that_leads_nowhere_is_refused_at_its_line(
    tmp_path: Path, extends: str, problem: str
) -> None:
    (tmp_path / "sub").mkdir()
    (line,) = refusal(written(tmp_path, f"name: own\nsummary: s\nextends: {extends}\n"))
    assert line.startswith("own.yaml:3: extends: ")
    assert problem in line


def test_dialects_that_extend_each_other_are_refused(tmp_path: Path) -> None:
    written(tmp_path, "extends: own.yaml\nname: other\nsummary: s\n", "other.yaml")
    own = written(tmp_path, "extends: other.yaml\nname: own\nsummary: s\n")
    assert refusal(own) == ["other.yaml:1: extends: this leads back to a dialect that extends it"]


def test_a_server_takes_what_is_undecided_from_the_nearest_dialect_that_answers_it(
    tmp_path: Path,
) -> None:
    top = "extends: contrary\nname: top\nsummary: s\nsuccess: {ok: {undecided: why}}\n"
    written(tmp_path, top, "top.yaml")
    both = "{created: {undecided: why}, ok: {undecided: why}, accepted: 299}"
    own = f"extends: top.yaml\nname: own\nsummary: s\nsuccess: {both}\n"
    decided = load_decided_dialect(written(tmp_path, own))
    assert decided.taken == {"top": ("success.created",), "contrary": ("success.ok",)}
    contrary = load_dialect("contrary").success
    answered = decided.dialect.success
    assert (answered.created, answered.ok) == (contrary.created, contrary.ok)
    assert answered.accepted == Answer((299,))
    require_decided(decided.dialect)


def test_a_dialect_that_decides_what_a_server_needs_is_served_as_it_is() -> None:
    for name in ("reference", "contrary", "convoy"):
        decided = load_decided_dialect(name)
        assert (decided.dialect, decided.taken) == (load_dialect(name), {})


def test_answers_that_contradict_those_they_are_completed_by_are_refused(tmp_path: Path) -> None:
    text = "extends: undecided\nname: own\nsummary: s\npaging: {maximum_per_page: 5}\n"
    own = written(tmp_path, text)
    load_dialect(own)
    with pytest.raises(FileProblems, match=r"with answers of reference: paging\.default_per_page"):
        load_decided_dialect(own)
