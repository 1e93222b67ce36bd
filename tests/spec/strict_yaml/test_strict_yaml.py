"""YAML files that people write are read strictly, and each problem is reported with its line."""

import copy
import os
from pathlib import Path
from typing import Any

import pytest

from hookproof.spec.strict_yaml.reader import (
    LARGEST_FILE,
    FileProblems,
    Problem,
    _compiled,
    parse_yaml,
    read_text,
    read_yaml,
)

ANY: dict[str, Any] = {}
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "description": "what to call them"},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "mood": {"enum": ["glad", "sad", "null"]},
        "friends": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "home": {"anyOf": [{"const": "none"}, {"type": "object", "required": ["town"]}]},
    },
    "required": ["name"],
    "additionalProperties": False,
}


def value_of(text: str) -> Any:
    return parse_yaml(text, "f").value


def problems_of(text: str) -> list[tuple[int | None, str, str]]:
    with pytest.raises(FileProblems) as caught:
        parse_yaml(text, "f")
    return [(problem.line, problem.where, problem.message) for problem in caught.value.problems]


def read_problems(folder: Path, text: str, schema: dict[str, Any]) -> list[str]:
    path = folder / "f.yaml"
    path.write_text(text)
    with pytest.raises(FileProblems) as caught:
        read_yaml(path, schema)
    return [line.removeprefix(f"{path}:") for line in str(caught.value).splitlines()]


# ---- What is read


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("# nothing but a comment", None),
        ("17", 17),
        ("-17", -17),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ('"17"', "17"),
        ("'true'", "true"),
        ("|\n  two\n  lines\n", "two\nlines\n"),
        ("{a: [1, {b: }]}", {"a": [1, {"b": None}]}),
        ("401: a key is a text", {"401": "a key is a text"}),
        ("\ufeffa: 1", {"a": 1}),
    ],
)
def test_a_value_is_what_it_looks_like(text: str, value: object) -> None:
    assert value_of(text) == value
    assert type(value_of(text)) is type(value)


@pytest.mark.parametrize(
    "text",
    ["yes", "no", "on", "off", "2030-01-02", "12:30", "0x1f", "0o17", "1_000", ".inf", ".nan"],
)
def test_what_yaml_once_took_for_something_else_stays_a_text(text: str) -> None:
    assert value_of(text) == text


def test_a_file_is_read_from_its_path(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text("name: Zoë\nage: 7\n", encoding="utf-8")
    assert read_yaml(path, PERSON) == {"name": "Zoë", "age": 7}
    assert read_yaml(str(path), PERSON) == {"name": "Zoë", "age": 7}


# ---- What is refused in a text


def test_a_key_that_stands_twice_is_refused_at_its_second_line() -> None:
    assert problems_of("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\na: 2\n") == [
        (5, "b.c", "is given twice, first on line 3"),
        (6, "a", "is given twice, first on line 1"),
    ]


def test_anchors_aliases_and_tags_are_refused_each_at_its_line() -> None:
    assert problems_of("a: &x [1]\nb:\n  - *x\n  - !!python/object:os.system x\n? &y k\n: 1\n") == [
        (1, "a", "the anchor &x is not accepted; write a plain value"),
        (3, "b[0]", "the alias *x is not accepted; write the value out"),
        (
            4,
            "b[1]",
            (
                "the tag tag:yaml.org,2002:python/object:os.system is not accepted;"
                " write a plain value"
            ),
        ),
        (5, "", "the anchor &y is not accepted; write a plain value"),
    ]


@pytest.mark.timeout(10)
def test_an_alias_bomb_is_refused_without_being_unfolded() -> None:
    rows = ["a0: &a0 [x]"] + [
        f"a{row}: &a{row} [{', '.join([f'*a{row - 1}'] * 9)}]" for row in range(1, 60)
    ]
    problems = problems_of("\n".join(rows))
    assert len(problems) == 60 + 59 * 9


def test_a_value_that_holds_itself_is_refused() -> None:
    assert (1, "[0]", "the alias *a is not accepted; write the value out") in problems_of("&a [*a]")


def test_a_second_document_is_refused_at_its_line() -> None:
    assert problems_of("a: 1\n---\nb: 2\n") == [
        (2, "", "a second document begins here; a file holds one")
    ]


@pytest.mark.parametrize("text", ["a: 1\n? [b]\n: 2", "a: 1\n? {b: c}\n: 2"])
def test_a_key_that_is_not_a_word_is_refused(text: str) -> None:
    assert problems_of(text) == [
        (2, "", "a key must be one word, not a mapping, a list or an alias")
    ]


@pytest.mark.timeout(10)
@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
@pytest.mark.parametrize("depth", [70, 900, 50_000])
def test_deep_nesting_is_refused(opening: str, depth: int) -> None:
    problems = problems_of("\n" + opening * depth)
    [(line, _, message)] = problems
    assert line == 2
    # PyYAML 6.0.4 counts some of it first.
    assert message in {
        "this is nested more than 64 levels deep",
        "this is not YAML: exceeded maximum nesting depth",
    }


def test_nesting_that_people_use_is_accepted() -> None:
    assert value_of("[" * 60 + "]" * 60) is not None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\nb: [1,\n", 3),
        ("a: 1\n\tb: 2\n", 2),
        ("a: 'open\n\n", 3),
        ("a: 1\nb: 2: 3\n", 2),
        ("a: 1\nb\n", 3),
        ('a: 1\nb: "\\ud800"\n', 2),
        ("%YAML 3.0\n---\na: 1\n", 1),
    ],
)
def test_what_is_not_yaml_is_refused_at_its_line(text: str, line: int) -> None:
    ((reported_line, _, message),) = problems_of(text)
    assert (reported_line, message.split(":")[0]) == (line, "this is not YAML")


