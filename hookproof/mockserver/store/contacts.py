"""The contacts of an endpoint (section 2.3), read from its stored settings."""

from typing import Final

import msgspec

from hookproof.mockserver.notifications.notice import Contact
from hookproof.mockserver.store.database import Database
from hookproof.mockserver.store.deliveries import StoredCredentials

_BY_UID: Final = "SELECT project, document, credentials FROM endpoints WHERE uid = ?"


class _ContactDocument(msgspec.Struct):
    """The member of an endpoint's document that a notification shows."""

    name: str | None = None


_decode_document: Final = msgspec.json.Decoder(_ContactDocument).decode
_decode_credentials: Final = msgspec.json.Decoder(StoredCredentials).decode


class Contacts:
    """Looks up contacts.

    They are stored with the credentials, since a dialect may mask them in the document.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, endpoint_uid: str) -> Contact | None:
        """Return the contacts of an endpoint; None for an unknown endpoint or one without any."""
        row = self._database.read(_BY_UID, (endpoint_uid,)).fetchone()
        if row is None or row[2] is None:
            return None
        project, document, credentials = row
        stored = _decode_credentials(credentials)
        return Contact(
            uid=endpoint_uid,
            project=project,
            name=_decode_document(document).name,
            slack_webhook_url=stored.slack_webhook_url,
            support_email=stored.support_email,
        )
