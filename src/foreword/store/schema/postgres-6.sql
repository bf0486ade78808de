-- Everything belongs to a team: the first column of every key and every index, so that no query has to read another team's rows, and so
-- that Citus can distribute all tables by it. A text that two teams use is stored once for each: there is nothing that they share.
ALTER TABLE foreword_texts ADD COLUMN team text COLLATE "C" NOT NULL DEFAULT '';

ALTER TABLE foreword_kinds ADD COLUMN team text COLLATE "C" NOT NULL DEFAULT '';

ALTER TABLE foreword_contents ADD COLUMN team text COLLATE "C" NOT NULL DEFAULT '';

ALTER TABLE foreword_editions ADD COLUMN team text COLLATE "C" NOT NULL DEFAULT '';

ALTER TABLE foreword_counts ADD COLUMN team text COLLATE "C" NOT NULL DEFAULT '';

ALTER TABLE foreword_templates ADD COLUMN team text COLLATE "C" NOT NULL DEFAULT '';

ALTER TABLE foreword_labels ADD COLUMN team text COLLATE "C" NOT NULL DEFAULT '';

ALTER TABLE foreword_moves ADD COLUMN team text COLLATE "C" NOT NULL DEFAULT '';

ALTER TABLE foreword_unused ADD COLUMN team text COLLATE "C" NOT NULL DEFAULT '';

ALTER TABLE foreword_usage ADD COLUMN team text COLLATE "C" NOT NULL DEFAULT '';

ALTER TABLE foreword_texts DROP CONSTRAINT foreword_texts_pkey CASCADE;

ALTER TABLE foreword_texts DROP CONSTRAINT foreword_texts_hash_key;

ALTER TABLE foreword_texts ADD PRIMARY KEY (team, id), ADD UNIQUE (team, hash);

ALTER TABLE foreword_kinds DROP CONSTRAINT foreword_kinds_pkey CASCADE;

ALTER TABLE foreword_kinds DROP CONSTRAINT foreword_kinds_hash_key;

ALTER TABLE foreword_kinds ALTER COLUMN id TYPE bigint;

ALTER TABLE foreword_kinds ADD PRIMARY KEY (team, id), ADD UNIQUE (team, hash);

ALTER TABLE foreword_contents ALTER COLUMN kind TYPE bigint;

ALTER TABLE foreword_contents DROP CONSTRAINT foreword_contents_pkey;

ALTER TABLE foreword_contents DROP CONSTRAINT foreword_contents_hash_key;

ALTER TABLE foreword_contents ADD PRIMARY KEY (team, id), ADD UNIQUE (team, hash);

ALTER TABLE foreword_contents ADD CONSTRAINT foreword_contents_kind_fkey
    FOREIGN KEY (team, kind) REFERENCES foreword_kinds (team, id);

ALTER TABLE foreword_contents ADD CONSTRAINT foreword_contents_system_fkey
    FOREIGN KEY (team, system) REFERENCES foreword_texts (team, id);

ALTER TABLE foreword_contents ADD CONSTRAINT foreword_contents_tools_fkey
    FOREIGN KEY (team, tools) REFERENCES foreword_texts (team, id);

ALTER TABLE foreword_contents ADD CONSTRAINT foreword_contents_account_fkey
    FOREIGN KEY (team, account) REFERENCES foreword_texts (team, id);

ALTER TABLE foreword_contents ADD CONSTRAINT foreword_contents_inputs_fkey
    FOREIGN KEY (team, inputs) REFERENCES foreword_texts (team, id);

ALTER TABLE foreword_contents ADD CONSTRAINT foreword_contents_layout_fkey
    FOREIGN KEY (team, layout) REFERENCES foreword_texts (team, id);

ALTER TABLE foreword_contents ADD CONSTRAINT foreword_contents_built_for_fkey
    FOREIGN KEY (team, built_for) REFERENCES foreword_texts (team, id);

DROP INDEX foreword_contents_system;

CREATE INDEX foreword_contents_system ON foreword_contents (team, system);

DROP INDEX foreword_contents_tools;

CREATE INDEX foreword_contents_tools ON foreword_contents (team, tools);

DROP INDEX foreword_contents_account;

CREATE INDEX foreword_contents_account ON foreword_contents (team, account);

DROP INDEX foreword_contents_inputs;

