-- The queries of package store as PostgreSQL reads them, sorted by name. {model} is the number of a model. The
-- tables are views of one tenant. Further lines of a head:
--   none           it is about a file; there is nothing to do here
--   once           most transactions ask it more than once; the first of them asks all such queries
--   rows in parts  it reads a table to its end, so its rows are fetched in parts
--   id of TABLE    the last parameter is the next id of the table, which the connection knows

-- name: ActiveMemoryIDs
SELECT id FROM memories WHERE status = 'active' ORDER BY id;

-- name: ActiveNaming
SELECT id FROM memories WHERE perception_data = $1 AND status = 'active' ORDER BY id LIMIT $2;

-- name: AddAccess
UPDATE memories SET access_count = access_count + 1, last_accessed = $1, revision = $2 WHERE id = $3;

-- name: AddPurge
UPDATE counters SET value = value + 1 WHERE name = 'purges';

-- name: AddRecallHour
INSERT INTO recall_hours(hour, collection, recalls, zero_hits)
VALUES ($1,$2,$3,$4) ON CONFLICT(tenant, hour, collection) DO
UPDATE
SET recalls = recall_hours.recalls + excluded.recalls, zero_hits = recall_hours.zero_hits + excluded.zero_hits;

-- name: AddReturns
UPDATE memories SET return_count = return_count + $1 WHERE id = $2;

-- name: AddSightings
UPDATE memories
SET sightings = sightings + 1, access_count = access_count + 1, last_accessed = $1, revision = $2
WHERE id = $3;

-- name: AddStream
INSERT INTO streams(session_id,
              collection, source, received, stored, dropped, missed, bytes, updated_at)
VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9) ON CONFLICT(tenant,
                                         session_id, collection, source) DO
UPDATE
SET received = streams.received + excluded.received, stored = streams.stored + excluded.stored, dropped = streams.dropped + excluded.dropped,
    missed = streams.missed + excluded.missed, bytes = streams.bytes + excluded.bytes, updated_at = excluded.updated_at;

-- name: AddToCounter
UPDATE counters SET value = value + $1 WHERE name = $2;

-- name: AddUse
UPDATE memories
SET uses = coalesce(uses, 0) + $1, successes = coalesce(successes,
                                                 0) + $1 * $2, revision = $3
WHERE id = $4;

-- name: AdoptFleetState
-- none

-- name: AdvanceModel
UPDATE models SET seq = $1, upto = greatest(upto, $2) WHERE id = $3;

-- name: AdvanceReplica
UPDATE replicas
SET upto = greatest(upto, $1), seen_at = $2, pushed_at = $2, link = coalesce($3::bytea, link)
WHERE replica = $4
  AND claim IS NOT DISTINCT FROM $3::bytea;

-- name: AllColumns
-- rows in parts
SELECT m.id, m.revision, m.collection, m.session_id, m.category, m.type, m.perception_type, m.status,
       m.confidence, m.decay_rate, m.observed_at, coalesce(m.last_accessed,
                                                    m.created_at), m.created_at, m.valid_from,
       CASE
           WHEN strpos(m.context, 'sim_or_real') > 0
                AND robotmem.is_json(m.context) THEN m.context::json #>> '{env,sim_or_real}' = 'real'
       END, m.context, m.auto_tags,
  (SELECT string_agg(tag, chr(31))
   FROM memory_tags t
   WHERE t.memory_id = m.id), CASE WHEN m.outcome_source = 'session' THEN NULL ELSE m.outcome
                              END, m.uses, m.successes, m.sightings
FROM memories m
WHERE m.revision > $1;

-- name: AllContexts
-- rows in parts
SELECT m.id, m.revision, m.context FROM memories m WHERE m.revision > $1;

-- name: AllMemoryIDs
SELECT id FROM memories ORDER BY id;

-- name: AllModels
SELECT id, name, dims, upto, seq, state FROM models ORDER BY id;

-- name: AllOutcomes
SELECT session_id, score FROM session_outcomes ORDER BY id;

-- name: AllSessionIDs
SELECT external_id FROM sessions ORDER BY id;

-- name: AllSessions
SELECT s.external_id, s.collection, s.context, s.session_count, s.status, s.client_type, s.summary, s.created_at,
       s.updated_at, s.ended_at, s.checksum,
  (SELECT count(*)
   FROM memories m
   WHERE m.session_id = s.external_id),
  (SELECT score
   FROM session_outcomes o
   WHERE o.session_id = s.external_id
   ORDER BY o.id DESC
   LIMIT 1),
  (SELECT string_agg(score::text || ' ' || created_at, ','
                     ORDER BY o.id)
   FROM session_outcomes o
   WHERE o.session_id = s.external_id)
FROM sessions s
ORDER BY s.id;

-- name: AllVectors
SELECT memory_id, vector, checksum FROM vectors WHERE model = {model} AND vector IS NOT NULL;

-- name: AllVersions
SELECT v.content, v.human_summary, v.context, v.category, v.confidence, v.status, v.superseded_by, v.version,
       v.valid_from, v.valid_to, v.change, v.reason, v.checksum, v.memory_id, v.rowid
FROM versions v
ORDER BY v.rowid;

-- name: ArchivedByUID
SELECT m.uid, m.session_id, m.collection, m.type, m.content, m.human_summary, m.context, m.perception_type,
       m.perception_data, m.perception_metadata, m.media_type, m.category, m.confidence, m.decay_rate, m.status,
       m.superseded_by, m.pinned, m.source, m.scope_files, m.scope_entities, m.robot, m.tool, m.who, m.sightings,
       m.access_count, m.return_count, m.last_accessed, m.version, m.valid_from, m.observed_at, m.created_at,
       m.updated_at, m.content_hash, m.revision, m.auto_tags, m.outcome, m.outcome_source, m.uses, m.successes,
       m.checksum, m.id,
  (SELECT o.uid
   FROM memories o
   WHERE o.id = m.superseded_by),
  (SELECT p.bytes
   FROM payloads p
   WHERE p.sha256 = m.perception_data)
FROM memories m
WHERE m.uid = $1;

-- name: ArchivedMemories
SELECT m.uid, m.session_id, m.collection, m.type, m.content, m.human_summary, m.context, m.perception_type,
       m.perception_data, m.perception_metadata, m.media_type, m.category, m.confidence, m.decay_rate, m.status,
       m.superseded_by, m.pinned, m.source, m.scope_files, m.scope_entities, m.robot, m.tool, m.who, m.sightings,
       m.access_count, m.return_count, m.last_accessed, m.version, m.valid_from, m.observed_at, m.created_at,
       m.updated_at, m.content_hash, m.revision, m.auto_tags, m.outcome, m.outcome_source, m.uses, m.successes,
       m.checksum, m.id,
  (SELECT o.uid
   FROM memories o
   WHERE o.id = m.superseded_by),
  (SELECT p.bytes
   FROM payloads p
   WHERE p.sha256 = m.perception_data)
FROM memories m
WHERE ($1 = ''
       OR m.collection = $1)
  AND ($2 = ''
       OR m.session_id = $2)
ORDER BY m.uid;

-- name: ArchivedOrigins
SELECT m.uid, '', 0, '', '', 0, o.collection, o.origin, ''
FROM origins o
JOIN memories m ON m.id = o.memory_id
WHERE ($1 = ''
       OR m.collection = $1)
  AND ($2 = ''
       OR m.session_id = $2)
ORDER BY o.collection, o.origin;

-- name: ArchivedPastSuccessors
SELECT m.uid, o.uid, v.version, v.valid_to, '', 0, '', '', ''
FROM versions v
JOIN memories m ON m.id = v.memory_id
JOIN memories o ON o.id = v.superseded_by
WHERE v.superseded_by IS NOT NULL
  AND ($1 = ''
       OR m.collection = $1)
  AND ($2 = ''
       OR m.session_id = $2)
ORDER BY m.uid, v.valid_to, v.version;

-- name: ArchivedRecalls
SELECT m.uid, '', 0, '', r.session_id, r.used, '', '', ''
FROM session_recalls r
JOIN memories m ON m.id = r.memory_id
JOIN sessions s ON s.external_id = r.session_id
WHERE ($1 = ''
       OR s.collection = $1)
  AND ($2 = ''
       OR s.external_id = $2)
ORDER BY r.session_id, m.uid;

-- name: ArchivedSessionOrigins
SELECT '', '', 0, '', o.session_id, 0, o.collection, o.origin, ''
FROM session_origins o
JOIN sessions s ON s.external_id = o.session_id
WHERE ($1 = ''
       OR s.collection = $1)
  AND ($2 = ''
       OR s.external_id = $2)
ORDER BY o.collection, o.origin;

-- name: ArchivedSessions
SELECT s.external_id, s.collection, s.context, s.session_count, s.status, s.client_type, s.summary, s.created_at,
       s.updated_at, s.ended_at
FROM sessions s
WHERE ($1 = ''
       OR s.collection = $1)
  AND ($2 = ''
       OR s.external_id = $2)
ORDER BY external_id;

