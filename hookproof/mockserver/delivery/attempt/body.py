"""The body of a delivery: the JSON text of the event's data unchanged, or the data as a form."""

from typing import Final
from urllib.parse import urlencode

import msgspec

from hookproof.spec.dialect.vocabulary import FormEncoding

FORM: Final = "application/x-www-form-urlencoded"


class BodyError(Exception):
    """The data cannot be written in the content type of the endpoint."""


def encode_body(data: bytes, content_type: str, form_body: FormEncoding) -> bytes:
    """Return the bytes to sign and send (sections 2.3 and 4.8).

    `data` is JSON text. Raises BodyError if it cannot be sent as a form.
    """
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type == FORM and form_body is FormEncoding.FORM:
        return encode_form(data)
    return data


def encode_form(data: bytes) -> bytes:
    """Encode a JSON object as a form: one pair per member, in order; raises BodyError.

    A string becomes its text and null becomes the empty string. Every other value is written as its
    JSON text, so that numbers keep their spelling.
    """
    try:
        members = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    except msgspec.DecodeError:
        raise BodyError("only a JSON object can be sent as a form") from None
    return urlencode([(name, _field(bytes(raw))) for name, raw in members.items()]).encode("ascii")


def _field(raw: bytes) -> str | bytes:
    if raw == b"null":
        return ""
    return msgspec.json.decode(raw, type=str) if raw.startswith(b'"') else raw
