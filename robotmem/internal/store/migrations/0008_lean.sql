-- Version 8: fewer bytes for each memory.

-- Contexts: what filters, places and lists of paths need is made in memory from
-- memories.context when it is first asked for.
DROP TABLE attributes;
DROP TABLE points;
DROP TABLE paths;
