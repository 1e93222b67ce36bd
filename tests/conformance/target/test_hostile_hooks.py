"""What a hook that fails says reaches terminals and files without escapes and credentials."""

from pathlib import Path

import pytest

from tests.conformance.command import run_command
from tests.conformance.reference_server import reference_server, write_target_file
from tests.source_tree import ROOT

PASSWORD = "hunter-2-the-password"
OF_ANSWER = "whsec_5f4dcc3b5aa765d61d83"
# It repeats the secret of the endpoint, a URL with a password, and an answer with a secret.
HOOKS = f"""
class Provisioner:
    def after_endpoint_created(self, project, endpoint):
        known = [each["value"] for each in endpoint["secrets"]]
        with open("known.txt", "a") as file:
            file.write("".join(secret + "\\n" for secret in known))
        raise RuntimeError(
            f"\\x1b[31mred \\x9b2J {{known}} {{project['api_key']}}"
            ' http://user:{PASSWORD}@host/ answered {{"secret": "{OF_ANSWER}"}}'
        )
"""


@pytest.mark.parametrize(
    "words",
    [
        ("check", "--profile", "quick", "--only", "1-1"),
        ("learn", "--profile", "quick"),
        ("doctor",),
    ],
    ids=lambda words: words[0],
)
def test_what_a_hook_says_is_shown_without_escapes_and_credentials(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "hooks.py").write_text(HOOKS)
    with reference_server(tmp_path, ROOT, "p1") as ready:
        write_target_file(tmp_path, ready["api"], "p1", provision="./hooks.py:Provisioner")
        done = run_command(tmp_path, *words, "--target", "target.yaml")
    shown = done.out + done.err
    assert "\\x1b[31mred \\x9b2J" in shown
    assert "http://***@host/" in shown
    assert {c for c in shown if not c.isprintable() and c not in "\n\t"} == set()
    files = {
        path.name: path.read_text()
        for folder in ("hookproof", "hookproof-report")
        for path in (tmp_path / folder).rglob("*")
        if path.is_file()
    }
    secrets = (tmp_path / "known.txt").read_text().split()
    assert secrets
    for text in (PASSWORD, OF_ANSWER, "key-p1", *secrets):
        assert text not in shown
        assert [name for name, content in files.items() if text in content] == []
