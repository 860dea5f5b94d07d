// Made from the OpenAPI document by generate.mjs.
export interface paths {
    "/api/about": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All about a subject
         * @description Return what is known of a robot, object, place, part or person by its name: current values, rules, what worked and failed in counts, where it was seen last, with the memory ids as evidence. Example: {"subject":"gripper 3"}.
         */
        get: operations["about"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/activity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Activity
         * @description Count stored memories, failures and recalls per hour or day.
         */
        get: operations["activity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/advise": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * What worked here
         * @description Ask which parameters worked before you act. It counts all matching memories whose outcome is known, and returns per parameter the tried values with success rates and 95 % intervals, one suggestion with its support, and which context paths separate successes from failures. Example: {"query":"pick wet glass","context_filter":{"wet":true}}.
         */
        post: operations["advise"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/aggregate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count outcomes
         * @description Count memories exactly by group and outcome: how often did corridor B fail.
         */
        get: operations["aggregate"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/attempts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try to reach a goal
         * @description Record a try at a goal that may take several. Ask with changed alone before a try: the answer says whether it was tried, and after three tries without progress what all were. It continues the open attempt at the goal, also in a later session. Example: {"goal":"the arm picks the wet glass","changed":"grip_force 12.5 N","result":"slipped at 5 cm","outcome":"failure"}.
         */
        post: operations["attempt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Audit log
         * @description Page through the log of changes, newest first: who changed a memory, with which program, when and why, with hashes of the text before and after. The creator of a memory is stored in the memory itself.
         */
        get: operations["audit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/backups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List backups
         * @description List the backups of the memory, with the command that restores each. Needs a token that may write.
         */
        get: operations["backups"];
        put?: never;
        /**
         * Make a backup
         * @description Make a backup now, as `robotmem backup` does, and answer when it is verified. Needs a token that may write.
         */
        post: operations["make_backup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/categories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List categories
         * @description Count the active memories of every category.
         */
        get: operations["categories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Wait for a change
         * @description Wait for a change by any process. It returns immediately if the change counter differs from since; otherwise it returns at the next change or after wait_ms.
         */
        get: operations["changes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/collections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List collections
         * @description Count the memories of every collection.
         */
        get: operations["collections"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/doctor": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check-up
         * @description Check the node: file, index sync, zero-hit rate, sizes, embedder and backlog. Each finding names its remedy.
         */
        get: operations["doctor"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/documents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List documents
         * @description List the documents with their title, hash, pages and passages.
         */
        get: operations["documents"];
        put?: never;
        /**
         * Save a document
         * @description Store the text of a manual or another document as passages with page and section. The same name with the same sha256 stores nothing. With another sha256, passages that did not change keep their memory_id, new ones are added, and those that are gone are forgotten. All of it is stored or nothing. recall finds the passages with type document.
         */
        post: operations["save_document"];
        /**
         * Remove a document
         * @description Forget all passages of a document. The history keeps them.
         */
        delete: operations["remove_document"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow changes
         * @description Server-sent events: `ready` at the beginning and `change` after every change of the memory by any process, at most ten per second, each with {"change":N}; `problem` if the stream must end. A comment every 15 seconds keeps the connection open.
         */
        get: operations["events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/imports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List imports
         * @description The recordings that were sent to this node since its start, the newest first and without results, and what it takes.
         */
        get: operations["imports"];
        put?: never;
        /**
         * Import a recording
         * @description Send a recording (MCAP, rosbag2, ROS 1 bag, ULog, also compressed with zstd) as the body, or the files of a folder as the parts of a form with file names. It is imported as `robotmem import` does, after the answer and one at a time. Needs a token that may write.
         */
        post: operations["import_recording"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/imports/{import_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow an import
         * @description How far an import is, and at its end what was understood of the recording.
         */
        get: operations["import_status"];
        put?: never;
        post?: never;
        /**
         * Cancel an import
         * @description End an import, or the receiving of its files. What it has stored stays; sending the same recording again goes on. One that has ended stays as it is. Needs a token that may write.
         */
        delete: operations["cancel_import"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/incidents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Incidents
         * @description Return the episodes that failed, and failed memories outside of them: robot, task, place, what was said, the perception that shows it, how often it happened before, and the fact that resolves it. To resolve one, learn the lesson with {"resolves":{"session_id":"…"}} (or memory_id, or group) in its context.
         */
        get: operations["incidents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/learn": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Learn a fact
         * @description Store one fact learnt from experience, with its numbers, place, parameters and outcome. Call it after every attempt that taught something, also a failed one. A fact that differs in a word, a number or its context is new, else a duplicate. Returns the memory_id, the category and tags inferred, in conflicts memories that contradict it, in similar those with similar words. Example: {"insight":"grip_force=12.5 N holds wet glass","context":{"params":{"grip_force":12.5},"task":{"success":true}}}.
         */
        post: operations["learn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/learn/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Learn many facts
         * @description Store up to 10,000 facts in one call. Results are in the order of the items. An invalid item does not stop the others.
         */
        post: operations["learn_batch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List memories
         * @description Page through memories, newest first.
         */
        get: operations["list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/{memory_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a memory
         * @description Return one complete memory of any status: text, context, tags, confidence, provenance. Example: {"memory_id":7}.
         */
        get: operations["get"];
        /**
         * Update a memory
         * @description Replace the text of a wrong or incomplete memory and keep its id; use learn for an additional fact. The history keeps the old text, which is no longer recalled. Example: {"memory_id":7,"new_content":"grip_force=13 N holds wet glass"}.
         */
        put: operations["update"];
        post?: never;
        /**
         * Forget a memory
         * @description Remove a misleading memory from recall when update cannot correct it. The history keeps it, and restore undoes it. Example: {"memory_id":7,"reason":"the force sensor was not calibrated"}.
         */
        delete: operations["forget"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/{memory_id}/data": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a perception's bytes
         * @description Return the bytes of a perception as they were saved.
         */
        get: operations["data"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/{memory_id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * History of a memory
         * @description Return all versions of a memory, oldest first.
         */
        get: operations["history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/{memory_id}/pin": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pin a memory
         * @description Protect a memory from decay and from merging. With pinned false, remove the protection: the confidence then decays from now on at the rate of the category.
         */
        post: operations["pin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/{memory_id}/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Look at a perception
         * @description Return a picture of a perception: an image, a plot of a trace, a spectrogram, or a top view of points or a trajectory. Example: {"memory_id":7,"width":640}.
         */
        get: operations["preview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/{memory_id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore a memory
         * @description Make a forgotten or superseded memory active again.
         */
        post: operations["restore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/{memory_id}/samples": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Numbers of a perception
         * @description Return the numbers of a force trace, joint states, a sound, a point cloud, a trajectory or a laser scan, for a plot. Returns all samples between from and to if there are at most points of them. Otherwise it returns the minimum and maximum of equal buckets, so that peaks are kept, and an even sample of the points of a cloud.
         */
        get: operations["samples"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memory/{memory_id}/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What happened around a memory
         * @description Return the memories before and after a memory, in order of time: of its episode, else of its robot or collection. Example: {"memory_id":7,"before":3,"after":3}.
         */
        get: operations["timeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/paths": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List context paths
         * @description List the context paths of the active memories, with types, ranges and units; for a single path also its values. Use it to build a context_filter.
         */
        get: operations["paths"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/perceptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Save a perception
         * @description Store sensor data (image, force trace, point cloud, sound) byte for byte, with a description in words. Call it when the data explains the result of an attempt. Returns the memory_id, media type, size, checksum and a summary. Example: {"description":"force while the glass slipped","perception_type":"tactile","data":"t,fz\n0,1.5\n0.01,9.8","media_type":"text/csv"}.
         */
        post: operations["save_perception"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/places": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Map of memories
         * @description List the context paths that hold coordinates and, for one of them, its points and a grid of counts and outcomes, for a map of the active memories. Takes the filters of recall.
         */
        get: operations["places"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/recall": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Recall memories
         * @description Find relevant memories before acting: by words, place (spatial_sort), time, similarity to a perception (like), and any value of the context (context_filter), quantities in any unit. Filters are exact: they apply to all memories before ranking. Returns the best first; in compact form a line each, with outcome, parameters, date, place and text. get returns the rest. Example: {"query":"hold a wet glass","context_filter":{"task.success":true},"n":5}.
         */
        post: operations["recall"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/recent-failures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Recent failures
         * @description Return recent failures: postmortems, gotchas and facts with task.success false, newest first.
         */
        get: operations["recent_failures"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/repair": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Repair
         * @description Rebuild every index from the tables.
         */
        post: operations["repair"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/retain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Keep a budget
         * @description Remove payloads of perceptions that exceed a budget of bytes, age or free disk space. It removes the least valuable first, thins long recordings before it removes others, and never removes facts. Without apply it only lists the payloads that it would remove.
         */
        post: operations["retain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search memories
         * @description Recall with simple parameters. It searches all collections unless you name one.
         */
        get: operations["search"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sessions
         * @description Page through episodes, newest first.
         */
        get: operations["sessions"];
        put?: never;
        /**
         * Start a session
         * @description Open an episode before a task. Returns the session_id for learn and save_perception, and a briefing for the context: warnings, rules, what worked, what failed, current values. Example: {"collection":"arm7","context":{"task":{"name":"hold a wet glass"}}}.
         */
        post: operations["start_session"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a session
         * @description Return one episode: its context, outcome and summary, the memories that were recalled for it and which of them helped, and the sample counts of its streams.
         */
        get: operations["session"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/end": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End a session
         * @description Close an episode with its outcome and the memories that helped. Call it once, when the task is over, also when it failed. A fact that a longer one of the episode says completely is superseded by it. Returns a summary and related memories of earlier episodes. Example: {"session_id":"0199d0b4-2f3a-7c1d-9e55-6b8f0a1c2d3e","outcome_score":0.9,"used_memory_ids":[7]}.
         */
        post: operations["end_session"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/mcap": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download an episode
         * @description The memories of an episode as an MCAP file, which Foxglove and the mcap tool open. Recorded messages are as they were; everything else is JSON.
         */
        get: operations["session_mcap"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{session_id}/memories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Memories of a session
         * @description Return the memories of an episode in time order.
         */
        get: operations["session_memories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Statistics
         * @description Count the stored memories, sessions and bytes, and the recalls.
         */
        get: operations["stats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tokens
         * @description List the tokens of the memory, without their secrets. Needs a token that may write.
         */
        get: operations["tokens"];
        put?: never;
        /**
         * Create a token
         * @description Create a token for all nodes that serve this memory. From the first token on, every request needs one. Needs a token that may write. On a site, makes a token of the caller's tenant, and needs the role admin, as all routes of tokens do.
         */
        post: operations["create_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tokens/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a token
         * @description Revoke a token. Its requests in progress end. Needs a token that may write.
         */
        delete: operations["revoke_token"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/whoami": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who am I
         * @description Return the name of the token, and whether the node requires one.
         */
        get: operations["whoami"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workers/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause the background work
         * @description Hold what the node computes in the background, after its present step: vectors, the features of perceptions, and retention. It lasts until it is resumed or the node starts again; `stats` shows it. Needs a token that may write.
         */
        post: operations["pause_workers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workers/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume the background work
         * @description End the pause of the background work. Needs a token that may write.
         */
        post: operations["resume_workers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log in
         * @description Set a cookie for a token. It is valid for 24 hours, or until the node restarts.
         */
        post: operations["login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log out
         * @description End the login of the cookie.
         */
        post: operations["logout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AboutLine: {
            /** @description How many memories it stands for, if more than one. */
            alike?: number;
            /** @description As in the compact form of recall. */
            line: string;
            memory_id: number;
            /** @description The others that it stands for, at most 20. */
            memory_ids?: number[];
        };
        AboutResponse: {
            /** @description Its other names: from the file of entities, and names that stand beside its id in contexts. */
            aliases?: string[];
            /** @description How many of these ended as success, failure, partial or unknown. */
            counts?: {
                [key: string]: number;
            };
            /** @description Other facts, the newest first; those that a later one has replaced come last. */
            current?: components["schemas"]["AboutLine"][];
            /** @description Failures and partial successes. */
            failed?: components["schemas"]["AboutLine"][];
            /**
             * Format: date-time
             * @description When the earliest was observed.
             */
            first?: string;
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            /** @description robot, object, place, part or person, if a context or the file of entities says so. */
            kind?: string;
            /**
             * Format: date-time
             * @description When the latest was observed.
             */
            last?: string;
            /** @description The latest memory of it with a place. */
            last_seen?: components["schemas"]["LastSeen"];
            /** @description Active memories that name it, in their text or context. */
            memories: number;
            notes?: string[];
            /** @description Subjects that the contexts of these memories name beside it, the most frequent first. */
            related?: components["schemas"]["SubjectCount"][];
            /** @description Constraints and pinned facts. */
            rules?: components["schemas"]["AboutLine"][];
            subject?: string;
            /** @description Without a subject in the request: those that contexts or the file of entities name, the most frequent first, at most 200. */
            subjects?: components["schemas"]["SubjectCount"][];
            worked?: components["schemas"]["AboutLine"][];
        };
        ActivityBucket: {
            /** @description Facts that were stored, of any current status. */
            facts: number;
            /** @description Active failures among them, as defined by recent_failures. */
            failures: number;
            /** Format: date-time */
            from: string;
            /** @description Perceptions that were stored, of any current status. */
            perceptions: number;
            /** @description Recalls, counted since schema version 4. */
            recalls: number;
            /** @description Recalls without a result. */
            zero_hits: number;
        };
        ActivityResponse: {
            /** @description hour or day, in UTC. */
            bucket: string;
            buckets: components["schemas"]["ActivityBucket"][];
            /**
             * Format: date-time
             * @description Start of the first bucket.
             */
            from: string;
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            /**
             * Format: date-time
             * @description End of the last bucket.
             */
            to: string;
        };
        AdviseRequest: {
            /**
             * Format: date-time
             * @description Only attempts observed at or after this time (RFC 3339).
             */
            after?: string;
            /**
             * Format: date-time
             * @description Only attempts observed before this time (RFC 3339).
             */
            before?: string;
            /**
             * @description Namespace; * for all.
             * @default default
             */
            collection?: string;
            /** @description Only attempts that match, as in recall: {"wet":true,"object":"glass"}. */
            context_filter?: {
                [key: string]: unknown;
            };
            /** @description Suggest a Thompson sample: mostly what worked, sometimes what has been tried little. For repeated attempts that may fail. */
            explore?: boolean;
            /** @description States that you cannot choose, by context path: {"tool.edges":450}. Attempts weigh by how near their numbers are; texts and truth values must be equal. Such paths are not advised. */
            given?: {
                [key: string]: unknown;
            };
            /**
             * @description success, near (how near spatial_sort an attempt ended, whatever its outcome), or a context path with a number: task.score to maximise it, -task.duration_s to minimise it.
             * @default success
             */
            goal?: string;
            /**
             * @description Fewest attempts for a suggestion.
             * @default 3
             */
            n_min?: number;
            /** @description Context paths to advise on, such as params.grip_force, in any spelling (gripForce). Default: those below params. */
            parameters?: string[];
            /** @description The task in words: "pick wet glass". Attempts weigh by the words that they share with it, in their text or context. */
            query?: string;
            /**
             * @description Whose attempts count: local (this memory; the default), fleet (the site that this memory has joined) or both (the site's if it answers, else this memory's).
             * @enum {string}
             */
            scope?: "local" | "fleet" | "both";
            /** @description Makes explore repeatable. 0: a new sample each time. */
            seed?: number;
            /** @description Attempts near this place weigh more; those beyond max_distance do not count. */
            spatial_sort?: components["schemas"]["SpatialSort"];
            /** @description Name of the task, as in task.name. If no attempt has this name, its words count like those of query. */
            task?: string;
        };
        AdviseResponse: {
            /** @description Attempts that match and whose result is known. */
            attempts: number;
            /** @description Of the exact combinations of all parameters that were tried at least twice and succeeded, the one with the highest lower bound, by the weights of the attempts. Its counts are exact. */
            best_combination?: components["schemas"]["Combination"];
            /** @description Context paths that separate successes from failures, most information first; p < 0.05, corrected for the number of paths. */
            differs: components["schemas"]["Difference"][];
            /** @description none: fewer than n_min attempts, no suggestion. good: at least 5 attempts near the suggestion, with an interval narrower than 0.5, of which the last three did not all fail. Else weak. */
            evidence: string;
            /** @description How many of the attempts are whole episodes: one setting of parameters, and an outcome from end_session. */
            from_episodes?: number;
            /** @description What was left out or assumed. */
            notes?: string[];
            /** @description Of all these attempts, equally weighted. */
            overall?: components["schemas"]["Estimate"];
            parameters: components["schemas"]["ParameterAdvice"][];
            query_ms: number;
            /** @description Absent if there are too few attempts or none succeeded. */
            suggestion?: components["schemas"]["Suggestion"];
            /** @description Memories that match but have no known result; they do not count. */
            unknown?: number;
        };
        AggregateResponse: {
            /** @description The largest first. */
            groups: components["schemas"]["OutcomeGroup"][];
            /** @description Memories that match, in all groups. */
            memories: number;
            /** @description Groups over the limit, which are left out. */
            more?: number;
            notes?: string[];
        };
        Attempt: {
            /** @description Whether what is planned was tried, and after three tries without progress all that was. */
            advice?: string;
            criteria?: string[];
            goal: string;
            /** @description Earlier tries, which are left out. */
            more?: number;
            /** @description The last 10, oldest first. */
            tries: components["schemas"]["Try"][];
            /** @description Its outcome, if it has ended: success, failure, partial or unknown. */
            verdict?: string;
            /** @description Tries since the best one so far. */
            without_progress: number;
        };
        AttemptRequest: {
            /** @description What this try changes. Alone it stores nothing and begins nothing: the answer says whether it was tried before. */
            changed?: string;
            /** @description Instead of exit_status, for several criteria: the exit status of each, or true or false, by its text or its number from 1: {"1":0,"2":1}. */
            checks?: {
                [key: string]: unknown;
            };
            /**
             * @description Namespace of the attempt and of its tries.
             * @default default
             */
            collection?: string;
            /** @description Parameters, place and robot of the try, as in learn. */
            context?: {
                [key: string]: unknown;
            };
            /** @description When the goal is reached, each in words or as a command that you run. They are set when the attempt begins. */
            criteria?: string[];
            /** @description Exit status of the command that checks the goal: 0 is a success. The node runs no commands. */
            exit_status?: number;
            /** @description What is to be reached, up to 1,024 bytes. The open attempt at this goal is continued, else one begins. */
            goal: string;
            /**
             * @description How the try went. Default: by exit_status, checks or the context (task.success), else unknown. It is not read from result.
             * @enum {string}
             */
            outcome?: "success" | "failure" | "partial" | "unknown";
            /** @description How much of the goal the try reached, 0 to 1. Default: the share of checks that are met. */
            progress?: number;
            /** @description What came out of the try. */
            result?: string;
            /**
             * @description Ends the attempt with this outcome. A try that is stated to succeed ends it by itself.
             * @enum {string}
             */
            verdict?: "success" | "failure" | "partial" | "unknown";
        };
        AttemptResponse: {
            /** @description Whether what is planned was tried, and after three tries without progress all that was. */
            advice?: string;
            /** @description When the attempt begins: what is known for it. */
            briefing?: components["schemas"]["Briefing"];
            collection: string;
            criteria?: string[];
            goal: string;
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            /** @description The fact that the try is stored as. */
            memory_id?: number;
            /** @description Earlier tries, which are left out. */
            more?: number;
            /** @description The number of the try that was stored, from 1. */
            number?: number;
            /** @description Whose attempt it is, if it names a robot. */
            robot?: string;
            /** @description The episode of the attempt. */
            session_id?: string;
            /** @description started, continued or ended; none if no attempt at this goal is open and the request only asks. */
            status: string;
            /** @description The last 10, oldest first. */
            tries: components["schemas"]["Try"][];
            /** @description Its outcome, if it has ended: success, failure, partial or unknown. */
            verdict?: string;
            /** @description Tries since the best one so far. */
            without_progress: number;
        };
        AuditEntry: {
            /** @description updated, forgotten, restored, pinned, unpinned, superseded, evicted, purged, ended (an episode), promoted or demoted (to another tier, by the record of its uses), repaired, imported (one entry per import), granted or revoked (what a person allowed to a program that logged in with OAuth). created occurs only for purged memories; a memory itself holds who stored it. */
            action: string;
            /** @description SHA-256 of the new text, hex. */
            after?: string;
            /** Format: date-time */
            at: string;
            /** @description SHA-256 of the old text, hex. */
            before?: string;
            collection?: string;
            id: number;
            memory_id?: number;
            reason?: string;
            /** @description The episode that ended. */
            session_id?: string;
            /** @description The interface and the name that the client program reports: mcp claude-code/2.0.1, rest curl/8.5.0, cli, library, import, recorder, node. */
            tool?: string;
            uid?: string;
            /** @description The name of the token, or the operating system user. Absent if unknown. */
            who?: string;
        };
        AuditResponse: {
            entries: components["schemas"]["AuditEntry"][];
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            limit: number;
            /** @description The cursor of the next page. Absent on the last page. */
            next?: string;
        };
        BackupState: {
            /** @description Time between two backups. */
            every_seconds: number;
            /** @description Why the last attempt failed; absent if it succeeded. */
            failure?: string;
            /** @description Number of failed attempts. */
            failures: number;
            /** @description Id of the file whose backups these are. */
            file_id?: string;
            /** Format: date-time */
            last_failure?: string;
            /**
             * Format: date-time
             * @description Time of the newest backup; absent if there is none.
             */
            last_success?: string;
            /** @description The folder is on the disk of the memory, and not beside it. */
            own_disk?: boolean;
            /** @description Duration of the newest backup, with its verification. */
            seconds: number;
            /** @description Folder of the backups. */
            to: string;
        };
        BatchError: {
            detail: string;
            field?: string;
            kind: string;
        };
        BatchResult: {
            auto_inferred?: components["schemas"]["Inferred"];
            conflicts?: components["schemas"]["ConflictWith"][];
            error?: components["schemas"]["BatchError"];
            existing_id?: number;
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            memory_id?: number;
            /** @description For a duplicate: exact (the same text) or sequence (the same words, numbers and units in the same order). */
            method?: string;
            /** @description At most 5 memories with similar words, best first. The new memory is stored beside them. */
            similar?: components["schemas"]["SimilarMemory"][];
            similarity?: number;
            /** @description created or duplicate. */
            status?: string;
            /** @description The memory that this one has replaced, as supersedes asked for. */
            superseded?: number;
            uid?: string;
        };
        BriefMemory: {
            category: string;
            confidence: number;
            memory_id: number;
            summary: string;
        };
        Briefing: {
            /** @description The memories of the text, in its order. */
            memory_ids: number[];
            /** @description Warnings, rules, what worked, what failed, current values: one line for each memory, the most relevant first. Text and ids take at most 400 tokens with the rest of the response. */
            text: string;
        };
        Budget: {
            /** @description Limit for this collection. Default: one limit for all collections together. */
            collection?: string;
            /** @description Largest age in days; 0 for no limit. Perceptions that are useful, pinned or of failed episodes are kept. */
            max_age_days?: number;
            /** @description Largest stored size in bytes; 0 for no limit. */
            max_bytes?: number;
            /**
             * @description Limit for this type. Default: one limit for all types together.
             * @enum {string}
             */
            perception_type?: "visual" | "tactile" | "auditory" | "proprioceptive" | "procedural" | "spatial";
        };
        CategoriesResponse: {
            categories: components["schemas"]["CategoryCount"][];
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
        };
        CategoryCount: {
            category: string;
            count: number;
        };
        ChangesResponse: {
            /** @description The change counter. Pass it as since in the next request. */
            change: number;
            /** @description The counter differs from since. */
            changed: boolean;
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            /**
             * Format: date-time
             * @description The time of the node, in its zone.
             */
            time: string;
        };
        Channel: {
            /** @description The largest of each bucket, when reduced. */
            max?: (number | null)[];
            /** @description The smallest of each bucket, when reduced; null where it has no reading. */
            min?: (number | null)[];
            name: string;
            /** @description Absent when unknown. */
            unit?: string;
            /** @description The readings; null is a missing or an infinite one. */
            values?: (number | null)[];
        };
        Check: {
            /** @description Stable name of what detail and remedy say, such as index_in_step. Rare findings have none. */
            code?: string;
            detail: string;
            name: string;
            remedy?: string;
            /** @description ok, warn, fail, or skipped: the check could not be made, and the remedy says how. */
            status: string;
            /** @description The numbers and sizes in detail, in their order. Only with a code. */
            values?: string[];
        };
        CollectionCount: {
            active: number;
            collection: string;
            sessions: number;
            total: number;
        };
        CollectionsResponse: {
            collections: components["schemas"]["CollectionCount"][];
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
        };
        Combination: {
            /** @description Number of attempts; weighted by distance, relevance and recency in best and suggestion. */
            attempts: number;
            high: number;
            /** @description Lower end: of the Wilson interval for a rate, of the normal one for a mean. */
            low: number;
            /** @description The last attempts, at most 3. */
            memory_ids: number[];
            /** @description By path, as in suggestion. */
            parameters: {
                [key: string]: unknown;
            };
            /** @description Success rate, or the mean of the goal. */
            rate: number;
            /** @description Not with another goal than success. A partial success counts half. */
            successes?: number;
        };
        ConflictWith: {
            memory_id: number;
            /** @description It was observed later. */
            newer?: boolean;
            reason: string;
        };
        Consolidated: {
            /** @description Mean Jaccard similarity of the kept and the superseded memories, 0 to 1. */
            avg_similarity: number;
            /** @description Superseded memories divided by candidates, 0 to 1. */
            compression_ratio: number;
            merged_groups: number;
            superseded_count: number;
        };
        ContextPath: {
            /** @description Types of the values: number, text, bool, null, list or an empty object. */
            kinds: string[];
            max?: number;
            /** @description Number of active memories with a value at this path. */
            memories: number;
            /** @description The smallest number, in unit if unit is set. */
            min?: number;
            path: string;
            /** @description The canonical unit, if most of the numbers are quantities such as 12.5 N. */
            unit?: string;
            /** @description For a request of one path: at most 50 values, the most frequent first, without lists and long texts. */
            values?: components["schemas"]["PathValue"][];
        };
        DataResponse: {
            bytes: number;
            data_base64: string;
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            media_type: string;
            memory_id: number;
            sha256: string;
            uid?: string;
        };
        Difference: {
            /** @description Mutual information with the outcome, 0 to 1. */
            bits: number;
            /** @description Permutation p-value after Holm's correction. */
            p: number;
            path: string;
            /** @description Such as: grip_force 9 N failed 3 of 3; 12.5 N succeeded 7 of 7. */
            text: string;
        };
        DoctorResponse: {
            checks: components["schemas"]["Check"][];
            /** @description false if data is lost or corrupt, or if an index differs from its table. Warnings are healthy. */
            healthy: boolean;
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            /** @description At most 20 active memories whose payload is missing or damaged. */
            lost?: components["schemas"]["LostPayload"][];
            /** @description The worst status of the checks: ok, skipped, warn or fail. */
            status: string;
        };
        Document: {
            /** Format: date-time */
            added_at: string;
            collection: string;
            /** @description The context of its passages, without their places. */
            context?: {
                [key: string]: unknown;
            };
            media_type?: string;
            name: string;
            pages?: number;
            passages: number;
            /** @description SHA-256 of the file that it was made of. Empty if its first passage was forgotten: saving the file again completes the document. */
            sha256?: string;
            title?: string;
            /** Format: date-time */
            updated_at: string;
        };
        DocumentPassage: {
            /** @description The page on which it ends, if that is another. */
            last_page?: number;
            /** @description The page on which it begins, from 1; 0 if the document has none. */
            page?: number;
            /** @description The headings above it, from the outermost. */
            section?: string[];
            /** @description Its text, 1 byte to 16 KiB. */
            text: string;
        };
        DocumentsResponse: {
            documents: components["schemas"]["Document"][];
        };
        EndSessionRequest: {
            /**
             * Format: date-time
             * @description When it ended, for an episode that is stored later; not before it began. Default: now; if all of its memories were observed before it was started, the time of the last.
             */
            ended_at?: string;
            /** @description What memories were worth, by memory_id: {"12":"helped","15":"misled"}. helped, partly, misled or unused. */
            memory_scores?: {
                [key: string]: unknown;
            };
            /**
             * @description How the episode went: success, failure, partial or unknown. Instead of outcome_score.
             * @enum {string}
             */
            outcome?: "success" | "failure" | "partial" | "unknown";
            /** @description Outcome, 0 (failed) to 1 (succeeded). */
            outcome_score?: number;
            /** @description Memories that were used. Their decay restarts from today, and the outcome counts in their record. */
            used_memory_ids?: number[];
        };
        EndSessionResponse: {
            consolidated: components["schemas"]["Consolidated"];
            /** @description Memories of the collection whose confidence has decayed below 0.3. */
            decayed_count: number;
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            /** @description Memories of earlier episodes that are related to this one. */
            related_memories: components["schemas"]["BriefMemory"][];
            session_id: string;
            /** @description Ids of facts of the episode with similar words that were not merged, because none says all that another says. At most 20 groups of 20. */
            similar_groups?: number[][];
            status: string;
            summary: components["schemas"]["SessionSummary"];
        };
        Estimate: {
            /** @description Number of attempts; weighted by distance, relevance and recency in best and suggestion. */
            attempts: number;
            high: number;
            /** @description Lower end: of the Wilson interval for a rate, of the normal one for a mean. */
            low: number;
            /** @description Success rate, or the mean of the goal. */
            rate: number;
            /** @description Not with another goal than success. A partial success counts half. */
            successes?: number;
        };
        Eviction: {
            bytes: number;
            collection: string;
            memory_id: number;
            perception_type: string;
            reason: string;
            /** @description Class that determines the order: forgotten, thinned, never recalled, recalled, useful, of a failed episode or pinned. */
            value: string;
        };
        ForgetResponse: {
            /** @description The first 100 characters; empty when it was purged. */
            content: string;
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            memory_id: number;
            /** @description With purge: what was deleted, and what purge cannot delete. */
            purged?: components["schemas"]["Purged"];
            reason: string;
            status: string;
        };
        HistoryResponse: {
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            memory_id: number;
            uid: string;
            versions: components["schemas"]["Version"][];
        };
        /** Import */
        Import: {
            /** @description Imports that run before a queued one. */
            ahead?: number;
            /** @description Received. */
            bytes: number;
            collection?: string;
            /** @description Messages that are imported. */
            done?: number;
            /** Format: date-time */
            ended_at?: string;
            /** ImportError */
            error?: {
                detail: string;
                field?: string;
                kind: string;
            };
            import_id: string;
            map_id?: string;
            /** @description Name of the file or folder. */
            name: string;
            /** Format: date-time */
            received_at: string;
            result?: components["schemas"]["ImportResult"];
            robot?: string;
            /**
             * @description The last three end it.
             * @enum {string}
             */
            state: "receiving" | "queued" | "importing" | "done" | "failed" | "cancelled";
            /** @description Messages of the recording; absent while it is unknown. */
            total?: number;
            /** @description Name of the token that sent it. */
            who?: string;
        };
        /** ImportResult */
        ImportResult: {
            /** @description The first place where the recording is damaged. */
            broken?: string;
            clock_resets?: number;
            /** Format: date-time */
            ended_at?: string;
            episode_count: number;
            /** @description Goals of the recording, the first 100. */
            episodes?: {
                outcome?: string;
                session_id: string;
                /** Format: date-time */
                started_at?: string;
                title: string;
            }[];
            fact_count: number;
            /** @description What messages say, at most 100. */
            facts?: {
                memory_id: number;
                /** Format: date-time */
                observed_at?: string;
                outcome?: string;
                text: string;
            }[];
            /** @description Format of the recording. */
            kind: string;
            /** @description It was imported before, to its end; nothing was read. */
            known?: boolean;
            /** @description Messages that could not be read. */
            lost?: number;
            /** @description Messages that were read. */
            messages: number;
            /** @description Messages whose log time cannot be the time of an observation. */
            mistimed?: number;
            /** @description Topics beyond those listed. */
            more_topics?: number;
            perceptions: number;
            /** @description Namespaces in which the same action has goals: several robots. */
            robots?: string[];
            /** @description Its episode. */
            session_id?: string;
            /** Format: date-time */
            started_at?: string;
            /** @description Perceptions that were new. */
            stored: number;
            topics?: {
                /** @description Messages within perceptions. */
                kept: number;
                /** @description Messages that were stored and not understood, by reason. */
                notes?: {
                    [key: string]: number;
                };
                perceptions: number;
                /** @description Messages. */
                read: number;
                /** @description Messages that were left out, by reason. */
                skipped?: {
                    [key: string]: number;
                };
                topic: string;
                type: string;
            }[];
            undecoded?: number;
            warnings?: string[];
        };
        /** Imports */
        Imports: {
            /** @description Bytes that they take. */
            held_bytes: number;
            imports: components["schemas"]["Import"][];
            /** @description Bytes that all recordings which wait may take together. */
            limit_bytes: number;
            /** @description Why the node takes no recordings. */
            read_only?: string;
        };
        Incident: {
            /**
             * Format: date-time
             * @description When the failure was observed, or the episode ended.
             */
            at: string;
            collection: string;
            /** @description The episode of the recording that shows it, if that is another one. */
            evidence?: string;
            /**
             * Format: date-time
             * @description The first of the group.
             */
            first_at: string;
            /** @description Equal for incidents of one collection, task and object with similar words. */
            group: string;
            /** @description session: an episode that failed. memory: a failed memory of no episode, or of one that did not fail. */
            kind: string;
            media_type?: string;
            /** @description The memory that tells of the failure: of an episode the newest failed fact. Absent for an episode without memories. */
            memory_id?: number;
            /** @description What the task handled, as the context names it at object or task.object. */
            object?: string;
            /** @description The perception that shows it: the last trace or sound that began before the failure, else picture or cloud. */
            perception_id?: number;
            perception_type?: string;
            /** @description The value of spatial in its context. */
            place?: unknown;
            /** @description How many of the group there were until this one, this one included. */
            repeats: number;
            resolved?: components["schemas"]["Resolved"];
            robot?: string;
            /** @description The text of the memory. */
            said?: string;
            session_id?: string;
            /** @description What the node read in the perception that shows it. */
            summary?: string;
            task?: string;
        };
        IncidentGroup: {
            collection: string;
            count: number;
            /** Format: date-time */
            first_at: string;
            group: string;
            /** Format: date-time */
            last_at: string;
            /** @description How many are not resolved. */
            open: number;
            /** @description The shortest text of the group. */
            said: string;
            task?: string;
        };
        IncidentLine: {
            collection: string;
            /** @description Failed episodes. */
            episodes: number;
            /** @description Failed memories of no episode, or of one that did not fail. */
            facts: number;
            /** @description The newest of them: of the episodes, if there is one, else of the memories. */
            last: components["schemas"]["Incident"];
            /** @description How many are not resolved. */
            open: number;
            robot?: string;
            task?: string;
        };
        IncidentsResponse: {
            /** @description What is missing, and why. */
            degraded?: string[];
            /** @description What happened at least twice among all that match, most often first; at most 20. */
            groups: components["schemas"]["IncidentGroup"][];
            incidents: components["schemas"]["Incident"][];
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            limit: number;
            /** @description One for each collection, robot and task among all that match: those with failed episodes first, newest first; at most 20. */
            lines: components["schemas"]["IncidentLine"][];
            page: number;
            /** @description The robots of all incidents of the collection; at most 200. */
            robots: string[];
            /** @description The tasks of all incidents of the collection; at most 200. */
            tasks: string[];
            total: number;
        };
        Inferred: {
            category: string;
            confidence: number;
            /** @description success, failure, partial or unknown. */
            outcome: string;
            scope_entities: string[];
            scope_files: string[];
            tags: string[];
        };
        LanguageModelCount: {
            calls: number;
            completion_tokens: number;
            /** @description Calls without an answer that could be used. */
            failed: number;
            prompt_tokens: number;
            seconds: number;
        };
        LanguageModelTask: {
            calls: number;
            completion_tokens: number;
            /** @description Calls without an answer that could be used. */
            failed: number;
            model: string;
            prompt_tokens: number;
            seconds: number;
            /** @description extract, reconcile, summary, episode, pattern, rule, compress, caption or contradiction. */
            task: string;
        };
        LanguageModelUse: {
            /** @description Most calls of a day, 0 for no limit. */
            cap_calls: number;
            /** @description Most seconds of a day, 0 for no limit. */
            cap_seconds: number;
            /** @description Most tokens of a day, 0 for no limit. */
            cap_tokens: number;
            /**
             * Format: date-time
             * @description Since when no model is asked; absent if they may be.
             */
            paused?: string;
            /** @description Calls that are being made. They count with the most that they can take. */
            running: number;
            /** @description The total by model and task. */
            tasks: components["schemas"]["LanguageModelTask"][];
            today: components["schemas"]["LanguageModelCount"];
            /** @description Of the last 90 days. */
            total: components["schemas"]["LanguageModelCount"];
        };
        LastSeen: {
            /** @description Context path of the position. */
            field?: string;
            map_id?: string;
            memory_id: number;
            /** Format: date-time */
            observed_at: string;
            /** @description The name of the place, if the context has one. */
            place?: string;
            position?: number[];
        };
        LearnBatchRequest: {
            /** @description 1 to 10,000 learn requests. */
            items: components["schemas"]["LearnRequest"][];
            /** @description Store every item, including duplicates of known facts. */
            keep_duplicates?: boolean;
        };
        LearnBatchResponse: {
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            results: components["schemas"]["BatchResult"][];
        };
        LearnRequest: {
            /** @description Namespace, [A-Za-z0-9._-]{1,64}. Default: the collection of the session, else default. */
            collection?: string;
            /** @description JSON object that describes the situation. Known sections: params, spatial, robot, task (task.success is the outcome), env. Other keys are stored too. */
            context?: {
                [key: string]: unknown;
            };
            /** @description What was learnt, in one sentence with its numbers: "grip_force=12.5 N holds wet glass". 1 byte to 16 KiB, stored unchanged. */
            insight: string;
            /**
             * Format: date-time
             * @description Time of the observation (RFC 3339). Default: now.
             */
            observed_at?: string;
            /**
             * @description How it went: success, failure, partial or unknown. Default: read from the context (task.success, result, status, …), else from the text.
             * @enum {string}
             */
            outcome?: "success" | "failure" | "partial" | "unknown";
            /** @description A pinned memory does not decay and is not merged. Default: depends on the category. */
            pinned?: boolean;
            /** @description A name of this call, up to 128 characters, such as a UUID. A call that is repeated with it, because its answer was lost, gets the same answer and stores nothing again. The last 100,000 of the last 7 days are known. */
            request_id?: string;
            /** @description The episode of the memory, from start_session. */
            session_id?: string;
            /** @description Who or what reported the fact, up to 64 characters. The names operator and verified are reserved. */
            source?: string;
            /** @description The memory_id of an active memory of the same collection that this fact replaces: it is no longer recalled, the history keeps it, and restore brings it back. */
            supersedes?: number;
            /** @description Tags to add to the inferred ones; each 1 to 64 letters, digits, _ . or -. */
            tags?: string[];
        };
        LearnResponse: {
            auto_inferred: components["schemas"]["Inferred"];
            conflicts: components["schemas"]["ConflictWith"][];
            existing_id?: number;
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            memory_id: number;
            /** @description For a duplicate: exact (the same text) or sequence (the same words, numbers and units in the same order). */
            method?: string;
            /** @description At most 5 memories with similar words, best first. The new memory is stored beside them. */
            similar?: components["schemas"]["SimilarMemory"][];
            similarity?: number;
            /** @description created or duplicate. */
            status: string;
            /** @description The memory that this one has replaced, as supersedes asked for. */
            superseded?: number;
            uid: string;
        };
        Like: {
            /** @description The data of a perception as text, such as CSV. Exactly one of memory_id, data and data_base64. */
            data?: string;
            /** @description The data of a perception as base64. */
            data_base64?: string;
            /** @description Its media type. Default: detected from the data. */
            media_type?: string;
            /** @description A stored perception; the results exclude it. */
            memory_id?: number;
            /** @description How to read the data, as in save_perception. */
            metadata?: {
                [key: string]: unknown;
            };
        };
        ListEntry: {
            /** @description bm25, vector, text, place, likeness, time or rerank. */
            list: string;
            /** @description Rank, from 0. */
            rank: number;
            /** @description The measure of the list: a BM25 score, a cosine, a distance or the score of the reranker. */
            value: number;
        };
        ListResponse: {
            /** @description Damaged memories that the page omits, and why. */
            degraded?: string[];
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            limit: number;
            memories: components["schemas"]["Memory"][];
            /** @description The cursor of the next page. Absent on the last page. */
            next?: string;
            /** @description What no memory has of what the context_filter asks for. */
            notes?: string[];
            /** @description 0 if the request has a cursor. */
            page: number;
            /** @description Number of matching memories on all pages. */
            total: number;
        };
        LostPayload: {
            memory_id: number;
            reason: string;
            sha256: string;
        };
        Memory: {
            access_count?: number;
            /** @description With context_window: what was stored just after, oldest first. */
            after?: components["schemas"]["Neighbour"][];
            /** @description With context_window: what was stored just before in the same episode, oldest first. */
            before?: components["schemas"]["Neighbour"][];
            bytes?: number;
            category: string;
            collection: string;
            /** @description Current confidence after decay, 0 to 1. */
            confidence: number;
            /** @description With get: active facts of the same collection and context that contradict it, newest first, at most 5. */
            conflicts?: components["schemas"]["ConflictWith"][];
            content: string;
            context?: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            created_at: string;
            data_uri?: string;
            /** @description Decay of the confidence per day, as a fraction. */
            decay_rate?: number;
            /** @description Distance to the target, in the unit of the coordinates. */
            distance?: number;
            env?: unknown;
            /** @description How its whole episode ended: success, failure or partial. It says nothing about this memory. */
            episode_outcome?: string;
            /** @description With explain: its rank in each list. */
            found?: components["schemas"]["ListEntry"][];
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            /** Format: date-time */
            last_accessed?: string;
            /** @description In the compact form, beside memory_id and score: outcome, parameters, date, place and record, then after a colon the text, shortened. */
            line?: string;
            media_type?: string;
            memory_id: number;
            metadata?: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            observed_at: string;
            /** @description success, failure, partial or unknown. */
            outcome: string;
            /** @description Where the outcome comes from: caller, context or text. */
            outcome_source?: string;
            params?: unknown;
            perception_type?: string;
            pinned?: boolean;
            /** @description Who stored it. Absent for memories stored before schema version 5. */
            provenance?: components["schemas"]["Provenance"];
            /** @description How the episodes went that used it, such as: used 6 times, 5 succeeded. */
            record?: string;
            /** @description Estimated probability that the memory answers the query, 0 to 1. */
            relevance?: number;
            /** @description Lower bound of the share of successes at 95 % confidence (Wilson), if it was used. */
            reliability?: number;
            return_count?: number;
            robot?: unknown;
            /** @description fleet: it is at the site only. Its memory_id is 0 here. */
            scope?: string;
            scope_entities?: string[];
            scope_files?: string[];
            /** @description Score relative to the best result, which has 1.0. */
            score?: number;
            session_id?: string;
            sha256?: string;
            sightings?: number;
            source?: string;
            spatial?: unknown;
            status?: string;
            summary: string;
            superseded_by?: number;
            tags: string[];
            task?: unknown;
            /** @description new, proven, mixed or suspect, by its record. */
            tier?: string;
            type: string;
            uid: string;
            /** Format: date-time */
            updated_at?: string;
            /** @description The tags that a caller gave. */
            user_tags?: string[];
            version?: number;
        };
        MemoryLine: {
            after?: components["schemas"]["Neighbour"][];
            before?: components["schemas"]["Neighbour"][];
            line?: string;
            memory_id: number;
            score?: number;
            uid?: string;
        };
        Neighbour: {
            memory_id: number;
            /** @description Left out if that memory is an answer itself. */
            text?: string;
        };
        OutcomeGroup: {
            failures: number;
            /** @description Successes, failures and partial successes that are those of whole episodes: one setting of parameters, and an outcome from end_session. */
            from_episodes?: number;
            /** @description Value by path; null where a memory has none. */
            group: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When the latest was observed.
             */
            last: string;
            memories: number;
            partial: number;
            successes: number;
            unknown: number;
        };
        ParameterAdvice: {
            /** @description Standard deviation of the kernel, in unit. */
            bandwidth?: number;
            /** @description The region or value with the highest lower bound. For a number its rate is weighted by a kernel. */
            best?: components["schemas"]["ValueRecord"];
            /** @description Kernel and rule of the bandwidth, for numbers. */
            kernel?: string;
            path: string;
            /** @description Unit of the numbers: the most frequent one in the memories. */
            unit?: string;
            /** @description Numbers in ascending order, in bins if there are more than 12; texts by attempts, at most 12. */
            values: components["schemas"]["ValueRecord"][];
        };
        PathValue: {
            memories: number;
            value: unknown;
        };
        PathsResponse: {
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            /** @description Sorted by path, at most 10,000. Use prefix if there are more. */
            paths: components["schemas"]["ContextPath"][];
            /** @description Number of paths. */
            total: number;
        };
        PerceptionForm: {
            /** @description Namespace. Default: the collection of the session, else default. */
            collection?: string;
            /** @description JSON object that describes the situation, as in learn. */
            context?: {
                [key: string]: unknown;
            };
            /** @description What it shows, in words; 5 characters to 16 KiB. */
            description: string;
            /**
             * Format: binary
             * @description The payload. It must come after the fields to stream to the disk, in any size that the node accepts. Its content type is its media type. The part may also be called data.
             */
            file?: string;
            /** @description Media type of the payload. Default: detected from the payload. */
            media_type?: string;
            /** @description How to read the payload: shape, rate_hz or duration_s, channels, units. */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description Time of the measurement, by the sensor's clock (RFC 3339). Default: now.
             */
            observed_at?: string;
            /** @description Identifier of the perception in its source, up to 256 characters. It is unique in a collection: saving the same origin again returns the existing memory. */
            origin?: string;
            /** @description A file on the machine of the node, in one of the folders that its operator allows. */
            path?: string;
            /**
             * @description Kind of sensor data. Default: by the data, else visual.
             * @enum {string}
             */
            perception_type?: "visual" | "tactile" | "auditory" | "proprioceptive" | "procedural" | "spatial";
            /** @description A name of this call, up to 128 characters, such as a UUID. A call that is repeated with it, because its answer was lost, gets the same answer and stores nothing again. The last 100,000 of the last 7 days are known. */
            request_id?: string;
            /** @description The episode of the memory, from start_session. */
            session_id?: string;
            /** @description The sensor or topic, up to 64 characters. The names operator and verified are reserved. */
            source?: string;
        };
        PinRequest: {
            /**
             * @description true to pin, false to unpin.
             * @default true
             */
            pinned?: boolean;
        };
        PinResponse: {
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            memory_id: number;
            pinned: boolean;
            /** @description pinned or unpinned. */
            status: string;
        };
        PlaceCell: {
            /** @description Memories with task.success false. */
            failures: number;
            memories: number;
            /** @description Memories with task.success true. */
            successes: number;
            x: number;
            y: number;
        };
        PlaceField: {
            /** @description Number of dimensions, 2 or 3. */
            dims: number;
            field: string;
            frame_id?: string;
            map_id?: string;
            /** @description The largest value of each coordinate. */
            max: number[];
            memories: number;
            /** @description The smallest value of each coordinate. */
            min: number[];
        };
        PlacePoint: {
            category: string;
            memory_id: number;
            /** Format: date-time */
            observed_at: string;
            /** @description task.success, if it is true or false. */
            success?: boolean;
            summary: string;
            type: string;
            x: number;
            y: number;
            z?: number;
        };
        PlacesResponse: {
            /** @description Side of a cell, in the unit of the coordinates. */
            cell?: number;
            /** @description The cells that are not empty. Their counts include points that are not in the sample. */
            cells: components["schemas"]["PlaceCell"][];
            /** @description The context paths that hold coordinates, by frame and map, at most 1,000. Paths with the most memories are first. */
            fields: components["schemas"]["PlaceField"][];
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            /** @description Sorted by memory_id. */
            points: components["schemas"]["PlacePoint"][];
            /** @description points is a sample. */
            sampled: boolean;
            /** @description Number of points within the bounds; points may be a sample of them. */
            total: number;
        };
        PreviewResponse: {
            data_base64: string;
            height: number;
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            /** @description image/png, image/jpeg or image/svg+xml. */
            media_type: string;
            memory_id: number;
            /** @description Checksum of the perception, not of the picture. */
            sha256: string;
            summary: string;
            uid?: string;
            width: number;
        };
        Problem: {
            /** @description What failed, what is allowed, and what to do next. */
            detail: string;
            /** @description The request field that is wrong. */
            field?: string;
            /**
             * @description The class of the error.
             * @enum {string}
             */
            kind: "conflict" | "corrupt" | "forbidden" | "internal" | "invalid" | "not_found" | "too_large" | "unavailable";
            /** @description The operation. */
            op?: string;
            /** @description The id of the request in the node's log. */
            request_id?: string;
            status: number;
            /** @description The status in words. */
            title: string;
            /** @description about:blank: status and kind describe the error. */
            type: string;
        };
        Provenance: {
            /** @description The robot named in its context or session. */
            robot?: string;
            /** @description The interface and the name that the client program reports: mcp claude-code/2.0.1, rest curl/8.5.0, cli, library, import, recorder. */
            tool?: string;
            /** @description The name of the token, or the operating system user. Absent if unknown. */
            who?: string;
        };
        Purged: {
            /** @description Size of the payload, if it was removed. */
            bytes?: number;
            /** @description Copies that purge cannot delete, such as backups. */
            not_reached: string[];
            /** @description rewritten, or pending with the reason. If pending, this node or the next one that opens the file finishes it. */
            old_pages: string;
            /** @description The bytes of the perception: removed, kept (another memory has the same bytes, or the folder is of another file) or gone before. */
            payload?: string;
            /** @description Memories that had been merged into this one. They still hold their own text; purge them too if it has the same content. */
            stood_for?: number[];
            /** @description Number of deleted versions of the memory. */
            versions: number;
        };
        RecallRequest: {
            /**
             * Format: date-time
             * @description Only memories observed at or after this time (RFC 3339).
             */
            after?: string;
            /**
             * Format: date-time
             * @description Search the state of the memory at this past time (RFC 3339).
             */
            as_of?: string;
            /** @description Treat the last word of the query as a prefix, unless a space follows it. Words with this prefix match with a lower weight than the word itself. The statistics do not count such a recall. */
            as_you_type?: boolean;
            /**
             * Format: date-time
             * @description Only memories observed before this time (RFC 3339).
             */
            before?: string;
            /** @description Only this category. */
            category?: string;
            /**
             * @description Namespace to search; * for all.
             * @default default
             */
            collection?: string;
            /** @description Filter over context paths: {"task.success":true,"params.force":{"$lt":15}}. Operators $eq $ne $lt $lte $gt $gte $in $nin $exists $and $or $not. */
            context_filter?: {
                [key: string]: unknown;
            };
            /** @description Add the texts of so many memories before and after in the same episode, 0 to 3. */
            context_window?: number;
            /** @description Return the results that are ready after this many milliseconds. 0 means no limit. */
            deadline_ms?: number;
            /**
             * @description ids, compact (one line for each memory) or full. Default: full; over MCP compact.
             * @enum {string}
             */
            detail?: "ids" | "compact" | "full";
            /** @description 0 ranks by score only; larger values avoid similar results; at most 1. */
            diversity?: number;
            /** @description Only memories that name this robot, object, place, part or person, in any spelling or by another of its names (see about). */
            entity?: string;
            /** @description Report how many memories each stage kept and how each memory was found. */
            explain?: boolean;
            /** @description The episode that makes the recall; end_session uses it to credit memories. */
            for_session?: string;
            /** @description Find perceptions similar to this one, or facts that mean the same: {"memory_id":7} or {"data_base64":"…","media_type":"text/csv"}. */
            like?: components["schemas"]["Like"];
            /** @description Largest size of the answer in tokens, at least 100; more counts the memories that do not fit. */
            max_tokens?: number;
            /**
             * @description Lowest current confidence, 0 to 1.
             * @default 0.3
             */
            min_confidence?: number;
            /** @description Lowest relevance on the absolute scale, 0 to 1. */
            min_relevance?: number;
            /**
             * @description Number of memories to return, 1 to 100.
             * @default 5
             */
            n?: number;
            /**
             * @description Read time words in the query (yesterday, last week, before the crash at 14:05, 昨天) as after and before; times in the response shows how. false: they are words.
             * @default true
             */
            parse_time?: boolean;
            /**
             * @description Only perceptions of this type.
             * @enum {string}
             */
            perception_type?: "visual" | "tactile" | "auditory" | "proprioceptive" | "procedural" | "spatial";
            /** @description What to look for, in words; may be empty with a filter, a place or a session. */
            query?: string;
            /**
             * @description Where to look: local (this memory; the default), fleet (the site that this memory has joined) or both.
             * @enum {string}
             */
            scope?: "local" | "fleet" | "both";
            /** @description Only memories of this episode. With an empty query they are returned in time order. */
            session_id?: string;
            /** @description Nearest first: {"field":"spatial.position","target":[x,y,z],"max_distance":1.5}. "mode":"fused" ranks by words too; frame_id, map_id. */
            spatial_sort?: components["schemas"]["SpatialSort"];
            /** @description Also return up to so many memories in surprising that are tied to the answers and not to the words of the question, 0 to 10. */
            surprise?: number;
            /** @description Only memories with all of these tags. */
            tags?: string[];
            /**
             * @description Only facts, perceptions or documents.
             * @enum {string}
             */
            type?: "fact" | "perception" | "document";
        };
        RecallResponse: {
            /** @description How many of these ended as success, failure, partial or unknown. */
            counts?: {
                [key: string]: number;
            };
            /** @description What is broken: the signals that failed, and why. */
            degraded: string[];
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            /** @description For a question how often, and without a query: how many memories match in all. */
            matching?: number;
            memories: (components["schemas"]["Memory"] | components["schemas"]["MemoryLine"])[];
            /** @description hybrid, bm25_only, vec_only or structured. */
            mode: string;
            /** @description Number of memories that max_tokens left out. */
            more?: number;
            /** @description Remarks: words of the question that no memory has, a time that was not used, what an empty answer has to do with. */
            notes?: string[];
            query_ms: number;
            stages?: components["schemas"]["Stage"][];
            /** @description With surprise: memories that share a rare word with an answer and few with the question, the best first. */
            surprising?: components["schemas"]["Surprise"][];
            /** @description The time words of the query that were read as bounds. */
            times?: components["schemas"]["TimePhrase"][];
            /** @description Number of memories in this response. */
            total: number;
            /** @description Attempts of one task with the same parameters that failed at least 3 times and never succeeded. */
            warnings?: string[];
        };
        RecalledMemory: {
            category: string;
            confidence: number;
            memory_id: number;
            status: string;
            summary: string;
            type: string;
            /** @description end_session listed it in used_memory_ids. */
            used: boolean;
        };
        RemoveDocumentResponse: {
            collection: string;
            name: string;
            /** @description Passages that were forgotten. restore brings each back. */
            passages: number;
            /** @description removed. */
            status: string;
        };
        RepairResponse: {
            doctor: components["schemas"]["DoctorResponse"];
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            repaired: string[];
        };
        Resolved: {
            /** Format: date-time */
            at: string;
            lesson: string;
            memory_id: number;
        };
        RestoreResponse: {
            /** @description The first 100 characters. */
            content: string;
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            memory_id: number;
            status: string;
        };
        RetainRequest: {
            /** @description Remove the payloads. Without it they are only listed. */
            apply?: boolean;
            /** @description Budgets: {"perception_type":"visual","max_bytes":1000000000,"max_age_days":30,"collection":"arm7"}. Default: the budgets of the node. */
            budgets?: components["schemas"]["Budget"][];
            /** @description Bytes that must stay free on the disk. */
            min_free_bytes?: number;
        };
        RetainResponse: {
            /** @description Number of perceptions whose payload is removed. */
            count: number;
            dry_run: boolean;
            /** @description The first 1,000 of them, in the order of removal. */
            evictions: components["schemas"]["Eviction"][];
            freed_bytes: number;
            /** @description Stored bytes before the removal. A shared payload counts once per perception. */
            held_bytes: number;
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
        };
        SamplesResponse: {
            /** @description Of a trace or a sound. */
            channels?: components["schemas"]["Channel"][];
            /** @description How long the whole lasts; absent when unknown. */
            duration_s?: number;
            /** @description The frame of x, y and z, if it is named. */
            frame_id?: string;
            /** @description As recorded. */
            intensity?: (number | null)[];
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            /** @description trace, sound, cloud, trajectory or scan. */
            kind: string;
            memory_id: number;
            /** @description Points without a position, rays without a return, and messages that cannot be decoded: they are left out, and no part of total. */
            missing?: number;
            qw?: (number | null)[];
            /** @description The orientation of each pose as a unit quaternion. */
            qx?: (number | null)[];
            qy?: (number | null)[];
            qz?: (number | null)[];
            /** @description Samples per second, the mean where they are uneven; absent when unknown. */
            rate_hz?: number;
            /** @description Not every sample is here: ask for less time, or more points. */
            reduced: boolean;
            /** @description 0xRRGGBB. */
            rgb?: number[];
            /** @description When each entry was, in time_unit since the first sample; of a bucket when it begins. */
            time?: (number | null)[];
            /** @description s, or sample (numbers from 0) when the rate is unknown. */
            time_unit?: string;
            /** @description Samples between from and to; of a cloud, a path or a scan the points that have a position. */
            total: number;
            uid?: string;
            /** @description Of x, y and z: m unless the metadata names another. */
            unit?: string;
            /** @description Of a scan in the sensor's frame: x ahead, y left. */
            x?: (number | null)[];
            y?: (number | null)[];
            z?: (number | null)[];
        };
        SaveDocumentRequest: {
            /**
             * @description Namespace.
             * @default default
             */
            collection?: string;
            /** @description JSON object for every passage, such as {"robot":{"model":"X7"}}. The section document is written by the node. */
            context?: {
                [key: string]: unknown;
            };
            /** @description Its media type. */
            media_type?: string;
            /** @description The name of the document in its collection, such as manual.pdf; up to 512 characters. Saving another text under it replaces the document. */
            name: string;
            /** @description How many pages it has; 0 if it has none. */
            pages?: number;
            /** @description 1 to 20,000 passages, in their order. */
            passages: components["schemas"]["DocumentPassage"][];
            /** @description SHA-256 of the file, in hexadecimal digits. If the document was made of the same file, nothing is stored. */
            sha256: string;
            /** @description Its title, up to 256 characters. */
            title?: string;
        };
        SaveDocumentResponse: {
            /** @description Passages that are new. */
            added: number;
            collection: string;
            /** @description Remarks, such as secrets that were masked. */
            interpreted?: string[];
            /** @description Passages whose text did not change. They keep their memory_id. */
            kept: number;
            /** @description Of those kept, how many are on another page or in another section. */
            moved: number;
            name: string;
            /** @description Passages that the document has now. */
            passages: number;
            /** @description Passages that the new text does not have. They are forgotten, and restore brings them back. */
            removed: number;
            /** @description created, updated or unchanged. */
            status: string;
        };
        SavePerceptionRequest: {
            /** @description Namespace. Default: the collection of the session, else default. */
            collection?: string;
            /** @description JSON object that describes the situation, as in learn. */
            context?: {
                [key: string]: unknown;
            };
            /** @description The payload as text, stored as UTF-8. At most one of data, data_base64 and path. */
            data?: string;
            /** @description The payload as base64. At most 32 MiB of bytes. */
            data_base64?: string;
            /** @description What it shows, in words; 5 characters to 16 KiB. */
            description: string;
            /** @description Media type of the payload. Default: detected from the payload. */
            media_type?: string;
            /** @description How to read the payload: shape, rate_hz or duration_s, channels, units. */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description Time of the measurement, by the sensor's clock (RFC 3339). Default: now.
             */
            observed_at?: string;
            /** @description Identifier of the perception in its source, up to 256 characters. It is unique in a collection: saving the same origin again returns the existing memory. */
            origin?: string;
            /** @description A file on the machine of the node, in one of the folders that its operator allows. */
            path?: string;
            /**
             * @description Kind of sensor data. Default: by the data, else visual.
             * @enum {string}
             */
            perception_type?: "visual" | "tactile" | "auditory" | "proprioceptive" | "procedural" | "spatial";
            /** @description A name of this call, up to 128 characters, such as a UUID. A call that is repeated with it, because its answer was lost, gets the same answer and stores nothing again. The last 100,000 of the last 7 days are known. */
            request_id?: string;
            /** @description The episode of the memory, from start_session. */
            session_id?: string;
            /** @description The sensor or topic, up to 64 characters. The names operator and verified are reserved. */
            source?: string;
        };
        SavePerceptionResponse: {
            bytes: number;
            collection: string;
            has_embedding: boolean;
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            media_type: string;
            memory_id: number;
            perception_type: string;
            sha256: string;
            /** @description created, or duplicate if a perception with this origin exists. */
            status: string;
            summary: string;
            uid: string;
        };
        Session: {
            client_type?: string;
            collection: string;
            context?: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When it began: the started_at of start_session, if one was given.
             */
            created_at: string;
            /** Format: date-time */
            ended_at?: string;
            memory_count: number;
            outcome_score?: number;
            session_id: string;
            status: string;
        };
        SessionResponse: {
            /** @description If the episode is an attempt at a goal: what was tried. */
            attempt?: components["schemas"]["Attempt"];
            client_type?: string;
            collection: string;
            context?: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When it began: the started_at of start_session, if one was given.
             */
            created_at: string;
            /** Format: date-time */
            ended_at?: string;
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            memory_count: number;
            outcome_score?: number;
            /** @description Memories that were recalled for the episode, the helpful ones first; at most 1,000. */
            recalled: components["schemas"]["RecalledMemory"][];
            session_id: string;
            status: string;
            /** @description Sample counts per source of the recorder. */
            streams?: components["schemas"]["StreamCount"][];
            /** @description Summary of the episode, so far if it is active. Absent for an empty episode. */
            summary?: components["schemas"]["SessionSummary"];
        };
        SessionSummary: {
            categories: {
                [key: string]: number;
            };
            duration_s: number;
            /** Format: date-time */
            ended_at?: string;
            facts: number;
            /** @description Memories with task.success false. */
            failures: number;
            outcome_score?: number;
            perceptions: number;
            /** @description Memories that were recalled for the session. */
            recalled: number;
            session_id: string;
            /** @description Sample counts per source of the recorder. */
            streams?: components["schemas"]["StreamCount"][];
            /** @description Memories with task.success true. */
            successes: number;
            text: string;
            used: number;
        };
        SessionsResponse: {
            /** @description Damaged episodes whose context is omitted, and why. */
            degraded?: string[];
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            limit: number;
            /** @description The cursor of the next page. Absent on the last page. */
            next?: string;
            /** @description 0 if the request has a cursor. */
            page: number;
            sessions: components["schemas"]["Session"][];
            total: number;
        };
        SimilarMemory: {
            memory_id: number;
            /** @description jaccard. */
            method: string;
            /** @description Share of common words, 0.7 to 1. */
            similarity: number;
        };
        SpatialSort: {
            /** @description The coordinates are angles in rad, as those of joints: 6.2 is near 0. */
            angular?: boolean;
            /** @description Context path of the coordinates, such as spatial.object_position, or of a pose that holds them. */
            field: string;
            /** @description Only coordinates of this frame. */
            frame_id?: string;
            /** @description Only where the orientation beside the coordinates looks this way: the angle about z in rad, within max_angle. */
            heading?: number;
            /** @description Only coordinates of this map. */
            map_id?: string;
            /** @description Largest angle to heading or orientation, in rad (0.7854, which is 45 degrees). */
            max_angle?: number;
            /** @description Largest distance, in the same unit; metres for latitude and longitude. */
            max_distance?: number;
            /**
             * @description strict: exact nearest neighbours, nearest first. fused: place is one more ranked list.
             * @default strict
             * @enum {string}
             */
            mode?: "strict" | "fused";
            /** @description Instead of heading, a unit quaternion [x, y, z, w]. */
            orientation?: number[];
            /** @description [x, y] or [x, y, z] in the unit of the stored coordinates, [lat, lon] or [lat, lon, alt], or up to 32 joint values. */
            target: number[];
        };
        Stage: {
            kept: number;
            ms: number;
            stage: string;
        };
        StartSessionRequest: {
            /**
             * @description Namespace of the episode and of its memories.
             * @default default
             */
            collection?: string;
            /** @description Robot, task and environment of the episode; at most 64 KiB. The briefing is selected for this context. */
            context?: {
                [key: string]: unknown;
            };
            /** @description A goal to reach in several tries: the open attempt at it is continued, else one begins (see attempt). */
            goal?: string;
            /** @description Identifier of the episode in its source, up to 256 characters. It is unique in a collection: starting the same origin again returns the existing session. */
            origin?: string;
            /** @description An id of your own, 1 to 128 characters. If an open episode has it, that one continues. Default: a new id. */
            session_id?: string;
            /**
             * Format: date-time
             * @description When it began, for an episode that is stored later. Default: now; if all of its memories were observed earlier, end_session takes the time of the first.
             */
            started_at?: string;
        };
        StartSessionResponse: {
            active_memories_count: number;
            briefing: components["schemas"]["Briefing"];
            collection: string;
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            session_id: string;
            /** @description started, or continued if a session with this origin exists. */
            status: string;
        };
        StatsResponse: {
            /** @description Memories without a vector yet; 0 without an embedder. */
            backlog: number;
            /** @description The schedule of backups; absent if no node on the file ever had one. */
            backup?: components["schemas"]["BackupState"];
            /** @description Active memories. */
            by_category: {
                [key: string]: number;
            };
            by_status: {
                [key: string]: number;
            };
            /** @description Active memories. */
            by_type: {
                [key: string]: number;
            };
            collections: number;
            /** @description Transactions that this node has written and synced since its start. Concurrent calls share one. */
            commits: number;
            db_bytes: number;
            /** @description Free bytes on the disk of the file that are available to unprivileged programs; 0 if unknown. */
            disk_free_bytes: number;
            embedder: string;
            /** @description Perceptions whose payload was removed for a budget. */
            evicted: number;
            evicted_bytes: number;
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            /** @description What language models have taken on the machine of the node; absent if none was ever asked. */
            language_model?: components["schemas"]["LanguageModelUse"];
            /** @description Memories created in the last 24 hours. */
            last_day: number;
            /** @description Bytes that these commits have written to the log of the file. */
            log_bytes: number;
            /** @description Original size of all payloads; a shared payload counts once. */
            payload_bytes: number;
            recalls: number;
            schema_version: number;
            sessions: number;
            /** @description Size of all payloads as stored. */
            stored_bytes: number;
            /** @description Sample counts per source of the recorder, over all sessions. */
            streams?: components["schemas"]["StreamCount"][];
            /** @description Perceptions for which this node has yet to compute similarity features. */
            to_compare: number;
            /** @description Active memories of all collections. */
            total: number;
            /** @description Background work of the node. */
            workers: components["schemas"]["Worker"][];
            /** @description Bytes that this process has written to disks since its start, also for checkpoints, payloads and snapshots; absent where the system does not count them (only Linux does). */
            written_bytes?: number;
            /** @description Recalls without a result. */
            zero_hits: number;
        };
        StreamCount: {
            bytes: number;
            /** @description Samples that were refused because the recorder's queue was full, or lost in a failed write. */
            dropped: number;
            /** @description Gaps in the sequence numbers of the source. */
            missed: number;
            received: number;
            source: string;
            stored: number;
        };
        SubjectCount: {
            kind?: string;
            memories: number;
            name: string;
        };
        Suggestion: {
            /** @description Number of attempts; weighted by distance, relevance and recency in best and suggestion. */
            attempts: number;
            high: number;
            /** @description Lower end: of the Wilson interval for a rate, of the normal one for a mean. */
            low: number;
            /** @description Attempts that support it, the one with these parameters first. */
            memory_ids: number[];
            /** @description By path, ready for the context of the next attempt: 12.5, or 12.5 N if the memories hold units. */
            parameters: {
                [key: string]: unknown;
            };
            /** @description Success rate, or the mean of the goal. */
            rate: number;
            /** @description Not with another goal than success. A partial success counts half. */
            successes?: number;
            text: string;
            /** @description false: a combination that was not tried, which explore proposes or which is between attempts near the place; its rate is that of its neighbours. */
            tried: boolean;
        };
        Surprise: {
            /** @description What it shares with which answer. */
            because: string;
            /** @description As in the compact form. */
            line: string;
            memory_id: number;
        };
        TimePhrase: {
            /** Format: date-time */
            after?: string;
            /** Format: date-time */
            before?: string;
            text: string;
        };
        TimelineResponse: {
            /** @description Damaged memories that are left out, and why. */
            degraded?: string[];
            /** @description In order of observed_at, with the memory itself. */
            memories: components["schemas"]["MemoryLine"][];
            /** @description What the memories have in common: session, robot or collection, and its name. */
            of: string;
        };
        Try: {
            /** Format: date-time */
            at: string;
            changed: string;
            memory_id: number;
            /** @description From 1. */
            number: number;
            /** @description success, failure, partial or unknown. */
            outcome: string;
            /** @description 0 to 1, if it is known. */
            progress?: number;
            /** @description Its first 300 characters; get returns the whole text. */
            result?: string;
        };
        UpdateRequest: {
            /** @description A new context. Default: keep the old one. */
            context?: {
                [key: string]: unknown;
            };
            /** @description The new text, 1 byte to 16 KiB, stored unchanged. */
            new_content: string;
        };
        UpdateResponse: {
            auto_inferred: components["schemas"]["Inferred"];
            /** @description What was taken otherwise than given. */
            interpreted?: string[];
            memory_id: number;
            new_content: string;
            /** @description Values of the context that the old text stated and the new text states otherwise. The context is kept as it is unless the request gives one. */
            notes?: string[];
            old_content: string;
            status: string;
            version: number;
        };
        ValueRecord: {
            /** @description Number of attempts; weighted by distance, relevance and recency in best and suggestion. */
            attempts: number;
            from?: number;
            high: number;
            /** Format: date-time */
            last_tried?: string;
            /** @description Lower end: of the Wilson interval for a rate, of the normal one for a mean. */
            low: number;
            /** @description The last attempts, at most 3. */
            memory_ids?: number[];
            /** @description Success rate, or the mean of the goal. */
            rate: number;
            /** @description Not with another goal than success. A partial success counts half. */
            successes?: number;
            to?: number;
            value?: unknown;
        };
        Version: {
            category: string;
            /** @description The change that ended it: updated, forgotten, restored or superseded. */
            change?: string;
            /** @description Stored confidence, without decay. */
            confidence: number;
            content: string;
            context?: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            from: string;
            reason?: string;
            status: string;
            superseded_by?: number;
            /**
             * Format: date-time
             * @description Absent for the current version.
             */
            to?: string;
            version: number;
        };
        Worker: {
            /** @description Stable name of what detail says, such as vectors_complete. Rare texts have none. */
            code?: string;
            detail: string;
            name: string;
            /** @description idle, working, waiting (for an external service), paused or off. */
            status: string;
            /** @description The numbers and sizes in detail, in their order. Only with a code. */
            values?: string[];
        };
    };
    responses: {
        /** @description `invalid`: a field is missing, unknown or out of range; `field` names it and `detail` says what is allowed. */
        BadRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `conflict`: the request does not fit the current state, such as ending a session twice. */
        Conflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `forbidden`: the caller may not do this, or the request comes from a page or names a host that is not of this node. */
        Forbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `internal` or `corrupt`: an error of the node; its log has the cause. */
        InternalServerError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `not_found`: there is no such memory, session or route. */
        NotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `too_large`: the body or payload is over the node's limit, which `detail` names. */
        RequestEntityTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `unavailable`: the body came too slowly. */
        RequestTimeout: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `unavailable`: the disk is full, the file is locked or the time limit has passed; try again later. */
        ServiceUnavailable: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `unavailable`: too many requests, or too many wrong tokens; Retry-After says after how many seconds to try again. */
        TooManyRequests: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `forbidden`: this node requires a token, and the request has none or a wrong one. */
        Unauthorized: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `invalid`: this route does not read the media type of the body; `detail` names the ones that it reads. */
        UnsupportedMediaType: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    about: {
        parameters: {
            query?: {
                /**
                 * @description Its name in any spelling (gripper 3, Gripper-3), or one of its other names. Without it the answer lists the subjects.
                 * @example arm-7
                 */
                subject?: string;
                /** @description Namespace. Default: all. */
                collection?: string;
                /** @description Lines of each part, 1 to 50. */
                n?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All about a subject */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AboutResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    activity: {
        parameters: {
            query?: {
                /** @description Namespace. Default: all. Recalls over all collections are counted only for *. */
                collection?: string;
                /**
                 * @description Number of days, including today, 1 to 3,650.
                 * @example 7
                 */
                days?: number;
                /** @description hour or day, in UTC. Default: hour for up to 7 days, else day. hour allows at most 92 days. */
                bucket?: "hour" | "day";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Activity */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActivityResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    advise: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AdviseRequest"];
            };
        };
        responses: {
            /** @description What worked here */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdviseResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    aggregate: {
        parameters: {
            query?: {
                /** @description Namespace; * for all. */
                collection?: string;
                /** @description Only memories that match, as in recall. */
                context_filter?: string;
                /** @description Up to 4 context paths, or of collection, category, type, perception_type, session_id, outcome, day. Without it there is one group. */
                group_by?: string[];
                /** @description Only memories observed at or after this time (RFC 3339). */
                after?: string;
                /** @description Only memories observed before this time (RFC 3339). */
                before?: string;
                /** @description Largest number of groups, 1 to 1,000. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Count outcomes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AggregateResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    attempt: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "changed": "speed 0.1 m/s",
                 *       "criteria": [
                 *         "the charger beeps"
                 *       ],
                 *       "goal": "dock at the charger"
                 *     }
                 */
                "application/json": components["schemas"]["AttemptRequest"];
            };
        };
        responses: {
            /** @description Try to reach a goal */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AttemptResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    audit: {
        parameters: {
            query?: {
                /** @description Only changes of this memory. */
                memory_id?: number;
                /** @description Namespace. Default: all. */
                collection?: string;
                /** @description Only changes by this token or user. */
                who?: string;
                /**
                 * @description Only this action.
                 * @example updated
                 */
                action?: "created" | "updated" | "forgotten" | "restored" | "pinned" | "unpinned" | "superseded" | "evicted" | "purged" | "ended" | "repaired" | "imported" | "promoted" | "demoted" | "granted" | "revoked";
                /** @description Only changes at or after this time (RFC 3339). */
                after?: string;
                /** @description Only changes before this time (RFC 3339). */
                before?: string;
                /**
                 * @description Entries per page, 1 to 1,000.
                 * @example 20
                 */
                limit?: number;
                /** @description The value of next from the previous page. New entries do not shift the pages. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Audit log */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    backups: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The backups. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Newest first. */
                        backups: {
                            /** @description Size of the memory's file in it. */
                            bytes: number;
                            /** Format: date-time */
                            created_at?: string;
                            name: string;
                            /** @description Why it cannot be used. */
                            problem?: string;
                            /** @description The command that puts it in the memory's place. */
                            restore: string;
                        }[];
                        /** @description The folder of the backups. */
                        dir: string;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
        };
    };
    make_backup: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The backups, with the new one. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Newest first. */
                        backups: {
                            /** @description Size of the memory's file in it. */
                            bytes: number;
                            /** Format: date-time */
                            created_at?: string;
                            name: string;
                            /** @description Why it cannot be used. */
                            problem?: string;
                            /** @description The command that puts it in the memory's place. */
                            restore: string;
                        }[];
                        /** @description The folder of the backups. */
                        dir: string;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    categories: {
        parameters: {
            query?: {
                /** @description Namespace. Default: all. */
                collection?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List categories */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CategoriesResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    changes: {
        parameters: {
            query?: {
                /** @description The change of an earlier response. Without it the current value is returned immediately. */
                since?: number;
                /** @description Longest wait for a change in milliseconds, 0 to 60,000. */
                wait_ms?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Wait for a change */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangesResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    collections: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List collections */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CollectionsResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    doctor: {
        parameters: {
            query?: {
                /** @description Read all payloads and verify their checksums. Without it each check-up reads up to 256 MiB, and the next one continues with other payloads. */
                deep?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Check-up. If Accept names only text/event-stream: events, any number of progress with {done, total, unit, stage}, then result with the response or problem with the problem document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DoctorResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    documents: {
        parameters: {
            query?: {
                /** @description Namespace. Default: all. */
                collection?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List documents */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentsResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    save_document: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "gripper.pdf",
                 *       "pages": 2,
                 *       "passages": [
                 *         {
                 *           "page": 2,
                 *           "section": [
                 *             "Safety",
                 *             "Grippers"
                 *           ],
                 *           "text": "The fingers close with 40 N."
                 *         }
                 *       ],
                 *       "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                 *       "title": "Gripper manual"
                 *     }
                 */
                "application/json": components["schemas"]["SaveDocumentRequest"];
            };
        };
        responses: {
            /** @description Save a document. If Accept names only text/event-stream: events, any number of progress with {done, total, unit, stage}, then result with the response or problem with the problem document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SaveDocumentResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    remove_document: {
        parameters: {
            query: {
                /**
                 * @description The name of the document.
                 * @example gripper.pdf
                 */
                name: string;
                /** @description Why, up to 1,000 characters. The audit log keeps the reason. */
                reason?: string;
                /** @description Namespace. */
                collection?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Remove a document */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemoveDocumentResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    events: {
        parameters: {
            query?: never;
            header?: {
                /** @description The last event that the client received. If there were changes since, the first event is change. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Events, until the client ends the request. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    imports: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The imports. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Imports"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    import_recording: {
        parameters: {
            query: {
                /** @description Name of the file or folder, such as drive.mcap. */
                name: string;
                /** @description The parts of the form are the files of one folder, such as those of rosbag2. */
                folder?: boolean;
                /** @description Namespace. */
                collection?: string;
                /** @description The robot, for the context. */
                robot?: string;
                /** @description The map that poses in the frame map are of. */
                map_id?: string;
                /** @description One robot of several, such as /r1: only its topics count, and /tf. */
                namespace?: string;
                /** @description Only these topics, as globs. */
                topic?: string[];
                /** @description Not these topics, as globs. */
                exclude?: string[];
                /** @description Store the messages alone, without facts, goals and outcomes. */
                no_events?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": string;
                "multipart/form-data": {
                    /** @description The files, each with its name. */
                    file?: string[];
                };
            };
        };
        responses: {
            /** @description The import waits, or runs. */
            202: {
                headers: {
                    /** @description Where its state is. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Import"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["RequestEntityTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    import_status: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The import. */
                import_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The import. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Import"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    cancel_import: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The import. */
                import_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The import. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Import"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    incidents: {
        parameters: {
            query?: {
                /** @description Namespace. Default: all. */
                collection?: string;
                /** @description Only of this robot. */
                robot?: string;
                /** @description Only of this task. */
                task?: string;
                /** @description Only those whose text, robot, task or place contains this text, in any case. */
                words?: string;
                /** @description Only the incident of this episode. */
                session_id?: string;
                /** @description Only the incident that this memory tells of. */
                memory_id?: number;
                /** @description Only the incidents of this group. */
                group?: string;
                /** @description Only resolved or only open ones. Default: both. */
                resolved?: boolean;
                /** @description Only those at this time or later, RFC 3339. */
                after?: string;
                /** @description Only those before this time, RFC 3339. */
                before?: string;
                /** @description time (newest first), episodes (failed episodes first, newest first), repeats (most first), robot, task or place. */
                sort?: "time" | "episodes" | "repeats" | "robot" | "task" | "place";
                /** @description Page number, from 1. */
                page?: number;
                /** @description Incidents per page, 1 to 200. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Incidents */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IncidentsResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    learn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "context": {
                 *         "params": {
                 *           "grip_force": 12.5
                 *         },
                 *         "spatial": {
                 *           "frame_id": "table",
                 *           "object_position": [
                 *             0.42,
                 *             0.1,
                 *             0.05
                 *           ]
                 *         },
                 *         "task": {
                 *           "name": "pick the wet glass",
                 *           "success": true
                 *         }
                 *       },
                 *       "insight": "grip_force=12.5 N holds the wet glass",
                 *       "session_id": "01a1fc13-cae0-783e-84dd-4cdf355d436d",
                 *       "tags": [
                 *         "wet-glass"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["LearnRequest"];
            };
        };
        responses: {
            /** @description Learn a fact */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LearnResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    learn_batch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "items": [
                 *         {
                 *           "context": {
                 *             "task": {
                 *               "success": false
                 *             }
                 *           },
                 *           "insight": "grip_force=8 N lets the wet glass slip"
                 *         },
                 *         {
                 *           "insight": "the glass weighs 0.31 kg"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["LearnBatchRequest"];
            };
        };
        responses: {
            /** @description Learn many facts. If Accept names only text/event-stream: events, any number of progress with {done, total, unit, stage}, then result with the response or problem with the problem document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LearnBatchResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    list: {
        parameters: {
            query?: {
                /** @description Page number, from 1. */
                page?: number;
                /**
                 * @description Memories per page, 1 to 1,000.
                 * @example 50
                 */
                limit?: number;
                /** @description Only memories with a smaller id. Pass the last id of a page to get the next one; new memories do not shift the pages. */
                before_id?: number;
                /** @description Namespace. Default: all. */
                collection?: string;
                /** @description Only facts, perceptions or documents. */
                type?: "fact" | "perception" | "document";
                /**
                 * @description Only this category.
                 * @example constraint
                 */
                category?: string;
                /** @description active, superseded, invalidated or all. */
                status?: "active" | "superseded" | "invalidated" | "all";
                /** @description Lowest stored confidence. */
                confidence_min?: number;
                /** @description Highest stored confidence. */
                confidence_max?: number;
                /** @description Only memories created within this number of days; 0 for all. */
                days?: number;
                /** @description Only perceptions of this type. */
                perception_type?: "visual" | "tactile" | "auditory" | "proprioceptive" | "procedural" | "spatial";
                /** @description Only memories of this episode. */
                session_id?: string;
                /** @description Only memories with all of these tags. */
                tags?: string[];
                /** @description Filter over context paths, as in recall. */
                context_filter?: string;
                /** @description The value of next from the previous page. New entries do not shift the pages. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List memories */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The memory, by its memory_id or uid.
                 * @example 1
                 */
                memory_id: number | string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a memory */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Memory"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    update: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The memory, by its memory_id or uid; its id does not change.
                 * @example 1
                 */
                memory_id: number | string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "new_content": "grip_force=12.5 N holds the wet glass for 30 s"
                 *     }
                 */
                "application/json": components["schemas"]["UpdateRequest"];
            };
        };
        responses: {
            /** @description Update a memory */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    forget: {
        parameters: {
            query: {
                /**
                 * @description Why it is wrong, up to 1,000 characters. The audit log keeps the reason.
                 * @example the glass there was dry
                 */
                reason: string;
                /** @description Delete the memory permanently: text, context, all versions, indexes, vectors, payload and the old pages of the file. This cannot be undone. The audit log keeps the reason, so the reason must not repeat the text. */
                purge?: boolean;
            };
            header?: never;
            path: {
                /**
                 * @description The memory, by its memory_id or uid.
                 * @example 1
                 */
                memory_id: number | string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Forget a memory */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ForgetResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    data: {
        parameters: {
            query?: never;
            header?: {
                /** @description The range, such as bytes=0-1023 or bytes=-100. */
                Range?: string;
                /** @description An ETag: answer 304 if the bytes still have it. */
                "If-None-Match"?: string;
                /** @description An ETag: use Range only if the bytes still have it. */
                "If-Range"?: string;
            };
            path: {
                /**
                 * @description The memory, by its memory_id or uid.
                 * @example 4
                 */
                memory_id: number | string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a perception's bytes. Bytes, or the JSON response if Accept names application/json. */
            200: {
                headers: {
                    /** @description bytes */
                    "Accept-Ranges"?: string;
                    /** @description attachment, for types in which a browser may run scripts. */
                    "Content-Disposition"?: string;
                    /** @description Identifies the bytes; send it back as If-None-Match or If-Range. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                    "application/json": components["schemas"]["DataResponse"];
                };
            };
            /** @description The bytes of the range; several ranges come as parts. */
            206: {
                headers: {
                    /** @description The range, and the number of all bytes. */
                    "Content-Range"?: string;
                    /** @description Identifies the bytes; send it back as If-None-Match or If-Range. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                    "multipart/byteranges": string;
                };
            };
            /** @description If-None-Match names the current bytes. */
            304: {
                headers: {
                    /** @description Identifies the bytes; send it back as If-None-Match or If-Range. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            /** @description If-Match names other bytes. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            413: components["responses"]["RequestEntityTooLarge"];
            /** @description The range has no bytes. */
            416: {
                headers: {
                    /** @description bytes *\/ and the number of all bytes. */
                    "Content-Range"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    history: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The memory, by its memory_id or uid.
                 * @example 1
                 */
                memory_id: number | string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description History of a memory */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HistoryResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    pin: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The memory, by its memory_id or uid.
                 * @example 1
                 */
                memory_id: number | string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PinRequest"];
            };
        };
        responses: {
            /** @description Pin a memory */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PinResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    preview: {
        parameters: {
            query?: {
                /**
                 * @description Largest width in pixels, 16 to 4,096.
                 * @example 320
                 */
                width?: number;
                /** @description Largest height in pixels, 16 to 4,096. */
                height?: number;
            };
            header?: {
                /** @description The range, such as bytes=0-1023 or bytes=-100. */
                Range?: string;
                /** @description An ETag: answer 304 if the bytes still have it. */
                "If-None-Match"?: string;
                /** @description An ETag: use Range only if the bytes still have it. */
                "If-Range"?: string;
            };
            path: {
                /**
                 * @description The perception, by its memory_id or uid.
                 * @example 4
                 */
                memory_id: number | string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Look at a perception. Bytes, or the JSON response if Accept names application/json. */
            200: {
                headers: {
                    /** @description bytes */
                    "Accept-Ranges"?: string;
                    /** @description attachment, for types in which a browser may run scripts. */
                    "Content-Disposition"?: string;
                    /** @description Identifies the bytes; send it back as If-None-Match or If-Range. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PreviewResponse"];
                    "image/jpeg": string;
                    "image/png": string;
                    "image/svg+xml": string;
                };
            };
            /** @description The bytes of the range; several ranges come as parts. */
            206: {
                headers: {
                    /** @description The range, and the number of all bytes. */
                    "Content-Range"?: string;
                    /** @description Identifies the bytes; send it back as If-None-Match or If-Range. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "image/jpeg": string;
                    "image/png": string;
                    "image/svg+xml": string;
                    "multipart/byteranges": string;
                };
            };
            /** @description If-None-Match names the current bytes. */
            304: {
                headers: {
                    /** @description Identifies the bytes; send it back as If-None-Match or If-Range. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            /** @description If-Match names other bytes. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            413: components["responses"]["RequestEntityTooLarge"];
            /** @description The range has no bytes. */
            416: {
                headers: {
                    /** @description bytes *\/ and the number of all bytes. */
                    "Content-Range"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    restore: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The memory, by its memory_id or uid.
                 * @example 1
                 */
                memory_id: number | string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Restore a memory */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RestoreResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    samples: {
        parameters: {
            query?: {
                /** @description First sample: in seconds since the first sample of the perception, or as a sample number from 0 if the rate is unknown. For a recording of scans it selects the first sweep at or after this time. A point cloud or a single scan has no time. */
                from?: number;
                /** @description Last sample, in the same unit as from. */
                to?: number;
                /** @description Largest number of entries, 16 to 200,000. Default: 2,000 for traces and sounds, 50,000 for points. More than ten channels share about 2,000,000 readings. */
                points?: number;
                /** @description Return the numbers of recorded messages as a trace, also of messages with a pose or a scan. */
                trace?: boolean;
            };
            header?: never;
            path: {
                /**
                 * @description The perception, by its memory_id or uid.
                 * @example 4
                 */
                memory_id: number | string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Numbers of a perception */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SamplesResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    timeline: {
        parameters: {
            query?: {
                /** @description Memories before it, 0 to 50. */
                before?: number;
                /** @description Memories after it, 0 to 50. */
                after?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The memory, by its memory_id or uid.
                 * @example 1
                 */
                memory_id: number | string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What happened around a memory */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TimelineResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    paths: {
        parameters: {
            query?: {
                /** @description Namespace. Default: all. */
                collection?: string;
                /**
                 * @description Only this path, with its most frequent values.
                 * @example params.grip_force
                 */
                path?: string;
                /** @description Only paths that begin with this text, such as params. */
                prefix?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List context paths */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PathsResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    save_perception: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "data": "t,Fz\n0.000,8.0\n0.001,7.6\n0.002,3.1\n",
                 *       "description": "finger force while the wet glass slipped",
                 *       "media_type": "text/csv",
                 *       "metadata": {
                 *         "channels": [
                 *           "Fz"
                 *         ],
                 *         "rate_hz": 1000,
                 *         "units": [
                 *           "N"
                 *         ]
                 *       },
                 *       "perception_type": "tactile",
                 *       "session_id": "01a1fc13-cae0-783e-84dd-4cdf355d436d"
                 *     }
                 */
                "application/json": components["schemas"]["SavePerceptionRequest"];
                "multipart/form-data": components["schemas"]["PerceptionForm"];
            };
        };
        responses: {
            /** @description Save a perception */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavePerceptionResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    places: {
        parameters: {
            query?: {
                /** @description Namespace. Default: all. */
                collection?: string;
                /**
                 * @description Context path of the coordinates, such as spatial.object_position. Without it the response contains only fields.
                 * @example spatial.object_position
                 */
                field?: string;
                /**
                 * @description Only coordinates of this frame.
                 * @example table
                 */
                frame_id?: string;
                /** @description Only coordinates of this map. */
                map_id?: string;
                /** @description Only facts, perceptions or documents. */
                type?: "fact" | "perception" | "document";
                /** @description Only this category. */
                category?: string;
                /** @description Only memories of this episode. */
                session_id?: string;
                /** @description Only memories observed at or after this time (RFC 3339). */
                after?: string;
                /** @description Only memories observed before this time (RFC 3339). */
                before?: string;
                /** @description Filter over context paths, as in recall. */
                context_filter?: string;
                /** @description [x, y]: lower bounds, in the unit of the coordinates. */
                min?: number[];
                /** @description [x, y]: upper bounds, in the unit of the coordinates. */
                max?: number[];
                /** @description Largest number of points, 1 to 20,000. If there are more, the response has an even sample. */
                limit?: number;
                /** @description Also count memories in square cells. This is the number of cells along the longer side, up to 256; 0 for none. */
                grid?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Map of memories */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlacesResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    recall: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "context_filter": {
                 *         "params.grip_force": {
                 *           "$lt": 15
                 *         },
                 *         "task.success": true
                 *       },
                 *       "n": 3,
                 *       "query": "how hard to grip the wet glass",
                 *       "spatial_sort": {
                 *         "field": "spatial.object_position",
                 *         "max_distance": 0.5,
                 *         "target": [
                 *           0.4,
                 *           0.1,
                 *           0.05
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["RecallRequest"];
            };
        };
        responses: {
            /** @description Recall memories */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecallResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    recent_failures: {
        parameters: {
            query?: {
                /** @description Namespace. Default: all. */
                collection?: string;
                /** @description Largest number, 1 to 1,000. */
                limit?: number;
                /**
                 * @description Only failures within this number of days; 0 for all.
                 * @example 7
                 */
                days?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Recent failures */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    repair: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Repair. If Accept names only text/event-stream: events, any number of progress with {done, total, unit, stage}, then result with the response or problem with the problem document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RepairResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    retain: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "budgets": [
                 *         {
                 *           "max_bytes": 1000000000,
                 *           "perception_type": "visual"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["RetainRequest"];
            };
        };
        responses: {
            /** @description Keep a budget. If Accept names only text/event-stream: events, any number of progress with {done, total, unit, stage}, then result with the response or problem with the problem document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetainResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    search: {
        parameters: {
            query: {
                /**
                 * @description What to look for, in words.
                 * @example wet glass
                 */
                q: string;
                /** @description Namespace to search. Default: all. */
                collection?: string;
                /**
                 * @description Number of memories to return, 1 to 100.
                 * @example 3
                 */
                top_k?: number;
                /** @description Read time words in q as bounds; times in the response shows how. false: they are words. */
                parse_time?: boolean;
                /** @description Report how many memories each stage kept and how each memory was found. */
                explain?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Search memories */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecallResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    sessions: {
        parameters: {
            query?: {
                /** @description Page number, from 1. */
                page?: number;
                /** @description Episodes per page, 1 to 1,000. */
                limit?: number;
                /** @description Namespace. Default: all. */
                collection?: string;
                /** @description active or ended. Default: both. */
                status?: "active" | "ended";
                /** @description Only episodes with this last outcome; unknown for those without one. */
                outcome?: "success" | "failure" | "partial" | "unknown";
                /** @description Only of this robot: robot.id, robot.name or robot of the context. */
                robot?: string;
                /** @description Only of this task: task.name, task.type, task.goal or task of the context of the episode or of one of its facts. */
                task?: string;
                /** @description Only those whose context, or the text of one of whose facts, contains this text, such as a place; A to Z in any case. */
                words?: string;
                /** @description Only episodes that began at this time or later, RFC 3339. */
                after?: string;
                /** @description Only episodes that began before this time, RFC 3339. */
                before?: string;
                /** @description time (newest first), outcome (worst first), robot, task or place, which is the value of spatial. Other orders than time have pages but no next. */
                sort?: "time" | "outcome" | "robot" | "task" | "place";
                /** @description The value of next from the previous page. New entries do not shift the pages. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List sessions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionsResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    start_session: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "context": {
                 *         "robot": {
                 *           "id": "arm-1"
                 *         },
                 *         "task": {
                 *           "name": "pick the wet glass"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["StartSessionRequest"];
            };
        };
        responses: {
            /** @description Start a session */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartSessionResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    session: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The episode.
                 * @example 01a1fc13-cae0-783e-84dd-4cdf355d436d
                 */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a session */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    end_session: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The episode, from start_session.
                 * @example 01a1fc13-cae0-783e-84dd-4cdf355d436d
                 */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "outcome_score": 0.8,
                 *       "used_memory_ids": [
                 *         1
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["EndSessionRequest"];
            };
        };
        responses: {
            /** @description End a session. If Accept names only text/event-stream: events, any number of progress with {done, total, unit, stage}, then result with the response or problem with the problem document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndSessionResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    session_mcap: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The episode. */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-mcap": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    session_memories: {
        parameters: {
            query?: {
                /** @description Page number, from 1. */
                page?: number;
                /** @description Memories per page, 1 to 1,000. */
                limit?: number;
                /** @description The value of next from the previous page. New entries do not shift the pages. */
                cursor?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The episode.
                 * @example 01a1fc13-cae0-783e-84dd-4cdf355d436d
                 */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Memories of a session */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    stats: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Statistics */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatsResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    tokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tokens. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        tokens: {
                            /** @description The collections that it reads and writes on a site, with commas between them; * is all. */
                            collections?: string;
                            /** Format: date-time */
                            created?: string;
                            /**
                             * Format: date-time
                             * @description Absent if the token was never used.
                             */
                            last_used?: string;
                            name: string;
                            /** @description The token may change nothing. */
                            read_only: boolean;
                            /** @description The robot that the token is, with the role robot. */
                            robot?: string;
                            /** @description admin, operator, robot or reader, on a site. */
                            role?: string;
                            /** @description The tenant, on a site of several. */
                            tenant?: string;
                        }[];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
        };
    };
    create_token: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description With the roles robot and reader, the collections that it reads and writes; ["*"] is all. */
                    collections?: string[];
                    /** @description What the token is for. */
                    name: string;
                    /**
                     * @description The token may change nothing.
                     * @default false
                     */
                    read_only?: boolean;
                    /** @description With the role robot, the name of the robot, which its memories carry. */
                    robot?: string;
                    /**
                     * @description On a site, what the token may do. robot: its own memories, in its collections. operator: every operation. admin: also the tokens of the tenant. reader: what changes nothing. Leave it out on a node with one memory.
                     * @enum {string}
                     */
                    role?: "admin" | "operator" | "robot" | "reader";
                };
            };
        };
        responses: {
            /** @description The token, with its secret, which cannot be read again. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        name: string;
                        read_only: boolean;
                        /** @description To be sent as `Authorization: Bearer`. */
                        secret: string;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["RequestEntityTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
        };
    };
    revoke_token: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the token.
                 * @example arm-7
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tokens that are left. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        tokens: {
                            /** @description The collections that it reads and writes on a site, with commas between them; * is all. */
                            collections?: string;
                            /** Format: date-time */
                            created?: string;
                            /**
                             * Format: date-time
                             * @description Absent if the token was never used.
                             */
                            last_used?: string;
                            name: string;
                            /** @description The token may change nothing. */
                            read_only: boolean;
                            /** @description The robot that the token is, with the role robot. */
                            robot?: string;
                            /** @description admin, operator, robot or reader, on a site. */
                            role?: string;
                            /** @description The tenant, on a site of several. */
                            tenant?: string;
                        }[];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
        };
    };
    whoami: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The token. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The collections that it reads and writes on a site, with commas between them; * is all. */
                        collections?: string;
                        /** @description The token's name, empty without one. */
                        name: string;
                        /** @description The token may change nothing. */
                        read_only: boolean;
                        /** @description This node requires a token. */
                        required: boolean;
                        /** @description The robot that the token is, with the role robot. */
                        robot?: string;
                        /** @description admin, operator, robot or reader, on a site. */
                        role?: string;
                        /** @description The tenant, on a site of several. */
                        tenant?: string;
                        /** @description The version of the node. */
                        version?: string;
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
        };
    };
    pause_workers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Whether the work is paused. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        paused: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
        };
    };
    resume_workers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Whether the work is paused. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        paused: boolean;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
        };
    };
    login: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The token. */
                    token: string;
                };
            };
        };
        responses: {
            /** @description The token. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The collections that it reads and writes on a site, with commas between them; * is all. */
                        collections?: string;
                        /** @description The token's name, empty without one. */
                        name: string;
                        /** @description The token may change nothing. */
                        read_only: boolean;
                        /** @description This node requires a token. */
                        required: boolean;
                        /** @description The robot that the token is, with the role robot. */
                        robot?: string;
                        /** @description admin, operator, robot or reader, on a site. */
                        role?: string;
                        /** @description The tenant, on a site of several. */
                        tenant?: string;
                        /** @description The version of the node. */
                        version?: string;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["RequestEntityTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
        };
    };
    logout: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The cookie is no longer valid. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
        };
    };
}