-- name: ArchivedSightings
SELECT m.uid, '', 0, '', g.session_id, 0, '', '', g.seen_at
FROM sightings g
JOIN memories m ON m.id = g.memory_id
JOIN sessions s ON s.external_id = g.session_id
WHERE ($1 = ''
       OR s.collection = $1)
  AND ($2 = ''
       OR s.external_id = $2)
ORDER BY g.session_id, m.uid;

-- name: ArchivedSince
SELECT m.uid, m.session_id, m.collection, m.type, m.content, m.human_summary, m.context, m.perception_type,
       m.perception_data, m.perception_metadata, m.media_type, m.category, m.confidence, m.decay_rate, m.status,
       m.superseded_by, m.pinned, m.source, m.scope_files, m.scope_entities, m.robot, m.tool, m.who, m.sightings,
       m.access_count, m.return_count, m.last_accessed, m.version, m.valid_from, m.observed_at, m.created_at,
       m.updated_at, m.content_hash, m.revision, m.auto_tags, m.outcome, m.outcome_source, m.uses, m.successes,
       m.checksum, m.id,
  (SELECT o.uid
   FROM memories o
   WHERE o.id = m.superseded_by),
  (SELECT p.bytes
   FROM payloads p
   WHERE p.sha256 = m.perception_data), m.revision
FROM memories m
WHERE m.revision > $1
ORDER BY m.revision
LIMIT $2;

-- name: ArchivedSuccessors
SELECT m.uid, o.uid, 0, '', '', 0, '', '', ''
FROM memories m
JOIN memories o ON o.id = m.superseded_by
WHERE m.superseded_by IS NOT NULL
  AND ($1 = ''
       OR m.collection = $1)
  AND ($2 = ''
       OR m.session_id = $2)
ORDER BY m.uid;

-- name: ArchivedVersions
SELECT v.content, v.human_summary, v.context, v.category, v.confidence, v.status, v.superseded_by, v.version,
       v.valid_from, v.valid_to, v.change, v.reason,
  (SELECT uid
   FROM memories o
   WHERE o.id = v.superseded_by), v.checksum, v.memory_id
FROM versions v
WHERE v.memory_id = $1
ORDER BY v.valid_to, v.version, v.rowid;

-- name: AttachPayload
UPDATE memories SET perception_data = $1, revision = $2 WHERE id = $3 AND perception_data IS NULL;

-- name: AuditPage
SELECT at, action, memory_id, uid, session_id, collection, who, tool, reason,
before, after, id
FROM audit
WHERE ($1 = '*'
       OR collection IN
         (SELECT jsonb_array_elements_text($2::jsonb)))
  AND ($3 = ''
       OR who = $3)
  AND ($4 = ''
       OR action = $4)
  AND ($5 = ''
       OR at >= $5)
  AND ($6 = ''
       OR at < $6)
  AND id < $7
ORDER BY id DESC
LIMIT $8;

-- name: AuditPageOfMemory
SELECT at, action, memory_id, uid, session_id, collection, who, tool, reason,
before, after, id
FROM audit
WHERE memory_id = $9
  AND ($1 = '*'
       OR collection IN
         (SELECT jsonb_array_elements_text($2::jsonb)))
  AND ($3 = ''
       OR who = $3)
  AND ($4 = ''
       OR action = $4)
  AND ($5 = ''
       OR at >= $5)
  AND ($6 = ''
       OR at < $6)
  AND id < $7
ORDER BY id DESC
LIMIT $8;

-- name: BestPerception
SELECT id, perception_type, media_type, human_summary
FROM memories
WHERE session_id = $1
  AND type = 'perception'
  AND status = 'active'
ORDER BY perception_data IS NULL, perception_type NOT IN ('tactile', 'proprioceptive', 'auditory'), observed_at > $2,
                                                                                                    abs(extract(epoch
                                                                                                                FROM observed_at::timestamptz - $2::timestamptz))
LIMIT 1;

-- name: ChangeCounter
-- once
SELECT greatest(value,
                  (SELECT coalesce(max(revision), 0)
                   FROM memories))
FROM counters
WHERE name = 'changes';

-- name: ChangedColumns
SELECT m.id, m.revision, m.collection, m.session_id, m.category, m.type, m.perception_type, m.status,
       m.confidence, m.decay_rate, m.observed_at, coalesce(m.last_accessed,
                                                    m.created_at), m.created_at, m.valid_from,
       CASE
           WHEN strpos(m.context, 'sim_or_real') > 0
                AND robotmem.is_json(m.context) THEN m.context::json #>> '{env,sim_or_real}' = 'real'
       END, m.context, m.auto_tags,
  (SELECT string_agg(tag, chr(31))
   FROM memory_tags t
   WHERE t.memory_id = m.id), CASE WHEN m.outcome_source = 'session' THEN NULL ELSE m.outcome
                              END, m.uses, m.successes, m.sightings
FROM memories m
WHERE m.revision > $1;

-- name: ChangedIDs
SELECT m.id, m.revision FROM memories m WHERE m.revision > $1;

-- name: ChangedIDsPage
SELECT m.id, m.revision FROM memories m WHERE m.revision > $1 ORDER BY m.revision LIMIT $2;

-- name: ChangedTexts
SELECT m.id, m.revision, m.status = 'active', m.collection, m.type, m.content, m.human_summary, m.scope_files,
       m.scope_entities, m.context
FROM memories m
WHERE m.revision > $1
ORDER BY m.revision
LIMIT $2;

-- name: ChangedWithVectors
SELECT m.id, m.revision, m.version, m.type, m.content, m.human_summary, m.status = 'active'
AND
  (SELECT v.memory_id
   FROM vectors v
   WHERE v.model = {model}
     AND v.memory_id = m.id) IS NULL
FROM memories m
WHERE m.revision > $1
ORDER BY m.revision
LIMIT $2;

-- name: ClaimOfReplica
SELECT claim FROM replicas WHERE replica = $1;

-- name: ClaimReplica
UPDATE replicas SET claim = $1 WHERE replica = $2;

-- name: ClearAudit
UPDATE audit SET reason = NULL, before = NULL, after = NULL WHERE memory_id = $1;

-- name: ClearOutcome
UPDATE memories SET outcome = NULL, outcome_source = NULL WHERE id = $1;

-- name: ClearPastSuccessors
UPDATE versions SET superseded_by = NULL WHERE superseded_by = $1;

-- name: ClearScrub
UPDATE counters SET value = 0 WHERE name = 'scrub' AND value <= $1;

-- name: ClearSuccessors
UPDATE memories SET superseded_by = NULL WHERE superseded_by = $1;

-- name: CollectionsNaming
SELECT DISTINCT collection FROM memories WHERE perception_data = $1;

-- name: ColumnsOf
SELECT m.id, m.revision, m.collection, m.session_id, m.category, m.type, m.perception_type, m.status,
       m.confidence, m.decay_rate, m.observed_at, coalesce(m.last_accessed,
                                                    m.created_at), m.created_at, m.valid_from,
       CASE
           WHEN strpos(m.context, 'sim_or_real') > 0
                AND robotmem.is_json(m.context) THEN m.context::json #>> '{env,sim_or_real}' = 'real'
       END, m.context, m.auto_tags,
  (SELECT string_agg(tag, chr(31))
   FROM memory_tags t
   WHERE t.memory_id = m.id), CASE WHEN m.outcome_source = 'session' THEN NULL ELSE m.outcome
                              END, m.uses, m.successes, m.sightings
FROM memories m
WHERE m.id = $1;

-- name: ConfirmFleetLink
-- none

-- name: ConflictByID
SELECT c.id, c.uid, c.collection, c.robot, c.at, c.said, m.id, m.content
FROM conflicts c
LEFT JOIN memories m ON m.uid = c.uid
WHERE c.settled_at IS NULL
  AND c.id = $1;

-- name: ConflictRule
SELECT conflict_rule FROM robotmem.tenants WHERE id = robotmem.tenant();

-- name: ConflictsOpen
SELECT c.id, c.uid, c.collection, c.robot, c.at, c.said, m.id, m.content
FROM conflicts c
LEFT JOIN memories m ON m.uid = c.uid
WHERE c.settled_at IS NULL
  AND ($1 = ''
       OR c.robot = $1)
ORDER BY c.id
LIMIT $2;

-- name: ContextAtRevision
SELECT m.id, m.revision, m.context FROM memories m WHERE m.id = $1;

-- name: ContextOf
SELECT context FROM memories WHERE id = $1;

-- name: CopiesCredited
-- none

-- name: CountActive
SELECT count(*) FROM memories WHERE status = 'active';

-- name: CountCredit
SELECT count(*) FROM session_recalls WHERE session_id = $1 AND memory_id = $2 AND helped IS NOT NULL;

-- name: CountEqualSignatures
SELECT count(*)
FROM signatures
WHERE group_key = $1
  AND memory_id = $2
  AND sequence = $3
  AND numbers = $4
  AND skeleton = $5
  AND sketch_a = $6
  AND sketch_b = $7;

