"""Hooks that note their calls in a file, for tests of what becomes of endpoints after a run."""

from pathlib import Path

PROVISION = "./hooks.py:Provisioner"
HOOKS = """
import pathlib

DONE = pathlib.Path(__file__).parent / "done.txt"


def note(word):
    with DONE.open("a") as file:
        print(word, file=file)


class Provisioner:
    def after_endpoint_created(self, project, endpoint):
        note(f"created {endpoint['uid']}")

    def remove_endpoint(self, project, endpoint):
        note(f"removed {endpoint['uid']}")

    def after_run(self):
        note("over")
"""


def done(folder: Path) -> list[str]:
    """What the hooks have noted, in order."""
    file = folder / "done.txt"
    return file.read_text().splitlines() if file.exists() else []


def of(kind: str, lines: list[str]) -> set[str]:
    return {line.removeprefix(f"{kind} ") for line in lines if line.startswith(f"{kind} ")}
