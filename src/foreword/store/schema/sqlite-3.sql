-- The usage that the provider reported for an edition's calls, in one row per edition. `cached` is how many tokens the last call left in
-- the provider's cache, and `time` is when that was, in seconds; `cached_before` and `time_before` are those of the previous call.
CREATE TABLE foreword_usage (
    conversation TEXT NOT NULL,
    number INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    input INTEGER NOT NULL,
    read INTEGER NOT NULL,
    written INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cost REAL,
    cached INTEGER NOT NULL,
    time INTEGER NOT NULL,
    cached_before INTEGER NOT NULL,
    time_before INTEGER NOT NULL,
    PRIMARY KEY (conversation, number)
) WITHOUT ROWID;
