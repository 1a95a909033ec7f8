-- A result of more than 16 KiB is a reference to the file that holds it: its path, how long it is, and its SHA-256.

DROP VIEW agent_results;

CREATE VIEW agent_results (
    id, office_id, from_agent_id, to_agent_id, result_type, content_type, content, status
) AS
SELECT
    'd_' || id,
    'p_' || project,
    'p_' || project || '/' || json_extract(body, '$.from'),
    'p_' || project || '/' || json_extract(body, '$.to'),
    json_extract(body, '$.type'),
    CASE
        WHEN is_long THEN 'application/vnd.ostler.reference+json'
        WHEN json_extract(body, '$.type') = 'json' THEN 'application/json'
        WHEN json_extract(body, '$.type') IN ('markdown', 'github_issue') THEN 'text/markdown'
        ELSE 'text/plain'
    END,
    CASE WHEN is_long THEN json_extract(body, '$.reference') ELSE json_extract(body, '$.content') END,
    CASE WHEN json_extract(body, '$.delivered_at_ms') IS NULL THEN 'pending' ELSE 'delivered' END
FROM (
    SELECT
        id,
        project,
        body,
        json_extract(body, '$.reference') IS NOT NULL
            AND (json_extract(body, '$.cut') IS 1
                OR length(CAST(json_extract(body, '$.content') AS BLOB)) > 16384) AS is_long
    FROM results
);