-- name: CountEvictions
SELECT count(*) FROM evictions;

-- name: CountEvictionsOf
SELECT count(*) FROM evictions WHERE memory_id = $1;

-- name: CountExtraFullText
-- none

-- name: CountExtraSignatures
SELECT count(*) FROM signatures WHERE memory_id NOT IN (SELECT id FROM memories);

-- name: CountExtraTags
SELECT count(*) FROM memory_tags WHERE memory_id NOT IN (SELECT id FROM memories);

-- name: CountFleetLinksResent
-- none

-- name: CountFleetNotes
-- none

-- name: CountLostNaming
SELECT count(*)
FROM memories
WHERE perception_data = $1
  AND id NOT IN
    (SELECT memory_id
     FROM evictions
     WHERE NOT reason IN ('the file was damaged: the bytes are lost', 'lost before the import'));

-- name: CountMemory
SELECT count(*) FROM memories WHERE id = $1;

-- name: CountMissingFullText
-- none

-- name: CountMissingSignatures
SELECT count(*) FROM memories WHERE type = 'fact' AND id NOT IN (SELECT memory_id FROM signatures);

-- name: CountNaming
SELECT count(*)
FROM memories
WHERE perception_data = $1
  AND id NOT IN
    (SELECT memory_id
     FROM evictions);

-- name: CountOthersNaming
SELECT count(*)
FROM memories
WHERE perception_data = $1
  AND id <> $2
  AND id NOT IN
    (SELECT memory_id
     FROM evictions);

-- name: CountPayloadFile
SELECT count(*) FROM payloads WHERE sha256 = $1 AND data IS NULL;

-- name: CountPurged
SELECT count(*) FROM purged WHERE uid = $1;

-- name: CountRecalled
SELECT count(*), coalesce(sum(used), 0) FROM session_recalls WHERE session_id = $1;

-- name: CountRecalls
SELECT value FROM counters WHERE name = 'recalls';

-- name: CountRefused
SELECT count(*) FROM vectors WHERE model = {model} AND vector IS NULL;

-- name: CountReplicasOfRobot
SELECT count(*) FROM replicas WHERE robot = $1 AND forked_at IS NULL;

-- name: CountSessions
SELECT count(*) FROM sessions;

