-- The tables of the fleet, as those of a file, each with the tenant first. A statement sees the
-- views, which have the rows of one tenant; row-level security is the second fence.
CREATE SCHEMA robotmem;
CREATE SCHEMA robotmem_tenant;

CREATE FUNCTION robotmem.tenant() RETURNS integer STABLE PARALLEL SAFE LANGUAGE sql
  RETURN current_setting('robotmem.tenant')::integer;

CREATE TABLE robotmem.tenants(
  id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name       text NOT NULL UNIQUE,
  -- The last ids that were given, by table. A writer locks the row first, so that the changes of
  -- a tenant are in the order of their commits.
  ids        jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now()
);

-- The last transaction of each writer, which asks for it after it has lost its connection in a commit.
CREATE TABLE robotmem.commits(
  writer text COLLATE "C" PRIMARY KEY,
  number bigint NOT NULL,
  at     timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

CREATE TABLE robotmem.counters(
  tenant integer NOT NULL DEFAULT robotmem.tenant(),
  name   text COLLATE "C" NOT NULL,
  value  bigint NOT NULL,
  PRIMARY KEY (tenant, name)
) PARTITION BY HASH (tenant);

CREATE TABLE robotmem.memories(
  tenant              integer NOT NULL DEFAULT robotmem.tenant(),
  id                  bigint NOT NULL,
  uid                 text COLLATE "C" NOT NULL,
  session_id          text COLLATE "C",
  collection          text COLLATE "C" NOT NULL,
  type                text COLLATE "C" NOT NULL CHECK (type IN ('fact', 'perception')),
  content             text COLLATE "C" NOT NULL,
  human_summary       text COLLATE "C" NOT NULL,
  context             text COLLATE "C" NOT NULL DEFAULT '{}',
  perception_type     text COLLATE "C",
  perception_data     bytea,
  perception_metadata text COLLATE "C",
  media_type          text COLLATE "C",
  category            text COLLATE "C" NOT NULL,
  confidence          double precision NOT NULL DEFAULT 0.9,
  decay_rate          double precision NOT NULL DEFAULT 0.01,
  status              text COLLATE "C" NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'superseded', 'invalidated')),
  superseded_by       bigint,
  pinned              bigint NOT NULL DEFAULT 0,
  source              text COLLATE "C",
  scope_files         text COLLATE "C",
  scope_entities      text COLLATE "C",
  robot               text COLLATE "C",
  tool                text COLLATE "C",
  who                 text COLLATE "C",
  content_hash        bytea NOT NULL,
  sightings           bigint NOT NULL DEFAULT 1,
  access_count        bigint NOT NULL DEFAULT 0,
  return_count        bigint NOT NULL DEFAULT 0,
  last_accessed       text COLLATE "C",
  version             bigint NOT NULL DEFAULT 1,
  valid_from          text COLLATE "C" NOT NULL,
  observed_at         text COLLATE "C" NOT NULL,
  created_at          text COLLATE "C" NOT NULL,
  updated_at          text COLLATE "C" NOT NULL,
  revision            bigint NOT NULL,
  auto_tags           text COLLATE "C",
  outcome             text COLLATE "C",
  outcome_source      text COLLATE "C",
  uses                double precision,
  successes           double precision,
  checksum            bytea,
  received_at         timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant, id)
) PARTITION BY HASH (tenant);
CREATE UNIQUE INDEX ON robotmem.memories(tenant, uid);
CREATE INDEX ON robotmem.memories(tenant, session_id) WHERE session_id IS NOT NULL;
CREATE INDEX ON robotmem.memories(tenant, revision);
CREATE INDEX ON robotmem.memories(tenant, collection, id) WHERE status = 'active' AND (category = 'constraint' OR pinned <> 0);
CREATE INDEX ON robotmem.memories(tenant, perception_data) WHERE perception_data IS NOT NULL;
CREATE INDEX ON robotmem.memories(tenant, superseded_by) WHERE superseded_by IS NOT NULL;

CREATE TABLE robotmem.payloads(
  tenant     integer NOT NULL DEFAULT robotmem.tenant(),
  sha256     bytea NOT NULL,
  bytes      bigint NOT NULL,
  codec      text COLLATE "C" NOT NULL,
  created_at text COLLATE "C" NOT NULL,
  data       bytea,
  stored     bigint,
  PRIMARY KEY (tenant, sha256)
) PARTITION BY HASH (tenant);

