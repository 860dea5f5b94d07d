-- Version 6: memories of the type document, and those of a collection.
ALTER TABLE robotmem.memories DROP CONSTRAINT memories_type_check;
ALTER TABLE robotmem.memories ADD CONSTRAINT memories_type_check CHECK (type IN ('fact', 'perception', 'document'));
CREATE INDEX ON robotmem.memories(tenant, collection) WHERE type = 'document';
