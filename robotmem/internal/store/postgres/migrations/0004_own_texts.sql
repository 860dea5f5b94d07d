-- The queries are PostgreSQL's own: what let it read those of SQLite goes.
DROP OPERATOR robotmem_tenant.->> (text, text);
DROP AGGREGATE robotmem_tenant.group_concat(text), robotmem_tenant.group_concat(text, text);
DROP FUNCTION robotmem_tenant.max(bigint, bigint), robotmem_tenant.instr(text, text), robotmem_tenant.hex(bytea),
  robotmem_tenant.quote(double precision), robotmem_tenant.julianday(text), robotmem_tenant.ids_of(text),
  robotmem_tenant.joined(text, text), robotmem_tenant.joined(text, text, text), robotmem_tenant.json_path(text, text),
  robotmem_tenant.json_valid(text), robotmem.create_model(bigint);

-- The views of the vectors of one model each.
DO $$
DECLARE name text;
BEGIN
  FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'robotmem_tenant'::regnamespace AND relkind = 'v'
    AND relname ~ '^vectors_[0-9]+$' LOOP
    EXECUTE format('DROP VIEW robotmem_tenant.%I', name);
  END LOOP;
END $$;

-- A context that was damaged is no JSON. IS JSON is of PostgreSQL 16.
CREATE FUNCTION robotmem.is_json(text) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
  PERFORM $1::jsonb;
  RETURN true;
EXCEPTION WHEN others THEN
  RETURN false;
END $$;
