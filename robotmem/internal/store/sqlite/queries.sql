-- The queries of package store as SQLite reads them, sorted by name. {model} is the number of a model. The
-- head none marks a query that has nothing to do in a file.

-- name: ActiveMemoryIDs
SELECT id FROM memories WHERE status = 'active' ORDER BY id;

-- name: ActiveNaming
SELECT id FROM memories WHERE perception_data = ? AND status = 'active' ORDER BY id LIMIT ?;

-- name: AddAccess
UPDATE memories SET access_count = access_count + 1, last_accessed = ?, revision = ? WHERE id = ?;

-- name: AddPurge
UPDATE counters SET value = value + 1 WHERE name = 'purges';

-- name: AddRecallHour
INSERT INTO recall_hours(hour, collection, recalls, zero_hits)
VALUES (?,?,?,?) ON CONFLICT(hour, collection) DO
UPDATE
SET recalls = recall_hours.recalls + excluded.recalls, zero_hits = recall_hours.zero_hits + excluded.zero_hits;

-- name: AddReturns
UPDATE memories SET return_count = return_count + ? WHERE id = ?;

-- name: AddSightings
UPDATE memories
SET sightings = sightings + 1, access_count = access_count + 1, last_accessed = ?, revision = ?
WHERE id = ?;

-- name: AddStream
INSERT INTO streams(session_id,
              collection, source, received, stored, dropped, missed, bytes, updated_at)
VALUES (?,?,?,?,?,?,?,?,?) ON CONFLICT(session_id, collection, source) DO
UPDATE
SET received = streams.received + excluded.received, stored = streams.stored + excluded.stored, dropped = streams.dropped + excluded.dropped,
    missed = streams.missed + excluded.missed, bytes = streams.bytes + excluded.bytes, updated_at = excluded.updated_at;

-- name: AddToCounter
UPDATE counters SET value = value + ? WHERE name = ?;

-- name: AddUse
UPDATE memories
SET uses = coalesce(uses, 0) + ?1, successes = coalesce(successes,
                                                 0) + ?1 * ?2, revision = ?3
WHERE id = ?4;

-- name: AdoptFleetState
INSERT INTO fleet_sent(uid, version, adopted)
VALUES (?,0,?) ON CONFLICT(uid) DO
UPDATE
SET adopted = excluded.adopted;

-- name: AdvanceModel
UPDATE models SET seq = ?, upto = max(upto, ?) WHERE id = ?;

-- name: AdvanceReplica
-- none

-- name: AllColumns
SELECT m.id, m.revision, m.collection, m.session_id, m.category, m.type, m.perception_type, m.status,
       m.confidence, m.decay_rate, m.observed_at, coalesce(m.last_accessed,
                                                    m.created_at), m.created_at, m.valid_from,
       CASE
           WHEN instr(m.context, 'sim_or_real') > 0
                AND json_valid(m.context) THEN json_extract(m.context,
                                                 '$.env.sim_or_real') = 'real'
       END, m.context, m.auto_tags,
  (SELECT group_concat(tag, char(31))
   FROM memory_tags t
   WHERE t.memory_id = m.id), CASE WHEN m.outcome_source = 'session' THEN NULL ELSE m.outcome
                              END, m.uses, m.successes, m.sightings
FROM memories m
WHERE +m.revision > ?;

-- name: AllContexts
SELECT m.id, m.revision, m.context FROM memories m WHERE +m.revision > ?;

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
  (SELECT group_concat(quote(score) || ' ' || created_at
                       ORDER BY o.id)
   FROM session_outcomes o
   WHERE o.session_id = s.external_id)
FROM sessions s
ORDER BY s.id;

-- name: AllVectors
SELECT memory_id, vector, checksum FROM vectors_{model} WHERE vector IS NOT NULL;

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
WHERE m.uid = ?;

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
WHERE (?1 = ''
       OR m.collection = ?1)
  AND (?2 = ''
       OR m.session_id = ?2)
ORDER BY m.uid;

-- name: ArchivedOrigins
SELECT m.uid, '', 0, '', '', 0, o.collection, o.origin, ''
FROM origins o
JOIN memories m ON m.id = o.memory_id
WHERE (?1 = ''
       OR m.collection = ?1)
  AND (?2 = ''
       OR m.session_id = ?2)
ORDER BY o.collection, o.origin;

-- name: ArchivedPastSuccessors
SELECT m.uid, o.uid, v.version, v.valid_to, '', 0, '', '', ''
FROM versions v
JOIN memories m ON m.id = v.memory_id
JOIN memories o ON o.id = v.superseded_by
WHERE v.superseded_by IS NOT NULL
  AND (?1 = ''
       OR m.collection = ?1)
  AND (?2 = ''
       OR m.session_id = ?2)
ORDER BY m.uid, v.valid_to, v.version;

-- name: ArchivedRecalls
SELECT m.uid, '', 0, '', r.session_id, r.used, '', '', ''
FROM session_recalls r
JOIN memories m ON m.id = r.memory_id
JOIN sessions s ON s.external_id = r.session_id
WHERE (?1 = ''
       OR s.collection = ?1)
  AND (?2 = ''
       OR s.external_id = ?2)
ORDER BY r.session_id, m.uid;

-- name: ArchivedSessionOrigins
SELECT '', '', 0, '', o.session_id, 0, o.collection, o.origin, ''
FROM session_origins o
JOIN sessions s ON s.external_id = o.session_id
WHERE (?1 = ''
       OR s.collection = ?1)
  AND (?2 = ''
       OR s.external_id = ?2)
ORDER BY o.collection, o.origin;

-- name: ArchivedSessions
SELECT s.external_id, s.collection, s.context, s.session_count, s.status, s.client_type, s.summary, s.created_at,
       s.updated_at, s.ended_at
FROM sessions s
WHERE (?1 = ''
       OR s.collection = ?1)
  AND (?2 = ''
       OR s.external_id = ?2)
ORDER BY external_id;

-- name: ArchivedSightings
SELECT m.uid, '', 0, '', g.session_id, 0, '', '', g.seen_at
FROM sightings g
JOIN memories m ON m.id = g.memory_id
JOIN sessions s ON s.external_id = g.session_id
WHERE (?1 = ''
       OR s.collection = ?1)
  AND (?2 = ''
       OR s.external_id = ?2)
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
WHERE m.revision > ?
ORDER BY m.revision
LIMIT ?;

-- name: ArchivedSuccessors
SELECT m.uid, o.uid, 0, '', '', 0, '', '', ''
FROM memories m
JOIN memories o ON o.id = m.superseded_by
WHERE m.superseded_by IS NOT NULL
  AND (?1 = ''
       OR m.collection = ?1)
  AND (?2 = ''
       OR m.session_id = ?2)
ORDER BY m.uid;

-- name: ArchivedVersions
SELECT v.content, v.human_summary, v.context, v.category, v.confidence, v.status, v.superseded_by, v.version,
       v.valid_from, v.valid_to, v.change, v.reason,
  (SELECT uid
   FROM memories o
   WHERE o.id = v.superseded_by), v.checksum, v.memory_id
FROM versions v
WHERE v.memory_id = ?
ORDER BY v.valid_to, v.version, v.rowid;

-- name: AttachPayload
UPDATE memories SET perception_data = ?, revision = ? WHERE id = ? AND perception_data IS NULL;

