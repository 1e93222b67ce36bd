"""The schemes of providers by their names, and those of files.

    scheme = load_scheme("stripe")
    scheme.signature         # what `verify` needs: a ProviderScheme
    scheme.is_meant_by(headers, body)

`catalogue.yaml` holds them; an `Entry` is one of them as it is written there.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import yaml

from hookproof.receiver.signatures.schemes.challenge import Challenge
from hookproof.receiver.signatures.schemes.model import (
    MESSAGE_ALGORITHMS,
    SIGNATURE_BASE,
    ProviderScheme,
    ProviderSecrets,
)
from hookproof.receiver.signatures.schemes.request_parts import MEMBER, prepared_request
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.vocabulary import (
    Algorithm,
    Encoding,
    Hash,
    OnInput,
    SecretForm,
    SignatureTime,
    SigningSecrets,
)
from hookproof.spec.given_file import read_given

CATALOGUE: Final = "catalogue.yaml"
SIGNATURE_INPUT: Final = "signature-input"
# Of these, only the best that a request has counts: a token proves less than a signature.
SIGNATURE, LEGACY, TOKEN = range(3)


class SecretText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the text of a secret becomes the key; or the public key, where that verifies."""

    prefix: str = ""
    form: Literal[
        "text", "hex", "pem", "base64", "base64_unpadded", "base64url", "base64url_unpadded"
    ] = "text"
    prefix_optional: bool = False
    private_prefix: str = ""
    public_key: str = ""


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A scheme as it is written in a file; docs/schemes.md describes the fields."""

    title: str = ""
    source: str = ""
    algorithm: Algorithm = Algorithm.HMAC
    hash: Hash = Hash.SHA256
    encoding: Encoding = Encoding.HEX
    header: str
    other_headers: list[str] = []
    value: str = "{signatures}"
    item: str = "{signature}"
    separator: str = ","
    versions: list[str] = []
    timestamp_header: str | None = None
    timestamp: Literal["seconds", "milliseconds", "rfc3339"] = "seconds"
    id_header: str | None = None
    signed: str = "{body}"
    tolerance_s: float = 300
    secret: SecretText = SecretText()
    within: str = ""
    settings: dict[str, str] = {}
    covered: list[str] = []
    required: list[str] = []
    inflated: bool = False
    overlap: bool = False
    challenge: Challenge | None = None
    unsigned: str = ""
    legacy: str = ""


class NamedScheme(msgspec.Struct, frozen=True, kw_only=True):
    """A scheme, its name, and what `verify` needs."""

    name: str
    entry: Entry
    signature: ProviderScheme
    secret: ProviderSecrets

    @property
    def rank(self) -> int:
        """How much a delivery of this scheme proves, for choosing among several."""
        if not self.entry.algorithm.signs:
            return TOKEN
        return LEGACY if self.entry.legacy else SIGNATURE

    def by_headers(self, headers: Sequence[tuple[str, str]]) -> "Sequence[NamedScheme]":
        """The scheme, and the same with each of its other headers that a request has."""
        names = {name.lower() for name, _ in headers}
        others = (each for each in self.entry.other_headers if each.lower() in names)
        return (
            self,
            *(
                msgspec.structs.replace(self, signature=replace(self.signature, header=each))
                for each in others
            ),
        )

    def is_meant_by(self, headers: Sequence[tuple[str, str]], body: bytes) -> bool:
        """Whether a request has the scheme's header, or its member of the body."""
        header = self.signature.header
        if header.startswith(MEMBER):
            bare = msgspec.structs.replace(self.entry, signed="{body}")
            headers = prepared_request(_signature(bare), (), body, None)[0]
        names = {name.lower() for name, _ in headers}
        if not {header.lower(), *(each.lower() for each in self.entry.other_headers)} & names:
            return False
        if self.signature.signs_messages:
            return _is_message_signature(self.signature, headers)
        before = self.entry.item.partition("{")[0]
        # Credentials are sent for many reasons: only those of the right form count.
        return self.entry.algorithm is not Algorithm.BASIC or any(
            name.lower() == header.lower() and value.startswith(before) for name, value in headers
        )


class SchemeProblem(ValueError):
    """A scheme that cannot be read, in one line."""


@cache
def shipped_schemes() -> Mapping[str, NamedScheme]:
    """All schemes of the catalogue, by their names, in alphabetical order."""
    text = files(__package__).joinpath(CATALOGUE).read_text(encoding="utf-8")
    entries = _parse(text, CATALOGUE)
    return {name: _named(name, _convert(entry, name)) for name, entry in entries.items()}


def load_scheme(text: str) -> NamedScheme:
    """A shipped scheme by its name, or that of a file, which settings may follow after a colon:
    `paypal:webhook_id=8PT597110X687430L`. Raises SchemeProblem.
    """
    name, _, given = text.partition(":")
    return _with_settings(_load(name), given) if "=" in given else _load(text)


def _with_settings(scheme: NamedScheme, given: str) -> NamedScheme:
    pairs = (each.partition("=") for each in given.split(","))
    settings = {name.strip(): value for name, _, value in pairs}
    unknown = [name for name in settings if name not in scheme.entry.settings]
    if unknown:
        known = ", ".join(scheme.entry.settings) or "none"
        raise SchemeProblem(
            f"the scheme {scheme.name} has no setting {unknown[0]!r}; it has {known}"
        )
    entry = msgspec.structs.replace(scheme.entry, settings=scheme.entry.settings | settings)
    return _named(scheme.name, entry)


