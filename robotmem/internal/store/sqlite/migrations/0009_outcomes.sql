-- Version 9: the outcome of what a memory reports (success, failure, partial; NULL is
-- unknown), where it comes from (caller, context, text, session), and how the episodes
-- went that used it. fillOutcomes derives the outcomes of existing memories.
ALTER TABLE memories ADD COLUMN outcome TEXT;
ALTER TABLE memories ADD COLUMN outcome_source TEXT;
ALTER TABLE memories ADD COLUMN uses REAL;
ALTER TABLE memories ADD COLUMN successes REAL;

-- What a memory was for an episode, 0 (misled) to 1 (helped); NULL if nobody said.
ALTER TABLE session_recalls ADD COLUMN helped REAL;