-- name: AuditPage
SELECT at, action, memory_id, uid, session_id, collection, who, tool, reason,
before, after, id
FROM audit
WHERE (?1 = '*'
       OR collection IN
         (SELECT value
          FROM json_each(?2)))
  AND (?3 = ''
       OR who = ?3)
  AND (?4 = ''
       OR action = ?4)
  AND (?5 = ''
       OR at >= ?5)
  AND (?6 = ''
       OR at < ?6)
  AND id < ?7
ORDER BY id DESC
LIMIT ?8;

-- name: AuditPageOfMemory
SELECT at, action, memory_id, uid, session_id, collection, who, tool, reason,
before, after, id
FROM audit
WHERE memory_id = ?9
  AND (?1 = '*'
       OR collection IN
         (SELECT value
          FROM json_each(?2)))
  AND (?3 = ''
       OR who = ?3)
  AND (?4 = ''
       OR action = ?4)
  AND (?5 = ''
       OR at >= ?5)
  AND (?6 = ''
       OR at < ?6)
  AND id < ?7
ORDER BY id DESC
LIMIT ?8;

-- name: BestPerception
SELECT id, perception_type, media_type, human_summary
FROM memories
WHERE session_id = ?1
  AND type = 'perception'
  AND status = 'active'
ORDER BY perception_data IS NULL, perception_type NOT IN ('tactile', 'proprioceptive', 'auditory'), observed_at > ?2,
                                                                                                                   abs(julianday(observed_at) - julianday(?2))
LIMIT 1;

-- name: ChangeCounter
SELECT max(value,
             (SELECT coalesce(max(revision), 0)
              FROM memories))
FROM counters
WHERE name = 'changes';

-- name: ChangedColumns
SELECT m.id, m.revision, m.collection, m.session_id, m.category, m.type, m.perception_type, m.status,
       m.confidence, m.decay_rate, m.observed_at, coalesce(m.last_accessed,
                                                    m.created_at), m.created_at, m.valid_from,
       CASE
           WHEN instr(m.context, 'sim_or_real') > 0
                AND json_valid(m.context) THEN json_extract(m.context,
                                                 '$.env.sim_or_real') = 'real'
       END, m.context, m.auto_tags,
  (SELECT group_concat(tag, char(31))
   FROM memory_tags t
   WHERE t.memory_id = m.id), CASE WHEN m.outcome_source = 'session' THEN NULL ELSE m.outcome
                              END, m.uses, m.successes, m.sightings
FROM memories m
WHERE m.revision > ?;

-- name: ChangedIDs
SELECT m.id, m.revision FROM memories m INDEXED BY idx_mem_revision WHERE m.revision > ?;

-- name: ChangedIDsPage
SELECT m.id, m.revision
FROM memories m INDEXED BY idx_mem_revision
WHERE m.revision > ?
ORDER BY m.revision
LIMIT ?;

-- name: ChangedTexts
SELECT m.id, m.revision, m.status = 'active', m.collection, m.type, m.content, m.human_summary, m.scope_files,
       m.scope_entities, m.context
FROM memories m
WHERE m.revision > ?
ORDER BY m.revision
LIMIT ?;

-- name: ChangedWithVectors
SELECT m.id, m.revision, m.version, m.type, m.content, m.human_summary, m.status = 'active'
AND
  (SELECT v.memory_id
   FROM vectors_{model} v
   WHERE v.memory_id = m.id) IS NULL
FROM memories m
WHERE m.revision > ?
ORDER BY m.revision
LIMIT ?;

-- name: ClaimOfReplica
-- none

-- name: ClaimReplica
-- none

-- name: ClearAudit
UPDATE audit SET reason = NULL, before = NULL, after = NULL WHERE memory_id = ?;

-- name: ClearOutcome
UPDATE memories SET outcome = NULL, outcome_source = NULL WHERE id = ?;

-- name: ClearPastSuccessors
UPDATE versions SET superseded_by = NULL WHERE superseded_by = ?;

-- name: ClearScrub
UPDATE counters SET value = 0 WHERE name = 'scrub' AND value <= ?;

-- name: ClearSuccessors
UPDATE memories SET superseded_by = NULL WHERE superseded_by = ?;

-- name: CollectionsNaming
SELECT DISTINCT collection FROM memories WHERE perception_data = ?;

-- name: ColumnsOf
SELECT m.id, m.revision, m.collection, m.session_id, m.category, m.type, m.perception_type, m.status,
       m.confidence, m.decay_rate, m.observed_at, coalesce(m.last_accessed,
                                                    m.created_at), m.created_at, m.valid_from,
       CASE
           WHEN instr(m.context, 'sim_or_real') > 0
                AND json_valid(m.context) THEN json_extract(m.context,
                                                 '$.env.sim_or_real') = 'real'
       END, m.context, m.auto_tags,
  (SELECT group_concat(tag, char(31))
   FROM memory_tags t
   WHERE t.memory_id = m.id), CASE WHEN m.outcome_source = 'session' THEN NULL ELSE m.outcome
                              END, m.uses, m.successes, m.sightings
FROM memories m
WHERE m.id = ?;

-- name: ConfirmFleetLink
UPDATE fleet_links SET confirmed = 1 WHERE seq = ?;

-- name: ConflictByID
-- none

-- name: ConflictRule
-- none

-- name: ConflictsOpen
-- none

-- name: ContextAtRevision
SELECT m.id, m.revision, m.context FROM memories m WHERE m.id = ?;

-- name: ContextOf
SELECT context FROM memories WHERE id = ?;

-- name: CopiesCredited
SELECT m.uid, r.helped
FROM session_recalls r
JOIN memories m ON m.id = r.memory_id
WHERE r.session_id = ?
  AND m.tool = ?
  AND r.helped IS NOT NULL;

-- name: CountActive
SELECT count(*) FROM memories WHERE status = 'active';

-- name: CountCredit
SELECT count(*) FROM session_recalls WHERE session_id = ? AND memory_id = ? AND helped IS NOT NULL;

-- name: CountEqualSignatures
SELECT count(*)
FROM signatures
WHERE group_key = ?
  AND memory_id = ?
  AND sequence = ?
  AND numbers = ?
  AND skeleton = ?
  AND sketch_a = ?
  AND sketch_b = ?;

-- name: CountEvictions
SELECT count(*) FROM evictions;

-- name: CountEvictionsOf
SELECT count(*) FROM evictions WHERE memory_id = ?;

-- name: CountExtraFullText
SELECT count(*)
FROM memories_fts_content
WHERE id NOT IN
    (SELECT id
     FROM memories
     WHERE status = 'active'
       OR revision >
         (SELECT value
          FROM counters
          WHERE name = 'full_text'));

-- name: CountExtraSignatures
SELECT count(*) FROM signatures WHERE memory_id NOT IN (SELECT id FROM memories);

-- name: CountExtraTags
SELECT count(*) FROM memory_tags WHERE memory_id NOT IN (SELECT id FROM memories);

-- name: CountFleetLinksResent
SELECT count(*) FROM fleet_links WHERE seq > ? AND resent = 1;

-- name: CountFleetNotes
SELECT count(*) FROM fleet_notes WHERE kind = ?;

-- name: CountLostNaming
SELECT count(*)
FROM memories
WHERE perception_data = ?
  AND id NOT IN
    (SELECT memory_id
     FROM evictions
     WHERE NOT reason IN ('the file was damaged: the bytes are lost', 'lost before the import'));

-- name: CountMemory
SELECT count(*) FROM memories WHERE id = ?;

