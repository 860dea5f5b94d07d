-- Version 5: who wrote a memory, who changed it, and what was taken away for
-- good.

-- Where a memory comes from, beside its source and session: the robot that its
-- context or its session names, the face and program that it came through, and
-- who that was. NULL for what was stored before.
ALTER TABLE memories ADD COLUMN robot TEXT;
ALTER TABLE memories ADD COLUMN tool TEXT;
ALTER TABLE memories ADD COLUMN who TEXT;

-- Every change of a memory and every end of an episode. That a memory was
-- stored, and by whom, stands in its own row and not here. before and after are
-- SHA-256 of its text. Rows are only added; a purge empties the reasons and
-- hashes of what was purged, which could give it away.
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
CREATE INDEX idx_audit_memory ON audit(memory_id) WHERE memory_id IS NOT NULL;
CREATE TRIGGER audit_stays BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END;
CREATE TRIGGER audit_stands BEFORE UPDATE ON audit
WHEN NEW.id IS NOT OLD.id OR NEW.at IS NOT OLD.at OR NEW.action IS NOT OLD.action OR NEW.memory_id IS NOT OLD.memory_id
  OR NEW.uid IS NOT OLD.uid OR NEW.session_id IS NOT OLD.session_id OR NEW.collection IS NOT OLD.collection
  OR NEW.who IS NOT OLD.who OR NEW.tool IS NOT OLD.tool
  OR NEW.reason IS NOT NULL OR NEW.before IS NOT NULL OR NEW.after IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END;

-- Memories that were purged, with the change that took them away: what a
-- process keeps in memory follows it. Their ids are never used again.
CREATE TABLE purged(
  memory_id INTEGER PRIMARY KEY,
  uid       TEXT NOT NULL,
  revision  INTEGER NOT NULL
);
CREATE INDEX idx_purged_revision ON purged(revision);

-- Files of purged payloads that are still to be removed.
CREATE TABLE purged_files(sha256 BLOB PRIMARY KEY) WITHOUT ROWID;

-- 'purges' counts them. 'scrub' is the change of the last purge whose old pages
-- are not rewritten yet, 0 when all are.
INSERT INTO counters VALUES ('purges', 0), ('scrub', 0);
