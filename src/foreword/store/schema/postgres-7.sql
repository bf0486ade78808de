-- Who does a job that only one process may do at a time, until when, and when it was last done, in seconds. An older Foreword can ignore it.
CREATE TABLE foreword_leases (
    name text COLLATE "C" PRIMARY KEY,
    holder text NOT NULL,
    expires bigint NOT NULL,
    done bigint NOT NULL
);
