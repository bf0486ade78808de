"""A service that returns a conversation's prompt, as most people would write it: FastAPI and SQLAlchemy, with Foreword's SELECT.

`service.py` runs it in a separate environment, because Foreword does not depend on these packages.
"""

import socket
import sys
import zlib

import uvicorn
from fastapi import FastAPI, HTTPException
from sqlalchemy import create_engine, text

COLUMNS = ("system", "tools", "account", "inputs", "layout", "built_for")
BODIES = ", ".join(f"{name}.form, {name}.body" for name in COLUMNS[:3])
JOINS = " ".join(
    f"JOIN foreword_texts AS {name} ON {name}.team = c.team AND {name}.id = c.{name}" for name in COLUMNS[:3]
)
SELECT = text(
    f"SELECT e.number, e.created, {BODIES} FROM foreword_editions AS e"
    f" JOIN foreword_contents AS c ON c.team = e.team AND c.id = e.content {JOINS}"
    " WHERE e.team = '' AND e.conversation = :id ORDER BY e.number DESC LIMIT 1"
)
app = FastAPI()
engine = create_engine(sys.argv[1].replace("postgresql://", "postgresql+psycopg://"), pool_size=8)


def decode(form: int, body: bytes) -> str:
    return (zlib.decompress(body) if form else bytes(body)).decode()


@app.get("/conversations/{id}")
def read(id: str) -> dict[str, object]:
    with engine.connect() as connection:
        row = connection.execute(SELECT, {"id": id}).first()
    if row is None:
        raise HTTPException(404)
    number, created, *texts = row
    system, tools, account = (decode(*pair) for pair in zip(texts[::2], texts[1::2], strict=True))
    return {
        "conversation": id, "edition": number, "created": created,
        "system": system, "tools": tools, "account": account,
    }  # fmt: skip


listening = socket.create_server(("127.0.0.1", 0))
print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
uvicorn.Server(uvicorn.Config(app, access_log=False, log_level="error")).run(sockets=[listening])
