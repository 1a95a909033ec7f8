-- What was used is summed up in another way since: everything that follows from the journal is made anew.

INSERT INTO meta (name, value)
SELECT 'needs_replay', 'yes' WHERE EXISTS (SELECT 1 FROM events)
ON CONFLICT DO UPDATE SET value = excluded.value;
