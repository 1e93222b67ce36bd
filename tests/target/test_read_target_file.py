"""The one reader of target.yaml, which `check` and `load` share."""

from pathlib import Path

import pytest

from hookproof.conformance.target.capabilities import CAPABILITIES as DESCRIBED
from hookproof.conformance.target.file import target_from
from hookproof.load.target.settings import target_settings
from hookproof.spec.strict_yaml.file_problem import FileProblems
from hookproof.target.file_schema import CAPABILITIES
from hookproof.target.settings import Flags, ReceiverSettings, dialect_of
from hookproof.target.target_file import NO_FILE, read_target_file


def write_target_file(folder: Path, text: str) -> Path:
    path = folder / "target.yaml"
    path.write_text(text)
    return path


def problems(path: Path) -> list[str]:
    with pytest.raises(FileProblems) as caught:
        read_target_file(path, {})
    return str(caught.value).splitlines()


def test_without_a_file_nothing_is_set() -> None:
    assert read_target_file(None, {}) is NO_FILE
    assert (NO_FILE.api_keys, NO_FILE.receiver, NO_FILE.folder) == ({}, {}, Path())


def test_a_variable_in_a_comment_need_not_be_set(tmp_path: Path) -> None:
    path = write_target_file(tmp_path, "# ${KEY} is a secret\nprojects: [{id: p, api_key: k}]\n")
    assert read_target_file(path, {}).api_keys == {"p": "k"}


def test_no_value_of_a_variable_changes_what_the_file_says(tmp_path: Path) -> None:
    path = write_target_file(tmp_path, "projects:\n  - {id: p, api_key: '${KEY}'}\n")
    key = "a'}\nbase_url: http://evil.invalid\n#\"\\ ${KEY}"
    file = read_target_file(path, {"KEY": key})
    assert file.api_keys == {"p": key}
    assert "base_url" not in file.values


def test_a_key_of_a_project_that_is_misspelt_is_refused_with_its_line(tmp_path: Path) -> None:
    [line] = problems(write_target_file(tmp_path, "projects:\n  - {id: p, api_key: k, keys: x}\n"))
    assert "target.yaml:2: projects[0].keys: unknown key" in line


def test_every_capability_of_the_schema_is_described() -> None:
    assert set(CAPABILITIES) == set(DESCRIBED)


@pytest.mark.parametrize(
    "dialect",
    ["contrary", "./own.yaml", "{extends: contrary, name: inline, summary: Here.}"],
    ids=["a name", "a file beside it", "a mapping"],
)
def test_check_and_load_read_the_same_from_one_file(tmp_path: Path, dialect: str) -> None:
    (tmp_path / "own.yaml").write_text("extends: contrary\nname: own\nsummary: Our own.\n")
    path = write_target_file(
        tmp_path,
        'base_url: http://127.0.0.1:1/\nprojects: [{id: p, api_key: "a-${KEY}"},'
        f" {{id: q, api_key: z}}]\ndialect: {dialect}\nbudgets: {{request_s: 1}}\n"
        'receiver: {bind: "127.0.0.1:7", public_url: "https://127.0.0.1:8/"}\n',
    )
    flags = Flags(file=path)
    judged, loaded = target_from(flags, {"KEY": "b"}), target_settings(flags, {"KEY": "b"})
    assert (loaded.base_url, loaded.bind) == (judged.base_url, judged.receiver.bind)
    assert (loaded.project, loaded.api_key) == ("p", "a-b")
    assert (judged.projects[0].id, judged.projects[0].api_key) == ("p", "a-b")
    assert loaded.dialect == judged.dialect
    assert loaded.public_url == judged.receiver.public_url == "https://127.0.0.1:8"


@pytest.mark.parametrize(
    ("bind", "public_url", "directly"),
    [
        ("127.0.0.1:0", None, True),
        ("0.0.0.0:8443", "https://receiver:8443", True),
        ("0.0.0.0:443", "https://receiver", True),
        ("0.0.0.0:8443", "https://hooks.example.org", False),
        ("0.0.0.0:8443", "https://hooks.example.org:8443/in", False),
        ("127.0.0.1:0", "https://hooks.example.org:8443", False),
    ],
)
def test_a_public_url_with_another_port_or_a_path_is_that_of_a_proxy(
    bind: str, public_url: str | None, directly: bool
) -> None:
    settings = ReceiverSettings(bind=bind, public_url=public_url)
    assert settings.is_reached_directly is directly


def test_the_mistakes_of_a_dialect_in_the_file_have_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "target.yaml"
    path.write_text(
        "base_url: http://127.0.0.1:1\n"
        "dialect:\n  extends: reference\n  name: own\n  summary: Own.\n"
        "  retry:\n    attempts: 0\n  authentication: {key_format: '{key} {kye}'}\n"
    )
    with pytest.raises(FileProblems) as caught:
        dialect_of(Flags(), read_target_file(path, {}))
    assert [line.split(": ")[:2] for line in str(caught.value).splitlines()] == [
        [f"{path}:7", "dialect.retry.attempts"],
        [f"{path}:8", "dialect.authentication.key_format"],
    ]


def test_what_a_dialect_in_the_file_extends_is_beside_the_file(tmp_path: Path) -> None:
    path = tmp_path / "target.yaml"
    (tmp_path / "own.yaml").write_text("extends: reference\nname: own\nsummary: 7\n")
    path.write_text("dialect: {extends: own.yaml, name: x, summary: X.}\n")
    with pytest.raises(FileProblems, match=r"own\.yaml:3: summary: expected a text"):
        dialect_of(Flags(), read_target_file(path, {}))
