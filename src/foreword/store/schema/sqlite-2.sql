-- Each version of the template records its language; all earlier ones were written in brackets.
ALTER TABLE foreword_templates ADD COLUMN syntax BLOB NOT NULL DEFAULT x'627261636b657473';
