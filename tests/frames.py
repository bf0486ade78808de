"""Counts how deep calls nest, and how many modules of Foreword run and are loaded, for a command or for three turns over HTTP:

.venv/bin/python tests/frames.py show .
.venv/bin/python tests/frames.py http .
"""

import sys
import threading


class Depth:
    """The deepest stack of frames in this package, and the modules with a function that runs. Imports do not count."""

    def __init__(self):
        self.clear()

    def clear(self):
        self.stack, self.modules = [], set()

    def __call__(self, frame, event, _):
        if event != "call":
            return
        stack = []
        while frame is not None:
            package, _, name = frame.f_code.co_filename.rpartition("/foreword/")
            if package and frame.f_code.co_name == "<module>":
                return
            if package:
                stack.append(f"{name}:{frame.f_lineno} {frame.f_code.co_qualname}")
            frame = frame.f_back
        self.modules.update(line.partition(":")[0] for line in stack[:1])
        if len(stack) > len(self.stack):
            self.stack = stack

    def report(self, about=""):
        loaded = [name for name in sys.modules if name.startswith("foreword")]
        counts = f"{about}{len(self.stack)} frames, {len(self.modules)} modules run, {len(loaded)} loaded"
        print(*reversed(self.stack), counts, sep="\n", file=sys.stderr)


def profile(depth):
    threading.setprofile(depth)
    sys.setprofile(depth)


def count_command(arguments):
    from foreword.cli import main as run

    depth = Depth()
    profile(depth)
    try:
        status = run(arguments)
    finally:
        profile(None)
    depth.report()
    return status


def count_turns(folder):
    """Count the first three turns of a conversation, from the application that the server calls to the response."""
    import asyncio
    import tempfile

    from foreword.service.server import ServerOptions, application, uvicorn_config

    async def turn(app, request):
        scope = {"type": "http", "method": "POST", "headers": [(b"host", b"localhost")], "query_string": b""}
        scope |= {"raw_path": b"/conversations/one/turn", "path": "/conversations/one/turn", "client": ("127.0.0.1", 1)}
        messages = [{"type": "http.request", "body": request, "more_body": False}]
        answers = []

        async def receive():
            return messages.pop()

        async def send(message):
            answers.append(message)

        await app(scope, receive, send)
        assert answers[0]["status"] == 200, answers

    async def turns(store):
        uvicorn_config(ServerOptions(store=store, roots=(folder,), home=folder))
        app, depth = application(), Depth()
        profile(depth)  # also for the threads of the service, which are started by the first turn
        for about in ("first turn: ", "second turn: ", "third turn: "):
            depth.clear()
            await turn(app, b'{"cwd": "", "message": "Hello."}')
            depth.report(about)

    with tempfile.TemporaryDirectory() as store:
        asyncio.run(turns(f"sqlite:///{store}/store.db"))


if __name__ == "__main__":
    sys.exit(count_turns(sys.argv[2]) if sys.argv[1] == "http" else count_command(sys.argv[1:]))
