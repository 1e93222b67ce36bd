"""The CA is copied for the receiver, and either end of that may fail."""

from pathlib import Path

import pytest

from hookproof.conformance.target.environment import copy_ca
from hookproof.process.exit_codes import CommandError
from hookproof.receiver.http.authority import Authority
from hookproof.target.settings import ReceiverSettings


def test_the_file_that_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    Authority(tmp_path / "ca")
    settings = ReceiverSettings(ca=tmp_path / "ca" / "ca.pem", ca_key=tmp_path / "ca" / "ca.key")
    nowhere = tmp_path / "nowhere"
    with pytest.raises(CommandError) as unwritten:
        copy_ca(settings, nowhere)
    assert str(unwritten.value).startswith(f"{nowhere / 'ca.pem'} cannot be written: ")
    (tmp_path / "ca" / "ca.key").unlink()
    (tmp_path / "copy").mkdir()
    with pytest.raises(CommandError, match=r"the CA cannot be read: .*ca\.key"):
        copy_ca(settings, tmp_path / "copy")
