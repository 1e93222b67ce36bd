"""Hookproof proves that a webhook delivery service keeps its word.

This is the one importable name.

For tests of your own there are `Receiver`, with its `Reply` and `WebhookDelivery`, `Sender`, and
`Service`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hookproof.receiver.replies.script import Reply
    from hookproof.testing.delivery import WebhookDelivery
    from hookproof.testing.receiver import Receiver
    from hookproof.testing.sender import Sender
    from hookproof.testing.service import Service

__all__ = ["Receiver", "Reply", "Sender", "Service", "WebhookDelivery"]

# The module of each name: imported when the name is used, so that `import hookproof` stays fast.
_MODULES: Final = {
    "Receiver": "hookproof.testing.receiver",
    "Reply": "hookproof.receiver.replies.script",
    "Sender": "hookproof.testing.sender",
    "Service": "hookproof.testing.service",
    "WebhookDelivery": "hookproof.testing.delivery",
}


if not TYPE_CHECKING:  # or any name could be imported for all that a type checker knows

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_MODULES[name]), name)