def test_a_control_character_is_refused_at_its_line() -> None:
    assert problems_of("é: 1\nä: 2\nb: \x00\n") == [
        (3, "", "this is not YAML: control characters are not allowed")
    ]


@pytest.mark.parametrize("number", ["9" * 41, "-" + "9" * 6000, "1e999"])
def test_a_number_beyond_all_use_is_refused(number: str) -> None:
    assert problems_of(f"- 1\n- {number}") == [(2, "[1]", "this number is too large")]


def test_what_was_wrong_before_a_syntax_error_is_reported_too() -> None:
    assert [line for line, _, _ in problems_of("a: 1\na: 2\nb: [\n")] == [2, 4]


# ---- What is refused about a file


def test_a_missing_file_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(FileProblems) as caught:
        read_yaml(tmp_path / "none.yaml", ANY)
    assert str(caught.value) == f"{tmp_path}/none.yaml: cannot be read: No such file or directory"
    assert caught.value.path == f"{tmp_path}/none.yaml"
    assert caught.value.problems[0].line is None


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileProblems, match="cannot be read: it is a directory"):
        read_text(tmp_path)


@pytest.mark.timeout(10)
def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(FileProblems, match="cannot be read: it is not a regular file"):
        read_text(tmp_path / "pipe.yaml")


@pytest.mark.timeout(10)
def test_a_device_is_refused_instead_of_read_indefinitely() -> None:
    with pytest.raises(FileProblems, match="cannot be read: it is not a regular file"):
        read_text("/dev/zero")


def test_a_path_that_cannot_exist_is_refused() -> None:
    with pytest.raises(FileProblems, match="cannot be read"):
        read_text("nul\0.yaml")


def test_a_path_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")
    with pytest.raises(FileProblems, match="cannot be read: Not a directory"):
        read_text(tmp_path / "f" / "g.yaml")


