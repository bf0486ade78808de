-- Who does a job that only one process may do at a time, until when, and when it was last done, in seconds. An older Foreword can ignore it.
CREATE TABLE foreword_leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    expires INTEGER NOT NULL,
    done INTEGER NOT NULL
) WITHOUT ROWID;
