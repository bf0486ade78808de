"""Who may send requests, and what requests can reach."""

import os
import subprocess
import sys

import pytest

from foreword.service.routes import ROUTES

# Starting


def serve(*options, token=None):
    """Run `foreword serve`, which is expected to fail."""
    environment = {name: value for name, value in os.environ.items() if name != "FOREWORD_TOKEN"}
    if token is not None:
        environment["FOREWORD_TOKEN"] = token
    command = [sys.executable, "-m", "foreword", "serve", "--port", "0", "--store", ":memory:", *options]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)


@pytest.mark.parametrize(
    ("options", "token", "expected"),
    [
        (["--host", "0.0.0.0"], None, "set FOREWORD_TOKEN"),
        (["--host", "0.0.0.0"], "", "set FOREWORD_TOKEN"),
        (["--host", "::"], None, "set FOREWORD_TOKEN"),
        (["--host", "192.0.2.1"], None, "set FOREWORD_TOKEN"),
        (["--host", ""], None, "set FOREWORD_TOKEN"),
        (["--host", "192.0.2.1"], "t", "cannot listen on 192.0.2.1"),
        (["--host", "no such host"], "t", "cannot listen on no such host"),
        ([], " ", "without spaces"),
        ([], "a b", "without spaces"),
        ([], "tökén", "printable ASCII"),
        (["--port", "65536"], None, "--port must be between 0 and 65535, not 65536"),
        (["--port", "99999999"], None, "not 99999999"),
        (["--root", "/no/such/folder"], None, "no such directory"),
        (["--workers", "0"], None, "--workers must be between 1 and 64"),
        (["--workers", "2"], None, "cannot share an in-memory store"),
        (["--time-limit", "0"], None, "--time-limit must be between 0.1 and 3600 seconds"),
        (["--time-limit", "nan"], None, "--time-limit must be between 0.1 and 3600 seconds"),
        (["--store", "mysql://x"], None, "unknown kind of store mysql"),
    ],
)
def test_invalid_options_prevent_startup(options, token, expected):
    result = serve(*options, token=token)
    assert (result.returncode, result.stdout) == (2, "")
    assert expected in result.stderr
    assert result.stderr.count("\n") == 1


# The token

OPEN = {("GET", "/healthz"), ("GET", "/readyz"), ("GET", "/"), ("GET", "/static/{name}")}


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_every_route_but_health_and_page_requires_the_token(guarded_service, route):
    path = route.path.replace("{", "").replace("}", "") + ("?limit=1" if route.path == "/events" else "")
    body = {} if route.method in ("POST", "PUT") else None
    bare = guarded_service.request(route.method, path, body, token="")
    if (route.method, route.path) in OPEN:
        assert bare.status in (200, 404)
    else:
        assert (bare.status, bare.problem, bare.headers["www-authenticate"]) == (401, "missing-token", "Bearer")
        assert guarded_service.request(route.method, path, body, token="planted-wrong").problem == "invalid-token"
    assert guarded_service.request(route.method, path, body).status != 401


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ("Bearer planted-token-5b0c", ""),
        ("bearer planted-token-5b0c", ""),
        ("BEARER   planted-token-5b0c  ", ""),
        ("Bearer planted-token-5b0", "invalid-token"),
        ("Bearer planted-token-5b0cc", "invalid-token"),
        ("Bearer PLANTED-TOKEN-5B0C", "invalid-token"),
        ("Bearer planted-token-5b0c, planted-token-5b0c", "invalid-token"),
        ("Bearer \xff", "invalid-token"),
        ("Bearer", "missing-token"),
        ("Bearer ", "missing-token"),
        ("", "missing-token"),
        ("planted-token-5b0c", "missing-token"),
        ("Basic cGxhbnRlZA==", "missing-token"),
        ("Basic planted-token-5b0c", "missing-token"),
    ],
)
def test_only_the_right_token_is_accepted(guarded_service, header, kind):
    response = guarded_service.request("GET", "/roots", headers={"Authorization": header})
    if kind:
        assert (response.status, response.problem) == (401, kind)
        assert "planted" not in response.body.decode()
    else:
        assert response.status == 200