-- name: CountSessionsMatching
SELECT count(*)
FROM sessions s
WHERE ($1 = '*'
       OR s.collection IN
         (SELECT jsonb_array_elements_text($2::jsonb)))
  AND ($3 = ''
       OR s.status = $3)
  AND ($4 = ''
       OR CASE $4
              WHEN 'failure' THEN
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) <= $5
              WHEN 'success' THEN
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) >= $6
              WHEN 'partial' THEN
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) > $5
                   AND
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) < $6
              ELSE
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) IS NULL
          END)
  AND ($7 = ''
       OR CASE
              WHEN robotmem.is_json(s.context) THEN coalesce(s.context::json #>> '{robot,id}',
                                                      s.context::json #>> '{robot,name}',
                                                      s.context::json #>> '{robot}')
          END = $7)
  AND ($8 = ''
       OR CASE
              WHEN robotmem.is_json(s.context) THEN coalesce(s.context::json #>> '{task,name}',
                                                      s.context::json #>> '{task,type}',
                                                      s.context::json #>> '{task,goal}', s.context::json #>> '{task}')
          END = $8
       OR EXISTS
         (SELECT 1
          FROM memories m
          WHERE m.session_id = s.external_id
            AND m.status = 'active'
            AND m.type = 'fact'
            AND CASE
                    WHEN robotmem.is_json(m.context) THEN coalesce(m.context::json #>> '{task,name}',
                                                            m.context::json #>> '{task,type}',
                                                            m.context::json #>> '{task,goal}',
                                                            m.context::json #>> '{task}')
                END = $8))
  AND ($9 = ''
       OR strpos(lower(s.context), lower($9)) > 0
       OR EXISTS
         (SELECT 1
          FROM memories m
          WHERE m.session_id = s.external_id
            AND m.status = 'active'
            AND m.type = 'fact'
            AND strpos(lower(m.content), lower($9)) > 0))
  AND ($10 = ''
       OR s.created_at >= $10)
  AND ($11 = ''
       OR s.created_at < $11);

-- name: CountSessionsNamed
SELECT id FROM sessions WHERE external_id = $1;

-- name: CountSignature
SELECT count(*) FROM signatures WHERE group_key = $1 AND seq = $2 AND memory_id = $3;

-- name: CountTakenEvictions
SELECT count(*)
FROM evictions
WHERE memory_id = $1
  AND NOT reason IN ('the file was damaged: the bytes are lost', 'lost before the import');

-- name: CountUnsealed
-- none

-- name: CountVectors
SELECT count(*) FROM vectors WHERE model = {model} AND vector IS NOT NULL;

-- name: CountVersions
SELECT count(*) FROM versions WHERE memory_id = $1;

-- name: CountWaiting
SELECT count(*)
FROM memories m
WHERE m.revision > $1
  AND m.status = 'active'
  AND NOT EXISTS
    (SELECT 1
     FROM vectors v
     WHERE v.model = {model}
       AND v.memory_id = m.id);

-- name: CountWithoutFeatures
SELECT count(*)
FROM
  (SELECT id
   FROM memories
   WHERE perception_data IS NOT NULL
   EXCEPT SELECT memory_id
   FROM features) AS waiting;

-- name: CounterNamed
SELECT value FROM counters WHERE name = $1;

-- name: CreateFullText
-- none

-- name: CreateVectors
-- none

-- name: DeadRows
SELECT relname, n_dead_tup, n_live_tup
FROM pg_stat_user_tables
WHERE schemaname = 'robotmem'
  AND n_dead_tup > $1
ORDER BY n_dead_tup DESC;

-- name: DeleteAllFeatures
DELETE FROM features;

-- name: DeleteAllSignatures
DELETE FROM signatures;

-- name: DeleteAnswersNaming
DELETE FROM requests WHERE strpos(answer, $1) > 0;

-- name: DeleteDerivedTags
DELETE FROM memory_tags WHERE source = 'auto' OR memory_id NOT IN (SELECT id FROM memories);

-- name: DeleteEvictions
DELETE FROM evictions WHERE memory_id = $1;

-- name: DeleteFeaturesOfMemory
DELETE FROM features WHERE memory_id = $1;

-- name: DeleteFleetCopies
-- none

-- name: DeleteFleetCopiesOf
-- none

-- name: DeleteFleetCopy
-- none

-- name: DeleteFleetFeeds
-- none

-- name: DeleteFleetLinksAfter
-- none

-- name: DeleteFleetNote
-- none

-- name: DeleteFleetNotes
-- none

-- name: DeleteFleetSent
-- none

-- name: DeleteFullText
-- none

-- name: DeleteLoosePart
DELETE
FROM snapshots
WHERE rowid =
    (SELECT s.rowid
     FROM snapshots s
     LEFT JOIN snapshot_heads h ON h.name = s.name
     AND h.generation = s.generation
     WHERE s.name = $1
       AND h.name IS NULL
     LIMIT 1);

-- name: DeleteLostEvictions
DELETE
FROM evictions
WHERE memory_id = $1
  AND reason IN ('the file was damaged: the bytes are lost', 'lost before the import');

-- name: DeleteMemory
DELETE FROM memories WHERE id = $1;

-- name: DeleteModel
DELETE FROM models WHERE id = $1;

-- name: DeleteOldRequests
DELETE
FROM requests
WHERE id IN
    (SELECT id
     FROM requests
     ORDER BY id
     LIMIT 2)
  AND (id <= $1
       OR created_at < $2);

-- name: DeleteOriginsOfMemory
DELETE FROM origins WHERE memory_id = $1;

-- name: DeleteOtherReplicas
DELETE FROM replicas WHERE robot = $1 AND replica <> $2;

-- name: DeletePayload
DELETE FROM payloads WHERE sha256 = $1;

-- name: DeletePurgedFiles
DELETE FROM purged_files;

-- name: DeleteRecallsOfMemory
DELETE FROM session_recalls WHERE memory_id = $1;

-- name: DeleteReplicasOf
DELETE FROM replicas WHERE robot = $1;

-- name: DeleteSightingsOfMemory
DELETE FROM sightings WHERE memory_id = $1;

-- name: DeleteSignature
DELETE FROM signatures WHERE group_key = $1 AND memory_id = $2;

-- name: DeleteSignaturesOfMemory
DELETE FROM signatures WHERE memory_id = $1;

-- name: DeleteSnapshotHead
DELETE FROM snapshot_heads WHERE name = $1;

-- name: DeleteSnapshotHeads
DELETE FROM snapshot_heads;

-- name: DeleteSnapshots
DELETE FROM snapshots;

-- name: DeleteTags
DELETE FROM memory_tags WHERE memory_id = $1;

-- name: DeleteUnsealed
-- none

-- name: DeleteVector
DELETE FROM vectors WHERE model = {model} AND memory_id = $1;

-- name: DeleteVersions
DELETE FROM versions WHERE memory_id = $1;

-- name: DocumentPassages
SELECT id, content, context
FROM memories
WHERE type = 'document'
  AND collection = $1
  AND CASE WHEN robotmem.is_json(context) THEN context::json #>> '{document,name}' END = $2
  AND status = 'active'
ORDER BY id;

-- name: DocumentsStored
SELECT collection, CASE WHEN robotmem.is_json(context) THEN context::json #>> '{document,name}' END,
       count(*), min(created_at), max(created_at), max(valid_from),
       max(CASE WHEN robotmem.is_json(context) AND context::json #>> '{document,sha256}' IS NOT NULL THEN context END)
FROM memories
WHERE type = 'document'
  AND status = 'active'
GROUP BY 1, 2
ORDER BY 1, 2;

-- name: DropFullText
-- none

-- name: DropVectors
DELETE FROM vectors WHERE model = {model};

-- name: EndPush
SELECT set_config('robotmem.pusher', '', true);

-- name: EndedAfter
SELECT id, session_id FROM audit WHERE id > $1 AND action = 'ended' ORDER BY id;

-- name: EqualButForNumbers
SELECT m.id
FROM signatures s
JOIN memories m ON m.id = s.memory_id
WHERE s.group_key = $1
  AND s.skeleton = $2
  AND s.numbers <> $3
  AND m.status = 'active'
  AND m.type = 'fact'
ORDER BY s.seq DESC
LIMIT $4;

-- name: EvictionsOf
SELECT perception_type, bytes, reason, evicted_at
FROM evictions
WHERE memory_id = $1
ORDER BY evicted_at, id;

-- name: FactsOfSession
SELECT id, category, confidence, created_at, pinned, type, content, context
FROM memories
WHERE session_id = $1
  AND collection = $2
  AND status = 'active'
ORDER BY id;

-- name: FeatureRules
SELECT value FROM counters WHERE name = 'feature_rules';

-- name: FeatureState
SELECT coalesce(
                  (SELECT value
                   FROM counters
                   WHERE name = 'feature_epoch'), 0), coalesce(
                                                                 (SELECT max(memory_id)
                                                                  FROM features), 0);

-- name: FeaturesAfter
SELECT memory_id, vector FROM features WHERE memory_id > $1 AND kind = $2 ORDER BY memory_id;

-- name: FeaturesOf
SELECT kind, vector FROM features WHERE memory_id = $1;

-- name: FeedAdd
SELECT robotmem.feed_add(robotmem.tenant(), $1, $2, $3);

-- name: FeedChunkMarks
SELECT marks FROM feed_chunks WHERE feed = $1 AND chunk = $2;

-- name: FeedEntries
SELECT m.uid, m.session_id, m.collection, m.type, m.content, m.human_summary, m.context, m.perception_type,
       m.perception_data, m.perception_metadata, m.media_type, m.category, m.confidence, m.decay_rate, m.status,
       m.superseded_by, m.pinned, m.source, m.scope_files, m.scope_entities, m.robot, m.tool, m.who, m.sightings,
       m.access_count, m.return_count, m.last_accessed, m.version, m.valid_from, m.observed_at, m.created_at,
       m.updated_at, m.content_hash, m.revision, m.auto_tags, m.outcome, m.outcome_source, m.uses, m.successes,
       m.checksum, m.id,
  (SELECT o.uid
   FROM memories o
   WHERE o.id = m.superseded_by),
  (SELECT string_agg(t.tag, chr(31)
                     ORDER BY t.tag)
   FROM memory_tags t
   WHERE t.memory_id = m.id
     AND t.source = 'user'), f.number, f.uid, f.change
FROM feed f
LEFT JOIN memories m ON m.uid = f.uid
AND f.change = 'changed'
WHERE f.feed = $1
  AND f.number > $2
  AND f.number <= $3
ORDER BY f.number;

-- name: FeedHeads
SELECT feed, last, generation, marks
FROM feed_heads
WHERE feed IN
    (SELECT jsonb_array_elements_text($1::jsonb))
  OR $2 = '*'
  AND feed NOT LIKE '@%'
ORDER BY feed;

-- name: FeedSealed
SELECT chunk, substring(marks
                 FROM 793
                 FOR 8)
FROM feed_chunks
WHERE feed = $1
  AND chunk >= $2
ORDER BY chunk
LIMIT $3;

-- name: FeedStart
SELECT number
FROM feed
WHERE feed = $1
  AND change = 'changed'
ORDER BY number DESC
LIMIT 1
OFFSET $2;

-- name: FileID
-- none

-- name: FilePlace
-- none

-- name: FileSize
SELECT pg_database_size(current_database());

-- name: FleetCopiesElsewhere
-- none

-- name: FleetCopiesUnseen
-- none

-- name: FleetFeed
-- none

-- name: FleetFeeds
-- none

-- name: FleetLink
-- none

-- name: FleetLinkNamed
-- none

-- name: FleetMemoriesBeyond
-- none

-- name: FleetNotes
-- none

-- name: FleetNotesOldest
-- none

-- name: FleetSent
-- none

-- name: ForgetAnswer
UPDATE requests SET digest = $1, answer = '' WHERE memory_id = $2;

-- name: ForkReplica
UPDATE replicas SET forked_at = coalesce(forked_at, $1) WHERE replica = $2;

-- name: FullTextUpto
SELECT value FROM counters WHERE name = 'full_text';

-- name: GreetReplica
UPDATE replicas
SET seen_at = $1, file_id = nullif($2, ''), version = nullif($3, ''), clock_ms = $4
WHERE replica = $5;

-- name: GroupsOfSession
SELECT type, category, CASE WHEN outcome_source = 'session' THEN NULL ELSE outcome
                       END, count(*)
FROM memories
WHERE session_id = $1
  AND status <> 'invalidated'
GROUP BY 1, 2, 3;

-- name: HasMemories
SELECT EXISTS (SELECT 1 FROM memories);

-- name: Holdings
WITH failed(session_id) AS
  (SELECT session_id
   FROM session_outcomes
   GROUP BY session_id
   HAVING min(score) < 0.5)
SELECT m.id, m.collection, m.perception_type, m.observed_at, p.sha256,
       CASE WHEN data IS NULL THEN coalesce(stored, bytes) ELSE length(data)
       END, p.data IS NULL,
                      CASE WHEN m.status <> 'active' THEN 0 WHEN m.pinned <> 0 THEN 6 WHEN m.session_id IN
                                 (SELECT session_id
                                  FROM failed) THEN 5
                          WHEN strpos(m.context, '"success":false') > 0
                               AND m.context::json #>> '{task,success}' = 'false' THEN 5
                          WHEN m.id IN
                                 (SELECT memory_id
                                  FROM session_recalls
                                  WHERE used = 1) THEN 4 WHEN m.access_count + m.return_count > 0 THEN 3 ELSE 2
                      END,
                      coalesce(m.session_id || chr(31) || m.perception_type || chr(31) || coalesce(m.source,
                                                                                            ''), '')
FROM memories m
JOIN payloads p ON p.sha256 = m.perception_data
WHERE m.perception_data IS NOT NULL
  AND m.id NOT IN
    (SELECT memory_id
     FROM evictions);

-- name: InheritedOutcomes
SELECT id FROM memories WHERE outcome_source = $1;

-- name: InsertAudit
INSERT INTO audit(at,
              action, memory_id, uid, session_id, collection, who, tool, reason,
                  before, after)
VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11);

-- name: InsertEviction
INSERT INTO evictions(memory_id, collection, perception_type, bytes, reason, evicted_at)
VALUES ($1,$2,$3,$4,$5,$6);

-- name: InsertFullText
-- none

-- name: InsertMemory
-- id of memories
INSERT INTO memories(uid,
              session_id, collection, type, content, human_summary, context, perception_type,
              perception_data, perception_metadata, media_type, category, confidence, decay_rate, status, superseded_by,
              pinned, source, scope_files, scope_entities, robot, tool, who, sightings, access_count, return_count,
              last_accessed, version, valid_from, observed_at, created_at, updated_at, content_hash, revision, auto_tags,
              outcome, outcome_source, uses, successes, checksum, id)
VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21,$22,$23,$24,$25,$26,$27,$28,$29,$30,$31,$32,$33,$34,$35,$36,$37,$38,$39,$40,$41);

-- name: InsertModel
-- id of models
INSERT INTO models(name, dims, state, id) VALUES ($1,$2,$3,$4);

-- name: InsertOrigin
INSERT INTO origins(collection, origin, memory_id) VALUES ($1,$2,$3);

-- name: InsertOriginOnce
INSERT INTO origins(collection, origin, memory_id) VALUES ($1,$2,$3) ON CONFLICT DO NOTHING;

-- name: InsertOutcome
INSERT INTO session_outcomes(session_id, score, created_at) VALUES ($1,$2,$3);

-- name: InsertOutcomeOnce
INSERT INTO session_outcomes(session_id, score, created_at)
SELECT $1, $2, $3
WHERE NOT EXISTS
    (SELECT 1
     FROM session_outcomes
     WHERE session_id = $1
       AND score = $2
       AND created_at = $3);

-- name: InsertPurged
INSERT INTO purged(memory_id, uid, revision) VALUES ($1,$2,$3);

-- name: InsertPurgedFile
INSERT INTO purged_files(sha256) VALUES ($1) ON CONFLICT DO NOTHING;

-- name: InsertRecall
INSERT INTO session_recalls(session_id, memory_id)
SELECT $1, id
FROM memories
WHERE id = $2 ON CONFLICT DO NOTHING;

-- name: InsertRequest
INSERT INTO requests(id, request_id, digest, memory_id, answer, created_at)
VALUES ($1,$2,$3,$4,$5,$6);

-- name: InsertSession
-- id of sessions
INSERT INTO sessions(external_id,
              collection, context, session_count, status, client_type, summary, created_at, updated_at,
              ended_at, checksum, id)
VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12);

-- name: InsertSessionOrigin
INSERT INTO session_origins(collection, origin, session_id) VALUES ($1,$2,$3);

-- name: InsertSessionOriginOnce
INSERT INTO session_origins(collection, origin, session_id) VALUES ($1,$2,$3) ON CONFLICT DO NOTHING;

-- name: InsertSighting
INSERT INTO sightings(session_id, memory_id, seen_at) VALUES ($1,$2,$3) ON CONFLICT DO NOTHING;

-- name: InsertSightingElsewhere
INSERT INTO sightings(session_id, memory_id, seen_at)
SELECT $1, id, $2
FROM memories
WHERE id = $3
  AND coalesce(session_id, '') <> $1 ON CONFLICT DO NOTHING;

-- name: InsertSignature
INSERT INTO signatures(group_key,
              seq, memory_id, sequence, terms, numbers, skeleton, sketch_a, sketch_b)
VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9);

