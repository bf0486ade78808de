"""Where the service listens, and what it sends to whom: TLS, a unix socket, other sites' pages and compression."""

import asyncio
import gzip
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from foreword.service.compression import accepts_gzip
from foreword.service.cross_origin import CrossOrigin

SITE = "https://app.example"


def write_certificate(folder):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    start = datetime.now(UTC) - timedelta(days=1)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(start).not_valid_after(start + timedelta(days=30))
    names = x509.SubjectAlternativeName([x509.DNSName("localhost")])
    certificate = builder.add_extension(names, critical=False).sign(key, hashes.SHA256())
    (folder / "cert.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "key.pem").write_bytes(key.private_bytes(*form))


def serve(folder, environment=(), *options):
    """Start a service that is configured by its environment, and return it with its URL."""
    variables = {"PATH": os.environ["PATH"], "HOME": str(folder), "FOREWORD_STORE": ":memory:", **dict(environment)}
    process = subprocess.Popen(
        [sys.executable, "-m", "foreword", "serve", *options],
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=variables,
    )
    return process, process.stdout.readline().strip().removeprefix("Foreword is listening on ")


def stop(process):
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    process.stdout.close()


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory):
    """A service that is configured by a file, with a certificate and another site's pages."""
    folder = tmp_path_factory.mktemp("tls")
    write_certificate(folder)
    (folder / "AGENTS.md").write_text("Handlers stay thin.\n" * 100)
    (folder / "serve.toml").write_text(
        f'port = 0\nlayout = "opal"\ntls-cert = "cert.pem"\ntls-key = "key.pem"\nallow-origin = ["{SITE}"]\n'
    )
    process, url = serve(folder, {}, "--config", "serve.toml")
    yield folder, int(url.rpartition(":")[2])
    stop(process)


def ask(encrypted, method, path, body=None, **headers):
    folder, port = encrypted
    context = ssl.create_default_context(cafile=folder / "cert.pem")
    connection = http.client.HTTPSConnection("localhost", port, context=context, timeout=60)
    connection.request(method, path, body and json.dumps(body), headers)
    response = connection.getresponse()
    content = response.status, {name.lower(): text for name, text in response.getheaders()}, response.read()
    connection.close()
    return content


def test_requests_are_answered_over_tls_with_the_services_layout(encrypted):
    status, _, body = ask(encrypted, "POST", "/conversations/a/turn", {"cwd": ""})
    assert status == 200
    assert ask(encrypted, "GET", "/conversations/a")[0] == 200
    assert json.loads(ask(encrypted, "GET", "/conversations/a")[2])["layout"] == "$std/opal"
    assert "Handlers stay thin." in json.loads(body)["system"]


def test_an_answer_of_more_than_a_kilobyte_is_compressed_if_the_client_accepts_it(encrypted):
    ask(encrypted, "POST", "/conversations/a/turn", {"cwd": ""})
    _, plain_headers, plain = ask(encrypted, "GET", "/conversations/a")
    _, headers, data = ask(encrypted, "GET", "/conversations/a", **{"Accept-Encoding": "br, gzip"})
    assert "content-encoding" not in plain_headers
    assert (headers["content-encoding"], headers["vary"], headers["etag"]) == (
        "gzip",
        "Accept-Encoding",
        plain_headers["etag"],
    )
    assert len(data) == int(headers["content-length"]) < len(plain) / 3
    assert gzip.decompress(data) == plain
    assert "content-encoding" not in ask(encrypted, "GET", "/healthz", **{"Accept-Encoding": "gzip"})[1]


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (b"gzip", True),
        (b"br;q=1.0, GZIP;q=0.5", True),
        (b"*", True),
        (b"gzip;q=0", False),
        (b"gzip;q=0.0", False),
        (b"identity", False),
        (b"", False),
    ],
)
def test_a_client_accepts_gzip_or_not(header, expected):
    assert accepts_gzip([(b"host", b"a"), (b"accept-encoding", header)]) is expected


def test_pages_of_an_allowed_site_may_send_requests(encrypted):
    wanted = {"Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "authorization"}
    status, headers, _ = ask(encrypted, "OPTIONS", "/system-prompt", Origin=SITE, **wanted)
    assert (status, headers["access-control-allow-origin"], headers["access-control-allow-headers"]) == (
        204,
        SITE,
        "authorization",
    )
    status, headers, _ = ask(encrypted, "GET", "/roots", Origin=SITE, **{"Sec-Fetch-Site": "cross-site"})
    assert (status, headers["access-control-allow-origin"], headers["vary"]) == (200, SITE, "Origin")


def test_pages_of_other_sites_may_not(encrypted):
    status, headers, _ = ask(encrypted, "GET", "/roots", Origin="https://evil.example")
    assert (status, "access-control-allow-origin" in headers) == (403, False)


def test_other_events_pass_through_to_the_application():
    seen = []

    async def application(scope, receive, send):
        seen.append(scope["type"])

    asyncio.run(CrossOrigin(application, [SITE])({"type": "lifespan"}, None, None))
    assert seen == ["lifespan"]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_the_service_listens_on_a_unix_socket_of_its_user(tmp_path, workers):
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(path))
    process, url = serve(tmp_path, {"FOREWORD_UNIX": str(path), "FOREWORD_WORKERS": workers, "FOREWORD_STORE": "s.db"})
    assert (url, path.stat().st_mode & 0o777) == (f"unix:{path}", 0o600)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert connection.makefile("rb").read().endswith(b'{"status":"ok"}')
    other = subprocess.run(
        [sys.executable, "-m", "foreword", "serve", "--unix", str(path), "--store", ":memory:"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert other.stderr == f"foreword: --unix {path}: another service is listening there; choose another path\n"
    stop(process)
    assert not path.exists()
