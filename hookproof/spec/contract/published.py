"""The contract for tools that generate requests: with what a schema can say beyond what is checked.

The validators of a contract leave to the service what HTTP itself forbids, such as a space in the
name of a header. Who generates requests from the document needs to know it.
"""

import copy
import itertools
from typing import Final

import yaml

from hookproof.spec.contract.service_contract import contract_for
from hookproof.spec.dialect.assumptions import OF_CONTRACT, assumed_fields, opened
from hookproof.spec.dialect.constraints import HEADER
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import CursorForm, HeaderText
from hookproof.spec.openapi_document import Document, openapi_document, schema_named

# The resources of the lists, whose pages have these cursors (2.2).
LISTED: Final = ("PortalLink", "Source")
CURSORS: Final = ("next_page_cursor", "prev_page_cursor")
# The value of a header: no control characters but a tab (RFC 9110, 5.5).
HEADER_VALUES: Final = {
    HeaderText.ASCII: r"^[\t -~]*$",
    HeaderText.LATIN_1: r"^[\t -~\u0080-\u00ff]*$",
    HeaderText.ANY: r"^[^\u0000-\u0008\u000a-\u001f\u007f]*$",
}


def document_of(dialect: Dialect) -> Document:
    """The document of a service with this dialect, as far as it is known."""
    known = opened(dialect, reset=OF_CONTRACT)
    document = published_document(contract_for(known).document, known)
    if not knows_error_form(dialect):
        error = document["components"]["responses"]["Error"]
        error["content"] = copy.deepcopy(
            openapi_document()["components"]["responses"]["Error"]["content"]
        )
    return document


def knows_error_form(dialect: Dialect) -> bool:
    """Whether body and content type of error responses are more than assumed (section 7)."""
    return not {"errors.body", "errors.content_type"} & {*assumed_fields(dialect)}


def published_document(document: Document, dialect: Dialect) -> Document:
    """A copy of a document specialised for a dialect, with requests restricted to what can be sent
    on as headers of deliveries, and to cursors that the service may have given out.
    """
    published = copy.deepcopy(document)
    custom_headers = schema_named(published, "CreateBroadcastEvent")["properties"]["custom_headers"]
    custom_headers["propertyNames"] = {"pattern": HEADER.pattern}
    custom_headers["additionalProperties"]["pattern"] = _header_value(dialect)
    api_key = schema_named(published, "ApiKeyInput")["properties"]
    api_key["header_name"]["pattern"] = HEADER.pattern
    if dialect.paging.cursor_form.allowed == (CursorForm.IDENTIFIER,):
        forms = [dialect.representation.identifier_patterns(each) for each in LISTED]
        if all(forms):
            pattern = "|".join(dict.fromkeys(itertools.chain(*forms)))
            for name in CURSORS:
                published["components"]["parameters"][name]["schema"]["pattern"] = pattern
    return published


def yaml_text(document: Document) -> bytes:
    """A document as YAML in UTF-8, in the order in which it is."""
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return yaml.dump(document, Dumper=dumper, sort_keys=False, allow_unicode=True, encoding="utf-8")


def _header_value(dialect: Dialect) -> str:
    """The texts that a custom header can be given."""
    text = dialect.requests.header_text
    return HEADER_VALUES[text.value if text.decided else HeaderText.ASCII]
