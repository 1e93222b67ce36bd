"""What the command line and target.yaml say together: flag before environment before file.

Everything here raises CommandError or FileProblems for what cannot be used.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from hookproof.process.exit_codes import CommandError
from hookproof.receiver.http.address import Address, parse_base_url
from hookproof.receiver.http.authority import CERTIFICATE_FILE, KEY_FILE
from hookproof.spec.dialect.assumptions import wholly_assumed
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect, load_dialect_mapping
from hookproof.spec.strict_yaml.file_problem import FileProblems
from hookproof.target.target_file import NO_FILE, TargetFile

DEFAULT_DIALECT: Final = "reference"
# The key of target.yaml that holds a dialect, or names one.
DIALECT_KEY: Final = "dialect"
# In place of a dialect: find it out first, over the one that leaves open what may stay open.
INFERRED: Final = "infer"
UNDECIDED_DIALECT: Final = "undecided"
# The time for one request, in seconds, where budgets.request_s does not say.
DEFAULT_REQUEST_S: Final = 10.0
DEFAULT_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """What the command line and its environment variables say about the target; None where they say
    nothing.
    """

    url: str | None = None
    file: Path | None = None
    api_key: str | None = None
    project: str | None = None
    # Projects besides that one, with their keys.
    further_projects: tuple[tuple[str, str], ...] = ()
    dialect: str | None = None
    receiver_bind: str | None = None
    receiver_url: str | None = None
    receiver_http: bool = False
    ca_dir: Path | None = None
    # The longest time for a whole run of `check`, in seconds.
    budget: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiverSettings:
    """Where deliveries are to arrive.

    Without a certificate that the target trusts, none can arrive (section 2.3: https): one of `ca`,
    that of `tls_cert`, or with `http` that of a proxy, which ends TLS before the receiver. `bind`
    is host:port; `public_url` is how the target reaches it, if that is another address. `mail` is
    where the target's mail is to arrive, if its mail server is to be the receiver.
    """

    bind: str = "127.0.0.1:0"
    public_url: str | None = None
    ca: Path | None = None
    ca_key: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    http: bool = False
    # Whether a proxy is known to set X-Forwarded-For, -Proto and -Host.
    forwarded: bool = False
    mail: str | None = None

    @property
    def can_be_trusted(self) -> bool:
        """Whether the target may trust the certificate that it is shown."""
        return self.http or self.ca is not None or self.tls_cert is not None

    @property
    def authority(self) -> str:
        """What the target has to trust so that it delivers, in words."""
        return "the receiver's CA" if self.tls_cert is None else "the receiver's certificate"

    @property
    def trust_advice(self) -> str:
        """What to do about a target that does not trust it."""
        if self.tls_cert is None:
            return f"let it trust {self.ca or 'ca.pem of the CA folder'} as an authority"
        return (
            f"{self.tls_cert.name} must be for the host of the receiver's URL, hold every"
            " certificate up to an authority, and come from one that the target trusts"
        )

    @property
    def reach_advice(self) -> str:
        """What to do about a target from which no connection comes."""
        return (
            f"check that the target can open one to {self.public_url or 'the receiver'}, and give"
            " --receiver-url if it knows the receiver by another address; or it delivers only after"
            " another call (provision: after_endpoint_created), or later (budgets.delivery_s)"
        )

    @property
    def has_faulty_listeners(self) -> bool:
        """Whether listeners with faulty certificates of the CA show anything of the target."""
        return self.is_reached_directly and not self.http and self.tls_cert is None

    @property
    def is_reached_directly(self) -> bool:
        """Whether the target seems to reach the receiver's own port, so that it may reach others.

        A public URL with another port, or with a path, is that of a proxy.
        """
        if self.public_url is None:
            return True
        public = urlsplit(self.public_url)
        own_port = Address.parse(self.bind).port
        return own_port == (public.port or DEFAULT_PORTS[public.scheme]) and not public.path


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenDialect:
    """The dialect of a target. `source` is its name or file; None if the target file holds it."""

    dialect: Dialect
    source: str | None


def base_url_of(flags: Flags, file: TargetFile) -> str | None:
    """The base URL of the target, None where neither the flags nor the file has one."""
    text: str | None = flags.url or file.values.get("base_url")
    if text is None:
        return None
    try:
        base_url, parts = parse_base_url(text), urlsplit(text)
        complete = parts.port != 0 and parts.username is None
    except ValueError as problem:
        raise CommandError(f"base URL: {problem}") from None
    if not complete:
        raise CommandError(
            f"base URL: {text!r} has user information or a port 0;"
            " give one like http://127.0.0.1:5005"
        )
    return base_url


def api_keys_of(flags: Flags, file: TargetFile) -> dict[str, str]:
    """The API key of each project by its id, the project of the flags first; empty if there is no
    project at all.
    """
    keys = file.api_keys
    first = flags.project or next(iter(keys), None)
    if first is None:
        return {}
    key = flags.api_key or keys.get(first)
    if not key:
        raise CommandError(
            f"no API key for the project {first!r}:"
            " give --api-key, HOOKPROOF_API_KEY or a target file"
        )
    chosen = {first: key} | dict(flags.further_projects)
    for name, text in chosen.items():
        if not (text.isascii() and text.isprintable()):
            raise CommandError(
                f"the API key for the project {name!r} cannot stand in a header:"
                " it is not printable ASCII"
            )
    return chosen | {name: other for name, other in keys.items() if name not in chosen}


def is_inferred(flags: Flags, file: TargetFile) -> bool:
    """Whether the dialect is to be found out first."""
    return (flags.dialect or file.values.get(DIALECT_KEY)) == INFERRED


def dialect_of(flags: Flags, file: TargetFile) -> ChosenDialect:
    """The dialect of the target; a file named in the target file is found beside it.

    Where none is given, the answers of the default one are only assumed.
    """
    written = None if flags.dialect else file.values.get(DIALECT_KEY)
    if isinstance(written, dict):
        return ChosenDialect(dialect=_dialect_within(file, written), source=None)
    source = flags.dialect or written
    if source is None:
        assumed = wholly_assumed(load_dialect(DEFAULT_DIALECT))
        return ChosenDialect(dialect=assumed, source=DEFAULT_DIALECT)
    if written is not None and ("/" in written or Path(written).suffix):
        source = str(file.folder / written)
    return ChosenDialect(dialect=load_dialect(source), source=source)


def _dialect_within(file: TargetFile, written: Mapping[str, Any]) -> Dialect:
    """The dialect whose answers are in the target file; raises FileProblems with its lines."""
    origin = str(file.path)
    lines = {
        place[1:]: line for place, line in file.content.lines.items() if place[:1] == (DIALECT_KEY,)
    }
    try:
        return load_dialect_mapping(written, origin, folder=file.folder, lines=lines)
    except FileProblems as refusal:
        if refusal.path != origin:  # a file that it extends
            raise
        problems = [
            replace(problem, where=f"{DIALECT_KEY}.{problem.where}".removesuffix("."))
            for problem in refusal.problems
        ]
        raise FileProblems(origin, problems) from None


def receiver_of(flags: Flags, file: TargetFile = NO_FILE) -> ReceiverSettings:
    """Where deliveries are to arrive; the files of the CA exist."""
    bind, public_url = receiver_address_of(flags, file)
    certificate, key = authority_of(flags, file)
    own_certificate, own_key = own_certificate_of(file)
    return ReceiverSettings(
        bind=bind,
        public_url=public_url,
        ca=certificate,
        ca_key=key,
        tls_cert=own_certificate,
        tls_key=own_key,
        http=has_no_tls(flags, file, public_url),
        forwarded=file.receiver.get("forwarded", False),
        mail=mail_of(file),
    )


def has_no_tls(flags: Flags, file: TargetFile, public_url: str | None) -> bool:
    """Whether the receiver is behind a proxy that ends TLS."""
    http: bool = flags.receiver_http or file.receiver.get("http", False)
    if http and not (public_url or "").startswith("https:"):
        raise CommandError(
            "receiver: without TLS (--receiver-http, receiver.http) it needs the https URL of the"
            " proxy that ends TLS: give --receiver-url or receiver.public_url"
        )
    if http and "tls_cert" in file.receiver:
        raise CommandError("receiver: tls_cert is of no use with http; leave one of them out")
    return http


def own_certificate_of(file: TargetFile) -> tuple[Path | None, Path | None]:
    """The receiver's own certificate and its key, if the file names one; both exist."""
    if "tls_cert" not in file.receiver:
        return None, None
    certificate, key = (file.folder / file.receiver[name] for name in ("tls_cert", "tls_key"))
    for path in (certificate, key):
        if not path.is_file():
            raise CommandError(f"receiver: {path} is not a file")
    return certificate, key