-- name: InsertSnapshotPart
INSERT INTO snapshots(name, generation, part, data) VALUES ($1,$2,$3,$4);

-- name: InsertVersion
INSERT INTO versions(content,
              human_summary, context, category, confidence, status, superseded_by, version, valid_from,
              valid_to, change, reason, memory_id, checksum)
VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14);

-- name: IntegrityCheck
-- none

-- name: LastArrival
SELECT a.counter, a.theirs, a.ours, p.pusher
FROM
  (SELECT set_config('robotmem.pusher', $3, true) AS pusher) AS p
LEFT JOIN arrivals a ON a.uid = $1
AND a.replica = $2;

-- name: LastEviction
SELECT evicted_at, reason FROM evictions WHERE memory_id = $1 ORDER BY id DESC LIMIT 1;

-- name: LastMemoryID
SELECT max(id) FROM memories;

-- name: LastSummary
SELECT summary FROM sessions WHERE collection = $1 AND status = 'ended' ORDER BY id DESC LIMIT 1;

-- name: LinkPastState
UPDATE versions
SET superseded_by = $1
WHERE memory_id = $2
  AND version = $3
  AND valid_to = $4
  AND status = 'superseded'
  AND superseded_by IS NULL;

-- name: LinkSuccessor
UPDATE memories
SET superseded_by = $1, revision = $2
WHERE id = $3
  AND status = 'superseded'
  AND superseded_by IS NULL;

-- name: LostNaming
SELECT DISTINCT m.id
FROM memories m
JOIN evictions e ON e.memory_id = m.id
WHERE m.perception_data = $1
  AND e.reason IN ('the file was damaged: the bytes are lost', 'lost before the import');

-- name: MakePresent
UPDATE models SET state = 'present' WHERE id = $1;

-- name: MarkClones
UPDATE replicas
SET cloned = true
WHERE fork_of = $1
  AND
    (SELECT count(*)
     FROM replicas o
     WHERE o.fork_of = $1) > 1;

-- name: MayReplaceSnapshot
SELECT NOT EXISTS
  (SELECT 1
   FROM snapshot_heads
   WHERE name = $1
     AND revision >= $2
     AND (name = 'codes'
          OR revision <=
            (SELECT value
             FROM counters
             WHERE name = 'changes')))
AND
  (SELECT count(*)
   FROM snapshots
   WHERE name = $1
     AND generation = $3) = $4
AND
  (SELECT value
   FROM counters
   WHERE name = 'purges') = $5;

-- name: MemoriesByID
SELECT found.*
FROM unnest(translate($1, '[]', '{}')::bigint[]) AS wanted(id), LATERAL
  (SELECT uid, session_id, collection, type, content, human_summary, context, perception_type, perception_data,
          perception_metadata, media_type, category, confidence, decay_rate, status, superseded_by, pinned, source, scope_files,
          scope_entities, robot, tool, who, sightings, access_count, return_count, last_accessed, version, valid_from,
          observed_at, created_at, updated_at, content_hash, revision, auto_tags, outcome, outcome_source, uses, successes,
          checksum, id,
     (SELECT string_agg(tag, chr(31)
                        ORDER BY tag)
      FROM memory_tags t
      WHERE t.source = 'user'
        AND t.memory_id = memories.id),
     (SELECT score
      FROM session_outcomes o
      WHERE o.session_id = memories.session_id
      ORDER BY o.id DESC
      LIMIT 1)
   FROM memories
   WHERE id = wanted.id
     OFFSET 0) AS found;

-- name: MemoriesOfTool
SELECT id, status FROM memories WHERE tool = $1 ORDER BY id;

-- name: MemoriesWithAutoTags
SELECT id FROM memories WHERE auto_tags IS NOT NULL ORDER BY id;

-- name: MemoriesWithUses
SELECT id FROM memories WHERE uses IS NOT NULL ORDER BY id;

-- name: MemoryByID
SELECT uid, session_id, collection, type, content, human_summary, context, perception_type, perception_data,
       perception_metadata, media_type, category, confidence, decay_rate, status, superseded_by, pinned, source, scope_files,
       scope_entities, robot, tool, who, sightings, access_count, return_count, last_accessed, version, valid_from,
       observed_at, created_at, updated_at, content_hash, revision, auto_tags, outcome, outcome_source, uses, successes,
       checksum, id,
  (SELECT string_agg(tag, chr(31)
                     ORDER BY tag)
   FROM memory_tags t
   WHERE t.source = 'user'
     AND t.memory_id = memories.id),
  (SELECT score
   FROM session_outcomes o
   WHERE o.session_id = memories.session_id
   ORDER BY o.id DESC
   LIMIT 1)
FROM memories
WHERE id = $1;

-- name: MemoryByUID
SELECT id FROM memories WHERE uid = $1;

-- name: MemoryOfOrigin
SELECT memory_id FROM origins WHERE collection = $1 AND origin = $2;

-- name: MergeRecall
INSERT INTO session_recalls(session_id, memory_id, used)
VALUES ($1,$2,$3) ON CONFLICT(tenant, session_id, memory_id) DO
UPDATE
SET used = greatest(session_recalls.used, excluded.used);

-- name: MergeUses
UPDATE memories
SET sightings = greatest(sightings, $1), access_count = greatest(access_count,
                                                          $2), return_count = greatest(return_count,
                                                                                $3),
    last_accessed = nullif(greatest(coalesce(last_accessed, ''), $4), ''), revision = $5
WHERE id = $6;

-- name: ModelByID
SELECT id, name, dims, upto, seq, state FROM models WHERE id = $1;

-- name: ModelByName
SELECT id, name, dims, upto, seq, state FROM models WHERE name = $1;

-- name: NewestRules
SELECT id
FROM memories
WHERE collection = $1
  AND status = 'active'
  AND (category = 'constraint'
       OR pinned <> 0)
  AND category NOT IN ('postmortem', 'gotcha')
  AND type <> 'document'
ORDER BY id DESC
LIMIT $2;

-- name: NextFeatureEpoch
INSERT INTO counters(name, value)
VALUES ('feature_epoch', 1) ON CONFLICT(tenant, name) DO
UPDATE
SET value = counters.value + 1;

-- name: NextRequestID
SELECT coalesce(max(id), 0) + 1 FROM requests;

-- name: OpenConflictsOf
SELECT uid FROM conflicts WHERE robot = $1 AND settled_at IS NULL ORDER BY id DESC LIMIT 1000;

-- name: OpenSessionsOf
SELECT external_id, context
FROM sessions
WHERE status = 'active'
  AND collection = $1
ORDER BY id DESC
LIMIT $2;

-- name: OriginOfMemory
SELECT id, robot, collection FROM memories WHERE uid = $1;

-- name: OutcomeTexts
SELECT id, content, context FROM memories;

-- name: OutcomeTextsUnset
SELECT id, content, context FROM memories WHERE outcome IS NULL AND outcome_source IS NULL;

-- name: OutcomesOf
SELECT score, created_at FROM session_outcomes WHERE session_id = $1 ORDER BY created_at, id;

-- name: PageCheck
-- none

