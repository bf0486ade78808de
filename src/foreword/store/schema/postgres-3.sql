-- The usage that the provider reported for an edition's calls, in one row per edition. `cached` is how many tokens the last call left in
-- the provider's cache, and `time` is when that was, in seconds; `cached_before` and `time_before` are those of the previous call.
CREATE TABLE foreword_usage (
    conversation text COLLATE "C" NOT NULL,
    number integer NOT NULL,
    calls integer NOT NULL,
    input bigint NOT NULL,
    read bigint NOT NULL,
    written bigint NOT NULL,
    output bigint NOT NULL,
    cost double precision,
    cached bigint NOT NULL,
    time bigint NOT NULL,
    cached_before bigint NOT NULL,
    time_before bigint NOT NULL,
    PRIMARY KEY (conversation, number)
);