-- name: CountMissingFullText
SELECT count(*)
FROM memories
WHERE status = 'active'
  AND revision <=
    (SELECT value
     FROM counters
     WHERE name = 'full_text')
  AND id NOT IN
    (SELECT id
     FROM memories_fts_content);

-- name: CountMissingSignatures
SELECT count(*) FROM memories WHERE type = 'fact' AND id NOT IN (SELECT memory_id FROM signatures);

-- name: CountNaming
SELECT count(*)
FROM memories
WHERE perception_data = ?
  AND id NOT IN
    (SELECT memory_id
     FROM evictions);

-- name: CountOthersNaming
SELECT count(*)
FROM memories
WHERE perception_data = ?
  AND id <> ?
  AND id NOT IN
    (SELECT memory_id
     FROM evictions);

-- name: CountPayloadFile
SELECT count(*) FROM payloads WHERE sha256 = ? AND data IS NULL;

-- name: CountPurged
SELECT count(*) FROM purged WHERE uid = ?;

-- name: CountRecalled
SELECT count(*), coalesce(sum(used), 0) FROM session_recalls WHERE session_id = ?;

-- name: CountRecalls
SELECT value FROM counters WHERE name = 'recalls';

-- name: CountRefused
SELECT count(*) FROM vectors_{model} WHERE vector IS NULL;

-- name: CountReplicasOfRobot
-- none

-- name: CountSessions
SELECT count(*) FROM sessions;

-- name: CountSessionsMatching
SELECT count(*)
FROM sessions s
WHERE (?1 = '*'
       OR s.collection IN
         (SELECT value
          FROM json_each(?2)))
  AND (?3 = ''
       OR s.status = ?3)
  AND (?4 = ''
       OR CASE ?4
              WHEN 'failure' THEN
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) <= ?5
              WHEN 'success' THEN
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) >= ?6
              WHEN 'partial' THEN
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) > ?5
                   AND
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) < ?6
              ELSE
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) IS NULL
          END)
  AND (?7 = ''
       OR CASE
              WHEN json_valid(s.context) THEN coalesce(s.context ->> '$.robot.id',
                                                s.context ->> '$.robot.name', s.context ->> '$.robot')
          END = ?7)
  AND (?8 = ''
       OR CASE
              WHEN json_valid(s.context) THEN coalesce(s.context ->> '$.task.name',
                                                s.context ->> '$.task.type', s.context ->> '$.task.goal',
                                                s.context ->> '$.task')
          END = ?8
       OR EXISTS
         (SELECT 1
          FROM memories m
          WHERE m.session_id = s.external_id
            AND m.status = 'active'
            AND m.type = 'fact'
            AND CASE
                    WHEN json_valid(m.context) THEN coalesce(m.context ->> '$.task.name', m.context ->> '$.task.type',
                                                      m.context ->> '$.task.goal', m.context ->> '$.task')
                END = ?8))
  AND (?9 = ''
       OR instr(lower(s.context), lower(?9)) > 0
       OR EXISTS
         (SELECT 1
          FROM memories m
          WHERE m.session_id = s.external_id
            AND m.status = 'active'
            AND m.type = 'fact'
            AND instr(lower(m.content), lower(?9)) > 0))
  AND (?10 = ''
       OR s.created_at >= ?10)
  AND (?11 = ''
       OR s.created_at < ?11);

-- name: CountSessionsNamed
SELECT id FROM sessions WHERE external_id = ?;

-- name: CountSignature
SELECT count(*) FROM signatures WHERE group_key = ? AND seq = ? AND memory_id = ?;

-- name: CountTakenEvictions
SELECT count(*)
FROM evictions
WHERE memory_id = ?
  AND NOT reason IN ('the file was damaged: the bytes are lost', 'lost before the import');

-- name: CountUnsealed
SELECT count(*) FROM counters WHERE name = 'unsealed';

-- name: CountVectors
SELECT count(*) FROM vectors_{model} WHERE vector IS NOT NULL;

-- name: CountVersions
SELECT count(*) FROM versions WHERE memory_id = ?;

-- name: CountWaiting
SELECT count(*)
FROM memories m
WHERE m.revision > ?
  AND m.status = 'active'
  AND NOT EXISTS
    (SELECT 1
     FROM vectors_{model} v
     WHERE v.memory_id = m.id);

-- name: CountWithoutFeatures
SELECT count(*)
FROM
  (SELECT id
   FROM memories INDEXED BY idx_mem_payload
   WHERE perception_data IS NOT NULL
   EXCEPT SELECT memory_id
   FROM features) AS waiting;

-- name: CounterNamed
SELECT value FROM counters WHERE name = ?;