CREATE TABLE robotmem.versions(
  tenant        integer NOT NULL DEFAULT robotmem.tenant(),
  rowid         bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  memory_id     bigint NOT NULL,
  valid_to      text COLLATE "C" NOT NULL,
  valid_from    text COLLATE "C" NOT NULL,
  version       bigint NOT NULL,
  content       text COLLATE "C" NOT NULL,
  human_summary text COLLATE "C" NOT NULL,
  context       text COLLATE "C" NOT NULL,
  category      text COLLATE "C" NOT NULL,
  confidence    double precision NOT NULL,
  status        text COLLATE "C" NOT NULL,
  superseded_by bigint,
  change        text COLLATE "C" NOT NULL,
  reason        text COLLATE "C",
  checksum      bytea,
  PRIMARY KEY (tenant, rowid)
) PARTITION BY HASH (tenant);
CREATE INDEX ON robotmem.versions(tenant, memory_id);
CREATE INDEX ON robotmem.versions(tenant, valid_to);

CREATE TABLE robotmem.sessions(
  tenant        integer NOT NULL DEFAULT robotmem.tenant(),
  id            bigint NOT NULL,
  external_id   text COLLATE "C" NOT NULL,
  collection    text COLLATE "C" NOT NULL,
  context       text COLLATE "C" NOT NULL DEFAULT '{}',
  session_count bigint NOT NULL DEFAULT 1,
  status        text COLLATE "C" NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'ended')),
  client_type   text COLLATE "C",
  summary       text COLLATE "C",
  created_at    text COLLATE "C" NOT NULL,
  updated_at    text COLLATE "C" NOT NULL,
  ended_at      text COLLATE "C",
  checksum      bytea,
  PRIMARY KEY (tenant, id)
) PARTITION BY HASH (tenant);
CREATE UNIQUE INDEX ON robotmem.sessions(tenant, external_id);
CREATE INDEX ON robotmem.sessions(tenant, collection, id);

CREATE TABLE robotmem.session_outcomes(
  tenant     integer NOT NULL DEFAULT robotmem.tenant(),
  id         bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  session_id text COLLATE "C" NOT NULL,
  score      double precision NOT NULL,
  created_at text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, id)
) PARTITION BY HASH (tenant);
CREATE INDEX ON robotmem.session_outcomes(tenant, session_id);

CREATE TABLE robotmem.session_recalls(
  tenant     integer NOT NULL DEFAULT robotmem.tenant(),
  session_id text COLLATE "C" NOT NULL,
  memory_id  bigint NOT NULL,
  used       bigint NOT NULL DEFAULT 0,
  helped     double precision,
  PRIMARY KEY (tenant, session_id, memory_id)
) PARTITION BY HASH (tenant);
CREATE INDEX ON robotmem.session_recalls(tenant, memory_id);

CREATE TABLE robotmem.memory_tags(
  tenant    integer NOT NULL DEFAULT robotmem.tenant(),
  memory_id bigint NOT NULL,
  tag       text COLLATE "C" NOT NULL,
  source    text COLLATE "C" NOT NULL CHECK (source IN ('auto', 'user')),
  PRIMARY KEY (tenant, memory_id, tag)
) PARTITION BY HASH (tenant);

CREATE TABLE robotmem.signatures(
  tenant    integer NOT NULL DEFAULT robotmem.tenant(),
  group_key bigint NOT NULL,
  seq       bigint NOT NULL,
  memory_id bigint NOT NULL,
  terms     bigint NOT NULL,
  numbers   bigint NOT NULL,
  skeleton  bigint NOT NULL,
  sketch_a  bigint NOT NULL,
  sketch_b  bigint NOT NULL,
  sequence  bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant, group_key, seq)
) PARTITION BY HASH (tenant);
CREATE INDEX ON robotmem.signatures(tenant, memory_id);

CREATE TABLE robotmem.features(
  tenant    integer NOT NULL DEFAULT robotmem.tenant(),
  memory_id bigint NOT NULL,
  kind      text COLLATE "C" NOT NULL,
  vector    bytea NOT NULL,
  PRIMARY KEY (tenant, memory_id)
) PARTITION BY HASH (tenant);

