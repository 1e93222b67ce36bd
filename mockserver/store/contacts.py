"""Who is told about an endpoint (section 2.3): its contacts, read from where its settings are kept."""

from typing import Final

import msgspec

from hookproof.mockserver.notifications.notice import Contact
from hookproof.mockserver.store.database import Database
from hookproof.mockserver.store.deliveries import Credentials

_ONE: Final = "SELECT project, document, credentials FROM endpoints WHERE uid = ?"


class _Document(msgspec.Struct):
    """The member of an endpoint's document that a message shows."""

    name: str | None = None


_decode_document: Final = msgspec.json.Decoder(_Document).decode
_decode_credentials: Final = msgspec.json.Decoder(Credentials).decode


class Contacts:
    """Looks contacts up; they are kept beside the credentials, since a dialect may mask what
    responses show.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, endpoint_uid: str) -> Contact | None:
        """The contacts of an endpoint; None for an unknown endpoint, or one that named nobody."""
        row = self._database.read(_ONE, (endpoint_uid,)).fetchone()
        if row is None or row[2] is None:
            return None
        project, document, credentials = row
        kept = _decode_credentials(credentials)
        return Contact(
            uid=endpoint_uid,
            project=project,
            name=_decode_document(document).name,
            slack_webhook_url=kept.slack_webhook_url,
            support_email=kept.support_email,
        )