-- name: CreateFullText
CREATE VIRTUAL TABLE memories_fts USING fts5(content, human_summary, scope_files, scope_entities,
                                             tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Mn Mc' tokenchars '._/:-'", detail = none, columnsize = 0);

-- name: CreateVectors
CREATE TABLE IF NOT EXISTS vectors_{model}(memory_id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, vector BLOB, checksum INTEGER);
CREATE INDEX IF NOT EXISTS idx_vectors_{model}_seq ON vectors_{model}(seq);

-- name: DeadRows
-- none

-- name: DeleteAllFeatures
DELETE FROM features;

-- name: DeleteAllSignatures
DELETE FROM signatures;

-- name: DeleteAnswersNaming
DELETE FROM requests WHERE instr(answer, ?) > 0;

-- name: DeleteDerivedTags
DELETE FROM memory_tags WHERE source = 'auto' OR memory_id NOT IN (SELECT id FROM memories);

-- name: DeleteEvictions
DELETE FROM evictions WHERE memory_id = ?;

-- name: DeleteFeaturesOfMemory
DELETE FROM features WHERE memory_id = ?;

-- name: DeleteFleetCopies
DELETE FROM fleet_copies;

-- name: DeleteFleetCopiesOf
DELETE FROM fleet_copies WHERE feed = ?;

-- name: DeleteFleetCopy
DELETE FROM fleet_copies WHERE uid = ?;

-- name: DeleteFleetFeeds
DELETE FROM fleet_feeds;

-- name: DeleteFleetLinksAfter
DELETE FROM fleet_links WHERE seq > ?1 OR seq <= ?1 - 1000;

-- name: DeleteFleetNote
DELETE FROM fleet_notes WHERE kind = ? AND uid = ?;

-- name: DeleteFleetNotes
DELETE FROM fleet_notes WHERE kind = ?;

-- name: DeleteFleetSent
DELETE FROM fleet_sent;

-- name: DeleteFullText
DELETE FROM memories_fts WHERE rowid = ?;

-- name: DeleteLoosePart
DELETE
FROM snapshots
WHERE rowid =
    (SELECT s.rowid
     FROM snapshots s
     LEFT JOIN snapshot_heads h ON h.name = s.name
     AND h.generation = s.generation
     WHERE s.name = ?
       AND h.name IS NULL
     LIMIT 1);

-- name: DeleteLostEvictions
DELETE
FROM evictions
WHERE memory_id = ?
  AND reason IN ('the file was damaged: the bytes are lost', 'lost before the import');

-- name: DeleteMemory
DELETE FROM memories WHERE id = ?;

-- name: DeleteModel
DELETE FROM models WHERE id = ?;

-- name: DeleteOldRequests
DELETE
FROM requests
WHERE id IN
    (SELECT id
     FROM requests
     ORDER BY id
     LIMIT 2)
  AND (id <= ?
       OR created_at < ?);

-- name: DeleteOriginsOfMemory
DELETE FROM origins WHERE memory_id = ?;

-- name: DeleteOtherReplicas
-- none

-- name: DeletePayload
DELETE FROM payloads WHERE sha256 = ?;

-- name: DeletePurgedFiles
DELETE FROM purged_files;

-- name: DeleteRecallsOfMemory
DELETE FROM session_recalls WHERE memory_id = ?;

-- name: DeleteReplicasOf
-- none

-- name: DeleteSightingsOfMemory
DELETE FROM sightings WHERE memory_id = ?;

-- name: DeleteSignature
DELETE FROM signatures WHERE group_key = ? AND memory_id = ?;

-- name: DeleteSignaturesOfMemory
DELETE FROM signatures WHERE memory_id = ?;

-- name: DeleteSnapshotHead
DELETE FROM snapshot_heads WHERE name = ?;

-- name: DeleteSnapshotHeads
DELETE FROM snapshot_heads;

-- name: DeleteSnapshots
DELETE FROM snapshots;

-- name: DeleteTags
DELETE FROM memory_tags WHERE memory_id = ?;

-- name: DeleteUnsealed
DELETE FROM counters WHERE name = 'unsealed';

-- name: DeleteVector
DELETE FROM vectors_{model} WHERE memory_id = ?;

-- name: DeleteVersions
DELETE FROM versions WHERE memory_id = ?;

-- name: DocumentPassages
SELECT id, content, context
FROM memories
WHERE type = 'document'
  AND collection = ?
  AND CASE WHEN json_valid(context) THEN json_extract(context, '$.document.name') END = ?
  AND status = 'active'
ORDER BY id;

-- name: DocumentsStored
SELECT collection, CASE WHEN json_valid(context) THEN json_extract(context, '$.document.name') END,
       count(*), min(created_at), max(created_at), max(valid_from),
       max(CASE WHEN json_valid(context) AND json_extract(context, '$.document.sha256') IS NOT NULL THEN context END)
FROM memories
WHERE type = 'document'
  AND status = 'active'
GROUP BY 1, 2
ORDER BY 1, 2;

-- name: DropFullText
DROP TABLE IF EXISTS memories_fts;

-- name: DropVectors
DROP TABLE IF EXISTS vectors_{model};

-- name: EndPush
-- none

-- name: EndedAfter
SELECT id, session_id FROM audit WHERE id > ? AND action = 'ended' ORDER BY id;

-- name: EqualButForNumbers
SELECT m.id
FROM signatures s
JOIN memories m ON m.id = s.memory_id
WHERE s.group_key = ?
  AND s.skeleton = ?
  AND s.numbers <> ?
  AND m.status = 'active'
  AND m.type = 'fact'
ORDER BY s.seq DESC
LIMIT ?;

-- name: EvictionsOf
SELECT perception_type, bytes, reason, evicted_at
FROM evictions
WHERE memory_id = ?
ORDER BY evicted_at, id;

-- name: FactsOfSession
SELECT id, category, confidence, created_at, pinned, type, content, context
FROM memories
WHERE session_id = ?
  AND collection = ?
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
SELECT memory_id, vector FROM features WHERE memory_id > ? AND kind = ? ORDER BY memory_id;

-- name: FeaturesOf
SELECT kind, vector FROM features WHERE memory_id = ?;

-- name: FeedAdd
-- none

-- name: FeedChunkMarks
-- none

-- name: FeedEntries
-- none

-- name: FeedHeads
-- none

-- name: FeedSealed
-- none

-- name: FeedStart
-- none

-- name: FileID
SELECT file_id FROM identity;

-- name: FilePlace
SELECT place FROM identity;

-- name: FileSize
SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size();

-- name: FleetCopiesElsewhere
SELECT id
FROM memories
WHERE tool = ?
  AND status = 'active'
  AND collection NOT IN
    (SELECT value
     FROM json_each(?));

-- name: FleetCopiesUnseen
SELECT m.id
FROM memories m
WHERE m.tool = ?
  AND m.status = 'active'
  AND m.collection = ?
  AND m.uid NOT IN
    (SELECT uid
     FROM fleet_copies);

-- name: FleetFeed
SELECT number, mark, restarting FROM fleet_feeds WHERE feed = ?;

-- name: FleetFeeds
SELECT feed, number, mark, restarting FROM fleet_feeds ORDER BY feed;

-- name: FleetLink
SELECT link, upto FROM fleet_links WHERE confirmed = 1 ORDER BY seq DESC LIMIT 1;

-- name: FleetLinkNamed
SELECT seq, upto, confirmed FROM fleet_links WHERE link = ? ORDER BY seq DESC LIMIT 1;

-- name: FleetMemoriesBeyond
SELECT m.id
FROM memories m
LEFT JOIN fleet_copies c ON c.uid = m.uid
WHERE m.tool = ?
  AND m.status = 'active'
ORDER BY coalesce(c.place, 0) DESC, m.id DESC
LIMIT -1
OFFSET ?;

-- name: FleetNotes
SELECT uid, reason FROM fleet_notes WHERE kind = ? ORDER BY at DESC, uid LIMIT ?;

-- name: FleetNotesOldest
SELECT uid, reason FROM fleet_notes WHERE kind = ? ORDER BY at, uid LIMIT ?;

-- name: FleetSent
SELECT version, adopted FROM fleet_sent WHERE uid = ?;

-- name: ForgetAnswer
UPDATE requests SET digest = ?, answer = '' WHERE memory_id = ?;

-- name: ForkReplica
-- none

-- name: FullTextUpto
SELECT value FROM counters WHERE name = 'full_text';

-- name: GreetReplica
-- none

-- name: GroupsOfSession
SELECT type, category, CASE WHEN outcome_source = 'session' THEN NULL ELSE outcome
                       END, count(*)
FROM memories
WHERE session_id = ?
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
                      CASE WHEN m.status <> 'active' THEN 0 WHEN m.pinned THEN 6 WHEN m.session_id IN
                                 (SELECT session_id
                                  FROM failed) THEN 5
                          WHEN instr(m.context, '"success":false') > 0
                               AND json_extract(m.context,
                                     '$.task.success') = 0 THEN 5
                          WHEN m.id IN
                                 (SELECT memory_id
                                  FROM session_recalls
                                  WHERE used = 1) THEN 4 WHEN m.access_count + m.return_count > 0 THEN 3 ELSE 2
                      END,
                      coalesce(m.session_id || char(31) || m.perception_type || char(31) || coalesce(m.source,
                                                                                              ''), '')
FROM memories m INDEXED BY idx_mem_payload
JOIN payloads p ON p.sha256 = m.perception_data
WHERE m.perception_data IS NOT NULL
  AND m.id NOT IN
    (SELECT memory_id
     FROM evictions);

-- name: InheritedOutcomes
SELECT id FROM memories WHERE outcome_source = ?;

-- name: InsertAudit
INSERT INTO audit(at,
              action, memory_id, uid, session_id, collection, who, tool, reason,
                  before, after)
VALUES (?,?,?,?,?,?,?,?,?,?,?);

-- name: InsertEviction
INSERT INTO evictions(memory_id, collection, perception_type, bytes, reason, evicted_at)
VALUES (?,?,?,?,?,?);

-- name: InsertFullText
INSERT INTO memories_fts(rowid, content, human_summary, scope_files, scope_entities)
VALUES (?,?,?,?,?);

-- name: InsertMemory
INSERT INTO memories(uid,
              session_id, collection, type, content, human_summary, context, perception_type,
              perception_data, perception_metadata, media_type, category, confidence, decay_rate, status, superseded_by,
              pinned, source, scope_files, scope_entities, robot, tool, who, sightings, access_count, return_count,
              last_accessed, version, valid_from, observed_at, created_at, updated_at, content_hash, revision, auto_tags,
              outcome, outcome_source, uses, successes, checksum)
VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?);

