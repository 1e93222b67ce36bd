"""Reads target.yaml and joins it with the command line: flag before environment before file.

base_url: http://127.0.0.1:5005
projects:
  - {id: p1, api_key: "${KEY}"}        # ${NAME} reads the environment
  - {id: p2, api_key: "${KEY2}"}       # a second project enables the isolation requirements
dialect: reference                     # a name, a file beside this one, or an inline mapping
receiver: {bind: "127.0.0.1:0", public_url: "https://127.0.0.1:8443", ca: ca.pem, ca_key: ca.key}
budgets: {request_s: 10, delivery_s: 10, quiet_s: 2, total_s: 120}
provision: ./hooks.py:Provisioner      # or steps for each hook, see conformance/provision/
fixtures: {p1: {portal_links: [...], sources: [...]}}    # identifiers; found through the lists when
absent
capabilities: {mtls: no, api_key: yes}                   # auto for those that are not named
egress_canaries: [192.0.2.10]          # addresses of this machine that the target must not reach
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from hookproof.conformance.target.capabilities import CAPABILITIES, Presence
from hookproof.conformance.target.definition import (
    Budgets,
    Fixtures,
    Project,
    ReceiverSettings,
    Target,
)
from hookproof.conformance.target.hooks.declaration import PROVISION_SCHEMA, written_provision
from hookproof.process.exit_codes import CommandError
from hookproof.receiver.http.address import Address, parse_base_url
from hookproof.receiver.http.authority import CERTIFICATE_FILE, KEY_FILE
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect, load_dialect_mapping
from hookproof.spec.strict_yaml.file_problem import FileProblems, Location, Problem
from hookproof.spec.strict_yaml.parser import YamlText
from hookproof.spec.strict_yaml.reader import check_yaml, parse_yaml, read_text

DEFAULT_DIALECT: Final = "reference"

_TEXT: Final = {"type": "string", "minLength": 1}
_SECONDS: Final = {
    "type": "number",
    "exclusiveMinimum": 0,
    "maximum": 86400,
    "description": "in seconds",
}


_IDENTIFIERS: Final = {"type": "array", "items": _TEXT, "uniqueItems": True}


def _closed(properties: Mapping[str, object], **further: object) -> dict[str, object]:
    return {"type": "object", "additionalProperties": False, "properties": properties, **further}


# What target.yaml may hold. A key that is not here is refused, so that no setting is ever silently
# without effect.
SCHEMA: Final = _closed(
    {
        "base_url": {**_TEXT, "description": "where the target's /api is"},
        "projects": {
            "type": "array",
            "minItems": 1,
            "items": _closed({"id": _TEXT, "api_key": _TEXT}, required=["id", "api_key"]),
        },
        "dialect": {
            "type": ["string", "object"],
            "description": "a shipped dialect's name, a file, or its answers",
        },
        "receiver": _closed(
            {"bind": _TEXT, "public_url": _TEXT, "ca": _TEXT, "ca_key": _TEXT},
            dependentRequired={"ca": ["ca_key"], "ca_key": ["ca"]},
            **{"x-expected": "a mapping in which ca and ca_key stand together or not at all"},
        ),
        "budgets": _closed(
            {
                "request_s": _SECONDS,
                "delivery_s": _SECONDS,
                "quiet_s": _SECONDS,
                "total_s": _SECONDS,
            }
        ),
        "provision": PROVISION_SCHEMA,
        "fixtures": {
            "type": "object",
            "additionalProperties": _closed(
                {"portal_links": _IDENTIFIERS, "sources": _IDENTIFIERS}
            ),
        },
        "capabilities": _closed({name: {"enum": list(Presence)} for name in CAPABILITIES}),
        "egress_canaries": {
            "type": "array",
            "items": {**_TEXT, "description": "an IP address"},
            "uniqueItems": True,
        },
    }
)

_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """What the command line and its environment variables say of the target; None where they are
    silent.
    """

    url: str | None = None
    file: Path | None = None
    api_key: str | None = None
    project: str | None = None
    dialect: str | None = None
    receiver_bind: str | None = None
    receiver_url: str | None = None
    ca_dir: Path | None = None
    budget: float | None = None


def target_from(flags: Flags, environment: Mapping[str, str]) -> Target:
    """The target that the flags and the file describe together; raises CommandError with all that is
    wrong in either.
    """
    try:
        content = YamlText(value={}) if flags.file is None else _read(flags.file, environment)
        folder = Path() if flags.file is None else flags.file.parent
        written: Mapping[str, Any] = content.value
        budgets = budgets_from(flags, written.get("budgets", {}))
        base_url = _base_url(flags.url or written.get("base_url"))
        provision = written_provision(
            content, str(flags.file), folder, base_url, timeout_s=budgets.request_s
        )
        projects = _projects(
            flags, written.get("projects", []), made=provision.has("fresh_project")
        )
        return Target(
            base_url=base_url,
            projects=projects,
            dialect=_dialect(flags, content, folder),
            receiver=receiver_from(flags, written.get("receiver", {}), folder),
            budgets=budgets,
            provision=provision,
            fixtures=_fixtures(content, str(flags.file), projects),
            capabilities={
                name: Presence(word) for name, word in written.get("capabilities", {}).items()
            },
            canaries=_canaries(content, str(flags.file)),
        )
    except FileProblems as problems:
        raise CommandError(str(problems)) from None


def budgets_from(flags: Flags, written: Mapping[str, float]) -> Budgets:
    """The waits that a file allows, with the whole run's as the flags say."""
    return Budgets(**{**written, **({} if flags.budget is None else {"total_s": flags.budget})})