-- name: PastStates
SELECT v.content, v.human_summary, v.context, v.category, v.confidence, v.status, v.superseded_by, v.version,
       v.valid_from, v.valid_to, v.change, v.reason, v.checksum, v.memory_id
FROM versions v
WHERE v.valid_to > $1
  AND v.valid_from <= $1
  AND v.status = 'active';

-- name: PayloadOf
SELECT bytes, codec, data FROM payloads WHERE sha256 = $1;

-- name: PayloadSize
SELECT bytes, data IS NOT NULL FROM payloads WHERE sha256 = $1;

-- name: PinMemory
UPDATE memories SET pinned = 1, decay_rate = 0 WHERE id = $1 AND ($2 OR category <> $3);

-- name: PresentModel
-- once
SELECT id, name, dims, upto, seq, state FROM models WHERE state = 'present';

-- name: PulledReplica
UPDATE replicas
SET seen_at = $1, pulled_at = $1, waiting = $2, refused = $3
WHERE replica = $4;

-- name: PurgeCounter
-- once
SELECT value FROM counters WHERE name = 'purges';

-- name: PurgeVector
UPDATE vectors SET vector = NULL, seq = $1 WHERE model = {model} AND memory_id = $2;

-- name: PurgedBetween
SELECT uid FROM purged WHERE revision > $1 AND revision <= $2 ORDER BY revision;

-- name: PurgedEntry
SELECT at, coalesce(' by ' || nullif(who, ''), '')
FROM audit
WHERE memory_id = $1
  AND action = 'purged'
ORDER BY id DESC
LIMIT 1;

-- name: PurgedFiles
SELECT sha256 FROM purged_files WHERE sha256 NOT IN (SELECT sha256 FROM payloads WHERE data IS NULL);

-- name: PutArrival
INSERT INTO arrivals(uid, replica, counter, theirs, ours)
SELECT $1::text, $2::text, $3::bigint, $4::bytea, $5::bytea
WHERE set_config('robotmem.pusher', '', true) = '' ON CONFLICT(tenant, uid, replica) DO
  UPDATE
  SET counter = excluded.counter, theirs = excluded.theirs, ours = excluded.ours;

-- name: PutConflict
INSERT INTO conflicts(uid, collection, robot, replica, at, said)
VALUES ($1,$2,$3,$4,$5,$6) ON CONFLICT(tenant, uid, replica)
WHERE settled_at IS NULL DO
  UPDATE
  SET at = excluded.at, said = excluded.said;

-- name: PutCredit
INSERT INTO session_recalls(session_id, memory_id, used, helped)
VALUES ($1,$2,$3,$4) ON CONFLICT(tenant, session_id, memory_id) DO
UPDATE
SET used = excluded.used, helped = excluded.helped;

-- name: PutFeatures
INSERT INTO features(memory_id, kind, vector)
VALUES ($1,$2,$3) ON CONFLICT(tenant, memory_id) DO
UPDATE
SET kind = excluded.kind, vector = excluded.vector;

-- name: PutFeedCursor
INSERT INTO feed_cursors(replica, feed, number)
VALUES ($1,$2,$3) ON CONFLICT(tenant, replica, feed) DO
UPDATE
SET number = excluded.number;

-- name: PutFleetCopy
-- none

-- name: PutFleetFeed
-- none

-- name: PutFleetLink
-- none

-- name: PutFleetNote
-- none

-- name: PutFleetSent
-- none

-- name: PutPayload
INSERT INTO payloads(sha256, bytes, codec, created_at, data, stored)
VALUES ($1,$2,$3,$4,$5,$6) ON CONFLICT(tenant, sha256) DO
UPDATE
SET bytes = excluded.bytes, codec = excluded.codec, data = excluded.data, stored = excluded.stored;

-- name: PutReplica
INSERT INTO replicas(replica, robot, joined_at, seen_at, upto, fork_of)
VALUES ($1,$2,$3,$4,0,nullif($5, '')) ON CONFLICT(tenant, replica) DO NOTHING;

-- name: PutSnapshotHead
INSERT INTO snapshot_heads(name, generation, revision, parts, checksum)
VALUES ($1,$2,$3,$4,$5) ON CONFLICT(tenant, name) DO
UPDATE
SET generation = excluded.generation, revision = excluded.revision, parts = excluded.parts, checksum = excluded.checksum;

-- name: PutUserTag
INSERT INTO memory_tags(memory_id, tag, source)
VALUES ($1,$2,'user') ON CONFLICT(tenant, memory_id, tag) DO
UPDATE
SET source = excluded.source;

-- name: PutVector
INSERT INTO vectors(model, memory_id, seq, vector, checksum)
VALUES ({model},$1,$2,$3,$4) ON CONFLICT(tenant, model, memory_id) DO
UPDATE
SET seq = excluded.seq, vector = excluded.vector, checksum = excluded.checksum;

-- name: QuickCheck
-- none

-- name: RebuildFullText
-- none

-- name: RecallCounters
SELECT name, value FROM counters WHERE name IN ('recalls', 'zero_hits');

-- name: RecallHours
SELECT hour, sum(recalls), sum(zero_hits)
FROM recall_hours
WHERE hour >= $3
  AND ($1 = '*'
       OR collection IN
         (SELECT jsonb_array_elements_text($2::jsonb)))
GROUP BY hour;

-- name: RecallsOfSession
SELECT m.id, coalesce(r.used, 0) AS helped
FROM memories m
LEFT JOIN session_recalls r ON r.session_id = $1
AND r.memory_id = m.id
WHERE m.id IN
    (SELECT memory_id
     FROM session_recalls
     WHERE session_id = $1
     UNION SELECT jsonb_array_elements_text($2::jsonb)::bigint)
ORDER BY helped DESC, m.id
LIMIT $3;

-- name: ReplaceIdentity
-- none

-- name: ReplaceStream
INSERT INTO streams(session_id,
              collection, source, received, stored, dropped, missed, bytes, updated_at)
VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9) ON CONFLICT(tenant,
                                         session_id, collection, source) DO
UPDATE
SET received = excluded.received, stored = excluded.stored, dropped = excluded.dropped, missed = excluded.missed,
    bytes = excluded.bytes, updated_at = excluded.updated_at;

-- name: ReplicaOf
SELECT robot, upto, coalesce(link, ''), forked_at IS NOT NULL, cloned, coalesce(claim, '') FROM replicas WHERE replica = $1;

-- name: ReplicaOfRobot
SELECT replica, coalesce(file_id, '')
FROM replicas
WHERE robot = $1
  AND forked_at IS NULL
ORDER BY joined_at
LIMIT 1;

-- name: ReplicationSettings
SELECT pg_is_in_recovery(), current_setting('synchronous_standby_names'), current_setting('synchronous_commit');

-- name: RequestOf
SELECT digest, answer FROM requests WHERE request_id = $1;

-- name: ResetFullText
INSERT INTO counters(name, value)
VALUES ('full_text', 0) ON CONFLICT(tenant, name) DO
UPDATE
SET value = 0;

-- name: ResetModel
UPDATE models SET upto = 0 WHERE id = $1;

-- name: RevisionByUID
-- none

-- name: RewriteFile
-- none

-- name: RobotSeen
SELECT coalesce(max(seen_at), '') FROM replicas WHERE robot = $1;

-- name: RobotsOfSession
SELECT DISTINCT coalesce(robot, '') FROM memories WHERE session_id = $1;

-- name: RobotsOfSite
SELECT r.replica, r.robot, coalesce(r.version, ''), r.joined_at, r.seen_at, coalesce(r.pushed_at, ''),
       coalesce(r.pulled_at, ''), r.waiting, r.refused, r.clock_ms, r.cloned,
  (SELECT count(*)
   FROM conflicts c
   WHERE c.replica = r.replica
     AND c.settled_at IS NULL)
FROM replicas r
WHERE r.forked_at IS NULL
ORDER BY r.robot, r.joined_at;

-- name: SameFullText
-- none

-- name: SchemaVersion
SELECT max(version) FROM robotmem.schema_versions;

-- name: ScrubUpto
SELECT value FROM counters WHERE name = 'scrub';

-- name: SecureDeleteOff
-- none

-- name: SecureDeleteOn
-- none

-- name: ServerState
SELECT current_setting('server_version'), current_user,
  (SELECT rolsuper
   OR rolbypassrls
   FROM pg_roles
   WHERE rolname = current_user),
  (SELECT max(version)
   FROM robotmem.schema_versions),
  session_user,
  (SELECT pg_get_userbyid(nspowner)
   FROM pg_namespace
   WHERE nspname = 'robotmem'),
  (SELECT rolsuper
   FROM pg_roles
   WHERE rolname = session_user)
  OR
  (SELECT pg_has_role(session_user, nspowner, 'MEMBER')
   FROM pg_namespace
   WHERE nspname = 'robotmem'),
  has_table_privilege('robotmem.tokens', 'SELECT')
  OR
  (SELECT pg_has_role(current_user, nspowner, 'MEMBER')
   FROM pg_namespace
   WHERE nspname = 'robotmem');

