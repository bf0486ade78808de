-- Each distinct text, once. `form` is how the body is stored: 0 plain, 1 deflated.
CREATE TABLE foreword_texts (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    form INTEGER NOT NULL,
    body BLOB NOT NULL
);

-- Each text that was ever a prompt, with the account of its first publication.
CREATE TABLE foreword_prompts (
    system INTEGER PRIMARY KEY REFERENCES foreword_texts,
    account INTEGER NOT NULL REFERENCES foreword_texts
);

-- One tree ordered by conversation, without a separate index, so that a conversation takes little more space than its id.
CREATE TABLE foreword_editions (
    conversation TEXT NOT NULL,
    number INTEGER NOT NULL,
    system INTEGER NOT NULL REFERENCES foreword_texts,
    tools INTEGER NOT NULL REFERENCES foreword_texts,
    account INTEGER NOT NULL REFERENCES foreword_texts,
    inputs INTEGER NOT NULL REFERENCES foreword_texts,
    layout INTEGER NOT NULL REFERENCES foreword_texts,
    built_for INTEGER NOT NULL REFERENCES foreword_texts,
    created BLOB NOT NULL,
    state BLOB,
    PRIMARY KEY (conversation, number)
) WITHOUT ROWID;

CREATE TABLE foreword_templates (
    version INTEGER PRIMARY KEY,
    template INTEGER NOT NULL REFERENCES foreword_texts,
    author BLOB NOT NULL,
    time BLOB NOT NULL,
    note BLOB NOT NULL
);
