"""The certificate authority that a target must trust: endpoint URLs must be https (section 2.3).

It is made once a year and kept in a folder as `ca.pem` and `ca.key`, so that a target is
configured once. Who trusts it trusts whoever holds its key. The name constraints (RFC 5280, section
4.2.1.10) limit what the key is good for: names of this machine and those that the user gave.
"""

import os
import ssl
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Final
from weakref import WeakKeyDictionary

import idna
import trustme
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import NameOID

from hookproof.process.private_folder import private_folder, private_folders_kept
from hookproof.process.written_file import write_file
from hookproof.spec.given_file import confirm_plain, read_given

NAME: Final = "Hookproof test CA"
VALID_FOR: Final = timedelta(days=365)
# For clocks that are behind.
VALID_BEFORE: Final = timedelta(hours=1)
# This machine, and a name that is nobody's (RFC 6761, section 6.4), for certificates of clients and
# for those of a wrong host.
ALWAYS: Final = ("localhost", "invalid", "127.0.0.0/8", "::1/128")

Network = IPv4Network | IPv6Network


def new_authority(now: datetime, names: Iterable[str]) -> trustme.CA:
    """Make an authority for this machine and these names: hosts, addresses, networks (CIDR).

    Raises ValueError for anything else.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, NAME)])
    permitted = [_permitted(name) for name in dict.fromkeys((*ALWAYS, *names))]
    usage = dict.fromkeys(
        (
            "digital_signature",
            "content_commitment",
            "key_encipherment",
            "data_encipherment",
            "key_agreement",
            "encipher_only",
            "decipher_only",
        ),
        False,
    )
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - VALID_BEFORE)
        .not_valid_after(now - VALID_BEFORE + VALID_FOR)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.KeyUsage(key_cert_sign=True, crl_sign=True, **usage), critical=True)
        .add_extension(x509.NameConstraints(permitted, None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, SHA256())
    )
    return trustme.CA.from_pem(
        certificate.public_bytes(Encoding.PEM),
        key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()),
    )


def names_permitted(certificate: x509.Certificate) -> tuple[str, ...]:
    """The names and networks for which an authority may issue; empty if any."""
    constraints = _constraints(certificate)
    return tuple(str(name.value) for name in constraints.permitted_subtrees or ())


def names_refused(certificate: x509.Certificate, hosts: Sequence[str]) -> list[str]:
    """The hosts for which an authority cannot issue a certificate that anybody accepts."""
    permitted = _constraints(certificate).permitted_subtrees
    if not permitted:
        return []
    return [host for host in hosts if not any(_covers(name, host) for name in permitted)]


def _constraints(certificate: x509.Certificate) -> x509.NameConstraints:
    try:
        return certificate.extensions.get_extension_for_class(x509.NameConstraints).value
    except x509.ExtensionNotFound:
        return x509.NameConstraints(None, [x509.DNSName("nothing.is.excluded.invalid")])


def _permitted(name: str) -> x509.GeneralName:
    network = _network(name)
    if network is not None:
        return x509.IPAddress(network)
    return x509.DNSName(_host_name(name))


def _covers(permitted: x509.GeneralName, host: str) -> bool:
    network = _network(host)
    if isinstance(permitted, x509.IPAddress):
        allowed = _network(str(permitted.value))
        assert allowed is not None
        return (
            network is not None
            and network.version == allowed.version
            and network.subnet_of(allowed)  # type: ignore[arg-type]  # of one version
        )
    if network is not None or not isinstance(permitted, x509.DNSName):
        return False
    name = _host_name(host)
    return name == permitted.value or name.endswith(f".{permitted.value}")


def _network(name: str) -> Network | None:
    """The network of an address or of several; None for a host name."""
    try:
        return ip_network(name)
    except ValueError:
        return None


def _host_name(name: str) -> str:
    """A host name as certificates spell it; raises ValueError."""
    try:
        return idna.encode(name.rstrip("."), uts46=True).decode("ascii")
    except idna.IDNAError:
        raise ValueError(f"{name!r} is neither a host name nor an address") from None


CERTIFICATE_FILE: Final = "ca.pem"
KEY_FILE: Final = "ca.key"
CLIENT_HOST: Final = "client.invalid"
# So many that a certificate is longer than a thousand characters, as usual ones are.
OTHER_CLIENT_HOSTS: Final = tuple(f"another-{number}.{CLIENT_HOST}" for number in range(24))
WRONG_HOST: Final = "another-host.invalid"


class AuthorityProblem(Exception):
    """The folder's authority can be neither read nor made; the message says what to do."""


