-- Conversations can be listed, filtered and forgotten without a scan, and templates have names and labels.
-- `upgrade.py` copies the rows of the two renamed tables, and drops them.
ALTER TABLE foreword_editions RENAME TO foreword_editions_3;

ALTER TABLE foreword_templates RENAME TO foreword_templates_3;

-- What conversations can be filtered by. `version` is that of the template, or NULL if the layout uses none.
CREATE TABLE foreword_kinds (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    layout BLOB NOT NULL,
    model BLOB NOT NULL,
    template BLOB NOT NULL,
    version INTEGER
);

-- Each distinct combination of texts, once; `hash` is the hash of their hashes. The indexes say whether a text is still used.
CREATE TABLE foreword_contents (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    kind INTEGER NOT NULL REFERENCES foreword_kinds,
    system INTEGER NOT NULL REFERENCES foreword_texts,
    tools INTEGER NOT NULL REFERENCES foreword_texts,
    account INTEGER NOT NULL REFERENCES foreword_texts,
    inputs INTEGER NOT NULL REFERENCES foreword_texts,
    layout INTEGER NOT NULL REFERENCES foreword_texts,
    built_for INTEGER NOT NULL REFERENCES foreword_texts
);

CREATE INDEX foreword_contents_system ON foreword_contents (system);

CREATE INDEX foreword_contents_tools ON foreword_contents (tools);

CREATE INDEX foreword_contents_account ON foreword_contents (account);

CREATE INDEX foreword_contents_inputs ON foreword_contents (inputs);

CREATE INDEX foreword_contents_layout ON foreword_contents (layout);

CREATE INDEX foreword_contents_built_for ON foreword_contents (built_for);

-- `kind` is that of the content for the edition in use, and NULL for earlier ones. `created` sorts by time; see `times.py`. If it
-- does not restore the time exactly as it was passed, `created_text` does.
CREATE TABLE foreword_editions (
    id INTEGER PRIMARY KEY,
    created INTEGER NOT NULL,
    content INTEGER NOT NULL REFERENCES foreword_contents,
    number INTEGER NOT NULL,
    kind INTEGER,
    conversation TEXT NOT NULL,
    created_text BLOB,
    state BLOB
);

CREATE UNIQUE INDEX foreword_editions_number ON foreword_editions (conversation, number);

CREATE INDEX foreword_editions_content ON foreword_editions (content);

CREATE INDEX foreword_editions_kind ON foreword_editions (kind, created, id);

CREATE INDEX foreword_editions_created ON foreword_editions (created, id) WHERE kind IS NOT NULL;

-- How many conversations and editions there are of each kind: the sum over all shards. PostgreSQL spreads the writers over several.
CREATE TABLE foreword_counts (
    kind INTEGER NOT NULL,
    shard INTEGER NOT NULL,
    conversations INTEGER NOT NULL,
    editions INTEGER NOT NULL,
    PRIMARY KEY (kind, shard)
) WITHOUT ROWID;

CREATE TABLE foreword_templates (
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    template INTEGER NOT NULL REFERENCES foreword_texts,
    author BLOB NOT NULL,
    time BLOB NOT NULL,
    note BLOB NOT NULL,
    syntax BLOB NOT NULL,
    PRIMARY KEY (name, version)
) WITHOUT ROWID;

CREATE INDEX foreword_templates_template ON foreword_templates (template);

-- The version that each label of a template refers to. New conversations use the version with the label `production`.
CREATE TABLE foreword_labels (
    name TEXT NOT NULL,
    label TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (name, label)
) WITHOUT ROWID;

-- Who moved a label, when, and from which version (0 if it is new). Rows are only ever added.
CREATE TABLE foreword_moves (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    label TEXT NOT NULL,
    previous INTEGER NOT NULL,
    version INTEGER NOT NULL,
    author BLOB NOT NULL,
    time BLOB NOT NULL,
    note BLOB NOT NULL
);

CREATE INDEX foreword_moves_name ON foreword_moves (name, id);

-- Contents that editions no longer use, or that may be used again by now, until their texts are removed.
CREATE TABLE foreword_unused (
    content INTEGER PRIMARY KEY
);

-- Hashes of texts and of the ids of conversations that have left the store, so that each process drops them from its memory. Rows are
-- removed after an hour.
CREATE TABLE foreword_forgotten (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    hash BLOB NOT NULL,
    time INTEGER NOT NULL
);