-- name: InsertModel
INSERT INTO models(name, dims, state) VALUES (?,?,?);

-- name: InsertOrigin
INSERT INTO origins(collection, origin, memory_id) VALUES (?,?,?);

-- name: InsertOriginOnce
INSERT OR IGNORE INTO origins(collection, origin, memory_id) VALUES (?,?,?);

-- name: InsertOutcome
INSERT INTO session_outcomes(session_id, score, created_at) VALUES (?,?,?);

-- name: InsertOutcomeOnce
INSERT INTO session_outcomes(session_id, score, created_at)
SELECT ?1, ?2, ?3
WHERE NOT EXISTS
    (SELECT 1
     FROM session_outcomes
     WHERE session_id = ?1
       AND score = ?2
       AND created_at = ?3);

-- name: InsertPurged
INSERT INTO purged(memory_id, uid, revision) VALUES (?,?,?);

-- name: InsertPurgedFile
INSERT OR IGNORE INTO purged_files(sha256) VALUES (?);

-- name: InsertRecall
INSERT
OR
IGNORE INTO session_recalls(session_id, memory_id)
SELECT ?1, id
FROM memories
WHERE id = ?2;

-- name: InsertRequest
INSERT INTO requests(id, request_id, digest, memory_id, answer, created_at) VALUES (?,?,?,?,?,?);

-- name: InsertSession
INSERT INTO sessions(external_id,
              collection, context, session_count, status, client_type, summary, created_at, updated_at,
              ended_at, checksum)
VALUES (?,?,?,?,?,?,?,?,?,?,?);

-- name: InsertSessionOrigin
INSERT INTO session_origins(collection, origin, session_id) VALUES (?,?,?);

-- name: InsertSessionOriginOnce
INSERT OR IGNORE INTO session_origins(collection, origin, session_id) VALUES (?,?,?);

-- name: InsertSighting
INSERT OR IGNORE INTO sightings(session_id, memory_id, seen_at) VALUES (?,?,?);

-- name: InsertSightingElsewhere
INSERT
OR
IGNORE INTO sightings(session_id, memory_id, seen_at)
SELECT ?1, id, ?2
FROM memories
WHERE id = ?3
  AND coalesce(session_id, '') <> ?1;

-- name: InsertSignature
INSERT INTO signatures(group_key,
              seq, memory_id, sequence, terms, numbers, skeleton, sketch_a, sketch_b)
VALUES (?,?,?,?,?,?,?,?,?);

-- name: InsertSnapshotPart
INSERT INTO snapshots(name, generation, part, data) VALUES (?,?,?,?);

-- name: InsertVersion
INSERT INTO versions(content,
              human_summary, context, category, confidence, status, superseded_by, version, valid_from,
              valid_to, change, reason, memory_id, checksum)
VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?);

-- name: IntegrityCheck
PRAGMA integrity_check(10);

-- name: LastArrival
-- none

-- name: LastEviction
SELECT evicted_at, reason FROM evictions WHERE memory_id = ? ORDER BY id DESC LIMIT 1;

-- name: LastMemoryID
SELECT max(id) FROM memories;

-- name: LastSummary
SELECT summary FROM sessions WHERE collection = ? AND status = 'ended' ORDER BY id DESC LIMIT 1;

-- name: LinkPastState
UPDATE versions
SET superseded_by = ?
WHERE memory_id = ?
  AND version = ?
  AND valid_to = ?
  AND status = 'superseded'
  AND superseded_by IS NULL;

-- name: LinkSuccessor
UPDATE memories
SET superseded_by = ?, revision = ?
WHERE id = ?
  AND status = 'superseded'
  AND superseded_by IS NULL;

-- name: LostNaming
SELECT DISTINCT m.id
FROM memories m
JOIN evictions e ON e.memory_id = m.id
WHERE m.perception_data = ?
  AND e.reason IN ('the file was damaged: the bytes are lost', 'lost before the import');

-- name: MakePresent
UPDATE models SET state = 'present' WHERE id = ?;

-- name: MarkClones
-- none

-- name: MayReplaceSnapshot
SELECT NOT EXISTS
  (SELECT 1
   FROM snapshot_heads
   WHERE name = ?1
     AND revision >= ?2
     AND (name = 'codes'
          OR revision <=
            (SELECT value
             FROM counters
             WHERE name = 'changes')))
AND
  (SELECT count(*)
   FROM snapshots
   WHERE name = ?1
     AND generation = ?3) = ?4
AND
  (SELECT value
   FROM counters
   WHERE name = 'purges') = ?5;

-- name: MemoriesByID
SELECT uid, session_id, collection, type, content, human_summary, context, perception_type, perception_data,
       perception_metadata, media_type, category, confidence, decay_rate, status, superseded_by, pinned, source, scope_files,
       scope_entities, robot, tool, who, sightings, access_count, return_count, last_accessed, version, valid_from,
       observed_at, created_at, updated_at, content_hash, revision, auto_tags, outcome, outcome_source, uses, successes,
       checksum, id,
  (SELECT group_concat(tag, char(31))
   FROM
     (SELECT tag
      FROM memory_tags
      WHERE source = 'user'
        AND memory_id = memories.id
      ORDER BY tag) t),
  (SELECT score
   FROM session_outcomes o
   WHERE o.session_id = memories.session_id
   ORDER BY o.id DESC
   LIMIT 1)
FROM memories
WHERE id IN
    (SELECT value
     FROM json_each(?));

-- name: MemoriesOfTool
SELECT id, status FROM memories WHERE tool = ? ORDER BY id;

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
  (SELECT group_concat(tag, char(31))
   FROM
     (SELECT tag
      FROM memory_tags
      WHERE source = 'user'
        AND memory_id = memories.id
      ORDER BY tag) t),
  (SELECT score
   FROM session_outcomes o
   WHERE o.session_id = memories.session_id
   ORDER BY o.id DESC
   LIMIT 1)
FROM memories
WHERE id = ?;

-- name: MemoryByUID
SELECT id FROM memories WHERE uid = ?;

-- name: MemoryOfOrigin
SELECT memory_id FROM origins WHERE collection = ? AND origin = ?;

-- name: MergeRecall
INSERT INTO session_recalls(session_id, memory_id, used)
VALUES (?,?,?) ON CONFLICT(session_id, memory_id) DO
UPDATE
SET used = max(session_recalls.used, excluded.used);

-- name: MergeUses
UPDATE memories
SET sightings = max(sightings, ?), access_count = max(access_count,
                                                    ?), return_count = max(return_count,
                                                                         ?),
    last_accessed = nullif(max(coalesce(last_accessed, ''), ?), ''), revision = ?
WHERE id = ?;

-- name: ModelByID
SELECT id, name, dims, upto, seq, state FROM models WHERE id = ?;

-- name: ModelByName
SELECT id, name, dims, upto, seq, state FROM models WHERE name = ?;

-- name: NewestRules
SELECT id
FROM memories
WHERE collection = ?
  AND status = 'active'
  AND (category = 'constraint'
       OR pinned)
  AND category NOT IN ('postmortem', 'gotcha')
  AND type <> 'document'
