"""Faults that change no behaviour, which are not tried: path, text before, text after, and why nobody could notice."""

EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("src/foreword/service/proxy/server.py", "64", "(128)"): "how much is read at once",
    (
        "src/foreword/store/reader.py",
        "len(self._contents) > _MAX_CONTENTS",
        "(len(self._contents) >= _MAX_CONTENTS)",
    ): "a cache of 100,000 rows is emptied one row earlier",
}
