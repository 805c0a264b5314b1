"""The server's own authority: one CA and one server certificate, made once, renewed in time, in `directory`.

    ca.crt ca.key           the authority, ten years; clients trust it through their kubeconfig
    server.crt server.key   the server, one year: renewed when a third of that is left, when the names change, when it
                            can't be read, or when the authority is another one
    (clients)               certificates for users are handed out and not kept (kumi kubeconfig)
Keys are EC P-256. Every file is 0600 and written whole or not at all; the directory is 0700.
An authority that can't be read is an error and never silently replaced: every kubeconfig out there trusts it.
An authority about to expire is replaced, since nobody will trust it any more anyway.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import ipaddress
import os
import ssl
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from kumi.api.errors import KumiError
from kumi.api.meta import EPOCH

AUTHORITY_LIFE = dt.timedelta(days=3650)
SERVER_LIFE = dt.timedelta(days=365)
RENEW_BEFORE = SERVER_LIFE / 3
CLOCK_SKEW = dt.timedelta(minutes=5)
LOCAL_NAMES = ("localhost", "127.0.0.1", "::1", "kubernetes", "kubernetes.default", "kubernetes.default.svc")


@dataclass(frozen=True)
class Pair:
    """A certificate and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey


def write_private(path: Path, content: bytes) -> None:
    """Writes a file that only its owner can read, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mkstemp makes it 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(temporary).unlink()
        raise


def ensure(directory: Path, names: tuple[str, ...], now_ms: int) -> bool:
    """Makes or renews what is missing, due or wrong. `names` are host names and addresses besides LOCAL_NAMES.

    Returns whether anything was written. KumiError when the authority's files can't be read.
    """
    now = EPOCH + dt.timedelta(milliseconds=now_ms)
    wanted = tuple(dict.fromkeys((*LOCAL_NAMES, *names)))
    authority = _load_authority(directory)
    renewed = authority is None or authority.certificate.not_valid_after_utc - now < SERVER_LIFE
    if authority is None or renewed:
        authority = _make_authority(now)
        _save(directory, "ca", authority)
    if renewed or not _serves(directory, authority, wanted, now):
        _save(directory, "server", _make_server(authority, wanted, now))
        return True
    return False


def authority_pem(directory: Path) -> bytes:
    """The authority's certificate, as it goes into a kubeconfig."""
    return (directory / "ca.crt").read_bytes()


def make_client(
    directory: Path, user: str, groups: Sequence[str], life: dt.timedelta, now_ms: int
) -> tuple[bytes, bytes]:
    """A certificate by which a client is `user` of these groups, and its key, as PEM. KumiError: no authority, a bad name."""
    now = EPOCH + dt.timedelta(milliseconds=now_ms)
    authority = _load_authority(directory)
    if authority is None:
        raise KumiError(f"there is no authority in {directory}: start the cluster once")
    try:
        names = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
        subject = x509.Name([*names, x509.NameAttribute(NameOID.COMMON_NAME, user)])
    except ValueError as error:
        raise KumiError(f"a user and a group have a name of 1 to 64 characters in a certificate: {error}") from error
    key = ec.generate_private_key(ec.SECP256R1())
    builder = _builder(authority, subject, key, now, life)
    builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
    pair = Pair(builder.sign(authority.key, hashes.SHA256()), key)
    return pair.certificate.public_bytes(serialization.Encoding.PEM), _key_pem(pair)


NO_CHECK_TIME = ssl.VerifyFlags(0x200000)
"""OpenSSL's X509_V_FLAG_NO_CHECK_TIME, which the ssl module has no name for"""


def server_context(directory: Path) -> ssl.SSLContext:
    """TLS for the server's side, which takes certificates of clients that the authority signed, of whatever time: the end of
    the handshake would tell nobody that theirs is over, so certificates.py looks at it. `reload` takes in a renewed
    certificate for the connections to come."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    context.verify_mode = ssl.CERT_OPTIONAL
    context.verify_flags |= NO_CHECK_TIME
    reload(context, directory)
    return context


def reload(context: ssl.SSLContext, directory: Path) -> None:
    """Reads the server's certificate and key again, and the authority's certificate."""
    context.load_verify_locations(directory / "ca.crt")
    context.load_cert_chain(directory / "server.crt", directory / "server.key")


def _load(directory: Path, name: str) -> Pair:
    certificate = x509.load_pem_x509_certificate((directory / f"{name}.crt").read_bytes())
    key = serialization.load_pem_private_key((directory / f"{name}.key").read_bytes(), password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.public_key() != certificate.public_key():
        raise ValueError("the key is not the certificate's")
    return Pair(certificate, key)


def _load_authority(directory: Path) -> Pair | None:
    if not any((directory / f"ca.{end}").exists() for end in ("crt", "key")):
        return None
    try:
        return _load(directory, "ca")
    except (OSError, ValueError) as error:
        raise KumiError(
            f"the authority in {directory} can't be read ({error}); put ca.crt and ca.key back, or remove the directory "
            "and hand out the new kubeconfig"
        ) from error


def _save(directory: Path, name: str, pair: Pair) -> None:
    write_private(directory / f"{name}.key", _key_pem(pair))
    write_private(directory / f"{name}.crt", pair.certificate.public_bytes(serialization.Encoding.PEM))


def _key_pem(pair: Pair) -> bytes:
    return pair.key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _serves(directory: Path, authority: Pair, names: tuple[str, ...], now: dt.datetime) -> bool:
    try:
        server = _load(directory, "server").certificate
        server.verify_directly_issued_by(authority.certificate)
        have = server.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except Exception:
        return False
    if server.not_valid_after_utc - now < RENEW_BEFORE or server.not_valid_before_utc > now:
        return False
    return list(have) == _alternative_names(names)


def _make_authority(now: dt.datetime) -> Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    # The serial number in the name keeps two authorities of one machine apart in a client's trust store.
    serial = x509.random_serial_number()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"kumi-ca-{serial:x}"[:64])])
    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(serial)
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now + AUTHORITY_LIFE)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    return Pair(certificate, key)


def _make_server(authority: Pair, names: tuple[str, ...], now: dt.datetime) -> Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kumi-apiserver")])
    certificate = (
        _builder(authority, subject, key, now, SERVER_LIFE)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(_alternative_names(names)), critical=False)
        .sign(authority.key, hashes.SHA256())
    )
    return Pair(certificate, key)


def _builder(
    authority: Pair, subject: x509.Name, key: ec.EllipticCurvePrivateKey, now: dt.datetime, life: dt.timedelta
) -> x509.CertificateBuilder:
    """A certificate of the authority's, but for what it may be used for."""
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(authority.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(min(now + life, authority.certificate.not_valid_after_utc))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key()), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _alternative_names(names: tuple[str, ...]) -> list[x509.GeneralName]:
    found: list[x509.GeneralName] = []
    for name in names:
        try:
            found.append(x509.IPAddress(ipaddress.ip_address(name)))
        except ValueError:
            found.append(x509.DNSName(name))
    return found
