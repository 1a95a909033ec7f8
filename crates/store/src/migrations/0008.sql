-- Graphs: a row for each node and each group, where a session had a row for all of them before. States are made anew.

CREATE TABLE work_graphs (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    project INTEGER REFERENCES projects (id) DEFERRABLE INITIALLY DEFERRED,
    run INTEGER REFERENCES runs (id) DEFERRABLE INITIALLY DEFERRED,
    session INTEGER REFERENCES sessions (id) DEFERRABLE INITIALLY DEFERRED,
    live INTEGER NOT NULL CHECK (live IN (0, 1)),
    seq INTEGER NOT NULL REFERENCES events (seq) DEFERRABLE INITIALLY DEFERRED,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX work_graphs_by_session ON work_graphs (session);
CREATE INDEX work_graphs_live ON work_graphs (id) WHERE live = 1;

CREATE TABLE work_nodes (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    project INTEGER REFERENCES projects (id) DEFERRABLE INITIALLY DEFERRED,
    run INTEGER REFERENCES runs (id) DEFERRABLE INITIALLY DEFERRED,
    session INTEGER REFERENCES sessions (id) DEFERRABLE INITIALLY DEFERRED,
    live INTEGER NOT NULL CHECK (live IN (0, 1)),
    seq INTEGER NOT NULL REFERENCES events (seq) DEFERRABLE INITIALLY DEFERRED,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX work_nodes_by_session ON work_nodes (session);
CREATE INDEX work_nodes_live ON work_nodes (id) WHERE live = 1;

CREATE TABLE work_groups (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    project INTEGER REFERENCES projects (id) DEFERRABLE INITIALLY DEFERRED,
    run INTEGER REFERENCES runs (id) DEFERRABLE INITIALLY DEFERRED,
    session INTEGER REFERENCES sessions (id) DEFERRABLE INITIALLY DEFERRED,
    live INTEGER NOT NULL CHECK (live IN (0, 1)),
    seq INTEGER NOT NULL REFERENCES events (seq) DEFERRABLE INITIALLY DEFERRED,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX work_groups_by_session ON work_groups (session);
CREATE INDEX work_groups_live ON work_groups (id) WHERE live = 1;

INSERT INTO meta (name, value)
SELECT 'needs_replay', 'yes' WHERE EXISTS (SELECT 1 FROM events)
ON CONFLICT DO UPDATE SET value = excluded.value;
