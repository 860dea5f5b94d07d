-- Who may use the memory of a tenant, and how much of it. A tenant's statements see the views of
-- schema robotmem_tenant, which has none of these tables.
ALTER TABLE robotmem.tenants
  ADD COLUMN max_memories            bigint CHECK (max_memories >= 0),
  ADD COLUMN max_payload_bytes       bigint CHECK (max_payload_bytes >= 0),
  ADD COLUMN max_requests_per_second double precision CHECK (max_requests_per_second > 0);

CREATE TABLE robotmem.tokens(
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant      integer NOT NULL REFERENCES robotmem.tenants(id),
  name        text COLLATE "C" NOT NULL,
  role        text NOT NULL CHECK (role IN ('admin', 'operator', 'robot', 'reader')),
  robot       text NOT NULL DEFAULT '' CHECK ((robot <> '') = (role = 'robot')),
  collections text[] NOT NULL CHECK (cardinality(collections) > 0),
  sha256      bytea NOT NULL UNIQUE CHECK (length(sha256) = 32),
  created_at  timestamptz NOT NULL DEFAULT now(),
  last_used   timestamptz,
  revoked_at  timestamptz
);
CREATE UNIQUE INDEX ON robotmem.tokens(tenant, name) WHERE revoked_at IS NULL;
GRANT SELECT, INSERT, UPDATE ON robotmem.tokens TO robotmem_node;
