"""Run Python programs in forks of one process that has already imported the providers' libraries, which takes seconds each time.

python warm.py SOCKET                    accept requests at a socket, until standard input is closed
python warm.py SOCKET PROGRAM WORD…      run a program there, as `python PROGRAM WORD…` would run it here
"""

import gc
import os
import runpy
import select
import socket
import sys


def serve(path):
    import_libraries()
    gc.freeze()  # otherwise each fork copies everything as soon as it looks for garbage
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        print("ready", flush=True)
        while sys.stdin not in select.select([server, sys.stdin], [], [])[0]:
            connection, _ = server.accept()
            with connection:
                message, streams, _, _ = socket.recv_fds(connection, 1 << 20, 2)
                if not (child := os.fork()):
                    return run(message.decode(), streams)
                for stream in streams:
                    os.close(stream)
                connection.send(bytes([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF]))


def import_libraries():
    """Import what the examples use. A client imports each resource when it is first used."""
    import anthropic
    import openai
    import pydantic_ai.models.anthropic  # noqa: F401

    import foreword.conversation.conversations
    import foreword.integrations.pydantic_ai
    import foreword.providers  # noqa: F401

    with anthropic.Anthropic(api_key="x") as client:
        _ = client.messages
    with openai.OpenAI(api_key="x") as other:
        _ = other.responses, other.chat.completions


def run(message, streams):
    """Run a program in this process, with its own folder, variables, arguments and streams."""
    folder, variables, *words = message.split("\0\0")
    os.environ.clear()
    os.environ.update(line.split("=", 1) for line in variables.split("\0"))
    os.chdir(folder)
    for stream, number in zip(streams, (1, 2), strict=True):
        os.dup2(stream, number)
    sys.argv, sys.path[0] = words, os.path.dirname(words[0])
    runpy.run_path(words[0], run_name="__main__")
    sys.stdout.flush()
    os._exit(0)  # taking all modules apart takes longer than most programs


def request(path, words):
    """Return the exit status of a program."""
    variables = "\0".join(f"{name}={value}" for name, value in os.environ.items())
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        socket.send_fds(connection, ["\0\0".join([os.getcwd(), variables, *words]).encode()], [1, 2])
        return connection.recv(1)[0]


if __name__ == "__main__":
    sys.exit(request(sys.argv[1], sys.argv[2:]) if len(sys.argv) > 2 else serve(sys.argv[1]))
