"""`schemathesis run` as its users start it, against the reference server."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hookproof.conformance.schemathesis_plugin.registration import check_name
from hookproof.conformance.schemathesis_plugin.rules import judged_requirements
from hookproof.spec.contract.schemathesis_settings import schemathesis_settings
from hookproof.spec.dialect.reader import load_dialect
from tests.conformance.reference_server import reference_server
from tests.source_tree import ROOT

DEADLINE_S: Final = 600.0
HOOKS: Final = 'hooks = "hookproof.schemathesis"\n'
REPORT: Final = "report.json"
DOCUMENT: Final = ROOT / "hookproof" / "spec" / "openapi.yaml"


@dataclass(frozen=True, kw_only=True)
class StockRun:
    """How a run ended, what it printed, and its failures."""

    code: int
    out: str
    failures: tuple[dict[str, Any], ...]

    @property
    def violated(self) -> frozenset[str]:
        """The requirements that Hookproof's checks reported."""
        return frozenset(
            requirement.id
            for requirement in judged_requirements()
            for failure in self.failures
            if f"`{check_name(requirement.id)}`" in failure["title"]
        )

    @property
    def others(self) -> frozenset[str]:
        """What Schemathesis' own checks reported, and where."""
        return frozenset(
            f"{failure['title']}: {operation}"
            for failure in self.failures
            if check_name("") not in failure["title"]
            for operation in failure["operations"]
        )


@contextmanager
def served(folder: Path, dialect: str, *options: str) -> Iterator[str]:
    """The URL of a reference server with the projects p2 and p1, of which p1 is tested."""
    words = ("--dialect", dialect, *options)
    with reference_server(
        folder, ROOT, "p2", "p1", options=words, stderr=subprocess.DEVNULL
    ) as ready:
        yield ready["api"]


def run_schemathesis(
    folder: Path,
    url: str,
    *options: str,
    document: str | Path = DOCUMENT,
    settings: str,
    dialect: str | None = None,
    examples: int = 3,
    phases: Sequence[str] = (),
    receives: bool = False,
) -> StockRun:
    """Run it in the folder with these settings. `dialect` is what HOOKPROOF_DIALECT says; it
    `receives` deliveries with the CA that `served` lets the server trust.
    """
    (folder / "schemathesis.toml").write_text(settings, encoding="utf-8")
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("HOOKPROOF_")
    }
    environment |= {"HOOKPROOF_PROJECT": "p1", "HOOKPROOF_API_KEY": "key-p1"}
    environment |= {"HOOKPROOF_PROJECT_2": "p2", "HOOKPROOF_API_KEY_2": "key-p2"}
    if dialect is not None:
        environment["HOOKPROOF_DIALECT"] = dialect
    if receives:
        environment["HOOKPROOF_CA_DIR"] = str(folder / "ca")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "--no-color", "run", str(document)),
            *("--url", url, "--max-examples", str(examples), "--continue-on-failure"),
            *("--report", "json", "--report-json-path", REPORT),
            *(("--phases", ",".join(phases)) if phases else ()),
            *options,
        ],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    report = folder / REPORT
    failures = json.loads(report.read_text("utf-8"))["failures"] if report.exists() else []
    report.unlink(missing_ok=True)
    return StockRun(code=done.returncode, out=done.stdout + done.stderr, failures=tuple(failures))


def settings_for(dialect: str | None, *, hooks: bool) -> str:
    """The settings that are for this dialect, or shipped for any."""
    text = schemathesis_settings(None if dialect is None else load_dialect(dialect))
    assert HOOKS in text
    return text if hooks else text.replace(HOOKS, "")
