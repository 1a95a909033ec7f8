-- Checkpoints: what stood in a session's directory at one moment.

CREATE TABLE checkpoints (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    project INTEGER REFERENCES projects (id) DEFERRABLE INITIALLY DEFERRED,
    run INTEGER REFERENCES runs (id) DEFERRABLE INITIALLY DEFERRED,
    session INTEGER REFERENCES sessions (id) DEFERRABLE INITIALLY DEFERRED,
    live INTEGER NOT NULL CHECK (live IN (0, 1)),
    seq INTEGER NOT NULL REFERENCES events (seq) DEFERRABLE INITIALLY DEFERRED,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX checkpoints_by_project ON checkpoints (project);
CREATE INDEX checkpoints_by_session ON checkpoints (session);
CREATE INDEX checkpoints_live ON checkpoints (id) WHERE live = 1;
