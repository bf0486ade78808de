"""When the file of tokens is read again."""

from foreword.service import tokens as module
from foreword.service.tokens import Tokens, new_token


def test_a_change_is_noticed_after_a_second_and_the_file_is_not_examined_before(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    path = tmp_path / "tokens.toml"
    token, entry = new_token("team")
    path.write_text(entry)
    tokens, header = Tokens("", str(path)), f"Bearer {token}".encode()
    names = []
    for number, seconds in enumerate((100.0, 100.5, 101.0, 101.01)):
        now[0] = seconds
        names.append(tokens.find(header).name)
        path.write_text(entry.replace('"team"', f'"other{"x" * number}"'))  # of another size each time
    assert names == ["team", "team", "team", "otherxx"]
