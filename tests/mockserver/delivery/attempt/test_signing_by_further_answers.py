"""Labels that count and prefixes in keys: the receiver verifies what the sender signs."""

from dataclasses import replace

import pytest

from hookproof.mockserver.delivery.attempt.signing import SignatureFormat
from hookproof.receiver.signatures.fast_path import FastPath
from hookproof.receiver.signatures.verification import Unverified, Verified, verify
from tests.spec.dialect_variants import variant

NOW = 1_800_000_000.0
BODY = b'{"a": 1}'
SECRETS = ("sec_first", "sec_second", "sec_third")


def test_labels_may_count() -> None:
    signatures = variant({"signatures.advanced.versions": ["s0", "v{n}"]}).signatures
    scheme, rules = signatures.advanced, signatures.secret
    ((name, value),) = SignatureFormat(scheme, rules).headers(SECRETS, "id", NOW, BODY)
    assert [item.partition("=")[0] for item in value.split(",")] == ["t", "s0", "v2", "v3"]
    verified = verify(scheme, rules, SECRETS, [(name, value)], None, BODY, NOW)
    assert isinstance(verified, Verified)
    assert verified.in_order == (0, 1, 2)
    misplaced = value.replace("v3=", "v2=").replace("s0=", "v9=")
    found = verify(scheme, rules, SECRETS, [(name, misplaced)], None, BODY, NOW)
    assert isinstance(found, Verified)
    assert found.in_order == (None, 1, None)
    further = f"{value},w1=00,v04=00"
    assert verify(scheme, rules, SECRETS, [(name, further)], None, BODY, NOW).signatures == 4


@pytest.mark.parametrize("prefix_in_key", [True, False])
def test_the_prefix_of_a_secret_may_be_part_of_the_key(prefix_in_key: bool) -> None:
    answers = {
        "signatures.secret.prefix": "sec_",
        "signatures.secret.prefix_in_key": prefix_in_key,
    }
    signatures = variant(answers).signatures
    scheme, rules = signatures.simple, signatures.secret
    other = replace(rules, prefix_in_key=not prefix_in_key)
    headers = SignatureFormat(scheme, rules).headers(["sec_text"], "id", NOW, BODY)
    assert isinstance(verify(scheme, rules, ["sec_text"], headers, None, BODY, NOW), Verified)
    assert isinstance(verify(scheme, other, ["sec_text"], headers, None, BODY, NOW), Unverified)
    raw = tuple((name.encode(), value.encode()) for name, value in headers)
    assert FastPath(scheme, rules, ["sec_text"], None).is_certain(raw, BODY, NOW)
    assert not FastPath(scheme, other, ["sec_text"], None).is_certain(raw, BODY, NOW)
