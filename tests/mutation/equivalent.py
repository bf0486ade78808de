"""Faults that change no behaviour, which are not tried: path, text before, text after, and why nobody could notice."""

EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("src/foreword/errors.py", 'return ""', "return None"): "callers ask only whether there is a problem",
    (
        "src/foreword/sessions/readers/claude.py",
        'row if row is not None and "timestamp" in row and "message" in row else None',
        "(None)",
    ): "the whole line is parsed instead",
    (
        "src/foreword/sources/resident_keys.py",
        'SequenceMatcher(None, letters, "modelinvocation").ratio() >= 0.85',
        "(SequenceMatcher(None, letters, 'modelinvocation').ratio() > 0.85)",
    ): "no word of whole letters has exactly this ratio to one of 15 letters",
    (
        "src/foreword/store/versions.py",
        "is_contract and not os.path.exists(path)",
        "(not os.path.exists(path))",
    ): "every version has an expansion, so only a contraction can be missing",
    ("src/foreword/service/tokens.py", "32", "(64)"): "a token with more random bytes is as good",
    (
        "src/foreword/store/walking.py",
        "not is_by_time and query.filters_times",
        "(not is_by_time)",
    ): "without times, every row is between the limits",
    ("src/foreword/text/markdown.py", 'self.fence or "-->"', "(self.fence)"): "lines of a comment take the slower way",
    ("src/foreword/service/proxy/server.py", "64", "(128)"): "how much is read at once",
    (
        "src/foreword/store/reader.py",
        "len(self._contents) > _MAX_CONTENTS",
        "(len(self._contents) >= _MAX_CONTENTS)",
    ): "a cache of 100,000 rows is emptied one row earlier",
}
