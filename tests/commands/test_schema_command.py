"""`hookproof schema`: what an editor refuses, the reader refuses too, and the other way round."""

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from hookproof.cli import cli
from hookproof.commands.schema import SCHEMAS
from hookproof.conformance.cli.check import _write_baseline
from hookproof.conformance.results.baseline import baseline_text, read_baseline
from hookproof.load.profile.load_profile import load_profile, shipped_profiles
from hookproof.process.exit_codes import CommandError
from hookproof.receiver.replies.script_file import read_script_file
from hookproof.spec.dialect.reader import load_dialect, shipped_dialects
from hookproof.spec.dialect.writer import written_dialect
from hookproof.spec.strict_yaml.file_problem import FileProblems
from hookproof.spec.strict_yaml.parser import parse_yaml
from hookproof.target.settings import Flags, dialect_of
from hookproof.target.target_file import read_target_file
from tests.source_tree import ROOT

ENVIRONMENT = {"KEY_1": "a", "KEY_2": "b", "ADMIN_KEY": "c"}

DIALECT = {
    "extends": "undecided",
    "name": "ours",
    "summary": "Ours.",
    "authentication": {"missing_key_status": {"one_of": [401, 403]}, "key_format": "Token {key}"},
    "representation": {"no_value": "null", "timestamp": {"undecided": "not known"}},
    "delivery": {"attempt_header": None, "disabled_receives": False},
    "requests": {"create_endpoint_requires": ["url"]},
    "words": {"oauth2_expiry_units": {"s": "seconds"}},
    "retry": {"jitter": 0.5},
}
TARGET = {
    "base_url": "http://127.0.0.1:5005",
    "projects": [{"id": "p1", "api_key": "${KEY_1}"}, {"id": "p2", "api_key": "k"}],
    "dialect": DIALECT,
    "receiver": {"bind": "127.0.0.1:0", "ca": "ca.pem", "ca_key": "ca.key"},
    "budgets": {"request_s": 10, "total_s": 120.5},
    "provision": {"create_source": [{"url": "http://127.0.0.1/{project.id}", "status": [201]}]},
    "fixtures": {"p1": {"portal_links": ["a"], "sources": []}},
    "capabilities": {"mtls": "no"},
    "egress_canaries": ["192.0.2.10"],
}
PROFILE = {
    "name": "mine",
    "summary": "Mine.",
    "rate": 10,
    "duration_s": 5,
    "users": 4,
    "drain_s": 2,
    "endpoints": {"count": 2, "http_timeout_s": 3},
    "mix": {"createBroadcastEvent": 3, "getEndpoint": 1},
    "trouble": [{"endpoints": 1, "from_s": 1, "to_s": 2, "reply": {"status": 503}}],
    "fail_if": ["delivery_p99 > 2s", "lost > 0"],
}
BASELINE = [
    {"id": "4.3-4", "expected": "fail", "reason": "Known.", "expires": "2099-06-30"},
    {"id": "4.3-5", "expected": "not exercised", "reason": "Known.", "link": "https://x.invalid/"},
]
SCRIPT = {
    "tokens": {
        "orders": {
            "replies": [
                {"status": 503, "times": 2, "headers": [["X-A", "b"]], "delay_s": 0.5},
                {"cut": {"at": "mid_body"}, "body": "long enough"},
            ],
            "secrets": {"secrets": ["whsec_AAAA"], "dialect": "standard-webhooks"},
        },
        "login": {"token_server": {"clients": [{"client_id": "a", "client_secret": "b"}]}},
    }
}
EXAMPLES: Mapping[str, list[Any]] = {
    "dialect": [DIALECT, written_dialect(load_dialect("reference"))],
    "target": [TARGET, {"base_url": "http://127.0.0.1:1", "dialect": "ours.yaml"}],
    "profile": [PROFILE],
    "baseline": [BASELINE, []],
    "script": [SCRIPT],
}

# Values that are wrong in nearly every place.
JUNK: list[Any] = [
    None,
    True,
    -1,
    7,
    1.5,
    "",
    "nonesuch",
    [],
    [None],
    ["nonesuch"],
    [401, 401],
    {},
    {"nonesuch": 1},
    {"one_of": []},
    {"one_of": ["nonesuch"]},
    {"undecided": ""},
    {"undecided": "why"},
    {"undecided": "why", "one_of": [401]},
]


@cache
def schema_of(kind: str) -> dict[str, Any]:
    printed: dict[str, Any] = json.loads(CliRunner().invoke(cli, ["schema", kind]).output)
    return printed


@cache
def validator(kind: str) -> Draft202012Validator:
    return Draft202012Validator(schema_of(kind))


