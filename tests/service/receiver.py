"""A receiver of hooks on this machine, for tests. The path of a URL decides what it answers, well or badly."""

import base64
import hashlib
import hmac
import json
import ssl
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = "whsec_" + "planted" * 8
NEW_SECRET = "whsec_" + "PLANTED" * 8
TIMEOUT = 120


def signature(secret, headers, body):
    """Return the signature that a receiver with this secret expects."""
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    digest = hmac.new(base64.b64decode(secret.removeprefix("whsec_")), signed, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


def start(call):
    """Replace the prompt for a message that contains `launch`, and add a message to it."""
    if "launch" in call["message"]:
        return {"prompt": call["prompt"] + " Launched.", "message": f"Start with edition {call['about']['edition']}."}
    return {}


def context(call):
    return {"messages": [*call["messages"], {"role": "user", "content": "The tower is clear."}]}


def redact(call):
    """Replace a word, unless the text asks for a failure."""
    text = json.dumps(call["messages"])
    return None if "fail" in text else {"messages": json.loads(text.replace("swordfish", "…"))}


RESULTS = {
    "/start": start,
    "/context": context,
    "/redact": redact,
    "/null": lambda call: None,
    "/list": lambda call: [],
    "/number": lambda call: {"prompt": 5},
    "/unknown": lambda call: {"mesage": "planted"},
    "/no-messages": lambda call: {},
    "/not-messages": lambda call: {"messages": ["planted"]},
    "/role": lambda call: {"messages": [{"role": "usr", "content": "planted"}]},
    "/deep": lambda call: {"messages": [{"role": "user", "content": [nested(200)]}]},
}
# Complete responses that are no results.
RAW = {
    "/none": b"HTTP/1.1 204 No Content\r\n\r\n",
    "/empty": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    "/chunked": b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{"me\r\nc\r\nssages": []}\r\n0\r\n\r\n',
    "/not-json": b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nplanted",
    "/not-utf-8": b'HTTP/1.1 200 OK\r\n\r\n{"messages":[{"role":"user","content":"\xff"}]}',
    "/surrogate": b'HTTP/1.1 200 OK\r\n\r\n{"messages":[{"role":"user","content":"\\ud800"}]}',
    "/not-http": b"planted\r\n\r\n",
    "/closed": b"",
    "/cut": b'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"messages": [',
    "/cut-chunk": b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{"messages": []}',
    "/error": b"HTTP/1.1 500 planted\r\nContent-Length: 7\r\n\r\nplanted",
    "/forbidden": b"HTTP/1.1 403 planted\r\n\r\n",
    "/created": b'HTTP/1.1 201 Created\r\n\r\n{"messages": []}',
}
DRIPPING = {"/drip-head": b"HTTP/1.1 200 OK\r\n", "/drip-body": b"HTTP/1.1 200 OK\r\n\r\n"}


def nested(levels):
    return {"type": "text", "inner": nested(levels - 1)} if levels else {}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        path = self.path.partition("?")[0]
        body = b"" if path == "/unread" else self.rfile.read(int(self.headers["Content-Length"]))
        self.server.receiver.add((self.path, dict(self.headers), body))
        self.close_connection = True
        if path in RESULTS:
            content = json.dumps(RESULTS[path](json.loads(body))).encode()
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(content), content))
        elif path in RAW:
            self.wfile.write(RAW[path])
        else:
            self.misbehave(path)

    def misbehave(self, path):
        receiver = self.server.receiver
        if path == "/redirect":
            self.wfile.write(f"HTTP/1.1 307 See\r\nLocation: {receiver.url}/context\r\n\r\n".encode())
        elif path == "/large":
            with suppress(OSError):
                self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
                while True:
                    self.wfile.write(b" " * 2**20)
        elif path == "/unread":
            receiver.stopping.wait()
        else:
            with suppress(OSError):
                self.wait(DRIPPING.get(path, b""))
            receiver.ended.release()

    def wait(self, begin):
        """Begin a response that never ends, or none, until the service closes the connection."""
        self.wfile.write(begin)
        while not self.server.receiver.stopping.wait(0.02) and not self.is_closed():
            self.wfile.write(b"x" if begin else b"")

    def is_closed(self):
        """Whether the service has closed the connection."""
        self.connection.settimeout(0.001)
        try:
            return self.server.receiver.url.startswith("http:") and self.connection.recv(1) == b""
        except TimeoutError:
            return False

    def log_message(self, *_):
        pass


class Receiver:
    """Listens until it is closed. `requests` has the path, headers and body of each request; `ended` counts the calls that were ended."""

    def __init__(self, certificate=None):
        self.requests, self.ended, self.stopping = [], threading.Semaphore(0), threading.Event()
        self._arrived = threading.Condition()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.receiver = self
        if certificate:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_port
        self.url = f"https://localhost:{self.port}" if certificate else f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def add(self, request):
        with self._arrived:
            self.requests.append(request)
            self._arrived.notify_all()

    def has_requests(self, number=1, seconds=60):
        """Wait until this many requests have arrived."""
        with self._arrived:
            return self._arrived.wait_for(lambda: len(self.requests) >= number, seconds)

    def take(self):
        """Return the calls since the last time: the path and the content."""
        taken, self.requests = self.requests, []
        return [(path, json.loads(body)) for path, _, body in taken]

    def close(self):
        self.stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
