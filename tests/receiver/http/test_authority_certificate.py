"""What trusting an authority means: one year, few names, no further authority, one reader."""

import os
import ssl
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme
from cryptography import x509
from cryptography.x509.oid import NameOID

from hookproof.receiver.http.address import Address, listener_names
from hookproof.receiver.http.authority import (
    Authority,
    AuthorityProblem,
    names_permitted,
    new_authority,
)

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def certificate_of(authority: Authority) -> x509.Certificate:
    return x509.load_pem_x509_certificate(authority.certificate_path.read_bytes())


def accepted(ca: trustme.CA, host: str, chain: trustme.LeafCert) -> bool:
    """Whether a client that trusts the authority shakes hands with a server of this certificate."""
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    chain.configure_cert(server_side)
    client_side = ssl.create_default_context(cadata=ca.cert_pem.bytes().decode())
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = client_side.wrap_bio(to_client, to_server, server_hostname=host)
    server = server_side.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(6):
        for side in (client, server):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLCertVerificationError:
                return False
    return client.version() is not None


def test_it_is_named_after_what_it_is_and_ends_within_a_year(tmp_path: Path) -> None:
    certificate = certificate_of(Authority(tmp_path, now=NOW))
    (name,) = certificate.subject
    assert (name.oid, name.value) == (NameOID.ORGANIZATION_NAME, "Hookproof test CA")
    valid_for = certificate.not_valid_after_utc - certificate.not_valid_before_utc
    assert valid_for == timedelta(days=365)
    assert certificate.not_valid_before_utc < NOW < certificate.not_valid_after_utc
    basic = certificate.extensions.get_extension_for_class(x509.BasicConstraints)
    assert (basic.critical, basic.value.ca, basic.value.path_length) == (True, True, 0)
    constraints = certificate.extensions.get_extension_for_class(x509.NameConstraints)
    assert constraints.critical


@pytest.mark.parametrize("host", ["localhost", "a.localhost", "127.0.0.1", "127.9.9.9", "::1"])
def test_certificates_of_this_machine_are_accepted(host: str) -> None:
    ca = new_authority(datetime.now(UTC), ())
    assert accepted(ca, host, ca.issue_cert(host))


@pytest.mark.parametrize("host", ["bank.example", "192.0.2.1", "localhost.example", "2001:db8::1"])
def test_certificates_of_others_are_not_even_with_the_key(host: str) -> None:
    ca = new_authority(datetime.now(UTC), ("hooks.example.org", "10.0.0.0/8"))
    assert not accepted(ca, host, ca.issue_cert(host))


@pytest.mark.parametrize("host", ["hooks.example.org", "10.20.30.40"])
def test_certificates_of_the_names_given_are_accepted(host: str) -> None:
    ca = new_authority(datetime.now(UTC), ("hooks.example.org", "10.0.0.0/8"))
    assert accepted(ca, host, ca.issue_cert(host))


def test_an_authority_below_it_is_not_accepted() -> None:
    ca = new_authority(datetime.now(UTC), ())
    below = trustme.CA(parent_cert=ca, path_length=0)
    assert not accepted(ca, "localhost", below.issue_cert("localhost"))


def test_a_listener_of_another_name_is_refused_with_what_to_do(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    authority.server_context("localhost", "127.0.0.1")
    with pytest.raises(AuthorityProblem, match=r"hookproof ca DIR --name hooks\.example\.org"):
        authority.server_context("localhost", "hooks.example.org")


def test_an_authority_without_constraints_is_for_any_name(tmp_path: Path) -> None:
    older = trustme.CA()
    older.cert_pem.write_to_path(tmp_path / "ca.pem")
    older.private_key_pem.write_to_path(tmp_path / "ca.key")
    Authority(tmp_path).server_context("hooks.example.org")
    assert names_permitted(certificate_of(Authority(tmp_path))) == ()


def test_an_expired_authority_is_refused(tmp_path: Path) -> None:
    Authority(tmp_path, now=NOW)
    Authority(tmp_path, now=NOW + timedelta(days=364))
    with pytest.raises(AuthorityProblem, match="expired on 2027-04-30"):
        Authority(tmp_path, now=NOW + timedelta(days=366))


@pytest.mark.parametrize("name", ["", "a b", "https://a.example", "10.0.0.0/99"])
def test_what_is_no_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(AuthorityProblem, match="neither a host name nor an address"):
        Authority(tmp_path, (name,))
    assert not list(tmp_path.iterdir())


def test_the_key_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    with umask(0):
        Authority(tmp_path)
    assert stat.S_IMODE((tmp_path / "ca.key").stat().st_mode) == 0o600


@contextmanager
def umask(value: int) -> Iterator[None]:
    before = os.umask(value)
    try:
        yield
    finally:
        os.umask(before)


def test_a_listener_on_all_addresses_has_no_name_of_that() -> None:
    here = ("localhost", "127.0.0.1", "::1")
    assert listener_names(Address(host="0.0.0.0", port=1), None) == here
    public = listener_names(Address(host="10.0.0.1", port=1), "https://hooks.example.org:8443")
    assert public == ("10.0.0.1", *here, "hooks.example.org")
