"""Refuses a dialect that leaves open what a running server has to decide."""

from dataclasses import fields, is_dataclass
from typing import Any, Final

from hookproof.spec.dialect.model import Answer, Dialect

# The server sends nothing where these are undecided: no notifications (section 6, item 4) and no
# webhooks about its own resources.
_MAY_STAY_OPEN: Final = ("delivery.notify_on", "delivery.own_events")


class UndecidedAnswers(Exception):
    """The dialect leaves answers open that the server needs; the message lists them."""


def require_decided(dialect: Dialect) -> None:
    """Raise UndecidedAnswers if the dialect leaves open an answer that the server needs."""
    undecided = [name for name in _undecided_names(dialect, "") if name not in _MAY_STAY_OPEN]
    if undecided:
        raise UndecidedAnswers(
            f"the dialect {dialect.name} leaves undecided: {', '.join(undecided)}"
        )


def _undecided_names(group: Any, prefix: str) -> list[str]:
    names: list[str] = []
    for field in fields(group):
        value = getattr(group, field.name)
        if isinstance(value, Answer) and not value.decided:
            names.append(f"{prefix}{field.name}")
        elif is_dataclass(value) and not isinstance(value, Answer):
            names += _undecided_names(value, f"{prefix}{field.name}.")
    return names