def test_a_file_above_the_bound_is_refused_and_one_at_the_bound_is_read(tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_bytes(b"#" * LARGEST_FILE)
    assert len(read_text(tmp_path / "f.yaml")) == LARGEST_FILE
    (tmp_path / "f.yaml").write_bytes(b"#" * (LARGEST_FILE + 1))
    with pytest.raises(FileProblems, match=f"it is larger than {LARGEST_FILE} bytes"):
        read_text(tmp_path / "f.yaml")


def test_bytes_that_are_not_text_are_refused_at_their_line(tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_bytes("a: é\nb: ".encode() + b"\xff\n")
    with pytest.raises(FileProblems) as caught:
        read_text(tmp_path / "f.yaml")
    assert caught.value.problems == (
        Problem(line=2, where="", message="is not UTF-8 text: byte 0xff"),
    )


# ---- What is refused by a schema


def test_all_problems_come_at_once_in_the_order_of_their_lines(tmp_path: Path) -> None:
    text = "age: 200\nmood: gald\nfriends:\n  - Ann\n  - 7\nnmae: Bo\nmood: sad\n"
    assert read_problems(tmp_path, text, PERSON) == [
        "1: age: expected a whole number from 0 to 150; found 200",
        "1: name: is missing; expected a text that is not empty (what to call them)",
        '5: friends[1]: expected a text; found 7; as a text it is written "7"',
        "6: nmae: unknown key; did you mean name?",
        "7: mood: is given twice, first on line 2",
    ]


def test_a_problem_of_the_text_is_not_reported_again_by_the_schema(tmp_path: Path) -> None:
    assert read_problems(tmp_path, "name: Bo\nage: *years\n", PERSON) == [
        "2: age: the alias *years is not accepted; write the value out"
    ]


def test_a_value_that_could_be_meant_in_two_ways_is_compared_with_neither(tmp_path: Path) -> None:
    either = {
        "anyOf": [
            {"type": "object", "required": ["a"]},
            {"type": "object", "required": ["b"], "x-expected": "a b"},
        ]
    }
    assert read_problems(tmp_path, "c: 1", either) == [
        "1: expected a mapping or a b; found a mapping"
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("mood: gald", 'mood: expected one of: glad, sad, null; found "gald"; did you mean glad?'),
        (
            "mood: null",
            'mood: expected one of: glad, sad, null; found null; as a text it is written "null"',
        ),
        ("mood: [glad]", "mood: expected one of: glad, sad, null; found a list"),
        ("age: 1.5", "age: expected a whole number from 0 to 150; found 1.5"),
        ("age: true", "age: expected a whole number from 0 to 150; found true"),
        ("age: {}", "age: expected a whole number from 0 to 150; found an empty mapping"),
        ("colour: red", "colour: unknown key; expected one of: name, age, mood, friends, home"),
        ("friends: [Ann, Ann]", "friends: expected each item once"),
        ("home: 3", 'home: expected "none" or a mapping; found 3'),
        ("home: {street: x}", "home.town: is missing"),
    ],
)
def test_a_value_is_refused_with_what_was_expected_and_what_was_found(
    tmp_path: Path, line: str, problem: str
) -> None:
    assert read_problems(tmp_path, f"name: Bo\n{line}\n", PERSON) == [f"2: {problem}"]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"minimum": 3, "type": "number"}, "a number of at least 3"),
        ({"maximum": 1, "type": "integer"}, "a whole number of at most 1"),
        ({"type": ["string", "null"]}, "a text or null"),
        ({"type": "boolean"}, "true or false"),
        ({"type": "array", "minItems": 1}, "a list that is not empty"),
        ({"oneOf": [{"type": "string"}, {"enum": ["a", 1]}]}, "a text or one of: a, 1"),
        ({"const": {"a": 1}}, "a mapping"),
        ({"type": "array", "x-expected": "colours"}, "colours"),
        (
            {"type": "array", "x-expected": "colours", "description": "of a flag"},
            "colours (of a flag)",
        ),
        ({"not": {}}, "something else"),
    ],
)
def test_an_expectation_is_put_in_words(
    tmp_path: Path, schema: dict[str, Any], expected: str
) -> None:
    assert read_problems(tmp_path, "2", schema) == [f"1: expected {expected}; found 2"]


def test_a_key_that_is_not_accepted_is_reported_at_its_own_line(tmp_path: Path) -> None:
    schema = {"propertyNames": {"enum": ["red", "green"]}}
    assert read_problems(tmp_path, "red: 1\ngren: 2\n", schema) == [
        '2: gren: expected one of: red, green; found "gren"; did you mean green?'
    ]


def test_a_long_value_is_shown_in_part(tmp_path: Path) -> None:
    (problem,) = read_problems(tmp_path, f"name: Bo\nmood: {'x' * 500}\n", PERSON)
    assert len(problem) < 150


def test_a_file_without_content_is_refused_where_a_mapping_is_expected(tmp_path: Path) -> None:
    assert read_problems(tmp_path, "", PERSON) == ["1: expected a mapping; found null"]


# ---- The problems themselves


def test_problems_are_one_line_each_with_path_and_line() -> None:
    problems = [
        Problem(line=9, where="b", message="is odd"),
        Problem(line=None, where="", message="is empty"),
    ]
    assert str(FileProblems("f.yaml", problems)) == "f.yaml: is empty\nf.yaml:9: b: is odd"


def test_problems_can_be_sent_to_another_process() -> None:
    problems = FileProblems("f.yaml", [Problem(line=9, where="b", message="is odd")])
    received = copy.copy(problems)  # as pickling does, it uses __reduce__
    assert (received.path, received.problems, str(received)) == (
        problems.path,
        problems.problems,
        str(problems),
    )


def test_a_schema_is_compiled_once_and_each_by_itself(tmp_path: Path) -> None:
    path, compiled = tmp_path / "f.yaml", _compiled.cache_info().misses
    path.write_text("one")
    for _ in range(3):
        assert read_yaml(path, {"enum": ["one"], "title": "a schema of this test"}) == "one"
    assert _compiled.cache_info().misses == compiled + 1
    assert read_problems(tmp_path, "one", {"enum": ["two"], "title": "a schema of this test"})