-- name: SessionByID
SELECT s.external_id, s.collection, s.context, s.session_count, s.status, s.client_type, s.summary, s.created_at,
       s.updated_at, s.ended_at, s.checksum,
  (SELECT count(*)
   FROM memories m
   WHERE m.session_id = s.external_id),
  (SELECT score
   FROM session_outcomes o
   WHERE o.session_id = s.external_id
   ORDER BY o.id DESC
   LIMIT 1),
  (SELECT string_agg(score::text || ' ' || created_at, ','
                     ORDER BY o.id)
   FROM session_outcomes o
   WHERE o.session_id = s.external_id)
FROM sessions s
WHERE s.external_id = $1;

-- name: SessionContext
SELECT context FROM sessions WHERE external_id = $1;

-- name: SessionOfOrigin
SELECT session_id FROM session_origins WHERE collection = $1 AND origin = $2;

-- name: SessionsByCollection
SELECT collection, count(*) FROM sessions GROUP BY collection;

-- name: SessionsByColumn
SELECT s.external_id, s.collection, s.context, s.session_count, s.status, s.client_type, s.summary, s.created_at,
       s.updated_at, s.ended_at, s.checksum,
  (SELECT count(*)
   FROM memories m
   WHERE m.session_id = s.external_id),
  (SELECT score
   FROM session_outcomes o
   WHERE o.session_id = s.external_id
   ORDER BY o.id DESC
   LIMIT 1),
  (SELECT string_agg(score::text || ' ' || created_at, ','
                     ORDER BY o.id)
   FROM session_outcomes o
   WHERE o.session_id = s.external_id), s.id
