-- Version 11: the outcome of an episode is no longer that of its memories. takeBackOutcomes removes
-- those that were inherited, and reads the outcome of memories without one by the present rules.
-- A number that is a name is compared as it is written, so all signatures are computed again.

-- The snapshots hold the outcomes of before.
DELETE FROM snapshot_heads;
DELETE FROM snapshots;
