-- Version 1. Tables are the truth; everything named an index below can be
-- rebuilt from them. Times are RFC 3339 in UTC with nine decimals, so that
-- they sort as text. Nothing here needs a function or tokenizer of ours: any
-- SQLite from 3.40 on opens the file.

CREATE TABLE counters(
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) WITHOUT ROWID;
-- 'changes' grows with every change of a memory; memories.revision is its
-- value at the row's last change. What a process keeps in memory follows it.
INSERT INTO counters VALUES ('changes', 0), ('recalls', 0), ('zero_hits', 0);

CREATE TABLE memories(
  id                  INTEGER PRIMARY KEY AUTOINCREMENT,
  uid                 TEXT NOT NULL UNIQUE,
  session_id          TEXT,
  collection          TEXT NOT NULL,
  type                TEXT NOT NULL CHECK (type IN ('fact', 'perception')),
  content             TEXT NOT NULL,
  human_summary       TEXT NOT NULL,
  context             TEXT NOT NULL DEFAULT '{}',
  perception_type     TEXT,
  perception_data     BLOB REFERENCES payloads(sha256),
  perception_metadata TEXT,
  media_type          TEXT,
  category            TEXT NOT NULL,
  confidence          REAL NOT NULL DEFAULT 0.9,
  decay_rate          REAL NOT NULL DEFAULT 0.01,
  status              TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'superseded', 'invalidated')),
  superseded_by       INTEGER REFERENCES memories(id),
  pinned              INTEGER NOT NULL DEFAULT 0,
  source              TEXT,
  scope_files         TEXT,
  scope_entities      TEXT,
  content_hash        BLOB NOT NULL,
  sightings           INTEGER NOT NULL DEFAULT 1,
  access_count        INTEGER NOT NULL DEFAULT 0,
  return_count        INTEGER NOT NULL DEFAULT 0,
  last_accessed       TEXT,
  version             INTEGER NOT NULL DEFAULT 1,
  valid_from          TEXT NOT NULL,
  observed_at         TEXT NOT NULL,
  created_at          TEXT NOT NULL,
  updated_at          TEXT NOT NULL,
  revision            INTEGER NOT NULL,
  embedding           BLOB
);
CREATE INDEX idx_mem_session ON memories(session_id) WHERE session_id IS NOT NULL;
CREATE INDEX idx_mem_hash ON memories(content_hash);
CREATE INDEX idx_mem_revision ON memories(revision);
CREATE INDEX idx_mem_rules ON memories(collection, id) WHERE status = 'active' AND (category = 'constraint' OR pinned);

-- The bytes of perceptions, once each. data is NULL when the payload lies in
-- the folder beside the file, under the hex of its SHA-256.
CREATE TABLE payloads(
  sha256     BLOB PRIMARY KEY,
  bytes      INTEGER NOT NULL,
  codec      TEXT NOT NULL,
  created_at TEXT NOT NULL,
  data       BLOB
);

-- Past states of a memory; the present one is its row.
CREATE TABLE versions(
  memory_id     INTEGER NOT NULL REFERENCES memories(id),
  valid_to      TEXT NOT NULL,
  valid_from    TEXT NOT NULL,
  version       INTEGER NOT NULL,
  content       TEXT NOT NULL,
  human_summary TEXT NOT NULL,
  context       TEXT NOT NULL,
  category      TEXT NOT NULL,
  confidence    REAL NOT NULL,
  status        TEXT NOT NULL,
  superseded_by INTEGER,
  change        TEXT NOT NULL,
  reason        TEXT
);
CREATE INDEX idx_versions_memory ON versions(memory_id);
CREATE INDEX idx_versions_to ON versions(valid_to);

CREATE TABLE sessions(
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  external_id   TEXT NOT NULL UNIQUE,
  collection    TEXT NOT NULL,
  context       TEXT NOT NULL DEFAULT '{}',
  session_count INTEGER NOT NULL DEFAULT 1,
  status        TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'ended')),
  client_type   TEXT,
  summary       TEXT,
  created_at    TEXT NOT NULL,
  updated_at    TEXT NOT NULL,
  ended_at      TEXT
);
CREATE INDEX idx_sessions_collection ON sessions(collection, id);

CREATE TABLE session_outcomes(
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL,
  score      REAL NOT NULL,
  created_at TEXT NOT NULL
);
CREATE INDEX idx_outcomes_session ON session_outcomes(session_id);

-- What was recalled for a session, and what it says helped.
CREATE TABLE session_recalls(
  session_id TEXT NOT NULL,
  memory_id  INTEGER NOT NULL,
  used       INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (session_id, memory_id)
) WITHOUT ROWID;

CREATE TABLE memory_tags(
  memory_id INTEGER NOT NULL REFERENCES memories(id),
  tag       TEXT NOT NULL,
  source    TEXT NOT NULL CHECK (source IN ('auto', 'user')),
  PRIMARY KEY (memory_id, tag)
) WITHOUT ROWID;
CREATE INDEX idx_memory_tags_tag ON memory_tags(tag);

CREATE TABLE tag_meta(
  tag          TEXT PRIMARY KEY,
  parent       TEXT,
  display_name TEXT NOT NULL
);

-- Indexes: all below is made from the tables above.

CREATE TABLE paths(
  id   INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE
);

-- One row for each value in a context. value is a number or a text as it is;
-- blobs stand for the rest: x'00' null, x'01' false, x'02' true, x'04' with 16
-- bytes of SHA-256 a list, x'03' likewise an empty object. Any other object is
-- there through its values.
CREATE TABLE attributes(
  path_id   INTEGER NOT NULL,
  value     NOT NULL,
  memory_id INTEGER NOT NULL,
  PRIMARY KEY (path_id, value, memory_id)
) WITHOUT ROWID;

-- One row for each list of two or three numbers in a context. z is NULL in 2-D.
CREATE TABLE points(
  memory_id INTEGER NOT NULL,
  path_id   INTEGER NOT NULL,
  x         REAL NOT NULL,
  y         REAL NOT NULL,
  z         REAL,
  frame_id  TEXT NOT NULL DEFAULT '',
  map_id    TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (memory_id, path_id)
) WITHOUT ROWID;

-- What a near-duplicate is looked up by: facts of one collection and context
-- share a group, newest last.
CREATE TABLE signatures(
  group_key INTEGER NOT NULL,
  seq       INTEGER NOT NULL,
  memory_id INTEGER NOT NULL,
  terms     INTEGER NOT NULL,
  numbers   INTEGER NOT NULL,
  skeleton  INTEGER NOT NULL,
  sketch_a  INTEGER NOT NULL,
  sketch_b  INTEGER NOT NULL,
  PRIMARY KEY (group_key, seq)
) WITHOUT ROWID;

-- What a perception is compared by, as little-endian float32.
CREATE TABLE features(
  memory_id INTEGER PRIMARY KEY,
  kind      TEXT NOT NULL,
  vector    BLOB NOT NULL
);

-- Segmented text of the active memories; rowid is the memory's id.
CREATE VIRTUAL TABLE memories_fts USING fts5(
  content, human_summary, scope_files, scope_entities,
  tokenize = "{{tokenize}}"
);