ORDER BY id DESC
LIMIT ?;

-- name: NextFeatureEpoch
INSERT INTO counters(name, value)
VALUES ('feature_epoch', 1) ON CONFLICT(name) DO
UPDATE
SET value = counters.value + 1;

-- name: NextRequestID
SELECT coalesce(max(id), 0) + 1 FROM requests;

-- name: OpenConflictsOf
-- none

-- name: OpenSessionsOf
SELECT external_id, context
FROM sessions
WHERE status = 'active'
  AND collection = ?
ORDER BY id DESC
LIMIT ?;

-- name: OriginOfMemory
SELECT id, robot, collection FROM memories WHERE uid = ?;

-- name: OutcomeTexts
SELECT id, content, context FROM memories;

-- name: OutcomeTextsUnset
SELECT id, content, context FROM memories WHERE outcome IS NULL AND outcome_source IS NULL;

-- name: OutcomesOf
SELECT score, created_at FROM session_outcomes WHERE session_id = ? ORDER BY created_at, id;

-- name: PageCheck
PRAGMA quick_check(100);

-- name: PastStates
SELECT v.content, v.human_summary, v.context, v.category, v.confidence, v.status, v.superseded_by, v.version,
       v.valid_from, v.valid_to, v.change, v.reason, v.checksum, v.memory_id
FROM versions v
WHERE v.valid_to > ?1
  AND v.valid_from <= ?1
  AND v.status = 'active';

-- name: PayloadOf
SELECT bytes, codec, data FROM payloads WHERE sha256 = ?;

-- name: PayloadSize
SELECT bytes, data IS NOT NULL FROM payloads WHERE sha256 = ?;

-- name: PinMemory
UPDATE memories SET pinned = 1, decay_rate = 0 WHERE id = ? AND (? OR category <> ?);

-- name: PresentModel
SELECT id, name, dims, upto, seq, state FROM models WHERE state = 'present';

-- name: PulledReplica
-- none

-- name: PurgeCounter
SELECT value FROM counters WHERE name = 'purges';

-- name: PurgeVector
UPDATE vectors_{model} SET vector = NULL, seq = ? WHERE memory_id = ?;

-- name: PurgedBetween
SELECT uid FROM purged WHERE revision > ? AND revision <= ? ORDER BY revision;

-- name: PurgedEntry
SELECT at, coalesce(' by ' || nullif(who, ''), '')
FROM audit
WHERE memory_id = ?
  AND action = 'purged'
ORDER BY id DESC
LIMIT 1;

-- name: PurgedFiles
SELECT sha256 FROM purged_files WHERE sha256 NOT IN (SELECT sha256 FROM payloads WHERE data IS NULL);

-- name: PutArrival
-- none

-- name: PutConflict
-- none

-- name: PutCredit
INSERT INTO session_recalls(session_id, memory_id, used, helped)
VALUES (?,?,?,?) ON CONFLICT(session_id, memory_id) DO
UPDATE
SET used = excluded.used, helped = excluded.helped;

-- name: PutFeatures
INSERT INTO features(memory_id, kind, vector)
VALUES (?,?,?) ON CONFLICT(memory_id) DO
UPDATE
SET kind = excluded.kind, vector = excluded.vector;

-- name: PutFeedCursor
-- none

-- name: PutFleetCopy
INSERT OR REPLACE INTO fleet_copies(uid, feed) VALUES (?,?);

-- name: PutFleetFeed
INSERT INTO fleet_feeds(feed, number, mark, restarting)
VALUES (?,?,?,?) ON CONFLICT(feed) DO
UPDATE
SET number = excluded.number, mark = excluded.mark, restarting = excluded.restarting;

-- name: PutFleetLink
INSERT INTO fleet_links(link, upto, resent) VALUES (?,?,?);

-- name: PutFleetNote
INSERT INTO fleet_notes(kind, uid, reason, at)
VALUES (?,?,?,?) ON CONFLICT(kind, uid) DO
UPDATE
SET reason = excluded.reason, at = excluded.at;

-- name: PutFleetSent
INSERT INTO fleet_sent(uid, version, adopted)
VALUES (?,?,?) ON CONFLICT(uid) DO
UPDATE
SET version = excluded.version, adopted = excluded.adopted;

-- name: PutPayload
INSERT INTO payloads(sha256, bytes, codec, created_at, data, stored)
VALUES (?,?,?,?,?,?) ON CONFLICT(sha256) DO
UPDATE
SET bytes = excluded.bytes, codec = excluded.codec, data = excluded.data, stored = excluded.stored;

-- name: PutReplica
-- none

-- name: PutSnapshotHead
INSERT INTO snapshot_heads(name, generation, revision, parts, checksum)
VALUES (?,?,?,?,?) ON CONFLICT(name) DO
UPDATE
SET generation = excluded.generation, revision = excluded.revision, parts = excluded.parts, checksum = excluded.checksum;

-- name: PutUserTag
INSERT INTO memory_tags(memory_id, tag, source)
VALUES (?,?,'user') ON CONFLICT(memory_id, tag) DO
UPDATE
SET source = excluded.source;

-- name: PutVector
INSERT INTO vectors_{model}(memory_id, seq, vector, checksum)
VALUES (?,?,?,?) ON CONFLICT(memory_id) DO
UPDATE
SET seq = excluded.seq, vector = excluded.vector, checksum = excluded.checksum;

-- name: QuickCheck
PRAGMA quick_check(10);

-- name: RebuildFullText
INSERT INTO memories_fts(memories_fts) VALUES ('rebuild');

-- name: RecallCounters
SELECT name, value FROM counters WHERE name IN ('recalls', 'zero_hits');

-- name: RecallHours
SELECT hour, sum(recalls), sum(zero_hits)
FROM recall_hours
WHERE hour >= ?3
  AND (?1 = '*'
       OR collection IN
         (SELECT value
          FROM json_each(?2)))
GROUP BY hour;

-- name: RecallsOfSession
SELECT m.id, coalesce(r.used, 0) AS helped
FROM memories m
LEFT JOIN session_recalls r ON r.session_id = ?1
AND r.memory_id = m.id
WHERE m.id IN
    (SELECT memory_id
     FROM session_recalls
     WHERE session_id = ?1
     UNION SELECT value
     FROM json_each(?2))
ORDER BY helped DESC, m.id
LIMIT ?3;

-- name: ReplaceIdentity
INSERT OR REPLACE INTO identity VALUES (1, ?, '');

-- name: ReplaceStream
INSERT INTO streams(session_id,
              collection, source, received, stored, dropped, missed, bytes, updated_at)
VALUES (?,?,?,?,?,?,?,?,?) ON CONFLICT(session_id, collection, source) DO
UPDATE
SET received = excluded.received, stored = excluded.stored, dropped = excluded.dropped, missed = excluded.missed,
    bytes = excluded.bytes, updated_at = excluded.updated_at;

-- name: ReplicaOf
-- none

-- name: ReplicaOfRobot
-- none

-- name: ReplicationSettings
-- none

-- name: RequestOf
SELECT digest, answer FROM requests WHERE request_id = ?;

-- name: ResetFullText
INSERT INTO counters(name, value) VALUES ('full_text', 0) ON CONFLICT(name) DO UPDATE SET value = 0;

-- name: ResetModel
UPDATE models SET upto = 0 WHERE id = ?;

