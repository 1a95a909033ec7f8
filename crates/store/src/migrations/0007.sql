-- Every role of a project is an agent of its office, whether or not it has had a session. `expires_at` is a time as the
-- source document writes it; the milliseconds stand beside it.

DROP VIEW office_agents;

CREATE VIEW office_agents (id, office_id, name, session_id, status) AS
SELECT
    'p_' || named.project || '/' || named.name,
    'p_' || named.project,
    named.name,
    named.session,
    CASE WHEN sessions.live = 1 THEN 'active' ELSE 'resting' END
FROM (
    SELECT project, name, max(session) AS session
    FROM (
        SELECT projects.id AS project, seat.key AS name, seat.value AS session
        FROM projects, json_each(projects.body, '$.seats') AS seat
        UNION ALL
        SELECT projects.id, role.value, NULL
        FROM projects, json_each(projects.body, '$.roles') AS role
    )
    GROUP BY project, name
) AS named
LEFT JOIN sessions ON sessions.id = CAST(substr(named.session, 3) AS INTEGER);

DROP VIEW user_questions;

CREATE VIEW user_questions (
    id, agent_id, office_id, question_type, question, options, status, expires_at, response, expires_at_ms
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
    strftime('%Y-%m-%dT%H:%M:%S', json_extract(requests.body, '$.expires_at_ms') / 1000, 'unixepoch')
        || printf('.%03dZ', json_extract(requests.body, '$.expires_at_ms') % 1000),
    json_extract(requests.body, '$.settled.answer.text'),
    json_extract(requests.body, '$.expires_at_ms')
FROM requests
LEFT JOIN sessions ON sessions.id = requests.session
WHERE json_extract(requests.body, '$.ask.kind') = 'ask_user';
