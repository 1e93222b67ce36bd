"""Which custom headers are tried as reserved ones."""

from hookproof.conformance.subjects.custom_headers.evidence import reserved_headers
from tests.spec.dialect_variants import variant


def test_further_names_of_the_dialect_are_tried_beside_those_of_the_service() -> None:
    usual = reserved_headers(variant({}))
    further = {"delivery.further_reserved_headers": ["Hook-Tenant", usual[0]]}
    assert reserved_headers(variant(further)) == (*usual, "Hook-Tenant")