-- name: RevisionByUID
SELECT revision FROM memories WHERE uid = ?;

-- name: RewriteFile
VACUUM;

-- name: RobotSeen
-- none

-- name: RobotsOfSession
SELECT DISTINCT coalesce(robot, '') FROM memories WHERE session_id = ?;

-- name: RobotsOfSite
-- none

-- name: SameFullText
SELECT
  (SELECT revision
   FROM memories
   WHERE id = ?1) >
  (SELECT value
   FROM counters
   WHERE name = 'full_text')
OR EXISTS
  (SELECT 1
   FROM memories_fts
   WHERE rowid = ?1
     AND content = ?2
     AND human_summary = ?3);

-- name: SchemaVersion
PRAGMA user_version;

-- name: ScrubUpto
SELECT value FROM counters WHERE name = 'scrub';

-- name: SecureDeleteOff
PRAGMA secure_delete=OFF;

-- name: SecureDeleteOn
PRAGMA secure_delete=ON;

-- name: ServerState
-- none

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
  (SELECT group_concat(quote(score) || ' ' || created_at
                       ORDER BY o.id)
   FROM session_outcomes o
   WHERE o.session_id = s.external_id)
FROM sessions s
WHERE s.external_id = ?;

-- name: SessionContext
SELECT context FROM sessions WHERE external_id = ?;

-- name: SessionOfOrigin
SELECT session_id FROM session_origins WHERE collection = ? AND origin = ?;

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
  (SELECT group_concat(quote(score) || ' ' || created_at
                       ORDER BY o.id)
   FROM session_outcomes o
   WHERE o.session_id = s.external_id), s.id
FROM sessions s
WHERE (?1 = '*'
       OR s.collection IN
         (SELECT value
          FROM json_each(?2)))
  AND (?3 = ''
       OR s.status = ?3)
  AND (?4 = ''
       OR CASE ?4
              WHEN 'failure' THEN
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) <= ?5
              WHEN 'success' THEN
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) >= ?6
              WHEN 'partial' THEN
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) > ?5
                   AND
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) < ?6
              ELSE
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) IS NULL
          END)
  AND (?7 = ''
       OR CASE
              WHEN json_valid(s.context) THEN coalesce(s.context ->> '$.robot.id',
                                                s.context ->> '$.robot.name', s.context ->> '$.robot')
          END = ?7)
  AND (?8 = ''
       OR CASE
              WHEN json_valid(s.context) THEN coalesce(s.context ->> '$.task.name',
                                                s.context ->> '$.task.type', s.context ->> '$.task.goal',
                                                s.context ->> '$.task')
          END = ?8
       OR EXISTS
         (SELECT 1
          FROM memories m
          WHERE m.session_id = s.external_id
            AND m.status = 'active'
            AND m.type = 'fact'
            AND CASE
                    WHEN json_valid(m.context) THEN coalesce(m.context ->> '$.task.name', m.context ->> '$.task.type',
                                                      m.context ->> '$.task.goal', m.context ->> '$.task')
                END = ?8))
  AND (?9 = ''
       OR instr(lower(s.context), lower(?9)) > 0
       OR EXISTS
         (SELECT 1
          FROM memories m
          WHERE m.session_id = s.external_id
            AND m.status = 'active'
            AND m.type = 'fact'
            AND instr(lower(m.content), lower(?9)) > 0))
  AND (?10 = ''
       OR s.created_at >= ?10)
  AND (?11 = ''
       OR s.created_at < ?11)
ORDER BY CASE ?12
             WHEN 'outcome' THEN
                    (SELECT score
                     FROM session_outcomes o
                     WHERE o.session_id = s.external_id
                     ORDER BY o.id DESC
                     LIMIT 1)
         END NULLS LAST, CASE ?12
                             WHEN 'robot' THEN CASE
                                                   WHEN json_valid(s.context) THEN coalesce(s.context ->> '$.robot.id',
                                                                                     s.context ->> '$.robot.name',
                                                                                     s.context ->> '$.robot')
                                               END
                             WHEN 'task' THEN CASE
                                                  WHEN json_valid(s.context) THEN coalesce(s.context ->> '$.task.name',
                                                                                    s.context ->> '$.task.type',
                                                                                    s.context ->> '$.task.goal',
                                                                                    s.context ->> '$.task')
                                              END
                             WHEN 'place' THEN CASE
                                                   WHEN json_valid(s.context) THEN coalesce(s.context ->> '$.spatial',
                                                                                     NULL)
                                               END
                         END NULLS LAST, s.id DESC
LIMIT ?13
OFFSET ?14;

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
  (SELECT group_concat(quote(score) || ' ' || created_at
                       ORDER BY o.id)
   FROM session_outcomes o
   WHERE o.session_id = s.external_id), s.id
FROM sessions s
WHERE (?1 = '*'
       OR s.collection IN
         (SELECT value
          FROM json_each(?2)))
  AND (?3 = ''
       OR s.status = ?3)
  AND (?4 = ''
       OR CASE ?4
              WHEN 'failure' THEN
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) <= ?5
              WHEN 'success' THEN
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) >= ?6
              WHEN 'partial' THEN
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) > ?5
                   AND
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) < ?6
              ELSE
                     (SELECT score
                      FROM session_outcomes o
                      WHERE o.session_id = s.external_id
                      ORDER BY o.id DESC
                      LIMIT 1) IS NULL
          END)
  AND (?7 = ''
       OR CASE
              WHEN json_valid(s.context) THEN coalesce(s.context ->> '$.robot.id',
                                                s.context ->> '$.robot.name', s.context ->> '$.robot')
          END = ?7)
  AND (?8 = ''
       OR CASE
              WHEN json_valid(s.context) THEN coalesce(s.context ->> '$.task.name',
                                                s.context ->> '$.task.type', s.context ->> '$.task.goal',
                                                s.context ->> '$.task')
          END = ?8
       OR EXISTS
         (SELECT 1
          FROM memories m
          WHERE m.session_id = s.external_id
            AND m.status = 'active'
            AND m.type = 'fact'
            AND CASE
                    WHEN json_valid(m.context) THEN coalesce(m.context ->> '$.task.name', m.context ->> '$.task.type',
                                                      m.context ->> '$.task.goal', m.context ->> '$.task')
                END = ?8))
  AND (?9 = ''
       OR instr(lower(s.context), lower(?9)) > 0
       OR EXISTS
         (SELECT 1
          FROM memories m
          WHERE m.session_id = s.external_id
            AND m.status = 'active'
            AND m.type = 'fact'
            AND instr(lower(m.content), lower(?9)) > 0))
  AND (?10 = ''
       OR s.created_at >= ?10)
  AND (?11 = ''
       OR s.created_at < ?11)
  AND (?12 = ''
       OR (s.created_at, s.id) < (?12, ?13))
ORDER BY s.created_at DESC, s.id DESC
LIMIT ?14
OFFSET ?15;

-- name: SetAutoTags
UPDATE memories SET auto_tags = ?, revision = ? WHERE id = ?;

-- name: SetChangeCounter
UPDATE counters SET value = ? WHERE name = 'changes';

-- name: SetChecksum
UPDATE memories SET checksum = ? WHERE id = ?;

-- name: SetCounter
INSERT INTO counters(name, value)
VALUES (?,?) ON CONFLICT(name) DO
UPDATE
SET value = excluded.value;

-- name: SetFeatureRules
UPDATE counters SET value = ? WHERE name = 'feature_rules';