def test_a_token_outside_the_header_is_ignored(guarded_service):
    assert guarded_service.get("/roots?token=planted-token-5b0c", token="").status == 401
    assert (
        guarded_service.request("GET", "/roots", headers={"Cookie": "token=planted-token-5b0c"}, token="").status == 401
    )
    assert guarded_service.get("/nothing", token="").problem == "missing-token"
    assert guarded_service.get("/nothing").problem == "unknown-path"


def test_any_host_is_accepted_with_a_token(guarded_service):
    assert guarded_service.request("GET", "/roots", headers={"Host": "foreword.example.org"}).status == 200


# Requests from other sites


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:{port}", 200),
        ("localhost:{port}", 200),
        ("LOCALHOST", 200),
        ("[::1]:{port}", 200),
        ("[::1]", 200),
        ("evil.example:{port}", 403),
        ("127.0.0.1.evil.example", 403),
        ("localhost.evil.example", 403),
        ("localhost@evil.example", 403),
        ("evil.example#localhost", 403),
        ("127.0.0.2", 403),
        ("0.0.0.0", 403),
        ("localhost:", 403),
        ("localhost:80:80", 403),
        ("::1", 403),
        ("\xff", 403),
    ],
)
def test_only_this_machine_is_accepted_as_host(service, host, status):
    """DNS rebinding: the attacker's host name resolves to this machine."""
    response = service.request("GET", "/roots", headers={"Host": host.format(port=service.port)})
    assert response.status == status
    assert status == 200 or response.problem == "foreign-host"


def test_two_host_headers_are_refused(service):
    response = service.send_raw(
        b"GET /roots HTTP/1.1\r\nHost: evil.example\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    assert (response.status, response.problem) == (400, "invalid-headers")


@pytest.mark.parametrize("lines", ["", "Host:\r\n", "Host: \r\n"])
@pytest.mark.parametrize("path", ["/roots", "/healthz", "/nothing"])
def test_a_missing_or_empty_host_is_refused(service, guarded_service, lines, path):
    for server in (service, guarded_service):
        request = f"GET {path} HTTP/1.1\r\n{lines}Authorization: Bearer planted-token-5b0c\r\nConnection: close\r\n\r\n"
        response = server.send_raw(request.encode())
        assert (response.status, response.problem) == (400, "invalid-headers")


@pytest.mark.parametrize(
    "lines",
    [
        "Authorization: Bearer planted-token-5b0c\r\nAuthorization: Bearer wrong",
        "Authorization: Bearer wrong\r\nauthorization: Bearer planted-token-5b0c",
        "Authorization: Bearer planted-token-5b0c\r\nAuthorization: Bearer planted-token-5b0c",
        "Content-Length: 0\r\nContent-Length: 0",
        "Content-Length: 0\r\nContent-Length: 5",
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Host: localhost",
        "Origin: http://localhost\r\nOrigin: http://localhost",
        "Content-Type: text/plain\r\nContent-Type: application/json",
    ],
)
def test_repeated_headers_are_refused(guarded_service, lines):
    head = b"GET /roots HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    response = guarded_service.send_raw(head + lines.encode() + b"\r\n\r\n")
    assert response.status == 400
    assert response.problem in ("invalid-headers", "not-http")
    assert guarded_service.lines(response.headers["x-request-id"])[0]["reason"]


def test_trailers_do_not_count_as_headers(guarded_service):
    head = b"POST /show HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    trailers = b"Authorization: Bearer planted-token-5b0c\r\n\r\n"
    response = guarded_service.send_raw(head + b'b\r\n{"cwd": ""}\r\n0\r\n' + trailers)
    assert (response.status, response.problem) == (401, "missing-token")


def test_allow_host_adds_a_name(start):
    server = start("--allow-host", "Foreword.Local")
    assert server.request("GET", "/roots", headers={"Host": "foreword.local:99"}).status == 200
    assert server.request("GET", "/roots", headers={"Host": "other.local"}).status == 403
    server.close()


OWN_ORIGIN = "http://127.0.0.1:{port}"
CASES = [
    ({}, 200),
    ({"Origin": OWN_ORIGIN}, 200),
    ({"Origin": OWN_ORIGIN, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}, 200),
    ({"Origin": "http://evil.example"}, 403),
    ({"Origin": "http://127.0.0.1"}, 403),
    ({"Origin": "http://127.0.0.1:1"}, 403),
    ({"Origin": "http://localhost:{port}"}, 403),
    ({"Origin": "null"}, 403),
    ({"Origin": ""}, 403),
    ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403),
    ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}, 403),
    ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}, 403),
    ({"Sec-Fetch-Site": "cross-site"}, 403),
]


