-- Version 14: which episodes have seen a memory again that another one, or none, has stored.
CREATE TABLE sightings(
  session_id TEXT NOT NULL,
  memory_id  INTEGER NOT NULL REFERENCES memories(id),
  seen_at    TEXT NOT NULL,
  PRIMARY KEY (session_id, memory_id)
) WITHOUT ROWID;

-- Lists of episodes are in the order in which they began.
CREATE INDEX idx_sessions_created ON sessions(created_at, id);
