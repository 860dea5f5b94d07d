-- Version 3: which episodes have seen a memory again that another one, or none, has stored.
CREATE TABLE robotmem.sightings(
  tenant     integer NOT NULL DEFAULT robotmem.tenant(),
  session_id text COLLATE "C" NOT NULL,
  memory_id  bigint NOT NULL,
  seen_at    text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, session_id, memory_id)
) PARTITION BY HASH (tenant);

-- Its partitions, fence and view, as version 1 gives them to every table of tenants.
DO $$
BEGIN
  FOR part IN 0..3 LOOP
    EXECUTE format('CREATE TABLE robotmem.%I PARTITION OF robotmem.sightings FOR VALUES WITH (MODULUS 4, REMAINDER %s)', 'sightings_' || part, part);
  END LOOP;
END $$;
ALTER TABLE robotmem.sightings ENABLE ROW LEVEL SECURITY;
ALTER TABLE robotmem.sightings FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON robotmem.sightings USING (tenant = robotmem.tenant()) WITH CHECK (tenant = robotmem.tenant());
CREATE VIEW robotmem_tenant.sightings WITH (security_invoker = true) AS SELECT * FROM robotmem.sightings WHERE tenant = robotmem.tenant();
GRANT SELECT, INSERT, UPDATE, DELETE ON robotmem.sightings, robotmem_tenant.sightings TO robotmem_node;

-- Lists of episodes are in the order in which they began.
CREATE INDEX ON robotmem.sessions(tenant, created_at, id);
