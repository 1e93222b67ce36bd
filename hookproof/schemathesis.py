"""Hookproof for users of Schemathesis: its requirements as checks.

    # schemathesis.toml
    hooks = "hookproof.schemathesis"

Importing this module registers one check for each requirement that a few exchanges show, and where
HOOKPROOF_CA_DIR names a CA that the service trusts, the deliveries of its broadcasts. In tests with
pytest, `schema` is the contract of a target:

    schema = hookproof.schemathesis.schema("target.yaml")

    @schema.parametrize()
    def test_api(case):
        case.call_and_validate()
"""

from hookproof.conformance.schemathesis_plugin.registration import register
from hookproof.conformance.schemathesis_plugin.target_schema import schema

__all__ = ["schema"]

register()
