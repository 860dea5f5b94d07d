-- Version 16: memories of the type document, and the passages of one by its name.
--
-- SQLite changes a CHECK only by a copy of the whole table, or by a change of the schema's text, which does not touch
-- the rows (https://sqlite.org/lang_altertable.html, "Making Other Kinds Of Table Schema Changes"). The index that
-- follows changes the schema cookie, so that every connection reads the new text.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
SET sql = replace(sql, 'CHECK (type IN (''fact'', ''perception''))', 'CHECK (type IN (''fact'', ''perception'', ''document''))')
WHERE type = 'table' AND name = 'memories';
PRAGMA writable_schema = RESET;
CREATE INDEX idx_memories_document ON memories(collection, CASE WHEN json_valid(context) THEN json_extract(context, '$.document.name') END) WHERE type = 'document';
