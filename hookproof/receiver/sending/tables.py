"""Tables of deliveries and of the answers to them, and how they are read."""

import json
from functools import cache
from importlib.resources import files
from typing import Final, TypeVar

import msgspec
import yaml

from hookproof.receiver.sending.attempt import Attempt

WAYS: Final = "ways.yaml"
_Row = TypeVar("_Row")


class Probe(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Deliveries, sent one after the other or `together`, and the answers that are right: a status
    such as `411`, or a class of them such as `2xx`.
    """

    deliveries: tuple[Attempt, ...] = (Attempt(),)
    answers: tuple[str, ...]
    together: bool = False

    def is_right(self, status: int) -> bool:
        return f"{status // 100}xx" in self.answers or str(status) in self.answers

    @property
    def wanted(self) -> str:
        return " or ".join(self.answers)


class Way(Probe, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A way to send an event: what `--as` takes."""

    help: str
    why: str


def read_table(package: str, name: str, row: type[_Row]) -> dict[str, _Row]:
    """The rows of a table of the project, by their names, in its order."""
    text = files(package).joinpath(name).read_text(encoding="utf-8")
    return msgspec.json.decode(json.dumps(yaml.safe_load(text)), type=dict[str, row])  # type: ignore[valid-type]


@cache
def ways() -> dict[str, Way]:
    return read_table(__package__, WAYS, Way)
