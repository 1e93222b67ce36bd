"""Bodies that are to be refused as no JSON are none, whatever the ordinary body is."""

import json

import pytest

from hookproof.conformance.subjects.questions.experiment import NOT_JSON, broken_bodies


@pytest.mark.parametrize("body", [b"{}", b'{"a":1}', b'{"name":"whole","list":["a"]}'])
def test_no_broken_body_is_json(body: bytes) -> None:
    broken = dict(broken_bodies(body))
    assert broken
    for content in broken.values():
        assert content
        with pytest.raises((json.JSONDecodeError, UnicodeDecodeError)):
            json.loads(content)


def test_a_body_with_members_is_broken_in_every_way() -> None:
    assert dict(broken_bodies(b'{"name":"whole"}')).keys() == NOT_JSON.keys()
