"""Bodies of createEndpoint in which some texts are long, in the form that each field has."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hookproof.conformance.experiments.support.authentications import fixed_credentials
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.receiver.signatures.base64_text import encode_base64
from hookproof.spec.dialect.vocabulary import SecretForm

# What a service may know by the word only, and the members that make up a key itself.
WORDS: Final = frozenset({"authentication_type", "expiry_time_unit", "signing_algorithm", "type"})
KEY: Final = "signing_key"
KEY_ID: Final = "kid"

# Fields of createEndpoint that `long_texts` does not send by themselves already (section 4.1).
PLAIN: Final = ("url", "secret", "content_type", "slack_webhook_url", "support_email")

SHARED_SECRET: Final = "shared secret"  # noqa: S105 what is tried, not a secret

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LongSetting:
    """Fields of createEndpoint with ordinary values, and the paths at which they can be long.

    `mechanism` is the member of the authentication that they are about, if any.
    """

    fields: Mapping[str, Any]
    paths: tuple[Path, ...]
    mechanism: str = ""

    def lengthened(self, bodies: RequestBodies, paths: Sequence[Path], length: int) -> Any:
        """The fields, with a text of this length at each of these paths."""
        changed: Any = self.fields
        for path in paths:
            changed = _with(changed, path, long_value(bodies, path[-1], length))
        return changed


def long_settings(
    bodies: RequestBodies, shared: Mapping[str, Any], asserted: Mapping[str, Any]
) -> dict[str, LongSetting]:
    """What is tried, by what it is about (sections 2.5, 4.1 and 9).

    The two authentications are by oauth2, with a shared secret and with an assertion; of the second
    only what the first does not have.
    """
    by_secret = tuple(_texts_in(shared))
    plain = {field: bodies.endpoint_value(field) for field in PLAIN}
    return {
        "fields": LongSetting(fields=plain, paths=tuple((field,) for field in PLAIN)),
        "deprecated owner": LongSetting(fields={"appID": bodies.word("app")}, paths=(("appID",),)),
        SHARED_SECRET: _of_authentication("oauth2", shared, by_secret),
        "assertion": _of_authentication(
            "oauth2", asserted, [path for path in _texts_in(asserted) if path not in by_secret]
        ),
        **{
            name: _of_authentication(name, value, tuple(_texts_in(value)))
            for name, value in fixed_credentials(bodies).items()
        },
    }


def _of_authentication(
    mechanism: str, value: Mapping[str, Any], paths: Sequence[Path]
) -> LongSetting:
    return LongSetting(
        fields={"authentication": value},
        paths=tuple(("authentication", *path) for path in paths),
        mechanism=mechanism,
    )


def long_value(bodies: RequestBodies, field: str, length: int) -> str:
    """A text of this length that no other call returns, in the form that such a field has; a run
    file can compress it.
    """
    match field:
        case "url" | "slack_webhook_url":
            return f"https://{bodies.word('host')}.invalid/".ljust(length, "x")
        case "support_email":
            return bodies.word("developers").ljust(length - len("@long.invalid"), "x") + (
                "@long.invalid"
            )
        case "content_type":
            return f"application/json; note={bodies.word('long')}".ljust(length, "x")
        case "header_name":
            return f"X-{bodies.word('Long')}".ljust(length, "x")
        case "secret":
            return long_secret(bodies, length)
        case _:
            return bodies.word("long").ljust(length, "x")


def long_secret(bodies: RequestBodies, length: int) -> str:
    """A secret of about this length, with the dialect's prefix and form (section 2.4)."""
    rules, text = bodies.dialect.signatures.secret, bodies.word("long")
    room = length - len(rules.prefix)
    if rules.form is SecretForm.TEXT:
        return rules.prefix + text.ljust(room, "x")
    # Four characters of Base64 stand for three bytes.
    return rules.prefix + encode_base64(rules.form, text.encode().ljust(-(-room // 4) * 3, b"x"))


def _texts_in(value: Mapping[str, Any], path: Path = ()) -> Iterator[Path]:
    """The paths of the texts that a service need not know."""
    for name, member in value.items():
        if isinstance(member, Mapping):
            yield from _texts_in(member, (*path, name))
        elif name not in WORDS and (KEY not in path or name == KEY_ID):
            yield (*path, name)


def _with(value: Any, path: Path, new: str) -> Any:
    name, *rest = path
    member = _with(value[name], tuple(rest), new) if rest else new
    return {**value, name: member}
