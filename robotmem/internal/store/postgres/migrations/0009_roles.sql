-- Version 9: nodes act as robotmem_node and own nothing, so that they cannot lift the fences. They reach tokens through
-- functions of the owner alone.
--
-- What a superuser has made gets an owner that is none: the functions below have the rights of their owner.
DO $$
DECLARE statement text;
BEGIN
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    RETURN;
  END IF;

  BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'robotmem_owner') THEN
      CREATE ROLE robotmem_owner NOLOGIN;
    END IF;
  EXCEPTION WHEN duplicate_object OR unique_violation THEN
    -- A node of another database of the server was faster.
    PERFORM FROM pg_roles LIMIT 0;
  END;

  FOR statement IN
    SELECT format('ALTER TABLE robotmem.%I OWNER TO robotmem_owner', relname) FROM pg_class
      WHERE relnamespace = 'robotmem'::regnamespace AND relkind IN ('r', 'p')
    UNION ALL SELECT format('ALTER VIEW robotmem_tenant.%I OWNER TO robotmem_owner', relname) FROM pg_class
      WHERE relnamespace = 'robotmem_tenant'::regnamespace AND relkind = 'v'
    UNION ALL SELECT format('ALTER FUNCTION %s OWNER TO robotmem_owner', oid::regprocedure) FROM pg_proc
      WHERE pronamespace IN ('robotmem'::regnamespace, 'robotmem_tenant'::regnamespace)
    UNION ALL SELECT format('ALTER SCHEMA %I OWNER TO robotmem_owner', nspname) FROM pg_namespace
      WHERE nspname IN ('robotmem', 'robotmem_tenant')
  LOOP
    EXECUTE statement;
  END LOOP;
  SET LOCAL ROLE robotmem_owner;
END $$;

-- An ordinary owner that has made the role may take it. Otherwise somebody else must grant it.
DO $$
BEGIN
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = session_user) THEN
    EXECUTE format('GRANT robotmem_node TO %I', session_user);
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  NULL;
END $$;

-- The tokens of a tenant end with it.
ALTER TABLE robotmem.tokens DROP CONSTRAINT tokens_tenant_fkey;
ALTER TABLE robotmem.tokens ADD CONSTRAINT tokens_tenant_fkey
  FOREIGN KEY (tenant) REFERENCES robotmem.tenants(id) ON DELETE CASCADE;

CREATE FUNCTION robotmem.insert_token(tenant_name text, token_name text, token_role text, token_robot text,
  token_collections text[], hash bytea) RETURNS boolean
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  WITH made AS (
    INSERT INTO robotmem.tokens(tenant, name, role, robot, collections, sha256)
    SELECT id, token_name, token_role, token_robot, token_collections, hash FROM robotmem.tenants WHERE name = tenant_name
    RETURNING 1)
  SELECT EXISTS (SELECT FROM made)
$$;

CREATE FUNCTION robotmem.tokens_of(tenant_name text)
  RETURNS TABLE (name text, role text, robot text, collections text[], created_at timestamptz, last_used timestamptz)
  STABLE LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT t.name, t.role, t.robot, t.collections, t.created_at, t.last_used
  FROM robotmem.tokens t JOIN robotmem.tenants n ON n.id = t.tenant
  WHERE n.name = tenant_name AND t.revoked_at IS NULL ORDER BY t.id
$$;

CREATE FUNCTION robotmem.has_tokens(tenant_name text) RETURNS boolean
  STABLE LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT EXISTS (SELECT FROM robotmem.tokens t JOIN robotmem.tenants n ON n.id = t.tenant
    WHERE tenant_name IN ('', n.name) AND t.revoked_at IS NULL)
$$;

CREATE FUNCTION robotmem.token_of(hash bytea)
  RETURNS TABLE (name text, role text, robot text, collections text[], tenant text, used_lately boolean)
  STABLE LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT t.name, t.role, t.robot, t.collections, n.name, coalesce(t.last_used > now() - interval '1 minute', false)
  FROM robotmem.tokens t JOIN robotmem.tenants n ON n.id = t.tenant
  WHERE t.sha256 = hash AND t.revoked_at IS NULL
$$;

CREATE FUNCTION robotmem.touch_token(hash bytea) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  UPDATE robotmem.tokens SET last_used = now() WHERE sha256 = hash
$$;

CREATE FUNCTION robotmem.revoke_token(tenant_name text, token_name text) RETURNS TABLE (hash bytea)
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  UPDATE robotmem.tokens t SET revoked_at = now() FROM robotmem.tenants n
  WHERE n.id = t.tenant AND n.name = tenant_name AND t.name = token_name AND t.revoked_at IS NULL RETURNING t.sha256
$$;

REVOKE ALL ON robotmem.tokens FROM robotmem_node;
REVOKE ALL ON FUNCTION robotmem.insert_token(text, text, text, text, text[], bytea), robotmem.tokens_of(text),
  robotmem.has_tokens(text),
  robotmem.token_of(bytea), robotmem.touch_token(bytea), robotmem.revoke_token(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION robotmem.insert_token(text, text, text, text, text[], bytea), robotmem.tokens_of(text),
  robotmem.has_tokens(text),
  robotmem.token_of(bytea), robotmem.touch_token(bytea), robotmem.revoke_token(text, text) TO robotmem_node;