-- name: SetFileID
UPDATE identity SET file_id = ?;

-- name: SetFilePlace
UPDATE identity SET place = ?;

-- name: SetFullTextUpto
INSERT INTO counters(name, value)
VALUES ('full_text', ?) ON CONFLICT(name) DO
UPDATE
SET value = excluded.value;

-- name: SetIdentity
UPDATE identity SET file_id = ?, place = ?;

-- name: SetModelSeq
UPDATE models SET seq = ? WHERE id = ?;

-- name: SetModelState
UPDATE models SET state = ? WHERE id = ?;

-- name: SetOutcome
UPDATE memories SET outcome = ?, outcome_source = ? WHERE id = ?;

-- name: SetScrub
UPDATE counters SET value = ? WHERE name = 'scrub';

-- name: SetSessionChecksum
UPDATE sessions SET checksum = ? WHERE external_id = ?;

-- name: SetSignature
UPDATE signatures
SET sequence = ?, terms = ?, numbers = ?, skeleton = ?, sketch_a = ?, sketch_b = ?
WHERE group_key = ?
  AND seq = ?;

-- name: SetTenantIDs
-- none

-- name: SetVersionChecksum
UPDATE versions SET checksum = ? WHERE rowid = ?;

-- name: SettleConflict
-- none

-- name: SightingsOf
SELECT memory_id FROM sightings WHERE session_id = ? ORDER BY memory_id;

-- name: SignaturesAfter
SELECT seq, memory_id, terms, numbers, skeleton, sketch_a, sketch_b, sequence
FROM signatures
WHERE group_key = ?
  AND seq > ?
ORDER BY seq;

-- name: SignedTexts
SELECT s.group_key, s.seq, m.content
FROM signatures s
JOIN memories m ON m.id = s.memory_id
ORDER BY s.group_key, s.seq;

-- name: SnapshotHead
SELECT generation, revision, parts, checksum FROM snapshot_heads WHERE name = ?;

-- name: SnapshotPart
SELECT data FROM snapshots WHERE name = ? AND generation = ? AND part = ?;

-- name: SnapshotRevision
SELECT revision
FROM snapshot_heads
WHERE name = ?1
  AND (name = 'codes'
       OR revision <=
         (SELECT value
          FROM counters
          WHERE name = 'changes'));

-- name: Standbys
-- none

-- name: StreamsOf
SELECT collection, source, received, stored, dropped, missed, bytes, updated_at
FROM streams
WHERE session_id = ?
ORDER BY collection, source;

-- name: SuccessorWhenForgotten
SELECT coalesce(superseded_by, 0)
FROM versions
WHERE memory_id = ?
  AND change = 'forgotten'
ORDER BY rowid DESC
LIMIT 1;

-- name: SuccessorsChanged
SELECT m.uid, o.uid
FROM memories m
JOIN memories o ON o.id = m.superseded_by
WHERE m.revision > ?1
  AND m.revision <= ?2
  OR o.revision > ?1
  AND o.revision <= ?2;

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
WHERE ?1 = ''
  OR session_id = ?1
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
SELECT human_summary FROM memories WHERE session_id = ? AND status = 'active' ORDER BY id LIMIT 20;

-- name: SupersededBy
SELECT id FROM memories WHERE superseded_by = ? ORDER BY id;

-- name: TemporariesInFile
PRAGMA temp_store=FILE;

-- name: TemporariesInMemory
PRAGMA temp_store=MEMORY;

-- name: TextOf
SELECT m.id, m.revision, m.status = 'active', m.collection, m.type, m.content, m.human_summary, m.scope_files,
       m.scope_entities, m.context
FROM memories m
WHERE m.id = ?;

-- name: TimesOfSession
SELECT min(observed_at), max(observed_at) FROM memories WHERE session_id = ?;

-- name: TouchFullText
SELECT rowid FROM memories_fts LIMIT 1;

-- name: TriesOfSession
SELECT id, content, context, outcome, observed_at
FROM memories
WHERE session_id = ?
  AND collection = ?
  AND status = 'active'
  AND type = 'fact'
ORDER BY id;

-- name: TruncateLog
PRAGMA wal_checkpoint(TRUNCATE);

-- name: UnconfirmedPurges
-- none

-- name: UnnamedPayloads
SELECT DISTINCT hex(perception_data)
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
SELECT memory_id FROM session_recalls WHERE session_id = ? AND used = 0 ORDER BY memory_id;

-- name: UpdateMemory
UPDATE memories
SET uid = ?, session_id = ?, collection = ?, type = ?, content = ?, human_summary = ?, context = ?,
                                                    perception_type = ?, perception_data = ?, perception_metadata = ?,
                                                    media_type = ?, category = ?, confidence = ?, decay_rate = ?,
                                                    status = ?, superseded_by = ?, pinned = ?, source = ?,
                                                                                                        scope_files = ?,
                                                                                                        scope_entities = ?,
                                                                                                        robot = ?,
                                                                                                        tool = ?,
                                                                                                        who = ?,
                                                                                                        sightings = ?,
                                                                                                        access_count = ?,
                                                                                                        return_count = ?,
                                                                                                        last_accessed = ?,
                                                                                                        version = ?,
                                                                                                                  valid_from = ?,
                                                                                                                  observed_at = ?,
                                                                                                                  created_at = ?,
                                                                                                                  updated_at = ?,
                                                                                                                  content_hash = ?,
                                                                                                                  revision = ?,
                                                                                                                  auto_tags = ?,
                                                                                                                  outcome = ?,
                                                                                                                  outcome_source = ?,
                                                                                                                  uses = ?,
                                                                                                                  successes = ?,
                                                                                                                  checksum = ?
WHERE id = ?;

-- name: UpdateSession
UPDATE sessions
SET external_id = ?, collection = ?, context = ?, session_count = ?, status = ?, client_type = ?, summary = ?,
                                                                                                            created_at = ?,
                                                                                                            updated_at = ?,
                                                                                                            ended_at = ?
WHERE external_id = ?;

-- name: UserTags
SELECT tag FROM memory_tags WHERE source = 'user' AND memory_id = ? ORDER BY tag;

-- name: VectorOf
SELECT vector, checksum, seq FROM vectors_{model} WHERE memory_id = ?;

-- name: VectorsAfter
SELECT memory_id, seq, vector, checksum FROM vectors_{model} WHERE seq > ? ORDER BY seq LIMIT ?;

-- name: VectorsOf
SELECT memory_id, vector, checksum
FROM vectors_{model}
WHERE memory_id IN
    (SELECT value
     FROM json_each(?));

-- name: VersionsOf
SELECT v.content, v.human_summary, v.context, v.category, v.confidence, v.status, v.superseded_by, v.version,
       v.valid_from, v.valid_to, v.change, v.reason, v.checksum, v.memory_id
FROM versions v
WHERE v.memory_id = ?
ORDER BY v.rowid;

-- name: VersionsOfMemories
SELECT id, version FROM memories WHERE id IN (SELECT value FROM json_each(?));

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
   FROM vectors_{model} v
   WHERE v.memory_id = m.id) IS NULL
FROM memories m
WHERE m.id = ?;

-- name: WithoutFeatures
SELECT id
FROM memories
WHERE id > ?
  AND id IN
    (SELECT id
     FROM memories INDEXED BY idx_mem_payload
     WHERE perception_data IS NOT NULL
     EXCEPT SELECT memory_id
     FROM features)
ORDER BY id
LIMIT ?;
