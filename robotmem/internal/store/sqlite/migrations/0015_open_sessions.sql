-- Version 15: the open episodes of a collection, of which an attempt is one.
CREATE INDEX idx_sessions_open ON sessions(collection, id) WHERE status = 'active';
