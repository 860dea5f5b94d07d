-- Version 2: calls that have a name of their caller's, with their answers.
CREATE TABLE robotmem.requests(
  tenant     integer NOT NULL DEFAULT robotmem.tenant(),
  id         bigint NOT NULL,
  request_id text COLLATE "C" NOT NULL,
  digest     bytea NOT NULL,
  memory_id  bigint NOT NULL,
  answer     text COLLATE "C" NOT NULL,
  created_at text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, request_id)
) PARTITION BY HASH (tenant);

-- Its partitions, fence and view, as version 1 gives them to every table of tenants.
DO $$
BEGIN
  FOR part IN 0..3 LOOP
    EXECUTE format('CREATE TABLE robotmem.%I PARTITION OF robotmem.requests FOR VALUES WITH (MODULUS 4, REMAINDER %s)', 'requests_' || part, part);
  END LOOP;
END $$;
ALTER TABLE robotmem.requests ENABLE ROW LEVEL SECURITY;
ALTER TABLE robotmem.requests FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON robotmem.requests USING (tenant = robotmem.tenant()) WITH CHECK (tenant = robotmem.tenant());
CREATE VIEW robotmem_tenant.requests WITH (security_invoker = true) AS SELECT * FROM robotmem.requests WHERE tenant = robotmem.tenant();
GRANT SELECT, INSERT, UPDATE, DELETE ON robotmem.requests, robotmem_tenant.requests TO robotmem_node;
