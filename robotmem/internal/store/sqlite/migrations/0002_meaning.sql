-- Version 2: search by meaning, and snapshots that make opening fast.

-- memories.embedding of version 1 stays and is always NULL: to drop it would
-- rewrite every memory in one step, for which a large file finds no memory.

-- Models that vectors are made with. 'present' is asked; 'filling' is on its
-- way to take its place. The vectors of model 7 are in the table vectors_7:
--   memory_id  INTEGER PRIMARY KEY
--   seq        grows with every vector written, so that others can follow
--   vector     float32, little-endian, of length 1; NULL when the model
--              refused the text
-- Memories changed up to the revision `upto` have their vector.
CREATE TABLE models(
  id    INTEGER PRIMARY KEY AUTOINCREMENT,
  name  TEXT NOT NULL UNIQUE,
  dims  INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('present', 'filling')),
  upto  INTEGER NOT NULL DEFAULT 0,
  seq   INTEGER NOT NULL DEFAULT 0
);

-- What the indexes in memory held at a revision, in parts of a mebibyte. A
-- head counts once all its parts are there.
CREATE TABLE snapshots(
  name       TEXT NOT NULL,
  generation INTEGER NOT NULL,
  part       INTEGER NOT NULL,
  data       BLOB NOT NULL,
  PRIMARY KEY (name, generation, part)
);
CREATE TABLE snapshot_heads(
  name       TEXT PRIMARY KEY,
  generation INTEGER NOT NULL,
  revision   INTEGER NOT NULL,
  parts      INTEGER NOT NULL,
  checksum   INTEGER NOT NULL
);