CREATE INDEX foreword_contents_inputs ON foreword_contents (team, inputs);

DROP INDEX foreword_contents_layout;

CREATE INDEX foreword_contents_layout ON foreword_contents (team, layout);

DROP INDEX foreword_contents_built_for;

CREATE INDEX foreword_contents_built_for ON foreword_contents (team, built_for);

DROP INDEX foreword_editions_number;

CREATE UNIQUE INDEX foreword_editions_number ON foreword_editions (team, conversation, number);

DROP INDEX foreword_editions_content;

CREATE INDEX foreword_editions_content ON foreword_editions (team, content);

DROP INDEX foreword_editions_kind;

CREATE INDEX foreword_editions_kind ON foreword_editions (team, kind, created, id);

DROP INDEX foreword_editions_created;

CREATE INDEX foreword_editions_created ON foreword_editions (team, created, id) WHERE kind IS NOT NULL;

ALTER TABLE foreword_counts DROP CONSTRAINT foreword_counts_pkey;

ALTER TABLE foreword_counts ADD PRIMARY KEY (team, kind, shard);

ALTER TABLE foreword_templates DROP CONSTRAINT foreword_templates_pkey1;

ALTER TABLE foreword_templates ADD PRIMARY KEY (team, name, version);

ALTER TABLE foreword_templates ADD CONSTRAINT foreword_templates_template_fkey
    FOREIGN KEY (team, template) REFERENCES foreword_texts (team, id);

DROP INDEX foreword_templates_template;

CREATE INDEX foreword_templates_template ON foreword_templates (team, template);

ALTER TABLE foreword_labels DROP CONSTRAINT foreword_labels_pkey;

ALTER TABLE foreword_labels ADD PRIMARY KEY (team, name, label);

ALTER TABLE foreword_moves DROP CONSTRAINT foreword_moves_pkey;

ALTER TABLE foreword_moves ADD PRIMARY KEY (team, id);

DROP INDEX foreword_moves_name;

CREATE INDEX foreword_moves_name ON foreword_moves (team, name, id);

ALTER TABLE foreword_unused DROP CONSTRAINT foreword_unused_pkey;

ALTER TABLE foreword_unused ADD PRIMARY KEY (team, content);

ALTER TABLE foreword_usage DROP CONSTRAINT foreword_usage_pkey;

ALTER TABLE foreword_usage ADD PRIMARY KEY (team, conversation, number);

-- The second fence, beside the conditions in the statements: a connection sees the rows of the team in its setting, or all of them for '*'.
ALTER TABLE foreword_texts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY foreword_team ON foreword_texts
    USING (team = current_setting('foreword.team', true) OR current_setting('foreword.team', true) = '*');

ALTER TABLE foreword_kinds ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY foreword_team ON foreword_kinds
    USING (team = current_setting('foreword.team', true) OR current_setting('foreword.team', true) = '*');

ALTER TABLE foreword_contents ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY foreword_team ON foreword_contents
    USING (team = current_setting('foreword.team', true) OR current_setting('foreword.team', true) = '*');

ALTER TABLE foreword_editions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY foreword_team ON foreword_editions
    USING (team = current_setting('foreword.team', true) OR current_setting('foreword.team', true) = '*');

ALTER TABLE foreword_counts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY foreword_team ON foreword_counts
    USING (team = current_setting('foreword.team', true) OR current_setting('foreword.team', true) = '*');

ALTER TABLE foreword_templates ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY foreword_team ON foreword_templates
    USING (team = current_setting('foreword.team', true) OR current_setting('foreword.team', true) = '*');

ALTER TABLE foreword_labels ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY foreword_team ON foreword_labels
    USING (team = current_setting('foreword.team', true) OR current_setting('foreword.team', true) = '*');

ALTER TABLE foreword_moves ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY foreword_team ON foreword_moves
    USING (team = current_setting('foreword.team', true) OR current_setting('foreword.team', true) = '*');

ALTER TABLE foreword_unused ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY foreword_team ON foreword_unused
    USING (team = current_setting('foreword.team', true) OR current_setting('foreword.team', true) = '*');

ALTER TABLE foreword_usage ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY foreword_team ON foreword_usage
    USING (team = current_setting('foreword.team', true) OR current_setting('foreword.team', true) = '*');
