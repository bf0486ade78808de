-- Each distinct text, once. `form` is how the body is stored: 0 plain, 1 deflated. PostgreSQL does not compress it again.
CREATE TABLE foreword_texts (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hash bytea NOT NULL UNIQUE,
    form smallint NOT NULL,
    body bytea NOT NULL
);

ALTER TABLE foreword_texts ALTER COLUMN body SET STORAGE EXTERNAL;

-- Each text that was ever a prompt, with the account of its first publication.
CREATE TABLE foreword_prompts (
    system bigint PRIMARY KEY REFERENCES foreword_texts,
    account bigint NOT NULL REFERENCES foreword_texts
);

-- Ids are compared byte by byte, as in SQLite, whatever the database's language. The texts are not declared as references,
-- because each edition would then lock six rows that all conversations share. Texts are never removed, and `verify` checks them.
CREATE TABLE foreword_editions (
    conversation text COLLATE "C" NOT NULL,
    number integer NOT NULL,
    system bigint NOT NULL,
    tools bigint NOT NULL,
    account bigint NOT NULL,
    inputs bigint NOT NULL,
    layout bigint NOT NULL,
    built_for bigint NOT NULL,
    created bytea NOT NULL,
    state bytea,
    PRIMARY KEY (conversation, number)
);

CREATE TABLE foreword_templates (
    version integer PRIMARY KEY,
    template bigint NOT NULL REFERENCES foreword_texts,
    author bytea NOT NULL,
    time bytea NOT NULL,
    note bytea NOT NULL
);

CREATE TABLE foreword_schema (
    version integer NOT NULL
);
