-- What the provider reported about the calls of each edition, in one row however many there are. `cached` is how many tokens the last
-- call left in the provider's cache, and `time` when that was, in seconds; `cached_before` and `time_before` are the call before it.
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
