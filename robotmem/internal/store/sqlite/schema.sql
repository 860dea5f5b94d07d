-- What the migrations make of an empty file. Written by go test -run Schema -update.
CREATE TABLE counters(
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE memories(
  id                  INTEGER PRIMARY KEY AUTOINCREMENT,
  uid                 TEXT NOT NULL UNIQUE,
  session_id          TEXT,
  collection          TEXT NOT NULL,
  type                TEXT NOT NULL CHECK (type IN ('fact', 'perception', 'document')),
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
, robot TEXT, tool TEXT, who TEXT, checksum BLOB, auto_tags TEXT, outcome TEXT, outcome_source TEXT, uses REAL, successes REAL);
CREATE TABLE payloads(
  sha256     BLOB PRIMARY KEY,
  bytes      INTEGER NOT NULL,
  codec      TEXT NOT NULL,
  created_at TEXT NOT NULL,
  data       BLOB
, stored INTEGER);
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
, checksum BLOB);
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
, checksum BLOB);
CREATE TABLE session_outcomes(
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL,
  score      REAL NOT NULL,
  created_at TEXT NOT NULL
);
CREATE TABLE session_recalls(
  session_id TEXT NOT NULL,
  memory_id  INTEGER NOT NULL,
  used       INTEGER NOT NULL DEFAULT 0, helped REAL,
  PRIMARY KEY (session_id, memory_id)
) WITHOUT ROWID;
CREATE TABLE memory_tags(
  memory_id INTEGER NOT NULL REFERENCES memories(id),
  tag       TEXT NOT NULL,
  source    TEXT NOT NULL CHECK (source IN ('auto', 'user')),
  PRIMARY KEY (memory_id, tag)
) WITHOUT ROWID;
CREATE TABLE tag_meta(
  tag          TEXT PRIMARY KEY,
  parent       TEXT,
  display_name TEXT NOT NULL
);
CREATE TABLE signatures(
  group_key INTEGER NOT NULL,
  seq       INTEGER NOT NULL,
  memory_id INTEGER NOT NULL,
  terms     INTEGER NOT NULL,
  numbers   INTEGER NOT NULL,
  skeleton  INTEGER NOT NULL,
  sketch_a  INTEGER NOT NULL,
  sketch_b  INTEGER NOT NULL, sequence INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (group_key, seq)
) WITHOUT ROWID;
CREATE TABLE features(
  memory_id INTEGER PRIMARY KEY,
  kind      TEXT NOT NULL,
  vector    BLOB NOT NULL
);
CREATE TABLE models(
  id    INTEGER PRIMARY KEY AUTOINCREMENT,
  name  TEXT NOT NULL UNIQUE,
  dims  INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('present', 'filling')),
  upto  INTEGER NOT NULL DEFAULT 0,
  seq   INTEGER NOT NULL DEFAULT 0
);
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
CREATE TABLE evictions(
  id              INTEGER PRIMARY KEY,
  memory_id       INTEGER NOT NULL REFERENCES memories(id),
  collection      TEXT NOT NULL,
  perception_type TEXT NOT NULL,
  bytes           INTEGER NOT NULL,
  reason          TEXT NOT NULL,
  evicted_at      TEXT NOT NULL
);
CREATE TABLE recall_hours(
  hour       TEXT NOT NULL,
  collection TEXT NOT NULL,
  recalls    INTEGER NOT NULL,
  zero_hits  INTEGER NOT NULL,
  PRIMARY KEY (hour, collection)
) WITHOUT ROWID;
CREATE TABLE audit(
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  at         TEXT NOT NULL,
  action     TEXT NOT NULL,
  memory_id  INTEGER,
  uid        TEXT,
  session_id TEXT,
  collection TEXT,
  who        TEXT,
  tool       TEXT,
  reason     TEXT,
  before     BLOB,
  after      BLOB
);
CREATE TABLE purged(
  memory_id INTEGER PRIMARY KEY,
  uid       TEXT NOT NULL,
  revision  INTEGER NOT NULL
);
CREATE TABLE purged_files(sha256 BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE VIRTUAL TABLE memories_fts USING fts5(
  content, human_summary, scope_files, scope_entities,
  tokenize = "{{tokenize}}", detail = none, columnsize = 0
);
CREATE TABLE identity(
  id      INTEGER PRIMARY KEY CHECK (id = 1),
  file_id TEXT NOT NULL,
  place   TEXT NOT NULL
);
CREATE TABLE requests(
  id         INTEGER PRIMARY KEY,
  request_id TEXT NOT NULL UNIQUE,
  digest     BLOB NOT NULL,
  memory_id  INTEGER NOT NULL,
  answer     TEXT NOT NULL,
  created_at TEXT NOT NULL
);
CREATE TABLE sightings(
  session_id TEXT NOT NULL,
  memory_id  INTEGER NOT NULL REFERENCES memories(id),
  seen_at    TEXT NOT NULL,
  PRIMARY KEY (session_id, memory_id)
) WITHOUT ROWID;
CREATE TABLE fleet_links(
  seq       INTEGER PRIMARY KEY,
  link      BLOB NOT NULL,
  upto      INTEGER NOT NULL,
  confirmed INTEGER NOT NULL DEFAULT 0,
  resent    INTEGER NOT NULL DEFAULT 0 -- it held what had been refused before
);
CREATE TABLE fleet_feeds(
  feed       TEXT PRIMARY KEY,
  number     INTEGER NOT NULL,
  mark       TEXT NOT NULL,
  restarting INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE fleet_copies(
  place INTEGER PRIMARY KEY,
  uid   TEXT NOT NULL UNIQUE,
  feed  TEXT NOT NULL
);
CREATE TABLE fleet_notes(
  kind   TEXT NOT NULL,
  uid    TEXT NOT NULL,
  reason TEXT NOT NULL,
  at     TEXT NOT NULL,
  PRIMARY KEY (kind, uid)
) WITHOUT ROWID;
CREATE TABLE fleet_sent(
  uid     TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  adopted BLOB
) WITHOUT ROWID;
CREATE INDEX idx_mem_session ON memories(session_id) WHERE session_id IS NOT NULL;
CREATE INDEX idx_mem_revision ON memories(revision);
CREATE INDEX idx_mem_rules ON memories(collection, id) WHERE status = 'active' AND (category = 'constraint' OR pinned);
CREATE INDEX idx_versions_memory ON versions(memory_id);
CREATE INDEX idx_versions_to ON versions(valid_to);
CREATE INDEX idx_sessions_collection ON sessions(collection, id);
CREATE INDEX idx_outcomes_session ON session_outcomes(session_id);
CREATE INDEX idx_evictions_memory ON evictions(memory_id);
CREATE INDEX idx_mem_payload ON memories(perception_data) WHERE perception_data IS NOT NULL;
CREATE INDEX idx_audit_memory ON audit(memory_id) WHERE memory_id IS NOT NULL;
CREATE TRIGGER audit_stays BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END;
CREATE TRIGGER audit_stands BEFORE UPDATE ON audit
WHEN NEW.id IS NOT OLD.id OR NEW.at IS NOT OLD.at OR NEW.action IS NOT OLD.action OR NEW.memory_id IS NOT OLD.memory_id
  OR NEW.uid IS NOT OLD.uid OR NEW.session_id IS NOT OLD.session_id OR NEW.collection IS NOT OLD.collection
  OR NEW.who IS NOT OLD.who OR NEW.tool IS NOT OLD.tool
  OR NEW.reason IS NOT NULL OR NEW.before IS NOT NULL OR NEW.after IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END;
CREATE INDEX idx_purged_revision ON purged(revision);
CREATE INDEX idx_sessions_created ON sessions(created_at, id);
CREATE INDEX idx_sessions_open ON sessions(collection, id) WHERE status = 'active';
CREATE INDEX idx_memories_document ON memories(collection, CASE WHEN json_valid(context) THEN json_extract(context, '$.document.name') END) WHERE type = 'document';
INSERT INTO counters VALUES ('changes', 0);
INSERT INTO counters VALUES ('feature_rules', 0);
INSERT INTO counters VALUES ('full_text', 0);
INSERT INTO counters VALUES ('purges', 0);
INSERT INTO counters VALUES ('recalls', 0);
INSERT INTO counters VALUES ('scrub', 0);
INSERT INTO counters VALUES ('zero_hits', 0);
