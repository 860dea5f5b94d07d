-- Version 11: words are found by the posting lists in memory alone, so that no full-text
-- index has to follow the memories.
DROP TABLE memories_fts;
DELETE FROM counters WHERE name = 'full_text';
