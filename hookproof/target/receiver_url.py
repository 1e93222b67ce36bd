"""The receiver's URL, which endpoints have: what the dialect refuses of it (section 8).

A target that takes no addresses, or no other port than 443, is judged with a receiver that is
reached by a name, or there.
"""

from dataclasses import replace
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.receiver.http.address import Address
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Acceptance
from hookproof.target.settings import ReceiverSettings

HTTPS_PORT: Final = 443
THIS_HOST: Final = "localhost"
REFUSED_ALONE: Final = (Acceptance.REFUSED,)


def reached_by_name(settings: ReceiverSettings, dialect: Dialect) -> ReceiverSettings:
    """The settings, with the name of this machine for its address where endpoints need a name."""
    if settings.public_url is not None or dialect.requests.url_addresses.allowed != REFUSED_ALONE:
        return settings
    bind = Address.parse(settings.bind)
    if not _is_address(bind.host) or not ip_address(bind.host).is_loopback:
        return settings
    return replace(settings, bind=f"{THIS_HOST}:{bind.port}")


def require_taken(url: str, dialect: Dialect) -> None:
    """Raise CommandError if the target refuses endpoints at the receiver, whatever they are."""
    rules, parts = dialect.requests, urlsplit(url)
    for answer, is_so, refused, needed in (
        (rules.url_addresses, _is_address(parts.hostname or ""), "an address", "with a name"),
        (
            rules.url_other_ports,
            (parts.port or HTTPS_PORT) != HTTPS_PORT,
            f"another port than {HTTPS_PORT}",
            "without a port",
        ),
    ):
        if is_so and answer.allowed == REFUSED_ALONE:
            raise CommandError(
                f"the dialect {dialect.name} refuses endpoint URLs with {refused}, and the"
                f" receiver's is {url}; give --receiver-url, or receiver.public_url, {needed}",
                ExitCode.USAGE,
            )


def address_hint(url: str) -> str:
    """What may be wrong where an endpoint at this URL is refused; empty if it has a name."""
    if not _is_address(urlsplit(url).hostname or ""):
        return ""
    return (
        f"; if the target takes no endpoint URL with an address, as in {url}, give --receiver-url,"
        " or receiver.public_url, with a name"
    )


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
