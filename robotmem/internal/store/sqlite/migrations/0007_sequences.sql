-- Version 7: duplicates are found by their content sequence.

-- Hash of the words of a fact in order, with numbers and units. The signatures of all
-- stored facts are computed again.
ALTER TABLE signatures ADD COLUMN sequence INTEGER NOT NULL DEFAULT 0;