@pytest.mark.parametrize(("headers", "status"), CASES)
@pytest.mark.parametrize(
    ("method", "path", "body"), [("GET", "/roots", None), ("POST", "/system-prompt/check", {"template": "x"})]
)
def test_requests_from_other_sites_are_refused(service, method, path, body, headers, status):
    headers = {name: value.replace("{port}", str(service.port)) for name, value in headers.items()}
    response = service.request(method, path, body, headers=headers)
    assert response.status == status
    assert status == 200 or response.problem == "foreign-origin"
    assert "access-control-allow-origin" not in response.headers


def test_links_from_other_sites_work_and_forms_do_not(service):
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert service.request("GET", "/", headers=headers).status == 200
    before = service.get("/system-prompt").headers["etag"]
    form = {**headers, "Content-Type": "text/plain"}
    for path in ("/conversations/form/turn", "/system-prompt/versions/0/restore"):
        assert service.request("POST", path, {"cwd": ""}, headers=form).problem == "foreign-origin"
    assert (
        service.request("POST", "/system-prompt/versions/0/restore", {}, headers={**form, "Origin": "null"}).status
        == 403
    )
    assert service.get("/system-prompt").headers["etag"] == before


def test_preflight_requests_are_refused(service):
    preflight = {"Origin": "http://evil.example", "Access-Control-Request-Method": "PUT"}
    response = service.request("OPTIONS", "/system-prompt", headers=preflight)
    assert response.status in (403, 405)
    assert not any(name.startswith("access-control") for name in response.headers)


def test_the_page_has_a_strict_content_security_policy(service):
    page = service.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    policy = page.headers["content-security-policy"]
    for rule in ("default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"):
        assert rule in policy
    assert "unsafe" not in policy and "*" not in policy
    assert (page.headers["x-frame-options"], page.headers["x-content-type-options"]) == ("DENY", "nosniff")
    assert (page.headers["referrer-policy"], page.headers["cross-origin-opener-policy"]) == (
        "no-referrer",
        "same-origin",
    )
    assert "server" not in page.headers


def test_responses_forbid_sniffing_and_caching(service):
    for path in ("/roots", "/nothing", "/metrics", "/openapi.json"):
        headers = service.get(path).headers
        assert (headers["x-content-type-options"], headers["cache-control"]) == ("nosniff", "no-store")


# The served folders


def cwds(top_folder):
    return {
        "": 200,
        ".": 200,
        "sub": 200,
        "sub/..": 200,
        "ghost/..": 200,
        f"{top_folder}/w": 200,
        f"{top_folder}/w/": 200,
        f"{top_folder}/w/./sub": 200,
        "link-in": 200,
        "ünï code": 200,
        "..": 403,
        "sub/../..": 403,
        f"{top_folder}/w-evil": 403,
        f"{top_folder}/w/../w-evil": 403,
        f"{top_folder}": 403,
        "/": 403,
        "//": 403,
        "/etc": 403,
        "/proc/self/cwd": 403,
        "link-out": 403,
        "link-out/../sub": 200,  # the name is normalized before links are followed
        "ghost": 404,
        "notes.md": 404,
        "loop": 404,
        "~": 404,
        "$HOME": 404,
        "x" * 300: 404,
        "x/" * 2000: 404,
        "x" * 5000: 400,
        "\0": 400,
        "sub\0/../..": 400,
    }