class Authority:
    def __init__(
        self, folder: Path, names: Iterable[str] = (), now: datetime | None = None
    ) -> None:
        """Read the folder's authority, or make one for these names besides this machine's.

        `now` is the time, if it is not that of this machine. Raises AuthorityProblem.
        """
        self._now = now or datetime.now(UTC)
        self.certificate_path = folder / CERTIFICATE_FILE
        self._key_path = folder / KEY_FILE
        if folder.exists() and not folder.is_dir():
            raise AuthorityProblem(
                f"{folder} is not a folder; name one for {CERTIFICATE_FILE} and {KEY_FILE}"
            )
        try:
            with private_folders_kept(folder):
                folder.mkdir(parents=True, exist_ok=True)
                present = [p for p in (self.certificate_path, self._key_path) if p.exists()]
                self._ca = self._read(present) if present else self._make(names)
        except OSError as error:
            raise AuthorityProblem(f"cannot use the folder {folder}: {error.strerror}") from None
        except ValueError as error:
            raise AuthorityProblem(
                f"cannot make a certificate for {', '.join(names)}: {error}"
            ) from None

    @property
    def names(self) -> tuple[str, ...]:
        """The names and networks for which it may issue certificates; empty if any."""
        return names_permitted(self._certificate)

    @property
    def ends_at(self) -> datetime:
        """When its certificate expires."""
        return self._certificate.not_valid_after_utc

    @property
    def _certificate(self) -> x509.Certificate:
        return x509.load_pem_x509_certificate(self._ca.cert_pem.bytes())

    def server_context(self, *hosts: str) -> ssl.SSLContext:
        """TLS for a listener with these host names or addresses.

        It asks for a client certificate but does not require one. Raises AuthorityProblem if the
        authority is not for one of them.
        """
        if refused := names_refused(self._certificate, hosts):
            raise AuthorityProblem(
                f"the authority {self.certificate_path} is for {', '.join(self.names)}, and not for"
                f" {', '.join(refused)}; make another with `hookproof ca DIR --name"
                f" {refused[0]}`, and let the target trust that"
            )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._ca.issue_cert(*hosts).configure_cert(context)
        return self._asking_for_certificates(context)

    def context_with(self, certificate: Path, key: Path) -> ssl.SSLContext:
        """TLS for a listener with this certificate, which may be of any authority.

        As `server_context` otherwise. Raises OSError for files that cannot be used.
        """
        for path in (certificate, key):
            confirm_plain(path)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        # Without a password OpenSSL would ask for that of an encrypted key on the terminal.
        context.load_cert_chain(certificate, key, password="")
        return self._asking_for_certificates(context)

    def _asking_for_certificates(self, context: ssl.SSLContext) -> ssl.SSLContext:
        self._ca.configure_trust(context)
        context.verify_mode = ssl.CERT_OPTIONAL
        context.sni_callback = _note_server_name
        return context

    def faulty_contexts(self, now: datetime, *hosts: str) -> dict[str, ssl.SSLContext | None]:
        """TLS settings that a sender must refuse, by what is wrong with them at the time `now`.

        None stands for no TLS at all.
        """
        day = timedelta(days=1)
        untrusted = trustme.CA(organization_name="An authority that nobody trusts")
        leaves = {
            "expired": self._ca.issue_cert(*hosts, not_before=now - 2 * day, not_after=now - day),
            "not_yet_valid": self._ca.issue_cert(
                *hosts, not_before=now + day, not_after=now + 2 * day
            ),
            "wrong_host": self._ca.issue_cert(WRONG_HOST),
            "unknown_authority": untrusted.issue_cert(*hosts),
        }
        contexts: dict[str, ssl.SSLContext | None] = {
            name: _context(leaf) for name, leaf in leaves.items()
        }
        return contexts | {
            "self_signed": _self_signed(untrusted.issue_cert(*hosts)),
            "no_tls": None,
        }

    def client_certificate(self, name: str) -> tuple[str, str]:
        """Issue a client certificate with this common name; return it and its key, both PEM."""
        leaf = self._ca.issue_cert(CLIENT_HOST, *OTHER_CLIENT_HOSTS, common_name=name)
        certificate = b"".join(pem.bytes() for pem in leaf.cert_chain_pems)
        return certificate.decode("ascii"), leaf.private_key_pem.bytes().decode("ascii")

    def _read(self, present: list[Path]) -> trustme.CA:
        if present != [self.certificate_path, self._key_path]:
            raise AuthorityProblem(f"{present[0]} is there without its other half; {self._remedy}")
        certificate, key = read_given(self.certificate_path), read_given(self._key_path)
        try:
            parsed = x509.load_pem_x509_certificate(certificate)
            if load_pem_private_key(key, password=None).public_key() != parsed.public_key():
                raise AuthorityProblem(
                    f"{self._key_path} is not the key of {self.certificate_path}; {self._remedy}"
                )
            parsed.extensions.get_extension_for_class(x509.SubjectKeyIdentifier)
            may_sign = parsed.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
        except (ValueError, TypeError, UnsupportedAlgorithm):
            raise AuthorityProblem(
                f"{self.certificate_path} or its key is not a PEM file; {self._remedy}"
            ) from None
        except x509.ExtensionNotFound:
            may_sign = False
        if parsed.not_valid_after_utc < self._now:
            raise AuthorityProblem(
                f"{self.certificate_path} expired on {parsed.not_valid_after_utc:%Y-%m-%d}; remove"
                f" it and {KEY_FILE}, make another, and let the target trust that"
            )
        if not may_sign:
            raise AuthorityProblem(
                f"{self.certificate_path} is not the certificate of an authority; {self._remedy}"
            )
        return trustme.CA.from_pem(certificate, key)

    def _make(self, names: Iterable[str]) -> trustme.CA:
        ca = new_authority(self._now, names)
        # The key is written first, and only if there is none: of two processes that make an
        # authority at once, one wins.
        write_private(self._key_path, ca.private_key_pem.bytes())
        ca.cert_pem.write_to_path(self.certificate_path)
        return ca

    @property
    def _remedy(self) -> str:
        return f"restore both files or remove both from {self.certificate_path.parent}"


