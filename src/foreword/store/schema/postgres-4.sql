-- Conversations can be listed, filtered and forgotten without a scan, and templates have names and labels.
-- `upgrade.py` copies the rows of the two renamed tables, and drops them.
ALTER TABLE foreword_editions RENAME TO foreword_editions_3;

ALTER TABLE foreword_templates RENAME TO foreword_templates_3;

-- What conversations can be filtered by. `version` is that of the template, or NULL if the layout uses none.
CREATE TABLE foreword_kinds (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hash bytea NOT NULL UNIQUE,
    layout bytea NOT NULL,
    model bytea NOT NULL,
    template bytea NOT NULL,
    version integer
);

-- Each distinct combination of texts, once; `hash` is the hash of their hashes. The indexes say whether a text is still used.
CREATE TABLE foreword_contents (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hash bytea NOT NULL UNIQUE,
    kind integer NOT NULL REFERENCES foreword_kinds,
    system bigint NOT NULL REFERENCES foreword_texts,
    tools bigint NOT NULL REFERENCES foreword_texts,
    account bigint NOT NULL REFERENCES foreword_texts,
    inputs bigint NOT NULL REFERENCES foreword_texts,
    layout bigint NOT NULL REFERENCES foreword_texts,
    built_for bigint NOT NULL REFERENCES foreword_texts
);

CREATE INDEX foreword_contents_system ON foreword_contents (system);

CREATE INDEX foreword_contents_tools ON foreword_contents (tools);

CREATE INDEX foreword_contents_account ON foreword_contents (account);

CREATE INDEX foreword_contents_inputs ON foreword_contents (inputs);

CREATE INDEX foreword_contents_layout ON foreword_contents (layout);

CREATE INDEX foreword_contents_built_for ON foreword_contents (built_for);

-- The content is not declared as a reference, because each edition would then lock a row that many conversations share.
-- `kind` is that of the content for the edition in use, and NULL for earlier ones. `created` sorts by time; see `times.py`. If it
-- does not restore the time exactly as it was passed, `created_text` does.
CREATE TABLE foreword_editions (
    id bigint GENERATED ALWAYS AS IDENTITY,
    created bigint NOT NULL,
    content bigint NOT NULL,
    number integer NOT NULL,
    kind integer,
    conversation text COLLATE "C" NOT NULL,
    created_text bytea,
    state bytea
);

CREATE UNIQUE INDEX foreword_editions_number ON foreword_editions (conversation, number);

CREATE INDEX foreword_editions_content ON foreword_editions (content);

CREATE INDEX foreword_editions_kind ON foreword_editions (kind, created, id);

CREATE INDEX foreword_editions_created ON foreword_editions (created, id) WHERE kind IS NOT NULL;

-- How many conversations and editions there are of each kind: the sum over all shards. PostgreSQL spreads the writers over several.
CREATE TABLE foreword_counts (
    kind integer NOT NULL,
    shard integer NOT NULL,
    conversations bigint NOT NULL,
    editions bigint NOT NULL,
    PRIMARY KEY (kind, shard)
);

CREATE TABLE foreword_templates (
    name text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    template bigint NOT NULL REFERENCES foreword_texts,
    author bytea NOT NULL,
    time bytea NOT NULL,
    note bytea NOT NULL,
    syntax bytea NOT NULL,
    PRIMARY KEY (name, version)
);

CREATE INDEX foreword_templates_template ON foreword_templates (template);

-- The version that each label of a template refers to. New conversations use the version with the label `production`.
CREATE TABLE foreword_labels (
    name text COLLATE "C" NOT NULL,
    label text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    PRIMARY KEY (name, label)
);

-- Who moved a label, when, and from which version (0 if it is new). Rows are only ever added.
CREATE TABLE foreword_moves (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    label text COLLATE "C" NOT NULL,
    previous integer NOT NULL,
    version integer NOT NULL,
    author bytea NOT NULL,
    time bytea NOT NULL,
    note bytea NOT NULL
);

CREATE INDEX foreword_moves_name ON foreword_moves (name, id);

-- Contents that editions no longer use, or that may be used again by now, until their texts are removed.
CREATE TABLE foreword_unused (
    content bigint PRIMARY KEY
);

-- Hashes of texts and of the ids of conversations that have left the store, so that each process drops them from its memory. Rows are
-- removed after an hour.
CREATE TABLE foreword_forgotten (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hash bytea NOT NULL,
    time bigint NOT NULL
);

-- Converts the time of an edition, or returns NULL if it is not written in the usual form.
CREATE FUNCTION pg_temp.foreword_time(created bytea) RETURNS bigint LANGUAGE sql AS $$
    SELECT CASE WHEN encode(created, 'escape') ~ '^[12][0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}[+-][0-9]{2}:[0-9]{2}$'
    THEN round(extract(epoch FROM encode(created, 'escape')::timestamptz) * 1000)::bigint * 4096 + 2048
        + (substr(encode(created, 'escape'), 24, 1) || '1')::integer
        * (substr(encode(created, 'escape'), 25, 2)::integer * 60 + substr(encode(created, 'escape'), 28, 2)::integer)
    END
$$;
