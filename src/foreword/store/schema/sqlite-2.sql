-- Each version of the template knows its language; all before were written in brackets.
ALTER TABLE foreword_templates ADD COLUMN syntax BLOB NOT NULL DEFAULT x'627261636b657473';
