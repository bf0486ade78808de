"""A service that is stopped answers every request that it has received, even on connections that clients reuse."""

import asyncio
import http.client
import io
import signal
import socket
import time

import pytest
import uvicorn

from foreword.service.application import Application
from foreword.service.guard import RequestGuard
from foreword.service.log import Log
from foreword.service.metrics import Metrics
from foreword.service.routes import ROUTES
from foreword.service.server import install_signal_handlers
from foreword.service.service import Service


def get(connection, path="/healthz"):
    connection.request("GET", path)
    response = connection.getresponse()
    response.read()
    return response.status, response.getheader("Connection")


def wait_until_refused(port):
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=60).close()
        except ConnectionRefusedError:
            return
        time.sleep(0.01)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_request_on_a_reused_connection_is_answered_after_the_signal(start, workers):
    server = start("--workers", workers)
    reused, pipelined = (http.client.HTTPConnection("127.0.0.1", server.port, timeout=60) for _ in range(2))
    assert [get(reused), get(pipelined)] == [(200, None), (200, None)]
    server.process.send_signal(signal.SIGTERM)
    wait_until_refused(server.port)
    assert get(reused) == (200, "close")
    pipelined.sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 3)
    received = pipelined.sock.makefile("rb").read()
    assert (received.count(b"200 OK"), received.count(b"connection: close")) == (3, 1)
    assert server.process.wait(60) == 0
    reused.close()
    pipelined.close()
    server.process.stdout.close()


def test_no_request_is_lost_while_clients_send_one_after_another(fresh_service):
    server = fresh_service
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    answers = [get(connection) for _ in range(20)]
    server.process.send_signal(signal.SIGTERM)
    while answers[-1][1] != "close":
        answers.append(get(connection))
    assert {status for status, _ in answers} == {200}
    assert server.process.wait(60) == 0
    server.process.stdout.close()
    connection.close()


@pytest.mark.parametrize(("is_terminal", "handler"), [(False, signal.SIG_IGN), (True, signal.SIG_DFL)])
def test_a_hangup_ends_only_a_service_in_a_terminal(monkeypatch, is_terminal, handler):
    handlers = dict.fromkeys((signal.SIGTERM, signal.SIGINT, signal.SIGHUP), signal.SIG_DFL)
    monkeypatch.setattr(signal, "signal", handlers.__setitem__)
    monkeypatch.setattr("os.isatty", lambda file: is_terminal)
    server = uvicorn.Server(uvicorn.Config(None))
    install_signal_handlers(server)
    assert handlers == {signal.SIGTERM: server.handle_exit, signal.SIGINT: server.handle_exit, signal.SIGHUP: handler}


def test_a_request_that_is_not_complete_in_time_is_answered_logged_and_counted(tmp_path):
    lines = io.StringIO()
    metrics = Metrics(ROUTES)
    application = Application(Service(":memory:", [str(tmp_path)]), RequestGuard(), Log(stream=lines), metrics)
    scope = {"type": "http", "method": "POST", "raw_path": b"/lint", "headers": [(b"host", b"localhost")]}
    sent = []

    async def send(message):
        sent.append(message)

    async def stop_while_the_body_is_read():
        request = asyncio.ensure_future(application(scope, asyncio.Event().wait, send))
        await asyncio.sleep(0)
        request.cancel()  # as uvicorn does after its time limit
        await request
        await asyncio.sleep(0)

    asyncio.run(stop_while_the_body_is_read())
    assert sent[0]["status"] == 503 and b"the service stopped" in sent[1]["body"]
    assert lines.getvalue().count("503 POST /lint") == 1
    assert 'foreword_requests_total{method="POST",route="/lint",status="503"} 1' in metrics.text()