CREATE TABLE robotmem.models(
  tenant integer NOT NULL DEFAULT robotmem.tenant(),
  id     bigint NOT NULL,
  name   text COLLATE "C" NOT NULL,
  dims   bigint NOT NULL,
  state  text COLLATE "C" NOT NULL CHECK (state IN ('present', 'filling')),
  upto   bigint NOT NULL DEFAULT 0,
  seq    bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, name)
) PARTITION BY HASH (tenant);

CREATE TABLE robotmem.vectors(
  tenant    integer NOT NULL DEFAULT robotmem.tenant(),
  model     bigint NOT NULL,
  memory_id bigint NOT NULL,
  seq       bigint NOT NULL,
  vector    bytea,
  checksum  bigint,
  PRIMARY KEY (tenant, model, memory_id)
) PARTITION BY HASH (tenant);
-- Not for a lookup by memory_id, for which it would look as good as the key while the table is empty.
CREATE INDEX ON robotmem.vectors(tenant, model, seq) WHERE seq > 0;

CREATE TABLE robotmem.origins(
  tenant     integer NOT NULL DEFAULT robotmem.tenant(),
  collection text COLLATE "C" NOT NULL,
  origin     text COLLATE "C" NOT NULL,
  memory_id  bigint NOT NULL,
  PRIMARY KEY (tenant, collection, origin)
) PARTITION BY HASH (tenant);

CREATE TABLE robotmem.session_origins(
  tenant     integer NOT NULL DEFAULT robotmem.tenant(),
  collection text COLLATE "C" NOT NULL,
  origin     text COLLATE "C" NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, collection, origin)
) PARTITION BY HASH (tenant);

CREATE TABLE robotmem.streams(
  tenant     integer NOT NULL DEFAULT robotmem.tenant(),
  session_id text COLLATE "C" NOT NULL,
  collection text COLLATE "C" NOT NULL,
  source     text COLLATE "C" NOT NULL,
  received   bigint NOT NULL,
  stored     bigint NOT NULL,
  dropped    bigint NOT NULL,
  missed     bigint NOT NULL,
  bytes      bigint NOT NULL,
  updated_at text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, session_id, collection, source)
) PARTITION BY HASH (tenant);

CREATE TABLE robotmem.evictions(
  tenant          integer NOT NULL DEFAULT robotmem.tenant(),
  id              bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  memory_id       bigint NOT NULL,
  collection      text COLLATE "C" NOT NULL,
  perception_type text COLLATE "C" NOT NULL,
  bytes           bigint NOT NULL,
  reason          text COLLATE "C" NOT NULL,
  evicted_at      text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, id)
) PARTITION BY HASH (tenant);
CREATE INDEX ON robotmem.evictions(tenant, memory_id);

CREATE TABLE robotmem.recall_hours(
  tenant     integer NOT NULL DEFAULT robotmem.tenant(),
  hour       text COLLATE "C" NOT NULL,
  collection text COLLATE "C" NOT NULL,
  recalls    bigint NOT NULL,
  zero_hits  bigint NOT NULL,
  PRIMARY KEY (tenant, hour, collection)
) PARTITION BY HASH (tenant);

CREATE TABLE robotmem.audit(
  tenant     integer NOT NULL DEFAULT robotmem.tenant(),
  id         bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  at         text COLLATE "C" NOT NULL,
  action     text COLLATE "C" NOT NULL,
  memory_id  bigint,
  uid        text COLLATE "C",
  session_id text COLLATE "C",
  collection text COLLATE "C",
  who        text COLLATE "C",
  tool       text COLLATE "C",
  reason     text COLLATE "C",
  before     bytea,
  after      bytea,
  PRIMARY KEY (tenant, id)
) PARTITION BY HASH (tenant);
CREATE INDEX ON robotmem.audit(tenant, memory_id) WHERE memory_id IS NOT NULL;

CREATE TABLE robotmem.purged(
  tenant    integer NOT NULL DEFAULT robotmem.tenant(),
  memory_id bigint NOT NULL,
  uid       text COLLATE "C" NOT NULL,
  revision  bigint NOT NULL,
  PRIMARY KEY (tenant, memory_id)
) PARTITION BY HASH (tenant);
CREATE INDEX ON robotmem.purged(tenant, revision);

