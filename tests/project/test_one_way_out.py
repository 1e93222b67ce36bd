"""Whatever is said to people goes through `hookproof.process.messages`, and nothing goes around."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.source_tree import ROOT

# Modules that own the way out, or that say nothing to the users of a command.
ALLOWED: Final = {
    "hookproof/process/messages.py": "the way out",
    "hookproof/process/message_console.py": "its pictures and tables",
    "hookproof/process/standard_streams.py": "makes the streams, and writes nothing",
    "hookproof/spec/vectors/make_signatures.py": "a tool: spec imports no other package",
}
# What writes to a standard stream.
WAYS: Final = frozenset(
    {
        *(f"sys.{name}" for name in ("stdout", "stderr", "__stdout__", "__stderr__")),
        *(f"click.{name}" for name in ("echo", "secho", "style", "prompt", "confirm", "pause")),
        *(f"click.{name}" for name in ("progressbar", "echo_via_pager")),
        *(f"traceback.print_{name}" for name in ("exc", "exception", "stack", "tb")),
        *(f"rich.{name}" for name in ("console.Console", "print", "get_console")),
        "logging.StreamHandler",
    }
)
BUILT_IN: Final = frozenset({"print", "pprint"})
# What takes a stream and hands it to the way out.
TAKE_A_STREAM: Final = frozenset({"step_progress", "progress"})
BY_NUMBER: Final = frozenset({"open", "os.write", "os.fdopen", "io.open", "io.FileIO"})


def product_files() -> list[Path]:
    return sorted((ROOT / "hookproof").rglob("*.py"))


def other_ways(source: str) -> Iterator[str]:
    """What in a module writes to a standard stream without the way out, each with its line."""
    tree = ast.parse(source)
    handed_on = {
        id(argument)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in TAKE_A_STREAM
        for argument in node.args
    }
    for node in ast.walk(tree):
        if id(node) not in handed_on:
            yield from (f"{getattr(node, 'lineno', 0)}: {words}" for words in _ways(node))


def _ways(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Attribute) and ast.unparse(node) in WAYS:
        yield ast.unparse(node)
    elif isinstance(node, ast.ImportFrom):
        yield from {f"{node.module}.{each.name}" for each in node.names} & WAYS
    elif isinstance(node, ast.Call):
        name = ast.unparse(node.func)
        by_number = name in BY_NUMBER and node.args and ast.unparse(node.args[0]) in {"1", "2"}
        unhandled = name == "logging.basicConfig" and "handlers" not in {
            each.arg for each in node.keywords
        }
        if name in BUILT_IN or by_number or unhandled:
            yield name


def test_every_message_goes_through_one_module() -> None:
    found = {
        str(path.relative_to(ROOT)): ways
        for path in product_files()
        if (ways := list(other_ways(path.read_text("utf-8"))))
    }
    assert {name: ways for name, ways in found.items() if name not in ALLOWED} == {}


def test_the_exceptions_are_needed() -> None:
    needless = [name for name in ALLOWED if not list(other_ways((ROOT / name).read_text("utf-8")))]
    assert needless == []


@pytest.mark.parametrize(
    "way",
    [
        "print('x')",
        "click.echo('x')",
        "click.secho('x')",
        "sys.stdout.write('x')",
        "stream = sys.stderr",
        "click.confirm('x')",
        "logging.StreamHandler()",
        "logging.basicConfig(level=1)",
        "os.write(2, b'x')",
        "open(1, 'w')",
        "os.fdopen(2, 'w')",
        "traceback.print_exc()",
        "from rich.console import Console",
        "from sys import stderr",
        "from click import echo",
        "show(sys.stderr)",
    ],
)
def test_such_a_way_is_found(way: str) -> None:
    assert list(other_ways(way))


def test_what_hands_a_stream_on_is_none() -> None:
    assert not list(other_ways("with step_progress('x', sys.stderr) as note: pass"))
    assert not list(other_ways("logging.basicConfig(handlers=[MessageHandler()])"))
