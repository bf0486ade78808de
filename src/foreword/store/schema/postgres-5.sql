-- How many calls did not say what was cached, and their input; and the input of the last call. An older Foreword can ignore them.
ALTER TABLE foreword_usage ADD COLUMN unreported bigint NOT NULL DEFAULT 0;

ALTER TABLE foreword_usage ADD COLUMN unreported_input bigint NOT NULL DEFAULT 0;

ALTER TABLE foreword_usage ADD COLUMN last_input bigint NOT NULL DEFAULT 0;
