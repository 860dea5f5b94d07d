-- Version 7: what changed, in numbered feeds: one of each collection, and one of each robot with what others than the
-- robot itself did to its memories. A memory is in a feed once, at its last change, and stays there by its uid alone
-- after it was purged.
CREATE TABLE robotmem.feed(
  tenant integer NOT NULL DEFAULT robotmem.tenant(),
  feed   text COLLATE "C" NOT NULL, -- the collection, or @ and the name of the robot
  number bigint NOT NULL,
  uid    text COLLATE "C" NOT NULL,
  change text COLLATE "C" NOT NULL CHECK (change IN ('changed', 'left', 'purged')),
  at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant, feed, number)
) PARTITION BY HASH (tenant);
CREATE UNIQUE INDEX ON robotmem.feed(tenant, uid, feed);
CREATE INDEX ON robotmem.feed(tenant, at) WHERE change = 'purged';

-- The last number of each feed. Each number has a random mark of 8 bytes, so that a reader notices that the feed is
-- not the one that it has read before, as after the restore of a backup. marks has those of the open chunk.
CREATE TABLE robotmem.feed_heads(
  tenant     integer NOT NULL DEFAULT robotmem.tenant(),
  feed       text COLLATE "C" NOT NULL,
  last       bigint NOT NULL,
  marks      bytea NOT NULL,
  generation bigint NOT NULL DEFAULT 0, -- counts the purges: what was rendered before one is not served after it
  PRIMARY KEY (tenant, feed)
) PARTITION BY HASH (tenant);

-- The marks of each hundred numbers that is full.
CREATE TABLE robotmem.feed_chunks(
  tenant integer NOT NULL DEFAULT robotmem.tenant(),
  feed   text COLLATE "C" NOT NULL,
  chunk  bigint NOT NULL,
  marks  bytea NOT NULL,
  PRIMARY KEY (tenant, feed, chunk)
) PARTITION BY HASH (tenant);

-- How far each replica has applied each feed.
CREATE TABLE robotmem.feed_cursors(
  tenant  integer NOT NULL DEFAULT robotmem.tenant(),
  replica text COLLATE "C" NOT NULL,
  feed    text COLLATE "C" NOT NULL,
  number  bigint NOT NULL,
  PRIMARY KEY (tenant, replica, feed)
) PARTITION BY HASH (tenant);

-- A memory that was changed here and on a robot. The state here stays until an operator or the rule of the tenant
-- settles it; said is the state of the robot.
CREATE TABLE robotmem.conflicts(
  tenant     integer NOT NULL DEFAULT robotmem.tenant(),
  id         bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  uid        text COLLATE "C" NOT NULL,
  collection text COLLATE "C" NOT NULL,
  robot      text COLLATE "C" NOT NULL,
  replica    text COLLATE "C" NOT NULL,
  at         text COLLATE "C" NOT NULL,
  said       text COLLATE "C" NOT NULL,
  settled_at text COLLATE "C",
  settled_by text COLLATE "C",
  settlement text COLLATE "C" CHECK (settlement IN ('site', 'robot', 'both')),
  PRIMARY KEY (tenant, id)
) PARTITION BY HASH (tenant);
CREATE UNIQUE INDEX ON robotmem.conflicts(tenant, uid, replica) WHERE settled_at IS NULL;
CREATE INDEX ON robotmem.conflicts(tenant, robot) WHERE settled_at IS NULL;
CREATE INDEX ON robotmem.conflicts(tenant, uid);

ALTER TABLE robotmem.tenants ADD COLUMN conflict_rule text NOT NULL DEFAULT 'ask'
  CHECK (conflict_rule IN ('ask', 'site', 'newest', 'both'));

-- What is known of each memory of a robot. link is of the last push that is stored: one that does not follow it comes
-- from a copy of the memory, or is older or newer than this database. claim is of the push that is being stored.
ALTER TABLE robotmem.replicas DROP CONSTRAINT replicas_tenant_robot_key;
ALTER TABLE robotmem.replicas
  ADD COLUMN link      bytea,
  ADD COLUMN claim     bytea,
  ADD COLUMN file_id   text COLLATE "C",
  ADD COLUMN version   text COLLATE "C",
  ADD COLUMN fork_of   text COLLATE "C",              -- the replica that this one was before
  ADD COLUMN forked_at text COLLATE "C",              -- when another replica took its place
  ADD COLUMN cloned    boolean NOT NULL DEFAULT false, -- two memories have gone on from one state
  ADD COLUMN pushed_at text COLLATE "C",
  ADD COLUMN pulled_at text COLLATE "C",
  ADD COLUMN waiting   bigint NOT NULL DEFAULT 0,     -- changes that it has not sent
  ADD COLUMN refused   bigint NOT NULL DEFAULT 0,     -- changes of it that were refused
  ADD COLUMN clock_ms  bigint;                        -- its clock minus the clock here