FROM sessions s
WHERE ($1 = '*'
       OR s.collection IN
         (SELECT jsonb_array_elements_text($2::jsonb)))
  AND ($3 = ''
       OR s.status = $3)
  AND ($4 = ''
       OR CASE $4
              WHEN 'failure' THEN
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) <= $5
              WHEN 'success' THEN
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) >= $6
              WHEN 'partial' THEN
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) > $5
                   AND
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) < $6
              ELSE
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) IS NULL
          END)
  AND ($7 = ''
       OR CASE
              WHEN robotmem.is_json(s.context) THEN coalesce(s.context::json #>> '{robot,id}',
                                                      s.context::json #>> '{robot,name}',
                                                      s.context::json #>> '{robot}')
          END = $7)
  AND ($8 = ''
       OR CASE
              WHEN robotmem.is_json(s.context) THEN coalesce(s.context::json #>> '{task,name}',
                                                      s.context::json #>> '{task,type}',
                                                      s.context::json #>> '{task,goal}', s.context::json #>> '{task}')
          END = $8
       OR EXISTS
         (SELECT 1
          FROM memories m
          WHERE m.session_id = s.external_id
            AND m.status = 'active'
            AND m.type = 'fact'
            AND CASE
                    WHEN robotmem.is_json(m.context) THEN coalesce(m.context::json #>> '{task,name}',
                                                            m.context::json #>> '{task,type}',
                                                            m.context::json #>> '{task,goal}',
                                                            m.context::json #>> '{task}')
                END = $8))
  AND ($9 = ''
       OR strpos(lower(s.context), lower($9)) > 0
       OR EXISTS
         (SELECT 1
          FROM memories m
          WHERE m.session_id = s.external_id
            AND m.status = 'active'
            AND m.type = 'fact'
            AND strpos(lower(m.content), lower($9)) > 0))
  AND ($10 = ''
       OR s.created_at >= $10)
  AND ($11 = ''
       OR s.created_at < $11)
ORDER BY CASE $12
             WHEN 'outcome' THEN
                    (SELECT score
                     FROM session_outcomes o
                     WHERE o.session_id = s.external_id
                     ORDER BY o.id DESC
                     LIMIT 1)
         END NULLS LAST, CASE $12
                             WHEN 'robot' THEN CASE
                                                   WHEN robotmem.is_json(s.context) THEN coalesce(s.context::json #>> '{robot,id}',
                                                                                           s.context::json #>> '{robot,name}',
                                                                                           s.context::json #>> '{robot}')
                                               END
                             WHEN 'task' THEN CASE
                                                  WHEN robotmem.is_json(s.context) THEN coalesce(s.context::json #>> '{task,name}',
                                                                                          s.context::json #>> '{task,type}',
                                                                                          s.context::json #>> '{task,goal}',
                                                                                          s.context::json #>> '{task}')
                                              END
                             WHEN 'place' THEN CASE
                                                   WHEN robotmem.is_json(s.context) THEN coalesce(s.context::json #>> '{spatial}',
                                                                                           NULL)
                                               END
                         END NULLS LAST, s.id DESC
LIMIT $13
OFFSET $14;

-- name: SessionsByTime
SELECT s.external_id, s.collection, s.context, s.session_count, s.status, s.client_type, s.summary, s.created_at,
       s.updated_at, s.ended_at, s.checksum,
  (SELECT count(*)
   FROM memories m
   WHERE m.session_id = s.external_id),
  (SELECT score
   FROM session_outcomes o
   WHERE o.session_id = s.external_id
   ORDER BY o.id DESC
   LIMIT 1),
  (SELECT string_agg(score::text || ' ' || created_at, ','
                     ORDER BY o.id)
   FROM session_outcomes o
   WHERE o.session_id = s.external_id), s.id
FROM sessions s
WHERE ($1 = '*'
       OR s.collection IN
         (SELECT jsonb_array_elements_text($2::jsonb)))
  AND ($3 = ''
       OR s.status = $3)
  AND ($4 = ''
       OR CASE $4
              WHEN 'failure' THEN
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) <= $5
              WHEN 'success' THEN
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) >= $6
              WHEN 'partial' THEN
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) > $5
                   AND
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) < $6
              ELSE
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) IS NULL
          END)
  AND ($7 = ''
       OR CASE
              WHEN robotmem.is_json(s.context) THEN coalesce(s.context::json #>> '{robot,id}',
                                                      s.context::json #>> '{robot,name}',
                                                      s.context::json #>> '{robot}')
          END = $7)
  AND ($8 = ''
       OR CASE
              WHEN robotmem.is_json(s.context) THEN coalesce(s.context::json #>> '{task,name}',
                                                      s.context::json #>> '{task,type}',
                                                      s.context::json #>> '{task,goal}', s.context::json #>> '{task}')
          END = $8
       OR EXISTS
         (SELECT 1
          FROM memories m
          WHERE m.session_id = s.external_id
            AND m.status = 'active'
            AND m.type = 'fact'
            AND CASE
                    WHEN robotmem.is_json(m.context) THEN coalesce(m.context::json #>> '{task,name}',
                                                            m.context::json #>> '{task,type}',
                                                            m.context::json #>> '{task,goal}',
                                                            m.context::json #>> '{task}')
                END = $8))
  AND ($9 = ''
       OR strpos(lower(s.context), lower($9)) > 0
       OR EXISTS
         (SELECT 1
          FROM memories m
          WHERE m.session_id = s.external_id
            AND m.status = 'active'
            AND m.type = 'fact'
            AND strpos(lower(m.content), lower($9)) > 0))
  AND ($10 = ''
       OR s.created_at >= $10)
  AND ($11 = ''
       OR s.created_at < $11)
  AND ($12 = ''
       OR (s.created_at, s.id) < ($12, $13))
ORDER BY s.created_at DESC, s.id DESC
LIMIT $14
OFFSET $15;

-- name: SetAutoTags
UPDATE memories SET auto_tags = $1, revision = $2 WHERE id = $3;

-- name: SetChangeCounter
UPDATE counters SET value = $1 WHERE name = 'changes';

-- name: SetChecksum
UPDATE memories SET checksum = $1 WHERE id = $2;

-- name: SetCounter
INSERT INTO counters(name, value)
VALUES ($1,$2) ON CONFLICT(tenant, name) DO
UPDATE
SET value = excluded.value;

-- name: SetFeatureRules
UPDATE counters SET value = $1 WHERE name = 'feature_rules';

-- name: SetFileID
-- none

-- name: SetFilePlace
-- none

-- name: SetFullTextUpto
INSERT INTO counters(name, value)
VALUES ('full_text', $1) ON CONFLICT(tenant, name) DO
UPDATE
SET value = excluded.value;

-- name: SetIdentity
-- none

-- name: SetModelSeq
UPDATE models SET seq = $1 WHERE id = $2;

-- name: SetModelState
UPDATE models SET state = $1 WHERE id = $2;

-- name: SetOutcome
UPDATE memories SET outcome = $1, outcome_source = $2 WHERE id = $3;

-- name: SetScrub
UPDATE counters SET value = $1 WHERE name = 'scrub';

-- name: SetSessionChecksum
UPDATE sessions SET checksum = $1 WHERE external_id = $2;

-- name: SetSignature
UPDATE signatures
SET sequence = $1, terms = $2, numbers = $3, skeleton = $4, sketch_a = $5, sketch_b = $6
WHERE group_key = $7
  AND seq = $8;

-- name: SetTenantIDs
UPDATE robotmem.tenants SET ids = $1::jsonb WHERE id = $2;

-- name: SetVersionChecksum
UPDATE versions SET checksum = $1 WHERE rowid = $2;

-- name: SettleConflict
UPDATE conflicts
SET settled_at = $1, settled_by = $2, settlement = $3
WHERE id = $4
  AND settled_at IS NULL;

-- name: SightingsOf
SELECT memory_id FROM sightings WHERE session_id = $1 ORDER BY memory_id;

-- name: SignaturesAfter
SELECT seq, memory_id, terms, numbers, skeleton, sketch_a, sketch_b, sequence
FROM signatures
WHERE group_key = $1
  AND seq > $2
ORDER BY seq;

-- name: SignedTexts
SELECT s.group_key, s.seq, m.content
FROM signatures s
JOIN memories m ON m.id = s.memory_id
ORDER BY s.group_key, s.seq;

-- name: SnapshotHead
SELECT generation, revision, parts, checksum FROM snapshot_heads WHERE name = $1;

-- name: SnapshotPart
SELECT data FROM snapshots WHERE name = $1 AND generation = $2 AND part = $3;

-- name: SnapshotRevision
SELECT revision
FROM snapshot_heads
WHERE name = $1
  AND (name = 'codes'
       OR revision <=
         (SELECT value
          FROM counters
          WHERE name = 'changes'));

-- name: Standbys
SELECT application_name, coalesce(state, ''), coalesce(sync_state,
                                                ''),
       coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn), 0)::bigint
FROM pg_stat_replication
WHERE NOT pg_is_in_recovery()
ORDER BY 1;

-- name: StreamsOf
SELECT collection, source, received, stored, dropped, missed, bytes, updated_at
FROM streams
WHERE session_id = $1
ORDER BY collection, source;

-- name: SuccessorWhenForgotten
SELECT coalesce(superseded_by, 0)
FROM versions
WHERE memory_id = $1
  AND change = 'forgotten'
ORDER BY rowid DESC
LIMIT 1;

-- name: SuccessorsChanged
SELECT m.uid, o.uid
FROM memories m
JOIN memories o ON o.id = m.superseded_by
WHERE m.revision > $1
  AND m.revision <= $2
  OR o.revision > $1
  AND o.revision <= $2;

-- name: SumEvicted
SELECT coalesce(sum(bytes), 0) FROM evictions;

-- name: SumPayloads
SELECT coalesce(sum(bytes), 0) FROM payloads;

-- name: SumStored
SELECT coalesce(sum(CASE WHEN data IS NULL THEN coalesce(stored,
                                                  bytes) ELSE length(data)
                    END), 0)
FROM payloads;

-- name: SumStreams
SELECT source, sum(received), sum(stored), sum(dropped), sum(missed), sum(bytes)
FROM streams
WHERE $1 = ''
  OR session_id = $1
GROUP BY source
ORDER BY source;

-- name: SumWantedPayloads
SELECT coalesce(sum(p.bytes), 0)
FROM payloads p
WHERE EXISTS
    (SELECT 1
     FROM memories m
     WHERE m.perception_data = p.sha256
       AND m.status = 'active');

-- name: SummariesOfSession
SELECT human_summary FROM memories WHERE session_id = $1 AND status = 'active' ORDER BY id LIMIT 20;

-- name: SupersededBy
SELECT id FROM memories WHERE superseded_by = $1 ORDER BY id;

-- name: TemporariesInFile
-- none

-- name: TemporariesInMemory
-- none

-- name: TextOf
SELECT m.id, m.revision, m.status = 'active', m.collection, m.type, m.content, m.human_summary, m.scope_files,
       m.scope_entities, m.context
FROM memories m
WHERE m.id = $1;

-- name: TimesOfSession
SELECT min(observed_at), max(observed_at) FROM memories WHERE session_id = $1;

-- name: TouchFullText
-- none

-- name: TriesOfSession
SELECT id, content, context, outcome, observed_at
FROM memories
WHERE session_id = $1
  AND collection = $2
  AND status = 'active'
  AND type = 'fact'
ORDER BY id;

-- name: TruncateLog
-- none

-- name: UnconfirmedPurges
SELECT p.uid, p.at::text, string_agg(DISTINCT r.robot, chr(31))
FROM feed p
JOIN replicas r ON r.forked_at IS NULL
LEFT JOIN feed_cursors c ON c.replica = r.replica
AND c.feed = p.feed
WHERE p.change = 'purged'
  AND ($1 = ''
       OR p.uid = $1)
  AND (p.feed = '@' || r.robot
       OR c.number IS NOT NULL)
  AND coalesce(c.number, 0) < p.number
GROUP BY p.uid, p.at
ORDER BY p.at DESC
LIMIT $2;

-- name: UnnamedPayloads
SELECT DISTINCT upper(encode(perception_data, 'hex'))
FROM memories
WHERE perception_data IS NOT NULL
  AND status = 'active'
  AND perception_data NOT IN
    (SELECT sha256
     FROM payloads)
  AND id NOT IN
    (SELECT memory_id
     FROM evictions);

-- name: UnusedRecalls
SELECT memory_id FROM session_recalls WHERE session_id = $1 AND used = 0 ORDER BY memory_id;

-- name: UpdateMemory
UPDATE memories
SET uid = $1, session_id = $2, collection = $3, type = $4, content = $5, human_summary = $6, context = $7,
                                                       perception_type = $8, perception_data = $9,
                                                       perception_metadata = $10, media_type = $11, category = $12,
                                                       confidence = $13, decay_rate = $14, status = $15,
                                                       superseded_by = $16, pinned = $17, source = $18,
                                                                                                   scope_files = $19,
                                                                                                   scope_entities = $20,
                                                                                                   robot = $21,
                                                                                                   tool = $22,
                                                                                                   who = $23,
                                                                                                   sightings = $24,
                                                                                                   access_count = $25,
                                                                                                   return_count = $26,
                                                                                                   last_accessed = $27,
                                                                                                   version = $28,
                                                                                                             valid_from = $29,
                                                                                                             observed_at = $30,
                                                                                                             created_at = $31,
                                                                                                             updated_at = $32,
                                                                                                             content_hash = $33,
                                                                                                             revision = $34,
                                                                                                             auto_tags = $35,
                                                                                                             outcome = $36,
                                                                                                             outcome_source = $37,
                                                                                                             uses = $38,
                                                                                                             successes = $39,
                                                                                                             checksum = $40
WHERE id = $41;

-- name: UpdateSession
UPDATE sessions
SET external_id = $1, collection = $2, context = $3, session_count = $4, status = $5, client_type = $6, summary = $7,
                                                                                                                  created_at = $8,
                                                                                                                  updated_at = $9,
                                                                                                                  ended_at = $10
WHERE external_id = $11;

-- name: UserTags
SELECT tag FROM memory_tags WHERE source = 'user' AND memory_id = $1 ORDER BY tag;

-- name: VectorOf
SELECT vector, checksum, seq FROM vectors WHERE model = {model} AND memory_id = $1;

-- name: VectorsAfter
SELECT memory_id, seq, vector, checksum
FROM vectors
WHERE model = {model}
  AND seq > 0
  AND seq > $1
ORDER BY seq
LIMIT $2;

-- name: VectorsOf
SELECT found.*
FROM unnest(translate($1, '[]', '{}')::bigint[]) AS wanted(id), LATERAL
  (SELECT memory_id, vector, checksum
   FROM vectors
   WHERE model = {model}
     AND memory_id = wanted.id
     OFFSET 0) AS found;

-- name: VersionsOf
SELECT v.content, v.human_summary, v.context, v.category, v.confidence, v.status, v.superseded_by, v.version,
       v.valid_from, v.valid_to, v.change, v.reason, v.checksum, v.memory_id
FROM versions v
WHERE v.memory_id = $1
ORDER BY v.rowid;

-- name: VersionsOfMemories
SELECT found.*
FROM unnest(translate($1, '[]', '{}')::bigint[]) AS wanted(id), LATERAL
  (SELECT id, version
   FROM memories
   WHERE id = wanted.id
     OFFSET 0) AS found;

-- name: WantedPayloads
SELECT p.sha256, p.bytes, p.codec, p.data
FROM payloads p
WHERE EXISTS
    (SELECT 1
     FROM memories m
     WHERE m.perception_data = p.sha256
       AND m.status = 'active');

-- name: WithVectorOf
SELECT m.id, m.revision, m.version, m.type, m.content, m.human_summary, m.status = 'active'
AND
  (SELECT v.memory_id
   FROM vectors v
   WHERE v.model = {model}
     AND v.memory_id = m.id) IS NULL
FROM memories m
WHERE m.id = $1;

-- name: WithoutFeatures
SELECT id
FROM memories
WHERE id > $1
  AND id IN
    (SELECT id
     FROM memories
     WHERE perception_data IS NOT NULL
     EXCEPT SELECT memory_id
     FROM features)
ORDER BY id
LIMIT $2;
