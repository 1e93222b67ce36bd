"""The body of a delivery: the JSON text of the event's data, untouched, or the same data as a form."""

from typing import Final
from urllib.parse import urlencode

import msgspec

from hookproof.spec.dialect.vocabulary import FormEncoding

FORM: Final = "application/x-www-form-urlencoded"


class BodyFault(Exception):
    """The data cannot be written in the content type of the endpoint."""


def delivery_body(data: bytes, content_type: str, form_body: FormEncoding) -> bytes:
    """The bytes to sign and to send; raises BodyFault for data that makes no form (sections 2.3,
    4.8).
    """
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type == FORM and form_body is FormEncoding.FORM:
        return form(data)
    return data


def form(data: bytes) -> bytes:
    """A JSON object as a form: one pair for each member, in order.

    Texts stand as they are, null as nothing, everything else as its JSON text, so that numbers keep
    their spelling.
    """
    try:
        members = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    except msgspec.DecodeError:
        raise BodyFault("only a JSON object can be sent as a form") from None
    return urlencode([(name, _text(bytes(raw))) for name, raw in members.items()]).encode("ascii")


def _text(raw: bytes) -> str | bytes:
    if raw == b"null":
        return ""
    return msgspec.json.decode(raw, type=str) if raw.startswith(b'"') else raw