@pytest.mark.parametrize(
    "send",
    [
        lambda server, cwd: server.post("/conversations/cwd/turn", {"cwd": cwd}),
        lambda server, cwd: server.post("/system-prompt/preview", {"cwd": cwd}),
        lambda server, cwd: server.post("/system-prompt/check", {"cwd": cwd, "template": ""}),
        lambda server, cwd: server.post("/system-prompt/values", {"cwd": cwd}),
        lambda server, cwd: server.get("/files?cwd=" + __import__("urllib.parse").parse.quote(cwd)),
        lambda server, cwd: server.get("/conversations/cwd/drift?cwd=" + __import__("urllib.parse").parse.quote(cwd)),
    ],
    ids=["turn", "preview", "check", "values", "files", "drift"],
)
def test_a_cwd_must_be_in_the_served_folders(service, top_folder, send):
    assert service.post("/conversations/cwd/turn", {"cwd": ""}).status == 200
    assert {cwd: send(service, cwd).status for cwd in cwds(top_folder)} == cwds(top_folder)


@pytest.mark.parametrize(
    ("path", "status"),
    [(".", 200), ("sub", 200), ("ghost", 200), ("..", 403), ("/etc", 403), ("link-out", 403), ("sub/../../outside", 403), ("\0", 400)],
)  # fmt: skip
@pytest.mark.parametrize("key", ["allow", "deny"])
def test_a_scope_must_be_in_the_served_folders(service, key, path, status):
    response = service.conversation("scope", scope={key: [{"path": path}]})
    assert response.status == status
    assert status != 403 or response.problem == "outside-roots"


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../outside/secret.txt", "link-file", "link-out/secret.txt", ".env", "id_rsa", "sub/../.env", "/proc/self/environ", "/dev/zero", "sub/.git/HEAD"]
)  # fmt: skip
def test_a_file_variable_cannot_read_outside_the_served_folders(service, name):
    template = f"<[file:{name}]>"
    preview = service.post("/system-prompt/preview", {"template": template}).json
    assert preview["text"] == "<>"
    assert "variable-refused" in {finding["code"] for finding in preview["findings"]}
    response = service.conversation(f"file {name}".replace("/", "_"), "construct", base=template)
    assert response.json["system"] == "<>"


def test_a_path_may_have_thousands_of_segments(service):
    preview = service.post("/system-prompt/preview", {"template": f"<[file:{'x/' * 1900}x]>"})
    assert (preview.status, preview.json["text"]) == (200, "<>")
    assert service.get(f"/files?prefix={'x/' * 1900}").json == {"entries": []}
    assert service.conversation("long", scope={"allow": [{"path": "x/" * 1900}]}).status == 200


def test_a_repository_around_the_served_folder_is_not_read(start, top_folder):
    server = start(root="repo/served")
    preview = server.post("/system-prompt/preview", {"template": "<[file:../above.md]><[file:below.md]>"}).json
    assert preview["text"] == "<><Below.>"
    assert [entry["path"] for entry in server.get("/files").json["entries"]] == ["below.md"]
    assert server.get("/files?prefix=../").json["entries"] == []
    assert server.conversation("above", scope={"allow": [{"path": ".."}]}).problem == "outside-roots"
    server.close()


def test_a_workspace_settings_file_cannot_widen_the_scope(start, top_folder, tmp_path):
    """An untrusted settings file in the served folder."""
    settings = top_folder / "w" / ".foreword" / "foreword.toml"
    settings.parent.mkdir()
    settings.write_text(
        'settings.file_paths = ["/"]\nsettings.file_secrets = true\nlayout = "/etc/passwd"\nstore = "/tmp/x"\n'
    )
    server = start()
    try:
        preview = server.post("/system-prompt/preview", {"template": "<[file:/etc/passwd]><[file:.env]>"}).json
        assert preview["text"] == "<><>"
    finally:
        settings.unlink()
        settings.parent.rmdir()
        server.close()
