-- Version 12: a file has an identity. What lies beside it, and its backups, carry file_id; place is where
-- the file was last opened, so that a copy is noticed and gets a file_id of its own.
CREATE TABLE identity(
  id      INTEGER PRIMARY KEY CHECK (id = 1),
  file_id TEXT NOT NULL,
  place   TEXT NOT NULL
);
