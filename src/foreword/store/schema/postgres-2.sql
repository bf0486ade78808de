-- Each version of the template records its language; all earlier ones were written in brackets.
ALTER TABLE foreword_templates ADD COLUMN syntax bytea NOT NULL DEFAULT 'brackets';
