"""The file of `hookproof receive --script FILE`: the configuration of some tokens.

     tokens:
       orders:
         replies: [{status: 503, times: 2}, {status: 200}]
         secrets: {secrets: ["whsec_..."], dialect: standard-webhooks, scheme: advanced}
       login:
         token_server: {clients: [{client_id: shop, client_secret: "..."}]}

The members are those of the control API. All problems are reported at once, each with its line.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from hookproof.receiver.replies.script import Reply, Script, TokenName
from hookproof.receiver.replies.token_server_settings import TokenServerSettings
from hookproof.receiver.signatures.schemes.challenge import Challenge
from hookproof.receiver.signatures.token_secrets import TokenSecrets
from hookproof.spec.strict_yaml.file_problem import FileProblems, Location, Problem
from hookproof.spec.strict_yaml.parser import YamlText
from hookproof.spec.strict_yaml.reader import check_yaml, parse_yaml, read_text

MESSAGE: Final = re.compile(r"(?P<problem>.*?)(?: - at `\$(?P<path>[^`]*)`)?", re.DOTALL)
STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")


class TokenPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The configuration of a token: replies or a token server, the challenge that it answers before
    these, and the secrets of what arrives.
    """

    challenge: Challenge | str | None = None
    replies: Annotated[tuple[Reply, ...], msgspec.Meta(min_length=1)] | None = None
    secrets: TokenSecrets | None = None
    token_server: TokenServerSettings | None = None

    def __post_init__(self) -> None:
        """Refuse what would never be used; msgspec converts ValueError to its own."""
        if self.replies and self.token_server:
            raise ValueError("a token has replies or a token_server, not both")
        if self.challenge is not None and self.token_server:
            raise ValueError("a token_server answers no challenge")
        _ = self.script

    @property
    def script(self) -> Script | None:
        """What the token answers; None if the plan does not say it."""
        if self.replies is None and self.challenge is None:
            return None
        return Script(replies=self.replies or (Reply(),), challenge=self.challenge)


def script_schema() -> dict[str, Any]:
    """The JSON Schema of a file; what depends on two members of a reply is not in it."""
    tokens = msgspec.json.schema(dict[TokenName, TokenPlan])
    definitions = tokens.pop("$defs")
    tokens["propertyNames"]["x-expected"] = "a token, made of letters, digits and . _ ~ -"
    return {
        "type": "object",
        "properties": {"tokens": tokens},
        "required": ["tokens"],
        "additionalProperties": False,
        "x-expected": "one key, tokens, with the name of each token below it",
        "$defs": definitions,
    }


def read_script_file(path: Path) -> Mapping[str, TokenPlan]:
    """Read the tokens of a file; raises FileProblems."""
    content = parse_yaml(read_text(path), str(path))
    check_yaml(content, script_schema(), str(path))
    problems: list[Problem] = []
    tokens: Mapping[str, Any] = content.value["tokens"]
    plans = {token: _plan(content, token, value, problems) for token, value in tokens.items()}
    if problems:
        raise FileProblems(str(path), problems)
    return {token: plan for token, plan in plans.items() if plan is not None}


def _plan(content: YamlText, token: str, value: Any, problems: list[Problem]) -> TokenPlan | None:
    location: Location = ("tokens", token)
    try:
        return msgspec.convert(value, TokenPlan)
    except msgspec.ValidationError as error:
        problem, within = _split_message(str(error))
        problems.append(content.problem((*location, *within), problem))
        return None


def _split_message(message: str) -> tuple[str, Location]:
    """Split a message of msgspec into the problem and its location, as far as it has one."""
    matched = MESSAGE.fullmatch(message)
    assert matched is not None
    steps = STEP.findall(matched["path"] or "")
    return matched["problem"], tuple(name or int(index) for name, index in steps if index != "...")
