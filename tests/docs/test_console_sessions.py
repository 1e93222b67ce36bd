"""What the documentation shows as a console session is what happens: it is run and compared.

A session that shows no output has to succeed. One that cannot be run says why in a comment.
"""

import shutil
import stat
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.docs.console_sessions import ConsoleSession, PageShell, agrees, sessions_in
from tests.quick_start.interpreter import quick_python
from tests.source_tree import ROOT

PAGES: Final = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *ROOT.glob("load/**/*.md")]
)
SESSIONS: Final = {
    str(page.relative_to(ROOT)): found for page in PAGES if (found := [*sessions_in(page)])
}
RUN: Final = [page for page, found in SESSIONS.items() if not all(each.reason for each in found)]

# A run of everything takes half a minute, and many pages show one: here it is one requirement.
# A page that names requirements itself gets those.
HOOKPROOF: Final = """\
#!/bin/bash
case " $* " in
    *" --only "* | *" --plan "*) ;;
    " check "*) set -- "$@" --only 2.2-9 --profile quick ;;
    " learn "*) set -- "$@" --profile quick ;;
esac
exec {python} -P -m hookproof "$@"
"""


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with the programs that sessions call by name."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name, text in (
        ("hookproof", HOOKPROOF.format(python=quick_python())),
        # As on a terminal, to which curl shows no progress, and everything at once.
        ("curl", f'#!/bin/sh\nexec {shutil.which("curl")} -N --no-progress-meter "$@"\n'),
        ("python", f'#!/bin/sh\nexec {sys.executable} "$@"\n'),
        ("locust", f'#!/bin/sh\nexec {sys.executable} -m locust "$@"\n'),
        ("schemathesis", f'#!/bin/sh\nexec {sys.executable} -m schemathesis.cli "$@"\n'),
    ):
        (folder / name).write_text(text)
        (folder / name).chmod(stat.S_IRWXU)
    return folder


@pytest.mark.parametrize("page", RUN)
def test_a_page_shows_what_its_sessions_write(page: str, tmp_path: Path, programs: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    with PageShell(folder, programs) as shell:
        for session in SESSIONS[page]:
            if not session.reason:
                run_session(shell, session)


def run_session(shell: PageShell, session: ConsoleSession) -> None:
    place = f"{session.page}:{session.line}"
    for name, text in session.files.items():
        shell.write(name, text)
    for command in session.first:
        code, written = shell.run(command)
        assert code == 0, f"{place}, before it: {command}\n{written}"
    shows_output = any(command.output for command in session.commands)
    for shown in session.commands:
        code, written = shell.run(shown.line)
        where = f"{place}: {shown.line}\nwrites (exit code {code})\n{written}"
        if shown.output:
            assert agrees(shown.output, written), f"{where}\nand the page shows\n{shown.output}"
        elif not shows_output:
            assert code == 0, where


def test_every_session_is_run_or_says_why_not() -> None:
    assert RUN
    reasons = [each.reason for found in SESSIONS.values() for each in found if each.reason]
    assert all(len(reason.split()) > 1 for reason in reasons)


@pytest.mark.parametrize(
    ("shown", "written"),
    [
        ("took 1.5 s", "took 22 s"),
        ("at http://127.0.0.1:5005", "at http://127.0.0.1:41925"),
        ("first\n...\nlast", "first\nlast"),
        ("first\n...\nlast", "first\n2\n3\nlast"),
    ],
)
def test_what_varies_is_compared_by_its_form(shown: str, written: str) -> None:
    assert agrees(shown, written)


@pytest.mark.parametrize(
    ("shown", "written"),
    [
        ("killed 1 of 2", "killed 2 of 2"),
        ("took 1.5 s", "took some time"),
        ("first", "first\nlast"),
        ("first\n...\nlast", "first\n2"),
        ("a.b", "acb"),
    ],
)
def test_output_that_differs_is_noticed(shown: str, written: str) -> None:
    assert not agrees(shown, written)


PAGE: Final = """\
<!-- file: a.yaml -->
```yaml
a: 1
```

<!-- first: hookproof ca ca -->
<!-- first: true -->
```console
$ one \\
    further
out
$ two
```

  <!-- not run: needs a network -->
  ```console
  $ three
  ```
"""


def test_a_page_is_read_with_its_comments(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(PAGE)
    ran, left_out = sessions_in(tmp_path / "page.md", tmp_path)
    assert (ran.reason, ran.files) == ("", {"a.yaml": "a: 1\n"})
    assert ran.first == ["hookproof ca ca\n", "true\n"]
    shown = [(command.line, command.output) for command in ran.commands]
    assert shown == [("one \\\n    further\n", "out\n"), ("two\n", "")]
    assert left_out.reason == "needs a network"
    assert [command.line for command in left_out.commands] == ["three\n"]


def test_every_block_of_a_console_is_found() -> None:
    for page in PAGES:
        blocks = page.read_text("utf-8").count("```console")
        assert len(SESSIONS.get(str(page.relative_to(ROOT)), [])) == blocks, page


def test_a_command_that_fails_is_noticed(tmp_path: Path, programs: Path) -> None:
    with PageShell(tmp_path, programs) as shell:
        assert shell.run("export WORD=kept; cd /\n") == (0, "")
        assert shell.run('echo "$WORD" >&2; pwd; false\n') == (1, "kept\n/\n")
        assert shell.run("hookproof serve --dialect nosuch\n")[0] == 64