def mail_of(file: TargetFile) -> str | None:
    """Where the receiver accepts mail, None where the file does not name it."""
    mail: str | None = file.receiver.get("mail")
    try:
        if mail is not None:
            Address.parse(mail)
    except ValueError as problem:
        raise CommandError(f"receiver.mail: {problem}") from None
    return mail


def receiver_address_of(flags: Flags, file: TargetFile) -> tuple[str, str | None]:
    """Where the receiver listens, and the URL by which the target reaches it, if that differs."""
    bind = flags.receiver_bind or file.receiver.get("bind", ReceiverSettings().bind)
    public_url = flags.receiver_url or file.receiver.get("public_url")
    try:
        Address.parse(bind)
        return bind, None if public_url is None else parse_base_url(public_url)
    except ValueError as problem:
        raise CommandError(f"receiver: {problem}") from None


def authority_of(flags: Flags, file: TargetFile) -> tuple[Path | None, Path | None]:
    """The certificate and the key of the CA, which both exist; None where no CA is named."""
    if flags.ca_dir is not None:
        certificate, key = flags.ca_dir / CERTIFICATE_FILE, flags.ca_dir / KEY_FILE
    elif "ca" in file.receiver:
        certificate, key = (file.folder / file.receiver[name] for name in ("ca", "ca_key"))
    else:
        return None, None
    for path in (certificate, key):
        if not path.is_file():
            raise CommandError(
                f"receiver: {path} is not a file;"
                " `hookproof ca DIR` makes a CA, which the target must trust"
            )
    return certificate, key
