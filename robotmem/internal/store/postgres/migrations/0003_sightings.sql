-- Version 3: which episodes have seen a memory again that another one, or none, has stored.
CREATE TABLE robotmem.sightings(
  tenant     integer NOT NULL DEFAULT robotmem.tenant(),
  session_id text COLLATE "C" NOT NULL,
  memory_id  bigint NOT NULL,
  seen_at    text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, session_id, memory_id)
) PARTITION BY HASH (tenant);

-- Lists of episodes are in the order in which they began.
CREATE INDEX ON robotmem.sessions(tenant, created_at, id);
