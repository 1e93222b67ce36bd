"""Updates that write what they were not sent (section 4.6)."""

from collections.abc import Mapping
from typing import Any

from hookproof.mockserver.api.handlers.portal_links import PortalLinkHandlers
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.store.portal_links import PortalLinkRow
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import LeftOut


def left_out_fields_are_kept(dialect: Dialect) -> bool:
    return dialect.requests.update_left_out.value is LeftOut.KEPT


@fault(
    "left_out",
    seen="a row that is replaced as a whole",
    shows_in=["portal_links"],
    where=left_out_fields_are_kept,
)
class LeftOutFieldsReset(PortalLinkHandlers):
    """An update sets the owner_id, auth_type and can_manage_endpoint that it leaves out anew."""

    def _apply_update(self, row: PortalLinkRow, body: Mapping[str, Any]) -> dict[str, Any]:
        return super()._apply_update(row, {**self._cleared, **body})
