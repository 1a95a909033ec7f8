-- Accounts that have hit a limit.

CREATE TABLE accounts (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    project INTEGER,
    run INTEGER,
    session INTEGER,
    live INTEGER NOT NULL CHECK (live IN (0, 1)),
    seq INTEGER NOT NULL REFERENCES events (seq) DEFERRABLE INITIALLY DEFERRED,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX accounts_live ON accounts (id) WHERE live = 1;
