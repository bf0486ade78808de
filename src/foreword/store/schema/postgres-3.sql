-- What the provider reported about the calls of each edition, in one row however many there are. `cached` is how many tokens the last
-- call left in the provider's cache, and `time` when that was, in seconds; `cached_before` and `time_before` are the call before it.
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