def read_file_of_target(path: Path) -> None:
    dialect_of(Flags(), read_target_file(path, ENVIRONMENT))


READERS: Mapping[str, Callable[[Path], object]] = {
    "dialect": lambda path: load_dialect(str(path)),
    "target": read_file_of_target,
    "profile": lambda path: load_profile(str(path)),
    "baseline": read_baseline,
    "script": read_script_file,
}


def refusal(kind: str, value: Any) -> str:
    """Why the reader refuses a file with this content; empty if it accepts it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file.yaml")
        path.write_text(yaml.safe_dump(value, sort_keys=False))
        Path(folder, "ours.yaml").write_text(yaml.safe_dump(DIALECT))
        try:
            READERS[kind](path)
        except (FileProblems, CommandError) as problems:
            return str(problems)
    return ""


def places(value: Any, around: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The location of every value within a value, itself included."""
    yield around
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*around, key))


def changed(value: Any, place: tuple[str | int, ...], change: Callable[[Any, Any], None]) -> Any:
    """A copy in which `change` was called with what holds a place, and with its key."""
    whole = {"": deepcopy(value)}
    holder: Any = whole
    *around, last = ("", *place)
    for key in around:
        holder = holder[key]
    change(holder, last)
    return whole.get("")


def put(junk: Any) -> Callable[[Any, Any], None]:
    return lambda holder, key: holder.__setitem__(key, junk)


def leave_out(holder: Any, key: Any) -> None:
    holder.pop(key)


def misspell(holder: Any, key: Any) -> None:
    holder[key] = f"{holder[key]}x"


def add_unknown_key(holder: Any, key: Any) -> None:
    holder[key]["nonesuch"] = 1


@st.composite
def mistakes(draw: st.DrawFn) -> tuple[str, Any]:
    """A kind of file, and the content of one in which something may be wrong."""
    kind = draw(st.sampled_from(sorted(EXAMPLES)))
    value = draw(st.sampled_from(EXAMPLES[kind]))
    place = draw(st.sampled_from(list(places(value))))
    change = leave_out if draw(st.integers(0, 4)) == 0 else put(draw(st.sampled_from(JUNK)))
    return kind, changed(value, place, change)


# How the readers report what a schema refuses. What two values have to do with each other, which
# files exist, and what a name refers to is beyond a schema, and reported in other words.
BY_A_SCHEMA = re.compile(
    r": (unknown key|is missing|expected each item|expected (?!at most|another value).*; found)"
)


@settings(max_examples=400, deadline=None, derandomize=True, database=None)
@given(mistakes())
def test_the_schema_and_the_reader_agree(mistake: tuple[str, Any]) -> None:
    kind, value = mistake
    accepted = validator(kind).is_valid(value)
    problems = refusal(kind, value)
    if not accepted:
        assert problems, f"the schema alone refuses {value}"
    else:
        assert not BY_A_SCHEMA.search(problems), f"the reader alone refuses {value}"


@pytest.mark.parametrize("kind", sorted(EXAMPLES))
def test_the_examples_are_accepted_by_both(kind: str) -> None:
    for value in EXAMPLES[kind]:
        assert list(validator(kind).iter_errors(value)) == []
        assert refusal(kind, value) == ""


@pytest.mark.parametrize(
    ("kind", "place", "change"),
    [
        ("dialect", ("representation", "no_value"), misspell),
        ("dialect", ("authentication", "missing_key_status", "one_of", 0), misspell),
        ("dialect", ("retry", "jitter"), put("0.5")),
        ("dialect", ("retry", "jitter"), put(1.5)),
        ("dialect", ("retry", "jitter"), put({"one_of": [0.5]})),
        ("dialect", ("retry",), add_unknown_key),
        ("dialect", (), add_unknown_key),
        ("dialect", ("name",), leave_out),
        ("dialect", ("extends",), leave_out),
        ("dialect", ("representation", "no_value"), put(["null", "absent"])),
        ("target", ("dialect", "representation", "no_value"), misspell),
        ("target", ("capabilities", "mtls"), misspell),
        ("target", ("receiver", "ca"), leave_out),
        ("target", ("budgets", "request_s"), put(0)),
        ("target", ("provision",), put("./hooks")),
        ("target", ("projects", 0), add_unknown_key),
        ("profile", ("users",), put(5000)),
        ("profile", ("rate",), put("10")),
        ("profile", ("fail_if", 1), put("lots > 0")),
        ("profile", ("mix",), put({"createEndpoints": 1})),
        ("profile", ("trouble", 0, "reply"), add_unknown_key),
        ("profile", ("users",), leave_out),
        ("baseline", (0, "expected"), misspell),
        ("baseline", (0, "expires"), put("soon")),
        ("baseline", (0, "reason"), leave_out),
        ("baseline", (1,), add_unknown_key),
        ("script", ("tokens", "orders", "replies", 0, "status"), put(42)),
        ("script", ("tokens", "orders", "replies", 1, "cut", "at"), misspell),
        ("script", ("tokens", "orders", "secrets", "dialect"), misspell),
        ("script", ("tokens", "orders", "replies", 0), add_unknown_key),
        ("script", ("tokens", "login", "token_server", "clients", 0), add_unknown_key),
        ("script", ("tokens",), put({"a b": {}})),
        ("script", ("tokens",), leave_out),
    ],
)
def test_a_mistake_is_refused_by_both(
    kind: str, place: tuple[str | int, ...], change: Callable[[Any, Any], None]
) -> None:
    value = changed(EXAMPLES[kind][0], place, change)
    assert not validator(kind).is_valid(value)
    assert refusal(kind, value)