def named_dialect(name: str | None) -> Dialect:
    """A dialect by its name or file, the default one for None; raises CommandError."""
    try:
        return load_dialect(name or DEFAULT_DIALECT)
    except FileProblems as problems:
        raise CommandError(str(problems)) from None


def _read(path: Path, environment: Mapping[str, str]) -> YamlText:
    content = parse_yaml(read_text(path), str(path))
    problems: list[Problem] = []
    filled = YamlText(
        value=_filled(content, (), content.value, environment, problems), lines=content.lines
    )
    if problems:
        raise FileProblems(str(path), problems)
    check_yaml(filled, SCHEMA, str(path))
    return filled


def _filled(
    content: YamlText,
    location: Location,
    value: Any,
    environment: Mapping[str, str],
    problems: list[Problem],
) -> Any:
    """A value whose texts have each ${NAME} replaced from the environment."""
    if isinstance(value, dict):
        return {
            key: _filled(content, (*location, key), one, environment, problems)
            for key, one in value.items()
        }
    if isinstance(value, list):
        return [
            _filled(content, (*location, i), one, environment, problems)
            for i, one in enumerate(value)
        ]
    if not isinstance(value, str):
        return value
    missing = [name for name in _VARIABLE.findall(value) if name not in environment]
    problems.extend(
        content.problem(location, f"the environment variable {name} is not set") for name in missing
    )
    return _VARIABLE.sub(lambda found: environment.get(found[1], ""), value)


def _base_url(text: str | None) -> str:
    if text is None:
        raise CommandError(
            "the target has no base URL: give it as URL, or as base_url in the target file"
        )
    try:
        base_url, parts = parse_base_url(text), urlsplit(text)
        whole = parts.port != 0 and parts.username is None
    except ValueError as problem:
        raise CommandError(f"base URL: {problem}") from None
    if not whole:
        raise CommandError(
            f"base URL: {text!r} has user information or a port 0; give one like http://127.0.0.1:5005"
        )
    return base_url


def _projects(flags: Flags, written: list[Mapping[str, str]], *, made: bool) -> tuple[Project, ...]:
    """The projects of the file, the first of them as the flags say; there need be none if a hook
    makes them.
    """
    keys = {project["id"]: project["api_key"] for project in written}
    first = flags.project or next(iter(keys), None)
    if first is None and made:
        return ()
    if first is None:
        raise CommandError(
            "the target has no project: give --project and --api-key, or projects in the target file"
        )
    key = flags.api_key or keys.get(first)
    if not key:
        raise CommandError(
            f"no API key for the project {first!r}: give --api-key, HOOKPROOF_API_KEY or a target file"
        )
    if not (key.isascii() and key.isprintable()):
        raise CommandError(
            f"the API key for the project {first!r} cannot stand in a header: it is not printable ASCII"
        )
    others = tuple(Project(id=name, api_key=key) for name, key in keys.items() if name != first)
    return (Project(id=first, api_key=key), *others)


def _fixtures(content: YamlText, path: str, projects: Sequence[Project]) -> Mapping[str, Fixtures]:
    written: Mapping[str, Any] = content.value.get("fixtures", {})
    known = {project.id for project in projects}
    unknown = [
        content.problem(
            ("fixtures", name),
            f"there is no project {name!r}; the projects are {', '.join(sorted(known))}",
        )
        for name in written
        if name not in known
    ]
    if unknown:
        raise FileProblems(path, unknown)
    return {
        name: Fixtures(**{kind: tuple(identifiers) for kind, identifiers in one.items()})
        for name, one in written.items()
    }


def _canaries(content: YamlText, path: str) -> tuple[str, ...]:
    written: list[str] = content.value.get("egress_canaries", [])
    problems = [
        content.problem(("egress_canaries", place), f"{text!r} is no IP address")
        for place, text in enumerate(written)
        if not _is_address(text)
    ]
    if problems:
        raise FileProblems(path, problems)
    return tuple(written)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _dialect(flags: Flags, content: YamlText, folder: Path) -> Dialect:
    written = None if flags.dialect else content.value.get("dialect")
    if isinstance(written, dict):
        return load_dialect_mapping(written, f"{flags.file}: dialect")
    if written is not None and ("/" in written or Path(written).suffix):
        return load_dialect(str(folder / written))
    return load_dialect(flags.dialect or written or DEFAULT_DIALECT)


def receiver_from(
    flags: Flags, written: Mapping[str, str], folder: Path = Path()
) -> ReceiverSettings:
    """Where deliveries are to arrive, by the flags and what a file in `folder` says; raises
    CommandError.
    """
    bind = flags.receiver_bind or written.get("bind", ReceiverSettings().bind)
    public_url = flags.receiver_url or written.get("public_url")
    try:
        Address.parse(bind)
        if public_url is not None:
            parse_base_url(public_url)
    except ValueError as problem:
        raise CommandError(f"receiver: {problem}") from None
    ca, ca_key = (folder / written[name] if name in written else None for name in ("ca", "ca_key"))
    if flags.ca_dir is not None:
        ca, ca_key = flags.ca_dir / CERTIFICATE_FILE, flags.ca_dir / KEY_FILE
    missing = [path for path in (ca, ca_key) if path is not None and not path.is_file()]
    if missing:
        raise CommandError(
            f"receiver: {missing[0]} is no file; `hookproof ca DIR` makes a CA, which the target must trust"
        )
    return ReceiverSettings(bind=bind, public_url=public_url, ca=ca, ca_key=ca_key)
