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