CREATE INDEX ON robotmem.replicas(tenant, robot);
CREATE OR REPLACE VIEW robotmem_tenant.replicas WITH (security_invoker = true) AS
  SELECT * FROM robotmem.replicas WHERE tenant = robotmem.tenant();

-- Adds a change to a feed. The writers of a tenant take turns, so the numbers are in the order of the commits.
CREATE FUNCTION robotmem.feed_add(t integer, f text, u text, c text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  mark bytea := substring(uuid_send(gen_random_uuid()) FROM 1 FOR 8);
  n bigint;
  open bytea;
BEGIN
  INSERT INTO robotmem.feed_heads AS h (tenant, feed, last, marks) VALUES (t, f, 1, mark)
    ON CONFLICT (tenant, feed) DO UPDATE SET last = h.last + 1,
      marks = CASE WHEN h.last % 100 = 0 THEN mark ELSE h.marks || mark END
    RETURNING h.last, h.marks INTO n, open;
  IF n % 100 = 0 THEN
    INSERT INTO robotmem.feed_chunks(tenant, feed, chunk, marks) VALUES (t, f, n / 100 - 1, open);
  END IF;
  INSERT INTO robotmem.feed(tenant, feed, number, uid, change) VALUES (t, f, n, u, c)
    ON CONFLICT (tenant, uid, feed) DO UPDATE SET number = n, change = c, at = now();
END $$;

CREATE FUNCTION robotmem.feed_memory() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  f text;
  -- The robot whose push this is, which need not be told what it said itself.
  pusher text := coalesce(current_setting('robotmem.pusher', true), '');
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF NOT EXISTS (SELECT FROM robotmem.tenants WHERE id = OLD.tenant) THEN
      RETURN NULL; -- with its tenant
    END IF;
    FOR f IN SELECT feed FROM robotmem.feed WHERE tenant = OLD.tenant AND uid = OLD.uid
      UNION SELECT '@' || OLD.robot WHERE OLD.robot <> '' LOOP
      PERFORM robotmem.feed_add(OLD.tenant, f, OLD.uid, 'purged');
      UPDATE robotmem.feed_heads SET generation = generation + 1 WHERE tenant = OLD.tenant AND feed = f;
    END LOOP;
    DELETE FROM robotmem.conflicts WHERE tenant = OLD.tenant AND uid = OLD.uid;
    RETURN NULL;
  END IF;

  IF NEW.type <> 'fact' THEN
    RETURN NULL;
  END IF;
  IF TG_OP = 'UPDATE' THEN
    IF (NEW.content, NEW.human_summary, NEW.context, NEW.category, NEW.confidence, NEW.status, NEW.superseded_by,
        NEW.pinned, NEW.source, NEW.outcome, NEW.collection, NEW.robot, NEW.observed_at)
      IS NOT DISTINCT FROM (OLD.content, OLD.human_summary, OLD.context, OLD.category, OLD.confidence, OLD.status,
        OLD.superseded_by, OLD.pinned, OLD.source, OLD.outcome, OLD.collection, OLD.robot, OLD.observed_at) THEN
      RETURN NULL;
    END IF;
    IF NEW.collection <> OLD.collection THEN
      PERFORM robotmem.feed_add(OLD.tenant, OLD.collection, OLD.uid, 'left');
    END IF;
    IF NEW.robot <> '' AND NEW.robot <> pusher THEN
      PERFORM robotmem.feed_add(NEW.tenant, '@' || NEW.robot, NEW.uid, 'changed');
    END IF;
  END IF;
  PERFORM robotmem.feed_add(NEW.tenant, NEW.collection, NEW.uid, 'changed');
  RETURN NULL;
END $$;

CREATE FUNCTION robotmem.feed_tag() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  tag record;
  m record;
BEGIN
  IF TG_OP = 'DELETE' THEN tag := OLD; ELSE tag := NEW; END IF;
  SELECT uid, collection INTO m FROM robotmem.memories
    WHERE tenant = tag.tenant AND id = tag.memory_id AND type = 'fact';
  IF FOUND THEN
    PERFORM robotmem.feed_add(tag.tenant, m.collection, m.uid, 'changed');
  END IF;
  RETURN NULL;
END $$;
