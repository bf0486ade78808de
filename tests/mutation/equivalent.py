"""Faults that change no behaviour, which are not tried: path, text before, text after, and why nobody could notice."""

EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("src/foreword/errors.py", 'return ""', "return None"): "callers ask only whether there is a problem",
    ("src/foreword/programs/own_files.py", "return False", "return None"): "callers ask only whether it is true",
    ("src/foreword/text/markdown.py", 'self.fence or "-->"', "(self.fence)"): "lines of a comment take the slower way",
    ("src/foreword/service/proxy/server.py", "64", "(128)"): "how much is read at once",
    (
        "src/foreword/store/reader.py",
        "len(self._contents) > _MAX_CONTENTS",
        "(len(self._contents) >= _MAX_CONTENTS)",
    ): "a cache of 100,000 rows is emptied one row earlier",
}
