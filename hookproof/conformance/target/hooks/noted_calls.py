"""What the hook that runs after the creation of an endpoint sends, as a report may repeat it."""

import json
import re
from collections.abc import Callable
from itertools import zip_longest
from typing import Any, Final

from hookproof.target.hooks.http_steps import PLACEHOLDER, HttpHook, HttpStep
from hookproof.target.hooks.provision import Provision
from hookproof.target.masking.quotation_mask import header_variable

AFTER_CREATION: Final = "after_endpoint_created"
HIDDEN: Final = "(masked)"
# Headers that hold no credential, and what stands before one: the name of a scheme.
PLAIN: Final = frozenset({"accept", "content-type"})
_SCHEME: Final = re.compile(r"[A-Za-z]* ?")


def noted_calls(provision: Provision, mask: Callable[[str], str]) -> list[dict[str, Any]]:
    """The requests of the hook with their placeholders and without credentials; none of a Python
    class, which may do anything.
    """
    hook = provision.hooks.get(AFTER_CREATION)
    steps = hook.steps if isinstance(hook, HttpHook) else ()
    return [_noted(step, mask) for step in steps]


def _noted(step: HttpStep, mask: Callable[[str], str]) -> dict[str, Any]:
    return {
        "method": step.method,
        "url": mask(step.url),
        "headers": [[name, _header(name, value)] for name, value in step.headers.items()],
        "body": _hidden(step.body, _read(mask(json.dumps(step.body)))),
        "keep": dict(step.keep),
        "at_target": step.at_target,
    }


def _header(name: str, value: str) -> str:
    """A value that is all scheme and placeholders; of any other the variable to read it from."""
    is_plain = name.lower() in PLAIN or _SCHEME.fullmatch(PLACEHOLDER.sub("", value))
    return value if is_plain else f"${header_variable(name)}"


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _hidden(value: Any, masked: Any) -> Any:
    """The value without the texts that were masked, but for those with a placeholder."""
    match value:
        case dict():
            shown = masked if isinstance(masked, dict) else {}
            return {name: _hidden(item, shown.get(name)) for name, item in value.items()}
        case list():
            items = masked if isinstance(masked, list) else []
            return [_hidden(*pair) for pair in zip_longest(value, items[: len(value)])]
        case str() if not PLACEHOLDER.search(value):
            return value if value == masked else HIDDEN
        case _:
            return value
