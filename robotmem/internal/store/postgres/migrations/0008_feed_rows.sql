-- Version 8: the feeds hold what the tenants have, in the order of its last change, and follow from now on.
DO $$
DECLARE t integer;
BEGIN
  FOR t IN SELECT id FROM robotmem.tenants LOOP
    PERFORM set_config('robotmem.tenant', t::text, true);
    INSERT INTO robotmem.feed(tenant, feed, number, uid, change)
      SELECT tenant, collection, row_number() OVER (PARTITION BY collection ORDER BY revision, id), uid, 'changed'
      FROM robotmem.memories WHERE tenant = t AND type = 'fact';
    INSERT INTO robotmem.feed_chunks(tenant, feed, chunk, marks)
      SELECT tenant, feed, (number - 1) / 100, string_agg(substring(uuid_send(gen_random_uuid()) FROM 1 FOR 8), ''::bytea)
      FROM robotmem.feed WHERE tenant = t GROUP BY tenant, feed, (number - 1) / 100 HAVING count(*) = 100;
    INSERT INTO robotmem.feed_heads(tenant, feed, last, marks)
      SELECT f.tenant, f.feed, max(f.number),
        coalesce((SELECT c.marks FROM robotmem.feed_chunks c
          WHERE c.tenant = t AND c.feed = f.feed AND c.chunk = (max(f.number) - 1) / 100),
        (SELECT string_agg(substring(uuid_send(gen_random_uuid()) FROM 1 FOR 8), ''::bytea)
          FROM generate_series(1, (max(f.number) - 1) % 100 + 1)))
      FROM robotmem.feed f WHERE f.tenant = t GROUP BY f.tenant, f.feed;
  END LOOP;
END $$;

CREATE TRIGGER feed_memory AFTER INSERT OR UPDATE OR DELETE ON robotmem.memories
  FOR EACH ROW EXECUTE FUNCTION robotmem.feed_memory();
CREATE TRIGGER feed_tag_added AFTER INSERT ON robotmem.memory_tags
  FOR EACH ROW WHEN (NEW.source = 'user') EXECUTE FUNCTION robotmem.feed_tag();
CREATE TRIGGER feed_tag_removed AFTER DELETE ON robotmem.memory_tags
  FOR EACH ROW WHEN (OLD.source = 'user') EXECUTE FUNCTION robotmem.feed_tag();
