"""Other users of the machine can list the arguments of its processes; no key is among them."""

import asyncio
import stat
from pathlib import Path

import psutil

from hookproof.conformance.target.environment import Embedded, copy_ca, open_environment
from hookproof.receiver.http.authority import Authority
from hookproof.spec.dialect.reader import load_dialect
from hookproof.target.settings import ReceiverSettings


def test_the_keys_of_the_embedded_server_are_in_no_command_line() -> None:
    subject = Embedded(
        dialect=load_dialect("reference"),
        dialect_name="reference",
        seed=1,
        projects=2,
        receiver=ReceiverSettings(),
    )

    async def seen() -> tuple[list[str], list[list[str]]]:
        async with open_environment(subject) as environment:
            children = psutil.Process().children(recursive=True)
            keys = [project.api_key for project in environment.target.projects]
            return keys, [child.cmdline() for child in children]

    keys, command_lines = asyncio.run(seen())
    assert len(keys) == 2
    assert any("serve" in words for words in command_lines)
    assert not [words for words in command_lines for key in keys if key in " ".join(words)]


def test_copies_of_the_authoritys_key_are_readable_by_their_owner_alone(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "its-own")
    key = authority.certificate_path.with_name("ca.key")
    key.chmod(0o644)  # as a checkout or a mounted secret may leave it
    (tmp_path / "copy").mkdir()
    settings = ReceiverSettings(ca=authority.certificate_path, ca_key=key)
    copy = copy_ca(settings, tmp_path / "copy")
    assert (copy / "ca.key").read_bytes() == key.read_bytes()
    assert stat.S_IMODE((copy / "ca.key").stat().st_mode) == 0o600
