-- Version 17: what the memory of a robot knows of its site.
--
-- The pushes that the site has acknowledged, each by a random link, and up to which change. A site that names another
-- link than the last one has been restored, or this file is a copy or a backup.
CREATE TABLE fleet_links(
  seq       INTEGER PRIMARY KEY,
  link      BLOB NOT NULL,
  upto      INTEGER NOT NULL,
  confirmed INTEGER NOT NULL DEFAULT 0,
  resent    INTEGER NOT NULL DEFAULT 0 -- it held what had been refused before
);
-- How far each feed of the site is applied. mark is the site's of that number; restarting while all is read anew.
CREATE TABLE fleet_feeds(
  feed       TEXT PRIMARY KEY,
  number     INTEGER NOT NULL,
  mark       TEXT NOT NULL,
  restarting INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
-- The copies of what others learnt, in the order of the site.
CREATE TABLE fleet_copies(
  place INTEGER PRIMARY KEY,
  uid   TEXT NOT NULL UNIQUE,
  feed  TEXT NOT NULL
);
-- What is in conflict with the site, and what it has refused.
CREATE TABLE fleet_notes(
  kind   TEXT NOT NULL,
  uid    TEXT NOT NULL,
  reason TEXT NOT NULL,
  at     TEXT NOT NULL,
  PRIMARY KEY (kind, uid)
) WITHOUT ROWID;
-- The version of each memory that the site has acknowledged: past states before it are not sent again. adopted is a hash
-- of the state that this memory has taken from the site: it is no change of this robot's.
CREATE TABLE fleet_sent(
  uid     TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  adopted BLOB
) WITHOUT ROWID;
