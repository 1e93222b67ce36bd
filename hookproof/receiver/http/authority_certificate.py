"""The certificate of an authority: for a year, for few names, and for no further authority.

Who trusts it trusts whoever holds its key. The name constraints (RFC 5280, section 4.2.1.10) limit
what the key is good for: names of this machine and those that the user gave.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Final

import idna
import trustme
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

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

    Raises ValueError for what is none of these.
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
