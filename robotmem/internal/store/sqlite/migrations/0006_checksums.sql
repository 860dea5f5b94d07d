-- Version 6: equal quantities in other units, and checksums of what is shown.

-- Numbers with units are compared in the canonical unit of their dimension, so that
-- 1000 mm and 1 m are the same fact. The signatures of stored facts with such
-- numbers are computed again.

-- SHA-256, the first 16 bytes, over what is shown of a row; verified when the row
-- is loaded for an answer.
ALTER TABLE memories ADD COLUMN checksum BLOB;
ALTER TABLE versions ADD COLUMN checksum BLOB;
ALTER TABLE sessions ADD COLUMN checksum BLOB;
INSERT INTO counters VALUES ('unsealed', 1);

-- The tables of vectors get a column checksum too: CRC-32C, begun with the memory's id.
