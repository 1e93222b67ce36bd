"""Builds the target of `hookproof check` from target.yaml and the command line.

The file itself is parsed in `hookproof.target`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from hookproof.conformance.target.definition import Budgets, Fixtures, Project, Target
from hookproof.process.exit_codes import CommandError
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.strict_yaml.file_problem import FileProblems, Location
from hookproof.target.connection import DIRECT, check_connection, connection_of
from hookproof.target.editor_schema import target_schema
from hookproof.target.file_schema import Presence
from hookproof.target.hooks.declaration import read_provision
from hookproof.target.settings import (
    DEFAULT_DIALECT,
    Flags,
    api_keys_of,
    base_url_of,
    dialect_of,
    has_no_tls,
    is_inferred,
    mail_of,
    receiver_address_of,
    receiver_of,
)
from hookproof.target.target_file import (
    NO_FILE,
    TargetFile,
    read_portable_target_file,
    read_target_file,
    variables_in,
)


def target_from(flags: Flags, environment: Mapping[str, str]) -> Target:
    """Raises CommandError with everything that is wrong in the flags or the file."""
    try:
        return _target(flags, read_target_file(flags.file, environment))
    except FileProblems as problems:
        raise CommandError(str(problems)) from None


def asks_to_infer(flags: Flags, environment: Mapping[str, str]) -> bool:
    """Whether the flags or the file ask for a dialect that is found out; raises CommandError."""
    try:
        return is_inferred(flags, read_target_file(flags.file, environment))
    except FileProblems as problems:
        raise CommandError(str(problems)) from None


def budgets_from(flags: Flags, file: TargetFile = NO_FILE) -> Budgets:
    """The timeouts in the file; the flags may override that of the whole run."""
    written = dict(file.values.get("budgets", {}))
    if flags.budget is not None:
        written["total_s"] = flags.budget
    return Budgets(**written)


def named_dialect(name: str | None) -> Dialect:
    """A dialect by its name or file, the default one for None; raises CommandError."""
    try:
        return load_dialect(name or DEFAULT_DIALECT)
    except FileProblems as problems:
        raise CommandError(str(problems)) from None


def check_target_file(path: Path, environment: Mapping[str, str]) -> None:
    """Raise FileProblems or CommandError for what is wrong in a target file wherever it is used.

    No hook is imported, and no certificate needs to exist: both belong to the place of a run. What
    rests on a variable without a value is not checked, except that it may stand there.
    """
    file = read_portable_target_file(path, environment, target_schema())
    for keys, check in PORTABLE_CHECKS:
        if not any(variables_in([file.values.get(key) for key in keys])):
            check(file)


def _check_receiver(file: TargetFile) -> None:
    _, public_url = receiver_address_of(Flags(), file)
    has_no_tls(Flags(), file, public_url)
    mail_of(file)


def _check_fixtures(file: TargetFile) -> None:
    names = [project["id"] for project in file.values.get("projects", [])]
    if not any(variables_in(names)):
        _fixtures(file, dict.fromkeys(names, ""))


def _check_provision(file: TargetFile) -> None:
    written = file.values.get("provision")
    if not isinstance(written, str):
        read_provision(
            file.content, str(file.path), file.folder, "", timeout_s=1, connection=DIRECT
        )
    elif not (hooks := file.folder / written.rpartition(":")[0]).is_file():
        file.refuse([(("provision",), f"{hooks} is not a file")])


def _check_dialect(file: TargetFile) -> None:
    if not is_inferred(Flags(), file):
        dialect_of(Flags(), file)


def _target(flags: Flags, file: TargetFile) -> Target:
    budgets = budgets_from(flags, file)
    base_url = base_url_of(flags, file)
    if base_url is None:
        raise CommandError(
            "the target has no base URL: give it as URL, or as base_url in the target file"
        )
    connection = connection_of(file)
    provision = read_provision(
        file.content,
        str(file.path),
        file.folder,
        base_url,
        timeout_s=budgets.request_s,
        connection=connection,
    )
    keys = api_keys_of(flags, file)
    if not keys and not provision.has("fresh_project"):
        raise CommandError(
            "the target has no project:"
            " give --project and --api-key, or projects in the target file"
        )
    return Target(
        base_url=base_url,
        projects=tuple(Project(id=name, api_key=key) for name, key in keys.items()),
        dialect=dialect_of(flags, file).dialect,
        connection=connection,
        receiver=receiver_of(flags, file),
        budgets=budgets,
        provision=provision,
        fixtures=_fixtures(file, keys),
        capabilities={
            name: Presence(word) for name, word in file.values.get("capabilities", {}).items()
        },
        egress_probes=_egress_probes(file),
    )


def _fixtures(file: TargetFile, projects: Mapping[str, str]) -> Mapping[str, Fixtures]:
    fixtures: Mapping[str, Mapping[str, list[str]]] = file.values.get("fixtures", {})
    known = ", ".join(sorted(projects))
    file.refuse(
        (("fixtures", name), f"there is no project {name!r}; the projects are {known}")
        for name in fixtures
        if name not in projects
    )
    return {
        name: Fixtures(**{kind: tuple(identifiers) for kind, identifiers in held.items()})
        for name, held in fixtures.items()
    }


def _egress_probes(file: TargetFile) -> tuple[str, ...]:
    addresses: list[str] = file.values.get("egress_canaries", [])
    file.refuse(_not_addresses(addresses))
    return tuple(addresses)


def _not_addresses(texts: list[str]) -> Iterator[tuple[Location, str]]:
    for index, text in enumerate(texts):
        try:
            ip_address(text)
        except ValueError:
            yield ("egress_canaries", index), f"{text!r} is not an IP address"


# What is checked of a file without the place of its use, and the keys that it reads.
PORTABLE_CHECKS: Final[Sequence[tuple[Sequence[str], Callable[[TargetFile], object]]]] = (
    (("base_url",), partial(base_url_of, Flags())),
    ((), partial(api_keys_of, Flags())),
    (("headers", "connection"), check_connection),
    (("receiver",), _check_receiver),
    (("fixtures",), _check_fixtures),
    (("egress_canaries",), _egress_probes),
    (("provision",), _check_provision),
    (("dialect",), _check_dialect),
)