def write_private(path: Path, content: bytes) -> None:
    """Write a new file that only its owner can read; raises OSError, also if there is one."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        file.write(content)


def _context(leaf: trustme.LeafCert) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    leaf.configure_cert(context)
    return context


def _self_signed(leaf: trustme.LeafCert) -> ssl.SSLContext:
    """A certificate for the leaf's hosts and of its key, signed by that key."""
    key = load_pem_private_key(leaf.private_key_pem.bytes(), password=None)
    assert isinstance(key, EllipticCurvePrivateKey)
    issued = x509.load_pem_x509_certificate(leaf.cert_chain_pems[0].bytes())
    hosts = issued.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(issued.subject)
        .issuer_name(issued.subject)
        .public_key(issued.public_key())
        .serial_number(issued.serial_number)
        .not_valid_before(issued.not_valid_before_utc)
        .not_valid_after(issued.not_valid_after_utc)
        .add_extension(hosts.value, critical=hosts.critical)
        .sign(key, SHA256())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with private_folder() as folder:
        chain = folder / "chain.pem"
        write_file(chain, leaf.private_key_pem.bytes() + certificate.public_bytes(Encoding.PEM))
        context.load_cert_chain(chain)
    return context


_server_names: "WeakKeyDictionary[object, str]" = WeakKeyDictionary()


def requested_server_name(connection: object) -> str | None:
    """The server name that a sender asked for in the TLS handshake, if any.

    `connection` is an SSLObject or SSLSocket.
    """
    return _server_names.get(connection)


def _note_server_name(connection: object, name: str | None, _context: ssl.SSLContext) -> None:
    if name is not None:
        _server_names[connection] = name
