-- Each version of the template knows its language; all before were written in brackets.
ALTER TABLE foreword_templates ADD COLUMN syntax bytea NOT NULL DEFAULT 'brackets';
