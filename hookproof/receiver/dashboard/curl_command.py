"""A delivery as a curl command that sends the same bytes again.

The content of a delivery is untrusted and stays an argument of curl: nothing in it can end the
quotes, reach the terminal as a control character, or make curl read a file.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

from hookproof.receiver.http.curl_arguments import (
    URL_AS_IT_IS,
    body_argument,
    header_argument,
    omitted_header_argument,
)
from hookproof.receiver.inbox.delivery import ReceivedDelivery

# The largest body, in bytes, that is written into the command; a larger one is fetched from
# the receiver.
LONGEST_ARGUMENT: Final = 64 * 2**10

# Headers that curl sets itself, for the host and the body that it sends.
SET_BY_CURL: Final = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "expect"}
)

ADDED_BY_CURL: Final = ("Accept", "User-Agent", "Content-Type")
ORDINARY_PATH: Final = re.compile(r"/[!-~]*")
ESCAPED: Final = {"'": r"\'", "\\": r"\\", "\n": r"\n", "\t": r"\t", "\r": r"\r"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiverAddresses:
    """The receiver's public URL, its control URL, and the certificate to trust, if any."""

    public: str
    control: str
    ca: Path | None


def curl_command(delivery: ReceivedDelivery, addresses: ReceiverAddresses) -> str:
    """Return the command, one option per line; it runs in bash and zsh."""
    sent = {name.lower() for name, _ in delivery.headers}
    headers = [
        header_argument(name, value, _quoted_header)
        for name, value in delivery.headers
        if name.lower() not in SET_BY_CURL
    ]
    headers += [
        omitted_header_argument(name, _quoted_header)
        for name in ADDED_BY_CURL
        if name.lower() not in sent
    ]
    trust = [f"--cacert {_shell_quote(str(addresses.ca).encode())}"] if addresses.ca else []
    pipe, body = _body_options(delivery, addresses.control)
    return pipe + " \\\n  ".join(
        ["curl " + _request(delivery, addresses.public), *trust, *headers, *body]
    )


def _request(delivery: ReceivedDelivery, public_url: str) -> str:
    method = (
        "--head"
        if delivery.method == "HEAD"
        else f"-X {_shell_quote(delivery.method.encode('latin-1'))}"
    )
    parts = urlsplit(public_url)
    origin, path = f"{parts.scheme}://{parts.netloc}", delivery.path
    if ORDINARY_PATH.fullmatch(path) and "#" not in path:
        return " ".join([*URL_AS_IT_IS, method, _shell_quote((origin + path).encode())])
    target = _shell_quote(path.encode("utf-8", "surrogateescape"))
    return f"{method} --request-target {target} {_shell_quote(origin.encode())}"


def _body_options(delivery: ReceivedDelivery, control_url: str) -> tuple[str, list[str]]:
    """Return what goes before the command, and the options at its end."""
    if not delivery.body:
        return "", []
    if len(delivery.body) <= LONGEST_ARGUMENT and b"\0" not in delivery.body:
        return "", [body_argument(_shell_quote(delivery.body))]
    query = f"token={quote(delivery.token, safe='')}&sequence={delivery.sequence}"
    source = _shell_quote(f"{control_url}/live/body?{query}".encode())
    return f"curl --silent --fail {source} | ", ["--data-binary @-"]


def _quoted_header(field: str) -> str:
    return _shell_quote(field.encode("latin-1"))


def _shell_quote(content: bytes) -> str:
    """Quote bytes as one shell word; bytes other than printable ASCII are escaped."""
    text = content.decode("latin-1")
    if all(" " <= character <= "~" for character in text) and "'" not in text:
        return f"'{text}'"
    return f"$'{''.join(map(_escaped, text))}'"


def _escaped(character: str) -> str:
    if character in ESCAPED:
        return ESCAPED[character]
    return character if " " <= character <= "~" else f"\\x{ord(character):02x}"
