-- Version 13: calls that have a name of their caller's, with their answers, so that a call which is
-- repeated because its answer was lost is answered again and stores nothing twice.
CREATE TABLE requests(
  id         INTEGER PRIMARY KEY,
  request_id TEXT NOT NULL UNIQUE,
  digest     BLOB NOT NULL,
  memory_id  INTEGER NOT NULL,
  answer     TEXT NOT NULL,
  created_at TEXT NOT NULL
);
