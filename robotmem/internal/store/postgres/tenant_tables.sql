-- Gives every table of tenants that has none its partitions, its fence and its view, and the nodes the use of
-- them. It follows each script that makes tables; version 1 has done the same for its own. Nodes have no right
-- to a partition, which has no fence.
DO $$
DECLARE name text; part integer;
BEGIN
  FOR name IN SELECT relname FROM pg_class c WHERE relnamespace = 'robotmem'::regnamespace AND relkind = 'p'
    AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid) LOOP
    FOR part IN 0..3 LOOP
      EXECUTE format('CREATE TABLE robotmem.%I PARTITION OF robotmem.%I FOR VALUES WITH (MODULUS 4, REMAINDER %s)', name || '_' || part, name, part);
    END LOOP;
    EXECUTE format('ALTER TABLE robotmem.%I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE robotmem.%I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY tenant ON robotmem.%I USING (tenant = robotmem.tenant()) WITH CHECK (tenant = robotmem.tenant())', name);
    EXECUTE format('CREATE VIEW robotmem_tenant.%I WITH (security_invoker = true) AS SELECT * FROM robotmem.%I WHERE tenant = robotmem.tenant()', name, name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON robotmem.%I, robotmem_tenant.%I TO robotmem_node', name, name);
  END LOOP;
END $$;
