"""The file of `hookproof receive --script FILE`: what some tokens are from the start.

    tokens:
      orders:
        replies: [{status: 503, times: 2}, {status: 200}]
        secrets: {secrets: ["whsec_..."], dialect: standard-webhooks, scheme: advanced}
      login:
        token_server: {clients: [{client_id: shop, client_secret: "..."}]}

Members are those that the control API takes; everything that is wrong is told at once, each with
its line.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from hookproof.receiver.replies.script import Reply
from hookproof.receiver.replies.token_server_settings import TokenServerSettings
from hookproof.receiver.signatures.token_secrets import Keyring
from hookproof.spec.strict_yaml.file_problem import FileProblems, Location, Problem
from hookproof.spec.strict_yaml.parser import YamlText
from hookproof.spec.strict_yaml.reader import parse_yaml, read_text

PLACE: Final = re.compile(r"(?P<words>.*?)(?: - at `\$(?P<path>[^`]*)`)?", re.DOTALL)
STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")


class TokenPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one token is: replies or a token server, and the secrets that sign what arrives."""

    replies: Annotated[tuple[Reply, ...], msgspec.Meta(min_length=1)] | None = None
    secrets: Keyring | None = None
    token_server: TokenServerSettings | None = None

    def __post_init__(self) -> None:
        """Refuse what would never be played; msgspec turns ValueError into its own."""
        if self.replies and self.token_server:
            raise ValueError("a token has replies or a token_server, not both")


class TokenName(msgspec.Struct, frozen=True):
    """A token as a path can hold it."""

    token: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9._~-]{1,128}\Z")]


def read_script_file(path: Path) -> Mapping[str, TokenPlan]:
    """The tokens of a file; raises FileProblems."""
    content = parse_yaml(read_text(path), str(path))
    problems: list[Problem] = []
    tokens = _tokens(content, problems)
    plans = {token: _plan(content, token, written, problems) for token, written in tokens.items()}
    if problems:
        raise FileProblems(str(path), problems)
    return {token: plan for token, plan in plans.items() if plan is not None}


def _tokens(content: YamlText, problems: list[Problem]) -> dict[str, Any]:
    top = content.value
    if not isinstance(top, dict) or set(top) != {"tokens"} or not isinstance(top["tokens"], dict):
        problems.append(
            content.problem((), "write one key, tokens, with the name of each token below it")
        )
        return {}
    tokens: dict[str, Any] = top["tokens"]
    return tokens


def _plan(content: YamlText, token: str, written: Any, problems: list[Problem]) -> TokenPlan | None:
    location: Location = ("tokens", token)
    try:
        msgspec.convert({"token": token}, TokenName)
    except msgspec.ValidationError:
        problems.append(content.problem(location, "a token is made of letters, digits and . _ ~ -"))
        return None
    try:
        return msgspec.convert(written, TokenPlan)
    except msgspec.ValidationError as error:
        words, within = _taken_apart(str(error))
        problems.append(content.problem((*location, *within), words))
        return None


def _taken_apart(told: str) -> tuple[str, Location]:
    """What msgspec says is wrong, and where that is, as far as it says so."""
    matched = PLACE.fullmatch(told)
    assert matched is not None
    steps = STEP.findall(matched["path"] or "")
    return matched["words"], tuple(name or int(index) for name, index in steps if index != "...")