def _load(name: str) -> NamedScheme:
    shipped = shipped_schemes().get(name)
    if shipped is not None:
        return shipped
    if "/" not in name and not name.endswith((".yaml", ".yml")):
        raise SchemeProblem(
            f"there is no scheme {name!r}; `hookproof scheme list` shows all, "
            "and a scheme of your own is a file that ends with .yaml"
        )
    try:
        text = read_given(Path(name)).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise SchemeProblem(f"cannot read {name}: {error}") from None
    return _named(Path(name).stem, _convert(_parse(text, name), name))


def schemes_meant_by(headers: Sequence[tuple[str, str]], body: bytes) -> list[NamedScheme]:
    """The shipped schemes that a request may follow: those that prove the most of them."""
    meant = [each for each in shipped_schemes().values() if each.is_meant_by(headers, body)]
    best = min((each.rank for each in meant), default=SIGNATURE)
    return [each for each in meant if each.rank == best]


def shown(scheme: NamedScheme) -> str:
    """A scheme as a file that can be changed and given to --scheme."""
    entry = {"title": "", "source": ""} | msgspec.to_builtins(scheme.entry)
    text: str = yaml.safe_dump(entry, sort_keys=False, allow_unicode=True, width=1000)
    return text


def _is_message_signature(scheme: ProviderScheme, headers: Sequence[tuple[str, str]]) -> bool:
    """Whether there is an HTTP message signature that may be of this algorithm."""
    if not any(name.lower() == SIGNATURE_INPUT for name, _ in headers):
        return False
    # Imported late, since few schemes need it and its library takes a while to load.
    from hookproof.receiver.signatures.schemes.message_signatures import algorithms_of

    expected = MESSAGE_ALGORITHMS[scheme.algorithm, scheme.hash]
    return not algorithms_of(headers).isdisjoint({None, expected})


def _parse(text: str, name: str) -> dict[str, Any]:
    try:
        value = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    except (yaml.YAMLError, RecursionError) as error:
        raise SchemeProblem(f"{name} is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(value, dict):
        raise SchemeProblem(f"{name} is not a scheme: `hookproof scheme show stripe` prints one")
    return value


def _convert(value: object, name: str) -> Entry:
    try:
        # Through JSON, so that values of YAML that JSON lacks are refused in the same words.
        entry = msgspec.json.decode(json.dumps(value), type=Entry)
    except (msgspec.ValidationError, TypeError, ValueError) as error:
        raise SchemeProblem(f"{name}: {error}") from None
    if "{signature}" not in entry.item or "{signatures}" not in entry.value:
        raise SchemeProblem(f"{name}: item needs {{signature}}, and value needs {{signatures}}")
    if entry.algorithm.signs and "{" not in entry.signed:
        raise SchemeProblem(f"{name}: signed has no placeholder, such as {{body}}")
    if entry.secret.public_key and not entry.algorithm.has_public_key:
        raise SchemeProblem(f"{name}: {entry.algorithm} has no public_key")
    signs_messages = f"{{{SIGNATURE_BASE}}}" in entry.signed
    if signs_messages and (entry.algorithm, entry.hash) not in MESSAGE_ALGORITHMS:
        known = ", ".join(f"{algorithm} {hash_}" for algorithm, hash_ in MESSAGE_ALGORITHMS)
        raise SchemeProblem(f"{name}: HTTP message signatures have one of: {known}")
    if not 0 <= entry.tolerance_s <= 1e9:  # noqa: PLR2004 - some thirty years
        raise SchemeProblem(f"{name}: tolerance_s is a number of seconds")
    return entry


def _named(name: str, entry: Entry) -> NamedScheme:
    form = entry.secret.form
    return NamedScheme(
        name=name,
        entry=entry,
        signature=_signature(entry),
        secret=ProviderSecrets(
            prefix=entry.secret.prefix,
            # PEM is base64 with a frame around it, which may be left out.
            form=SecretForm.BASE64 if form == "pem" else SecretForm(form),
            generated_bytes=32,
            other_forms=Answer(allowed=(OnInput.REFUSED,)),
            in_pem=form == "pem",
            prefix_optional=entry.secret.prefix_optional,
            private_prefix=entry.secret.private_prefix,
        ),
    )


def _signature(entry: Entry) -> ProviderScheme:
    signing = SigningSecrets.ALL_OLDEST_FIRST if entry.overlap else SigningSecrets.NEWEST
    return ProviderScheme(
        header=entry.header,
        timestamp_header=entry.timestamp_header,
        hash=entry.hash,
        encoding=entry.encoding,
        signed=entry.signed,
        value=entry.value,
        item=entry.item,
        separator=entry.separator,
        versions=tuple(entry.versions),
        timestamp_unit=SignatureTime(entry.timestamp),
        secrets=signing,
        tolerance_s=entry.tolerance_s,
        algorithm=entry.algorithm,
        inflated=entry.inflated,
        within=entry.within,
        settings=entry.settings,
        covered=tuple(entry.covered),
        required=tuple(entry.required),
    )