-- What the indexes of a node held at a revision, so that the next one starts faster.
CREATE TABLE robotmem.snapshots(
  tenant     integer NOT NULL DEFAULT robotmem.tenant(),
  rowid      bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  name       text COLLATE "C" NOT NULL,
  generation bigint NOT NULL,
  part       bigint NOT NULL,
  data       bytea NOT NULL,
  PRIMARY KEY (tenant, name, generation, part)
) PARTITION BY HASH (tenant);
CREATE TABLE robotmem.snapshot_heads(
  tenant     integer NOT NULL DEFAULT robotmem.tenant(),
  name       text COLLATE "C" NOT NULL,
  generation bigint NOT NULL,
  revision   bigint NOT NULL,
  parts      bigint NOT NULL,
  checksum   bigint NOT NULL,
  PRIMARY KEY (tenant, name)
) PARTITION BY HASH (tenant);

-- The memories of robots that send to this site.
CREATE TABLE robotmem.replicas(
  tenant    integer NOT NULL DEFAULT robotmem.tenant(),
  replica   text COLLATE "C" NOT NULL,
  robot     text COLLATE "C" NOT NULL,
  joined_at text COLLATE "C" NOT NULL,
  seen_at   text COLLATE "C" NOT NULL,
  upto      bigint NOT NULL, -- the last change that has arrived
  PRIMARY KEY (tenant, replica),
  UNIQUE (tenant, robot)
) PARTITION BY HASH (tenant);
-- What a replica said of a memory the last time, and what the memory was here after that.
CREATE TABLE robotmem.arrivals(
  tenant  integer NOT NULL DEFAULT robotmem.tenant(),
  uid     text COLLATE "C" NOT NULL,
  replica text COLLATE "C" NOT NULL,
  counter bigint NOT NULL,
  theirs  bytea NOT NULL,
  ours    bytea NOT NULL,
  PRIMARY KEY (tenant, uid, replica)
) PARTITION BY HASH (tenant);

CREATE TABLE robotmem.purged_files(
  tenant integer NOT NULL DEFAULT robotmem.tenant(),
  sha256 bytea NOT NULL,
  PRIMARY KEY (tenant, sha256)
) PARTITION BY HASH (tenant);

-- The partitions, the views and the fences of every table of tenants.
DO $$
DECLARE name text; part integer;
BEGIN
  FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'robotmem'::regnamespace AND relkind = 'p' LOOP
    FOR part IN 0..3 LOOP
      EXECUTE format('CREATE TABLE robotmem.%I PARTITION OF robotmem.%I FOR VALUES WITH (MODULUS 4, REMAINDER %s)', name || '_' || part, name, part);
    END LOOP;
    EXECUTE format('ALTER TABLE robotmem.%I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE robotmem.%I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY tenant ON robotmem.%I USING (tenant = robotmem.tenant()) WITH CHECK (tenant = robotmem.tenant())', name);
    EXECUTE format('CREATE VIEW robotmem_tenant.%I WITH (security_invoker = true) AS SELECT * FROM robotmem.%I WHERE tenant = robotmem.tenant()', name, name);
  END LOOP;
END $$;

CREATE FUNCTION robotmem.audit_grows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.reason IS NULL AND NEW.before IS NULL AND NEW.after IS NULL
    AND (NEW.tenant, NEW.id, NEW.at, NEW.action) = (OLD.tenant, OLD.id, OLD.at, OLD.action)
    AND (NEW.memory_id, NEW.uid, NEW.session_id, NEW.collection, NEW.who, NEW.tool)
      IS NOT DISTINCT FROM (OLD.memory_id, OLD.uid, OLD.session_id, OLD.collection, OLD.who, OLD.tool) THEN
    RETURN NEW;
  END IF;
  IF TG_OP = 'DELETE' AND NOT EXISTS (SELECT FROM robotmem.tenants WHERE id = OLD.tenant) THEN
    RETURN OLD; -- with its tenant
  END IF;
  RAISE EXCEPTION 'the audit log only grows';
END $$;
CREATE TRIGGER audit_grows BEFORE UPDATE OR DELETE ON robotmem.audit FOR EACH ROW EXECUTE FUNCTION robotmem.audit_grows();

