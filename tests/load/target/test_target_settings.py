"""What a load run uses of the flags and of target.yaml, and what it refuses in one line."""

from pathlib import Path

import pytest

from hookproof.load.target.settings import target_settings
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.receiver.http.authority import Authority
from hookproof.spec.strict_yaml.file_problem import FileProblems
from hookproof.target.file_schema import Presence
from hookproof.target.settings import Flags

WHOLE = """
base_url: http://127.0.0.1:5005
projects: [{id: p, api_key: k}, {id: q, api_key: l}]
receiver: {ca: ca/ca.pem, ca_key: ca/ca.key}
"""


def written(folder: Path, text: str) -> Path:
    Authority(folder / "ca")
    path = folder / "target.yaml"
    path.write_text(text)
    return path


def refusal(flags: Flags) -> str:
    with pytest.raises(CommandError) as refused:
        target_settings(flags, {})
    assert refused.value.exit_code is ExitCode.USAGE
    [line] = str(refused.value).splitlines()
    return line


def test_without_flags_the_embedded_server_is_loaded() -> None:
    settings = target_settings(Flags(), {})
    assert (settings.base_url, settings.dialect_source) == (None, "reference")


def test_the_first_project_of_the_file_is_loaded_by_default(tmp_path: Path) -> None:
    path = written(tmp_path, WHOLE)
    settings = target_settings(Flags(file=path), {})
    assert (settings.project, settings.api_key) == ("p", "k")
    settings = target_settings(Flags(file=path, project="q"), {})
    assert (settings.project, settings.api_key) == ("q", "l")


def test_the_authority_of_the_file_is_used_by_its_folder(tmp_path: Path) -> None:
    path = written(tmp_path, WHOLE)
    assert target_settings(Flags(file=path), {}).ca_dir == tmp_path / "ca"
    flags = Flags(file=path, ca_dir=tmp_path / "other")
    assert target_settings(flags, {}).ca_dir == tmp_path / "other"


def test_an_authority_in_other_files_is_refused_in_one_line(tmp_path: Path) -> None:
    path = written(tmp_path, WHOLE.replace("ca/ca.pem", "mine.pem"))
    (tmp_path / "mine.pem").write_text("")
    assert "ca is mine.pem and ca_key is ca.key; a load run needs ca.pem" in refusal(
        Flags(file=path)
    )


def test_a_receiver_behind_a_proxy_needs_the_url_of_that(tmp_path: Path) -> None:
    path = written(tmp_path, WHOLE.replace("receiver: {", "receiver: {http: true, "))
    assert "the https URL of the proxy" in refusal(Flags(file=path))


def test_the_embedded_server_trusts_receivers_of_the_ca_alone(tmp_path: Path) -> None:
    behind = "http: true, public_url: 'https://r', "
    text = WHOLE.replace("receiver: {", f"receiver: {{{behind}")
    path = written(tmp_path, text.replace("base_url: http://127.0.0.1:5005", ""))
    assert "the embedded server trusts receivers of the CA alone" in refusal(Flags(file=path))
    with_target = target_settings(Flags(file=written(tmp_path, text)), {})
    assert with_target.receiver_options(tmp_path)[-3:] == ["--public-url", "https://r", "--http"]


def test_a_target_without_a_project_is_refused_in_one_line() -> None:
    assert "--project" in refusal(Flags(url="http://127.0.0.1:1"))
    assert "--api-key" in refusal(Flags(url="http://127.0.0.1:1", project="p"))


def test_a_worker_needs_neither_project_nor_key_here() -> None:
    settings = target_settings(Flags(url="http://127.0.0.1:1"), {}, for_worker=True)
    assert (settings.project, settings.api_key) == ("", "")


def test_the_capabilities_of_the_file_are_known(tmp_path: Path) -> None:
    path = written(tmp_path, WHOLE + "capabilities: {rate_limit: no, oauth2: auto}\n")
    settings = target_settings(Flags(file=path), {})
    assert settings.capabilities == {"rate_limit": Presence.NO, "oauth2": Presence.AUTO}


def test_the_hooks_of_the_file_are_those_of_a_check(tmp_path: Path) -> None:
    path = written(tmp_path, f"{WHOLE}provision: ./hooks.py:Hooks\n")
    with pytest.raises(FileProblems, match="is not a Python file"):
        target_settings(Flags(file=path), {})
    (tmp_path / "hooks.py").write_text(
        "class Hooks:\n    def after_endpoint_created(self, project, endpoint): pass\n"
    )
    settings = target_settings(Flags(file=path), {})
    assert settings.provision.has("after_endpoint_created")
    assert settings.unused == {}


def test_a_worker_runs_no_code_of_the_target_file(tmp_path: Path) -> None:
    path = written(tmp_path, f"{WHOLE}provision: ./hooks.py:Hooks\n")
    (tmp_path / "hooks.py").write_text("raise SystemExit(3)\n")
    assert not target_settings(Flags(file=path), {}, for_worker=True).provision.hooks


def test_hooks_without_a_target_are_said_to_be_without_effect(tmp_path: Path) -> None:
    path = written(tmp_path, "provision: ./hooks.py:Hooks\n")
    assert "embedded server" in target_settings(Flags(file=path), {}).unused["provision"]


def test_with_a_hook_that_creates_projects_none_need_be_named(tmp_path: Path) -> None:
    hook = "provision: {fresh_project: [{url: http://127.0.0.1:1, keep: {id: id, api_key: key}}]}\n"
    path = written(tmp_path, f"base_url: http://127.0.0.1:1\n{hook}")
    assert target_settings(Flags(file=path), {}).project == ""
    assert "--api-key" in refusal(Flags(file=path, project="p"))


def test_a_load_run_listens_where_the_dialect_lets_endpoints_be(tmp_path: Path) -> None:
    own = "extends: reference, name: own, summary: no addresses, requests: {url_addresses: refused}"
    path = written(tmp_path, f"dialect: {{{own}}}\n")
    settings = target_settings(Flags(file=path), {})
    assert settings.bind == "localhost:0"
    assert target_settings(Flags(), {}).bind == "127.0.0.1:0"


def test_a_proxy_that_names_clients_makes_no_difference_to_a_load_run(tmp_path: Path) -> None:
    behind = "receiver: {http: true, public_url: 'https://r', "
    texts = [WHOLE.replace("receiver: {", f"{behind}{also}") for also in ("", "forwarded: true, ")]
    first, second = (target_settings(Flags(file=written(tmp_path, text)), {}) for text in texts)
    assert first.receiver_options(tmp_path) == second.receiver_options(tmp_path)
