-- Version 5: the open episodes of a collection, of which an attempt is one.
CREATE INDEX ON robotmem.sessions(tenant, collection, id) WHERE status = 'active';
