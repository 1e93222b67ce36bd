"""Other users of the machine can list the arguments of its processes; no key is among them."""

from pathlib import Path

import psutil

from hookproof.load.run.driver import _target
from hookproof.load.target.settings import TargetSettings
from hookproof.receiver.http.authority import Authority
from hookproof.spec.dialect.reader import load_dialect


async def test_the_key_of_the_embedded_target_is_in_no_command_line(tmp_path: Path) -> None:
    settings = TargetSettings(
        base_url=None,
        project="",
        api_key="",
        dialect=load_dialect("reference"),
        dialect_name="reference",
        dialect_source="reference",
        bind="127.0.0.1:0",
        public_url=None,
        ca_dir=None,
    )

    async with _target(settings, Authority(tmp_path).certificate_path) as reached:
        children = psutil.Process().children(recursive=True)
        key, command_lines = reached.api_key, [child.cmdline() for child in children]
    assert key
    assert any("serve" in words for words in command_lines)
    assert not [words for words in command_lines if key in " ".join(words)]
