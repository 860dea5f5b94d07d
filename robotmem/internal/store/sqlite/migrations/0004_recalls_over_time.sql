-- Version 4: how often the memory was asked, by hour. collection is what the
-- recalls looked in, '*' all at once, '' one that has no memory; hour is its
-- beginning.
CREATE TABLE recall_hours(
  hour       TEXT NOT NULL,
  collection TEXT NOT NULL,
  recalls    INTEGER NOT NULL,
  zero_hits  INTEGER NOT NULL,
  PRIMARY KEY (hour, collection)
) WITHOUT ROWID;
