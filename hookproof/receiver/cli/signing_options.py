"""The options of `sign`, `send` and `check-consumer`: who signs, with what, and what is sent."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from hookproof.receiver.cli.saved_delivery import read_file, read_headers, read_standard_input
from hookproof.receiver.cli.verify import (
    FORMAT,
    SECRET,
    complete_scheme,
    load_named_dialect,
    read_schemes,
)
from hookproof.receiver.sending.attempt import Event, new_event_id
from hookproof.receiver.sending.exchange import METHOD
from hookproof.receiver.sending.signing import CannotSign, Headers, both_sign, signing_key
from hookproof.receiver.signatures.judgement import (
    Contract,
    SchemeFormat,
    contract_of_dialect,
    contract_of_scheme,
)
from hookproof.receiver.signatures.schemes.catalogue import NamedScheme
from hookproof.receiver.signatures.schemes.request_parts import RequestLine
from hookproof.spec.completion import complete_dialect

JSON: Final = ("Content-Type", "application/json")
# What frames the body, which the way of sending decides.
OF_THE_CONNECTION: Final = frozenset(
    {"content-length", "transfer-encoding", "connection", "content-encoding", "expect"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signing:
    """What the options say: how deliveries are signed, with which secrets, and with which headers
    besides; `url` is the one that is signed, None if it is the one that is called.
    """

    contract: Contract
    secrets: tuple[str, ...]
    headers: Headers
    url: str | None

    def line(self, called: str | None = None) -> RequestLine | None:
        url = self.url or called
        return RequestLine(method=METHOD, url=url) if url else None


def signing_options(
    command: Callable[..., None], *, format_option: str = "--format"
) -> Callable[..., None]:
    """Give a command these options, as one argument `signing`."""

    @functools.wraps(command)
    def with_signing(
        *arguments: Any,
        schemes: tuple[NamedScheme, ...],
        dialect: str | None,
        format_name: str | None,
        secrets: tuple[str, ...],
        headers: tuple[str, ...],
        url: str | None,
        **others: Any,
    ) -> None:
        contract = _contract(schemes, dialect, format_name)
        signing = Signing(
            contract=contract,
            secrets=_usable(contract, secrets),
            headers=_headers(headers),
            url=url,
        )
        command(*arguments, signing=signing, **others)

    chosen_format = click.option(
        format_option,
        "format_name",
        **{**FORMAT, "help": "The signature format of the dialect; advanced by default."},
    )
    for option in reversed((*OPTIONS[:2], chosen_format, *OPTIONS[2:])):
        with_signing = option(with_signing)
    return with_signing


OPTIONS: Final = (
    click.option(
        "--scheme",
        "schemes",
        metavar="NAME|FILE",
        callback=read_schemes,
        shell_complete=complete_scheme,
        help="Who signs, such as stripe or github; `hookproof scheme list` shows all.",
    ),
    click.option(
        "--dialect",
        metavar="NAME|FILE",
        shell_complete=complete_dialect,
        help="The dialect of the service that signs, in place of a scheme.",
    ),
    click.option(
        "--secret",
        "secrets",
        **{
            **SECRET,
            "help": (
                "The secret that signs, or the private key (better: HOOKPROOF_SECRET); several, in "
                "their order, where all of them sign while one is rolled."
            ),
        },
    ),
    click.option(
        "--header",
        "headers",
        multiple=True,
        metavar="'NAME: VALUE'",
        help="A further header; @FILE reads them from it. Content-Type is that of JSON by default.",
    ),
    click.option(
        "--url",
        metavar="URL",
        help="The URL that is signed, where the scheme signs it and it is not the one called.",
    ),
)
BODY: Final = click.option(
    "--body",
    "body_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The file of the body, which is sent byte for byte; standard input by default.",
)
EVENT_ID: Final = click.option(
    "--id", "event_id", metavar="TEXT", help="The identifier of the event; a new one by default."
)


def given_event(signing: Signing, body_file: Path | None, event_id: str | None) -> Event:
    """The event that the options give."""
    if event_id is not None and not (event_id.isascii() and event_id.isprintable()):
        raise click.UsageError("--id is sent in a header: give printable ASCII")
    return Event(id=event_id or new_event_id(), headers=signing.headers, body=read_body(body_file))


def read_body(body_file: Path | None) -> bytes:
    """The body of a file or of standard input; raises a usage error."""
    try:
        return read_standard_input() if body_file is None else read_file(body_file)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _contract(
    schemes: tuple[NamedScheme, ...], dialect: str | None, format_name: str | None
) -> Contract:
    if schemes and (dialect or format_name):
        raise click.UsageError(
            "--scheme takes the place of --dialect and --format; leave these out"
        )
    if schemes:
        return contract_of_scheme(schemes[0])
    if dialect is None:
        raise click.UsageError(
            "say who signs: --scheme NAME (`hookproof scheme list` shows all), or --dialect NAME"
        )
    return contract_of_dialect(
        load_named_dialect(dialect), SchemeFormat(format_name or SchemeFormat.ADVANCED)
    )


def _usable(contract: Contract, secrets: tuple[str, ...]) -> tuple[str, ...]:
    if not secrets and contract.signature.private_key is not None:
        secrets = (contract.signature.private_key,)
    if not secrets:
        raise click.UsageError(
            "a secret is needed: --secret TEXT, or HOOKPROOF_SECRET in the environment"
        )
    if len(secrets) > 1 and not both_sign(contract):
        raise click.UsageError(f"one secret signs here, and {len(secrets)} were given")
    try:
        for secret in secrets:
            signing_key(contract, secret)
    except CannotSign as problem:
        raise click.UsageError(str(problem)) from None
    return secrets


def _headers(options: tuple[str, ...]) -> Headers:
    try:
        headers = read_headers(options)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    for name, value in headers:
        if name.lower() in OF_THE_CONNECTION or not value.isprintable():
            raise click.UsageError(f"the header {name} cannot be sent so; leave it out")
    if any(name.lower() == JSON[0].lower() for name, _ in headers):
        return headers
    return (JSON, *headers)
