-- Version 3: what streams, recordings and a budget of the disk need.

-- What the source calls a perception or an episode: the same origin is stored
-- once in a collection.
CREATE TABLE origins(
  collection TEXT NOT NULL,
  origin     TEXT NOT NULL,
  memory_id  INTEGER NOT NULL REFERENCES memories(id),
  PRIMARY KEY (collection, origin)
) WITHOUT ROWID;
CREATE TABLE session_origins(
  collection TEXT NOT NULL,
  origin     TEXT NOT NULL,
  session_id TEXT NOT NULL,
  PRIMARY KEY (collection, origin)
) WITHOUT ROWID;

-- What became of the samples of a stream: received = stored + dropped. missed
-- were never offered: gaps in the sequence numbers.
CREATE TABLE streams(
  session_id TEXT NOT NULL,
  collection TEXT NOT NULL,
  source     TEXT NOT NULL,
  received   INTEGER NOT NULL,
  stored     INTEGER NOT NULL,
  dropped    INTEGER NOT NULL,
  missed     INTEGER NOT NULL,
  bytes      INTEGER NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (session_id, collection, source)
) WITHOUT ROWID;

-- The account of every payload that a budget took away. The memory stays, as
-- 'invalidated'; its payload's row is gone.
CREATE TABLE evictions(
  id              INTEGER PRIMARY KEY,
  memory_id       INTEGER NOT NULL REFERENCES memories(id),
  collection      TEXT NOT NULL,
  perception_type TEXT NOT NULL,
  bytes           INTEGER NOT NULL,
  reason          TEXT NOT NULL,
  evicted_at      TEXT NOT NULL
);
CREATE INDEX idx_evictions_memory ON evictions(memory_id);

-- Which memories name a payload.
CREATE INDEX idx_mem_payload ON memories(perception_data) WHERE perception_data IS NOT NULL;

-- The bytes that a payload takes as it is stored, with its codec; NULL is as
-- many as it has.
ALTER TABLE payloads ADD COLUMN stored INTEGER;

-- Features are made by rules that have a number; those of older rules are made
-- anew in the background.
INSERT INTO counters VALUES ('feature_rules', 0);