DIALECT_FILES = sorted((ROOT / "hookproof" / "conformance" / "mutants").glob("*/*.yaml"))


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        *(
            ("dialect", ROOT / "hookproof" / "spec" / "dialects" / f"{name}.yaml")
            for name in shipped_dialects()
        ),
        *(("dialect", path) for path in DIALECT_FILES if "summary:" in path.read_text()),
        *(
            ("profile", ROOT / "hookproof" / "load" / "profiles" / f"{name}.yaml")
            for name in shipped_profiles()
        ),
    ],
    ids=lambda value: value.stem if isinstance(value, Path) else value,
)
def test_the_shipped_files_agree_with_their_schema(kind: str, path: Path) -> None:
    value = parse_yaml(path.read_text(), str(path)).value
    assert list(validator(kind).iter_errors(value)) == []


def documented(page: str, key: str) -> Any:
    """The YAML example of a page that has this key at its top."""
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    (found,) = (block for block in blocks if re.match(rf"(.*\n)*?{key}:", block))
    return parse_yaml(found, page).value


@pytest.mark.parametrize(
    ("kind", "page", "key"),
    [
        ("target", "README.md", "base_url"),
        ("target", "docs/target-file.md", "base_url"),
        ("dialect", "README.md", "extends"),
        ("dialect", "docs/dialects.md", "extends"),
        ("script", "docs/receiver.md", "tokens"),
    ],
)
def test_the_examples_in_the_documentation_agree(kind: str, page: str, key: str) -> None:
    assert list(validator(kind).iter_errors(documented(page, key))) == []


@pytest.mark.parametrize("kind", sorted(SCHEMAS))
def test_each_schema_is_one_that_any_validator_reads(kind: str) -> None:
    schema = schema_of(kind)
    Draft202012Validator.check_schema(schema)
    assert r"\Z" not in json.dumps(schema)
    assert schema["title"] == f"A {kind} file of hookproof"


def test_a_variable_is_accepted_wherever_a_text_is_limited() -> None:
    value = {"provision": "${HOOKS}", "dialect": {**DIALECT, "name": "${NAME}"}}
    assert validator("target").is_valid(value)
    assert not validator("target").is_valid({"provision": "HOOKS"})
    assert not validator("target").is_valid({"budgets": {"request_s": "${S}"}})


def test_an_editor_shows_the_question_of_a_field() -> None:
    field = schema_of("dialect")["properties"]["representation"]["properties"]["timestamp"]
    assert "What form do timestamps have? (section 2.9)" in field["description"]


def test_a_schema_is_written_to_a_file_in_a_new_folder(tmp_path: Path) -> None:
    path = tmp_path / ".hookproof" / "target.schema.json"
    outcome = CliRunner().invoke(cli, ["schema", "target", "-o", str(path)])
    assert outcome.exit_code == 0
    assert json.loads(path.read_text()) == schema_of("target")


def test_a_file_that_cannot_be_written_is_reported_in_a_line(tmp_path: Path) -> None:
    outcome = CliRunner().invoke(cli, ["schema", "target", "-o", str(tmp_path)])
    assert outcome.exit_code == 64
    assert outcome.output == f"Error: {tmp_path} cannot be written: Is a directory\n"


def test_a_written_baseline_names_its_schema_which_is_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "baseline.yaml"
    _write_baseline(path, baseline_text([], [], date(2026, 11, 21)))
    comment = "# yaml-language-server: $schema="
    (named,) = (line for line in path.read_text().splitlines() if line.startswith(comment))
    schema = json.loads((tmp_path / named.removeprefix(comment)).read_text())
    assert schema == schema_of("baseline")
    assert read_baseline(path) == ()
