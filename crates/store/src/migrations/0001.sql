-- The first form of the database. A migration that has been released is never edited.

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE migrations (
    number INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL
) STRICT;

-- The journal stands alone: it refers to nothing, and everything else can be made from it.
CREATE TABLE events (
    seq INTEGER PRIMARY KEY CHECK (seq > 0),
    version INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    project INTEGER,
    run INTEGER,
    session INTEGER,
    body TEXT NOT NULL,
    sum INTEGER NOT NULL
) STRICT;
-- None by project: there are few of them, so going through the events finds some soon, and every index costs a page
-- at each commit.
CREATE INDEX events_by_run ON events (run);
CREATE INDEX events_by_session ON events (session);

CREATE TRIGGER events_go_on BEFORE INSERT ON events
WHEN NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM events)
BEGIN SELECT raise(ABORT, 'an event goes where the journal ends'); END;
CREATE TRIGGER events_stay BEFORE UPDATE ON events
BEGIN SELECT raise(ABORT, 'an event is never changed'); END;
CREATE TRIGGER events_are_kept BEFORE DELETE ON events
BEGIN SELECT raise(ABORT, 'an event is never removed'); END;

CREATE TABLE projects (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    project INTEGER,
    run INTEGER,
    session INTEGER,
    live INTEGER NOT NULL CHECK (live IN (0, 1)),
    seq INTEGER NOT NULL REFERENCES events (seq) DEFERRABLE INITIALLY DEFERRED,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX projects_live ON projects (id) WHERE live = 1;

CREATE TABLE runs (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    project INTEGER REFERENCES projects (id) DEFERRABLE INITIALLY DEFERRED,
    run INTEGER,
    session INTEGER,
    live INTEGER NOT NULL CHECK (live IN (0, 1)),
    seq INTEGER NOT NULL REFERENCES events (seq) DEFERRABLE INITIALLY DEFERRED,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX runs_by_project ON runs (project);
CREATE INDEX runs_live ON runs (id) WHERE live = 1;

CREATE TABLE sessions (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    project INTEGER REFERENCES projects (id) DEFERRABLE INITIALLY DEFERRED,
    run INTEGER REFERENCES runs (id) DEFERRABLE INITIALLY DEFERRED,
    session INTEGER,
    live INTEGER NOT NULL CHECK (live IN (0, 1)),
    seq INTEGER NOT NULL REFERENCES events (seq) DEFERRABLE INITIALLY DEFERRED,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_by_project ON sessions (project);
CREATE INDEX sessions_by_run ON sessions (run);
CREATE INDEX sessions_live ON sessions (id) WHERE live = 1;

CREATE TABLE requests (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    project INTEGER REFERENCES projects (id) DEFERRABLE INITIALLY DEFERRED,
    run INTEGER REFERENCES runs (id) DEFERRABLE INITIALLY DEFERRED,
    session INTEGER REFERENCES sessions (id) DEFERRABLE INITIALLY DEFERRED,
    live INTEGER NOT NULL CHECK (live IN (0, 1)),
    seq INTEGER NOT NULL REFERENCES events (seq) DEFERRABLE INITIALLY DEFERRED,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX requests_by_project ON requests (project);
CREATE INDEX requests_by_run ON requests (run);
CREATE INDEX requests_by_session ON requests (session);
CREATE INDEX requests_live ON requests (id) WHERE live = 1;

-- The outbox: a row is here as long as the action is not done.
CREATE TABLE actions (
    seq INTEGER NOT NULL REFERENCES events (seq),
    number INTEGER NOT NULL,
    session INTEGER,
    body TEXT NOT NULL,
    PRIMARY KEY (seq, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE replies (
    key TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    status INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
