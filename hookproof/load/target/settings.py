"""The target of a load run and where its deliveries are to arrive.

target.yaml is that of `hookproof check`; a load run uses the first project, and the dialect.
"""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from hookproof.process.exit_codes import CommandError
from hookproof.receiver.http.authority import CERTIFICATE_FILE, KEY_FILE
from hookproof.receiver.signatures.bytes_as_text import to_text
from hookproof.spec.dialect.model import Dialect
from hookproof.target.connection import DIRECT, PROXIED, UNVERIFIED, ApiConnection, connection_of
from hookproof.target.file_schema import Presence
from hookproof.target.hooks.declaration import read_provision
from hookproof.target.hooks.provision import Provision
from hookproof.target.receiver_url import reached_by_name
from hookproof.target.settings import (
    DEFAULT_REQUEST_S,
    Flags,
    ReceiverSettings,
    api_keys_of,
    authority_of,
    base_url_of,
    dialect_of,
    has_no_tls,
    own_certificate_of,
    receiver_address_of,
)
from hookproof.target.target_file import TargetFile, read_target_file

KEY_VARIABLE: Final = "HOOKPROOF_API_KEY"
# How the processes of a run reach the API: the JSON of an ApiConnection. It is not in the plan,
# which is sent to other machines in plain text, as its headers may hold credentials.
CONNECTION_VARIABLE: Final = "HOOKPROOF_LOAD_CONNECTION"
# Whether these processes trace their requests; empty for no.
OTEL_VARIABLE: Final = "HOOKPROOF_LOAD_OTEL"
FRESH_PROJECT: Final = "fresh_project"
NO_HOOKS_NEEDED: Final = "the embedded server needs no hooks"
LOOPBACK: Final = re.compile(r"localhost|127(?:\.\d{1,3}){3}|::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSettings:
    """The target, and where its deliveries are to arrive.

    `dialect_name` is for reports. `dialect_source` is the dialect's name or file, as the processes
    of the run are given it, None while it is in the target file only. Without `base_url` the
    embedded server is started, with a project and a key of the run's own. `capabilities` are those
    that the target file names. `connection` is how each request reaches the API. `project` is empty
    if a hook of `provision` creates it. `unused` says what a run leaves out for the file, and why.
    The receivers show the certificate of `tls_cert` in place of one of the CA, and have no TLS with
    `http`, where a proxy ends it, and their figures are served for Prometheus at `metrics`. With
    `otel` generators trace their requests.
    """

    base_url: str | None
    project: str
    api_key: str
    dialect: Dialect
    dialect_name: str
    dialect_source: str | None
    bind: str
    public_url: str | None
    ca_dir: Path | None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    http: bool = False
    metrics: str | None = None
    otel: bool = False
    dialect_is_given: bool = True
    connection: ApiConnection = DIRECT
    capabilities: Mapping[str, Presence] = field(default_factory=dict)
    provision: Provision = field(default_factory=Provision)
    unused: Mapping[str, str] = field(default_factory=dict)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of every call (section 5), with `KEY` where the key belongs."""
        return {
            "Authorization": self.dialect.authentication.key_format,
            "Content-Type": "application/json",
        }

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables of a process that sends requests."""
        variables = {KEY_VARIABLE: self.api_key, CONNECTION_VARIABLE: self.connection.to_json()}
        return variables | ({OTEL_VARIABLE: "1"} if self.otel else {})

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader of the report has to know of how the API was called."""
        if self.base_url is None:
            return ()
        unverified = () if self.connection.verifies(self.base_url) else (UNVERIFIED,)
        return unverified if self.connection.proxy is None else (*unverified, PROXIED)

    def receiver_options(self, ca_dir: Path) -> list[str]:
        """The options of a receiver of the run, without which it has TLS by the CA in `ca_dir`."""
        options = ["--bind", self.bind, "--ca-dir", str(ca_dir), "--dialect", self.dialect_argument]
        options += ["--public-url", self.public_url] if self.public_url else []
        if self.tls_cert is not None:
            options += ["--tls-cert", str(self.tls_cert), "--tls-key", str(self.tls_key)]
        options += ["--metrics", self.metrics] if self.metrics else []
        return [*options, "--http"] if self.http else options

    @property
    def dialect_argument(self) -> str:
        """The value of the option --dialect for other processes."""
        assert self.dialect_source is not None
        return self.dialect_source

    @property
    def host(self) -> str | None:
        """The host that is loaded if it is another machine, None for this one."""
        return None if self.base_url is None else other_host(self.base_url)


def other_host(url: str) -> str | None:
    """The host of a URL if it is another machine, None for this one."""
    host = urlsplit(url).hostname
    return None if host is None or LOOPBACK.fullmatch(host) else host


def target_settings(
    flags: Flags, environment: Mapping[str, str], *, for_worker: bool = False
) -> TargetSettings:
    """The target that the flags and the target file describe together, flags first.

    A worker gets project and address from its master, which calls the hooks. Raises CommandError
    and FileProblems.
    """
    file = read_target_file(flags.file, environment)
    base_url = base_url_of(flags, file)
    connection = connection_of(file)
    provision = (
        Provision() if base_url is None or for_worker else _provision(file, base_url, connection)
    )
    project, api_key = _first_project(
        flags,
        file,
        needed=base_url is not None and not for_worker,
        can_be_fresh=provision.has(FRESH_PROJECT),
    )
    dialect = dialect_of(flags, file)
    bind, public_url = receiver_address_of(flags, file)
    bind = reached_by_name(ReceiverSettings(bind=bind, public_url=public_url), dialect.dialect).bind
    http, (certificate, key) = has_no_tls(flags, file, public_url), own_certificate_of(file)
    if (http or certificate is not None) and base_url is None and not for_worker:
        raise CommandError(
            "receiver: the embedded server trusts receivers of the CA alone; http, tls_cert and"
            " tls_key are for a target: give its URL, or leave them out"
        )
    return TargetSettings(
        base_url=base_url,
        project=project,
        api_key=api_key,
        dialect=dialect.dialect,
        dialect_name=dialect.source or dialect.dialect.name,
        dialect_source=dialect.source,
        dialect_is_given=bool(flags.dialect or file.values.get("dialect")),
        bind=bind,
        public_url=public_url,
        ca_dir=flags.ca_dir or _authority_folder(flags, file),
        tls_cert=certificate,
        tls_key=key,
        http=http,
        connection=connection,
        capabilities={
            name: Presence(word) for name, word in file.values.get("capabilities", {}).items()
        },
        provision=provision,
        unused=_unused(file, base_url),
    )


def connection_from(environment: Mapping[str, str]) -> ApiConnection:
    """The connection of a process that was started with `TargetSettings.variables`."""
    text = environment.get(CONNECTION_VARIABLE)
    return DIRECT if text is None else ApiConnection.from_json(text)


def _unused(file: TargetFile, base_url: str | None) -> Mapping[str, str]:
    has_hooks = "provision" in file.values
    return {"provision": NO_HOOKS_NEEDED} if base_url is None and has_hooks else {}


def _provision(file: TargetFile, base_url: str, connection: ApiConnection) -> Provision:
    return read_provision(
        file.content,
        str(file.path),
        file.folder,
        base_url,
        timeout_s=file.values.get("budgets", {}).get("request_s", DEFAULT_REQUEST_S),
        connection=connection,
    )


def _first_project(
    flags: Flags, file: TargetFile, *, needed: bool, can_be_fresh: bool
) -> tuple[str, str]:
    """The project and its API key.

    Either is empty if it is not needed and not known, and both if a hook can create a project and
    none is named.
    """
    if not needed:
        project, api_key = next(iter(file.api_keys.items()), ("", ""))
        return flags.project or project, flags.api_key or api_key
    keys = api_keys_of(flags, file)
    if not keys and not can_be_fresh:
        raise CommandError(
            "the target has no project:"
            f" give --project and --api-key (or {KEY_VARIABLE}), or a --target file with both"
        )
    return next(iter(keys.items()), ("", ""))


def _authority_folder(flags: Flags, file: TargetFile) -> Path | None:
    """The folder of the CA that the target file names; it must be as `hookproof ca` makes it."""
    certificate, key = authority_of(replace(flags, ca_dir=None), file)
    if certificate is None or key is None:
        return None
    names = (certificate.name, key.name)
    if names != (CERTIFICATE_FILE, KEY_FILE) or certificate.parent != key.parent:
        raise CommandError(
            f"receiver: ca is {certificate.name} and ca_key is {key.name}; a load run needs"
            f" {CERTIFICATE_FILE} and {KEY_FILE} in one folder, as `hookproof ca DIR` makes them"
        )
    return certificate.parent


SECRET_BYTES: Final = 32


def new_secret(prefix: str, form: str) -> str:
    """A random secret; `form` is a word of `SecretForm`."""
    raw = secrets.token_bytes(SECRET_BYTES)
    return prefix + to_text(form, raw)
