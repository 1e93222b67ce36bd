"""Where the target is and how it is spoken to: from the command line and, if one is given, from
target.yaml.

The file is that of `hookproof check`; what only the suites need is passed over here.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import yaml

from hookproof.receiver.http.address import Address, parse_base_url
from hookproof.receiver.http.authority import CERTIFICATE_FILE
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.strict_yaml.file_problem import FileProblems, Problem
from hookproof.spec.strict_yaml.reader import check_yaml, parse_yaml, read_text

DEFAULT_DIALECT: Final = "reference"
KEY_VARIABLE: Final = "HOOKPROOF_API_KEY"
LOOPBACK: Final = re.compile(r"localhost|127(?:\.\d{1,3}){3}|::1")
VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
TEXT: Final = {"type": "string", "minLength": 1}
SCHEMA: Final = {
    "type": "object",
    "required": ["base_url", "projects"],
    "properties": {
        "base_url": TEXT,
        "projects": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["id", "api_key"],
                "properties": {"id": TEXT, "api_key": TEXT},
            },
        },
        "dialect": {
            **TEXT,
            "description": "a shipped dialect's name, or a file; not its answers themselves",
        },
        "receiver": {
            "type": "object",
            "properties": {"bind": TEXT, "public_url": TEXT, "ca": TEXT, "ca_key": TEXT},
        },
    },
}


class BadTarget(Exception):
    """The target is not described well enough; the text says what is missing or wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The target, and where its deliveries are to arrive.

    `dialect_name` is the dialect's name or file, as other commands take it. Without `base_url` the
    embedded server is started, with a project and a key of the run's own.
    """

    base_url: str | None
    project: str
    api_key: str
    dialect: Dialect
    dialect_name: str
    bind: str
    public_url: str | None
    ca_dir: Path | None

    @property
    def headers(self) -> dict[str, str]:
        """The headers of every call (section 5), with `KEY` where the key belongs."""
        return {
            "Authorization": self.dialect.authentication.key_format,
            "Content-Type": "application/json",
        }

    @property
    def host(self) -> str | None:
        """The host that the load goes to, where that is another machine; None for this one."""
        return None if self.base_url is None else other_host(self.base_url)


def other_host(url: str) -> str | None:
    """The host of a URL, where that is another machine; None for this one."""
    host = urlsplit(url).hostname
    return None if host is None or LOOPBACK.fullmatch(host) else host


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """What the command line says of the target; None where it is silent."""

    url: str | None
    file: Path | None
    api_key: str | None
    project: str | None
    dialect: str | None
    receiver_bind: str | None
    receiver_url: str | None
    ca_dir: Path | None


def site_from(flags: Flags, *, for_worker: bool = False) -> Site:
    """The target that flags and file describe together, flags first; raises BadTarget and
    FileProblems.

    A worker is told project and address by its master.
    """
    written = _read(flags.file) if flags.file is not None else {}
    receiver: Mapping[str, str] = written.get("receiver", {})
    folder = flags.file.parent if flags.file is not None else Path()
    base_url = flags.url or written.get("base_url")
    named: str = flags.dialect or written.get("dialect", DEFAULT_DIALECT)
    first: Mapping[str, str] = next(iter(written.get("projects", [])), {})
    project, api_key = (
        flags.project or first.get("id", ""),
        flags.api_key or first.get("api_key", ""),
    )
    if base_url is not None and not for_worker and not (project and api_key):
        raise BadTarget(
            "a target needs --project and --api-key (or HOOKPROOF_API_KEY), or a --target file with both"
        )
    if not flags.dialect and ("/" in named or Path(named).suffix):
        named = str(folder / named)
    bind, public_url = (
        flags.receiver_bind or receiver.get("bind"),
        flags.receiver_url or receiver.get("public_url"),
    )
    try:
        Address.parse(bind or "127.0.0.1:0")
        return Site(
            base_url=None if base_url is None else parse_base_url(base_url),
            project=project,
            api_key=api_key,
            dialect=load_dialect(named),
            dialect_name=named,
            bind=bind or "127.0.0.1:0",
            public_url=None if public_url is None else parse_base_url(public_url),
            ca_dir=flags.ca_dir or _folder_of(receiver, folder),
        )
    except ValueError as problem:
        raise BadTarget(str(problem)) from None


def _folder_of(receiver: Mapping[str, str], folder: Path) -> Path | None:
    if "ca" not in receiver:
        return None
    certificate = folder / receiver["ca"]
    if certificate.name != CERTIFICATE_FILE:
        raise BadTarget(
            f"receiver: ca is {certificate.name}; a load run takes the folder of `hookproof ca DIR`"
        )
    return certificate.parent


def _read(path: Path) -> Mapping[str, Any]:
    text = VARIABLE.sub(lambda found: _variable(path, found[1]), read_text(path))
    content = parse_yaml(text, str(path))
    check_yaml(content, SCHEMA, str(path))
    value: Mapping[str, Any] = content.value
    return value


def _variable(path: Path, name: str) -> str:
    if name not in os.environ:
        message = f"the environment variable {name} is not set"
        raise FileProblems(str(path), [Problem(line=None, where="", message=message)])
    return yaml.safe_dump(os.environ[name], default_style='"', width=10**6).strip()[1:-1]
