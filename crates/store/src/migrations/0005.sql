-- The office: calls between agents and their results, and views of them for whoever reads the database.

CREATE TABLE invocations (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    project INTEGER REFERENCES projects (id) DEFERRABLE INITIALLY DEFERRED,
    run INTEGER REFERENCES runs (id) DEFERRABLE INITIALLY DEFERRED,
    session INTEGER REFERENCES sessions (id) DEFERRABLE INITIALLY DEFERRED,
    live INTEGER NOT NULL CHECK (live IN (0, 1)),
    seq INTEGER NOT NULL REFERENCES events (seq) DEFERRABLE INITIALLY DEFERRED,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX invocations_by_project ON invocations (project);
CREATE INDEX invocations_by_run ON invocations (run);
CREATE INDEX invocations_live ON invocations (id) WHERE live = 1;

CREATE TABLE results (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    project INTEGER REFERENCES projects (id) DEFERRABLE INITIALLY DEFERRED,
    run INTEGER REFERENCES runs (id) DEFERRABLE INITIALLY DEFERRED,
    session INTEGER REFERENCES sessions (id) DEFERRABLE INITIALLY DEFERRED,
    live INTEGER NOT NULL CHECK (live IN (0, 1)),
    seq INTEGER NOT NULL REFERENCES events (seq) DEFERRABLE INITIALLY DEFERRED,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX results_by_project ON results (project);
CREATE INDEX results_by_run ON results (run);
CREATE INDEX results_live ON results (id) WHERE live = 1;

-- Who has had a role last. An agent is named by its office and its role, or by its office and its session.
CREATE VIEW office_agents (id, office_id, name, session_id, status) AS
SELECT
    'p_' || projects.id || '/' || seat.key,
    'p_' || projects.id,
    seat.key,
    seat.value,
    CASE WHEN sessions.live = 1 THEN 'active' ELSE 'resting' END
FROM projects, json_each(projects.body, '$.seats') AS seat
LEFT JOIN sessions ON sessions.id = CAST(substr(seat.value, 3) AS INTEGER);

CREATE VIEW user_questions (
    id, agent_id, office_id, question_type, question, options, status, expires_at, response
) AS
SELECT
    'q_' || requests.id,
    'p_' || requests.project || '/'
        || coalesce(json_extract(sessions.body, '$.order.role.name'), 's_' || requests.session),
    'p_' || requests.project,
    json_extract(requests.body, '$.ask.type'),
    json_extract(requests.body, '$.ask.question'),
    json_extract(requests.body, '$.ask.options'),
    CASE
        WHEN json_extract(requests.body, '$.settled.answer.text') IS NOT NULL THEN 'answered'
        WHEN json_extract(requests.body, '$.settled.by') = 'end' THEN 'cancelled'
        WHEN json_extract(requests.body, '$.expired_at_ms') IS NOT NULL THEN 'expired'
        WHEN json_extract(requests.body, '$.settled') IS NOT NULL THEN 'answered'
        ELSE 'pending'
    END,
    json_extract(requests.body, '$.expires_at_ms'),
    json_extract(requests.body, '$.settled.answer.text')
FROM requests
LEFT JOIN sessions ON sessions.id = requests.session
WHERE json_extract(requests.body, '$.ask.kind') = 'ask_user';

CREATE VIEW agent_invocations (
    id, office_id, caller_agent_id, callee_agent_id, reason, context, status
) AS
SELECT
    'i_' || id,
    'p_' || project,
    'p_' || project || '/' || json_extract(body, '$.caller'),
    'p_' || project || '/' || json_extract(body, '$.callee'),
    json_extract(body, '$.task'),
    json_extract(body, '$.context'),
    coalesce(
        json_extract(body, '$.ended.status'),
        CASE WHEN json_extract(body, '$.began_at_ms') IS NULL THEN 'pending' ELSE 'in_progress' END
    )
FROM invocations;

CREATE VIEW agent_results (
    id, office_id, from_agent_id, to_agent_id, result_type, content_type, content, status
) AS
SELECT
    'd_' || id,
    'p_' || project,
    'p_' || project || '/' || json_extract(body, '$.from'),
    'p_' || project || '/' || json_extract(body, '$.to'),
    json_extract(body, '$.type'),
    CASE json_extract(body, '$.type')
        WHEN 'json' THEN 'application/json'
        WHEN 'markdown' THEN 'text/markdown'
        WHEN 'github_issue' THEN 'text/markdown'
        ELSE 'text/plain'
    END,
    json_extract(body, '$.content'),
    CASE WHEN json_extract(body, '$.delivered_at_ms') IS NULL THEN 'pending' ELSE 'delivered' END
FROM results;