-- The view of the vectors of one model, which a node makes for a new one. Models of all tenants
-- share it.
CREATE FUNCTION robotmem.create_model(id bigint) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  EXECUTE format('CREATE OR REPLACE VIEW robotmem_tenant.%I WITH (security_invoker = true) AS
    SELECT * FROM robotmem.vectors WHERE tenant = robotmem.tenant() AND model = %s', 'vectors_' || id, id);
  EXECUTE format('ALTER VIEW robotmem_tenant.%I ALTER COLUMN model SET DEFAULT %s', 'vectors_' || id, id);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON robotmem_tenant.%I TO robotmem_node', 'vectors_' || id);
END $$;

-- Functions of SQLite that the statements use.
CREATE FUNCTION robotmem_tenant.max(bigint, bigint) RETURNS bigint IMMUTABLE LANGUAGE sql RETURN greatest($1, $2);
CREATE FUNCTION robotmem_tenant.instr(text, text) RETURNS integer IMMUTABLE LANGUAGE sql RETURN position($2 IN $1);
CREATE FUNCTION robotmem_tenant.hex(bytea) RETURNS text IMMUTABLE LANGUAGE sql RETURN upper(encode($1, 'hex'));
CREATE FUNCTION robotmem_tenant.quote(double precision) RETURNS text IMMUTABLE LANGUAGE sql RETURN $1::text;
CREATE FUNCTION robotmem_tenant.julianday(text) RETURNS double precision IMMUTABLE LANGUAGE sql
  RETURN extract(epoch FROM $1::timestamptz AT TIME ZONE 'UTC')::double precision / 86400 + 2440587.5;
CREATE FUNCTION robotmem_tenant.ids_of(text) RETURNS TABLE (value bigint) IMMUTABLE LANGUAGE sql AS $$ SELECT value::bigint FROM jsonb_array_elements_text($1::jsonb) $$;
CREATE FUNCTION robotmem_tenant.joined(text, text) RETURNS text IMMUTABLE LANGUAGE sql RETURN CASE WHEN $1 IS NULL THEN $2 ELSE $1 || ',' || $2 END;
CREATE AGGREGATE robotmem_tenant.group_concat(text) (SFUNC = robotmem_tenant.joined, STYPE = text);
CREATE FUNCTION robotmem_tenant.joined(text, text, text) RETURNS text IMMUTABLE LANGUAGE sql RETURN CASE WHEN $1 IS NULL THEN $2 ELSE $1 || $3 || $2 END;
CREATE AGGREGATE robotmem_tenant.group_concat(text, text) (SFUNC = robotmem_tenant.joined, STYPE = text);

-- A path such as $.robot.id in an object; a text that is no object has no values.
CREATE FUNCTION robotmem_tenant.json_valid(text) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
  PERFORM $1::jsonb;
  RETURN true;
EXCEPTION WHEN others THEN
  RETURN false;
END $$;
CREATE FUNCTION robotmem_tenant.json_path(text, text) RETURNS text IMMUTABLE LANGUAGE sql
  RETURN $1::json #>> string_to_array(substr($2, 3), '.');
CREATE OPERATOR robotmem_tenant.->> (LEFTARG = text, RIGHTARG = text, FUNCTION = robotmem_tenant.json_path);

-- Nodes act in this role: row-level security does not hold for a superuser.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'robotmem_node') THEN
    CREATE ROLE robotmem_node NOLOGIN;
  END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
  -- Roles are of all databases of a server: a node of another one was faster. This connection
  -- remembers that there was none until it locks a table anew.
  PERFORM FROM pg_roles LIMIT 0;
END $$;
GRANT USAGE ON SCHEMA robotmem, robotmem_tenant TO robotmem_node;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA robotmem, robotmem_tenant TO robotmem_node;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA robotmem TO robotmem_node;
-- The fence is on the whole tables: a partition itself has none.
DO $$
DECLARE part regclass;
BEGIN
  FOR part IN SELECT oid FROM pg_class WHERE relnamespace = 'robotmem'::regnamespace AND relispartition AND relkind = 'r' LOOP
    EXECUTE format('REVOKE ALL ON %s FROM robotmem_node', part);
  END LOOP;
END $$;

CREATE TABLE robotmem.schema_versions(
  version    integer PRIMARY KEY,
  applied_at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT ON robotmem.schema_versions TO robotmem_node;
INSERT INTO robotmem.schema_versions VALUES (1);
