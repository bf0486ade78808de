-- Everything belongs to a team: the first column of every key. SQLite cannot change a key, so the rows are copied, with their ids.
-- `PRAGMA quick_check` of some versions requires that the columns of a key come first.
ALTER TABLE foreword_texts RENAME TO foreword_texts_5;

ALTER TABLE foreword_kinds RENAME TO foreword_kinds_5;

ALTER TABLE foreword_contents RENAME TO foreword_contents_5;

ALTER TABLE foreword_editions RENAME TO foreword_editions_5;

ALTER TABLE foreword_counts RENAME TO foreword_counts_5;

ALTER TABLE foreword_templates RENAME TO foreword_templates_5;

ALTER TABLE foreword_labels RENAME TO foreword_labels_5;

ALTER TABLE foreword_moves RENAME TO foreword_moves_5;

ALTER TABLE foreword_unused RENAME TO foreword_unused_5;

ALTER TABLE foreword_usage RENAME TO foreword_usage_5;

CREATE TABLE foreword_texts (
    team TEXT NOT NULL,
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL,
    form INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (team, id),
    UNIQUE (team, hash)
);

CREATE TABLE foreword_kinds (
    team TEXT NOT NULL,
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL,
    layout BLOB NOT NULL,
    model BLOB NOT NULL,
    template BLOB NOT NULL,
    version INTEGER,
    UNIQUE (team, id),
    UNIQUE (team, hash)
);

CREATE TABLE foreword_contents (
    team TEXT NOT NULL,
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL,
    kind INTEGER NOT NULL,
    system INTEGER NOT NULL,
    tools INTEGER NOT NULL,
    account INTEGER NOT NULL,
    inputs INTEGER NOT NULL,
    layout INTEGER NOT NULL,
    built_for INTEGER NOT NULL,
    UNIQUE (team, id),
    UNIQUE (team, hash),
    FOREIGN KEY (team, kind) REFERENCES foreword_kinds (team, id),
    FOREIGN KEY (team, system) REFERENCES foreword_texts (team, id),
    FOREIGN KEY (team, tools) REFERENCES foreword_texts (team, id),
    FOREIGN KEY (team, account) REFERENCES foreword_texts (team, id),
    FOREIGN KEY (team, inputs) REFERENCES foreword_texts (team, id),
    FOREIGN KEY (team, layout) REFERENCES foreword_texts (team, id),
    FOREIGN KEY (team, built_for) REFERENCES foreword_texts (team, id)
);

CREATE TABLE foreword_editions (
    team TEXT NOT NULL,
    id INTEGER PRIMARY KEY,
    created INTEGER NOT NULL,
    content INTEGER NOT NULL,
    number INTEGER NOT NULL,
    kind INTEGER,
    conversation TEXT NOT NULL,
    created_text BLOB,
    state BLOB,
    FOREIGN KEY (team, content) REFERENCES foreword_contents (team, id)
);

CREATE TABLE foreword_counts (
    team TEXT NOT NULL,
    kind INTEGER NOT NULL,
    shard INTEGER NOT NULL,
    conversations INTEGER NOT NULL,
    editions INTEGER NOT NULL,
    PRIMARY KEY (team, kind, shard)
) WITHOUT ROWID;

CREATE TABLE foreword_templates (
    team TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    template INTEGER NOT NULL,
    author BLOB NOT NULL,
    time BLOB NOT NULL,
    note BLOB NOT NULL,
    syntax BLOB NOT NULL,
    PRIMARY KEY (team, name, version),
    FOREIGN KEY (team, template) REFERENCES foreword_texts (team, id)
) WITHOUT ROWID;

CREATE TABLE foreword_labels (
    team TEXT NOT NULL,
    name TEXT NOT NULL,
    label TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (team, name, label)
) WITHOUT ROWID;

CREATE TABLE foreword_moves (
    team TEXT NOT NULL,
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    label TEXT NOT NULL,
    previous INTEGER NOT NULL,
    version INTEGER NOT NULL,
    author BLOB NOT NULL,
    time BLOB NOT NULL,
    note BLOB NOT NULL
);

CREATE TABLE foreword_unused (
    team TEXT NOT NULL,
    content INTEGER NOT NULL,
    PRIMARY KEY (team, content)
) WITHOUT ROWID;

CREATE TABLE foreword_usage (
    team TEXT NOT NULL,
    conversation TEXT NOT NULL,
    number INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    input INTEGER NOT NULL,
    read INTEGER NOT NULL,
    written INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cost REAL,
    cached INTEGER NOT NULL,
    time INTEGER NOT NULL,
    cached_before INTEGER NOT NULL,
    time_before INTEGER NOT NULL,
    unreported INTEGER NOT NULL DEFAULT 0,
    unreported_input INTEGER NOT NULL DEFAULT 0,
    last_input INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (team, conversation, number)
) WITHOUT ROWID;

INSERT INTO foreword_texts SELECT '', * FROM foreword_texts_5;

INSERT INTO foreword_kinds SELECT '', * FROM foreword_kinds_5;

INSERT INTO foreword_contents SELECT '', * FROM foreword_contents_5;

INSERT INTO foreword_editions SELECT '', * FROM foreword_editions_5;

INSERT INTO foreword_counts SELECT '', * FROM foreword_counts_5;

INSERT INTO foreword_templates SELECT '', * FROM foreword_templates_5;

INSERT INTO foreword_labels SELECT '', * FROM foreword_labels_5;

INSERT INTO foreword_moves SELECT '', * FROM foreword_moves_5;

INSERT INTO foreword_unused SELECT '', * FROM foreword_unused_5;

INSERT INTO foreword_usage SELECT '', * FROM foreword_usage_5;

DROP TABLE foreword_editions_5;

DROP TABLE foreword_templates_5;

DROP TABLE foreword_contents_5;

DROP TABLE foreword_kinds_5;

DROP TABLE foreword_texts_5;

DROP TABLE foreword_counts_5;

DROP TABLE foreword_labels_5;

DROP TABLE foreword_moves_5;

DROP TABLE foreword_unused_5;

DROP TABLE foreword_usage_5;

CREATE INDEX foreword_contents_system ON foreword_contents (team, system);

CREATE INDEX foreword_contents_tools ON foreword_contents (team, tools);

CREATE INDEX foreword_contents_account ON foreword_contents (team, account);

CREATE INDEX foreword_contents_inputs ON foreword_contents (team, inputs);

CREATE INDEX foreword_contents_layout ON foreword_contents (team, layout);

CREATE INDEX foreword_contents_built_for ON foreword_contents (team, built_for);

CREATE UNIQUE INDEX foreword_editions_number ON foreword_editions (team, conversation, number);

CREATE INDEX foreword_editions_content ON foreword_editions (team, content);

CREATE INDEX foreword_editions_kind ON foreword_editions (team, kind, created, id);

CREATE INDEX foreword_editions_created ON foreword_editions (team, created, id) WHERE kind IS NOT NULL;

CREATE INDEX foreword_templates_template ON foreword_templates (team, template);

CREATE INDEX foreword_moves_name ON foreword_moves (team, name, id);
