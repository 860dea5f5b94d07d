-- Version 8: fewer and smaller indexes, so that a learn writes few pages.

-- Words. The full-text index follows the memories in the background, up to the revision
-- 'full_text'. detail=none: it finds words, but no phrases and no columns.
DROP TABLE memories_fts;
CREATE VIRTUAL TABLE memories_fts USING fts5(
  content, human_summary, scope_files, scope_entities,
  tokenize = "{{tokenize}}", detail = none, columnsize = 0
);
INSERT INTO counters VALUES ('full_text', 0);

-- Tags. Those of the rules are a list in the memory's row; memory_tags keeps those that
-- a caller gave. Filters read both from memory.
ALTER TABLE memories ADD COLUMN auto_tags TEXT;
UPDATE memories SET auto_tags = (
  SELECT json_group_array(tag) FROM (SELECT tag FROM memory_tags t WHERE t.memory_id = memories.id AND source = 'auto' ORDER BY tag))
WHERE id IN (SELECT memory_id FROM memory_tags WHERE source = 'auto');
DELETE FROM memory_tags WHERE source = 'auto';
DROP INDEX idx_memory_tags_tag;

-- Duplicates are found by their signature alone.
DROP INDEX idx_mem_hash;

-- Contexts: what filters, places and lists of paths need is made in memory from
-- memories.context when it is first asked for.
DROP TABLE attributes;
DROP TABLE points;
DROP TABLE paths;

-- Snapshots are compressed.
DELETE FROM snapshot_heads;
DELETE FROM snapshots;

-- The tables of vectors are emptied, to be computed again: an int8 for each number (renewVectors).
