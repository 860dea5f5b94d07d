// Made from the OpenAPI document by generate.mjs.
export interface paths {
    "/api/activity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Activity
         * @description Count what was stored, what failed and what was asked, by the hour or day.
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
    "/api/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Audit log
         * @description Page through what was changed, newest first: by whom, through what, when and why, with hashes of the text before and after. Who stored a memory stands in the memory itself.
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
         * @description Answer at once when the memory is not at the change that since names, else as soon as it changes, by whichever process, or after wait_ms.
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
         * @description Check the node: file, index sync, zero-hit rate, sizes, embedder and backlog, each with its remedy.
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
         * @description Store one fact that was learnt by doing, with its numbers, place, parameters and outcome. Call it after every experiment that taught something, also when it failed. Text and context that say what is known are answered as a duplicate; another number is a new fact. Returns its memory_id, what was inferred of it, and as conflicts the memories that say otherwise. Example: {"insight":"grip_force=12.5 N holds wet glass","context":{"params":{"grip_force":12.5},"task":{"success":true}}}.
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
         * @description Store up to 10,000 facts in one call. Results come in the order of the items; one bad item does not stop the rest.
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
         * @description Return one memory whole, whatever its status: text, context, tags, confidence, provenance. Call it when recall has shortened a text or a context that you need. Example: {"memory_id":7}.
         */
        get: operations["get"];
        /**
         * Update a memory
         * @description Correct a memory: new text under the same id, classified anew. Call it when a memory turns out wrong or incomplete; what is learnt beside it is a new fact, for learn. The old text stays readable in the history and is no longer recalled. Returns the old text, the new one and its version. Example: {"memory_id":7,"new_content":"grip_force=13 N holds wet glass"}.
         */
        put: operations["update"];
        post?: never;
        /**
         * Forget a memory
         * @description Take a memory that is wrong out of recall, with the reason. Call it when a memory misled and update cannot correct it. Its history stays; restore undoes it. Returns the beginning of the text that is forgotten. Example: {"memory_id":7,"reason":"the force sensor was not calibrated"}.
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
         * @description Return every state a memory has been in, oldest first.
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
         * @description Keep a memory from fading and from being merged, or let it go again with pinned false: it then fades as its category does, from now on.
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
         * @description Return a picture of a perception: a smaller copy of an image, a plot of a force trace, the spectrogram of a sound, a point cloud or a trajectory from above. Call it to see what a recalled perception shows. Example: {"memory_id":7,"width":640}.
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
         * @description Return the numbers of a force trace, joint states, a sound, a point cloud, a trajectory or a laser scan, to be drawn. All that lie between from and to while they are at most points; else the smallest and the largest of equal buckets, so that no peak is lost, and of points an even part.
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
    "/api/paths": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List context paths
         * @description List the context paths of the active memories, with kinds, ranges and units; of one path also its values. Use it to build a context_filter.
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
         * @description Store what a sensor gave (an image, a force trace, a point cloud, a sound) byte for byte, with a description in words. Call it when what was sensed explains how an attempt went. Give at most one of data, data_base64 and path. Returns its memory_id, media type, size, checksum and a summary. Example: {"description":"force while the glass slipped","perception_type":"tactile","data":"t,fz\n0,1.5\n0.01,9.8","media_type":"text/csv"}.
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
         * @description Put the active memories on a map: which context paths hold coordinates and, of one of them, its points and a grid of counts and outcomes. Takes the filters of recall.
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
         * @description Find what is known before acting: by words, by place (spatial_sort), by likeness to a perception (like), by time, and by any value of the context (context_filter), quantities in any unit. Every filter is exact: a memory that matches is found, however rare. Best first, with score, relevance, distance and the whole context. Example: {"query":"hold a wet glass","context_filter":{"task.success":true},"n":5}.
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
         * @description Return what went wrong lately: postmortems, gotchas and facts with task.success false, newest first.
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
         * @description Take away the payloads of perceptions that are over a budget of bytes, age or free disk space: least valuable first, long recordings thinned before others go, facts never. Lists what would go unless apply is set.
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
         * @description Recall with plain parameters, over all collections unless one is named.
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
         * @description Open an episode before a task. Returns the session_id to pass along with learn and save_perception, and a briefing: rules, recent failures, and what fits the task. Example: {"collection":"arm7","context":{"task":{"name":"hold a wet glass"}}}.
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
         * @description Return one episode: its context, outcome and summary, what was recalled for it and what of that helped, and the counts of its streams.
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
         * @description Close an episode with its outcome (0 to 1) and the memories that helped. Call it once, when the task is over, also when it failed. Redundant facts of the episode are merged, never those that differ in a number, outcome or place. Returns a summary and related memories of earlier episodes. Example: {"session_id":"0199d0b4-2f3a-7c1d-9e55-6b8f0a1c2d3e","outcome_score":0.9,"used_memory_ids":[7]}.
         */
        post: operations["end_session"];
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
         * @description Return an episode in the order it was lived.
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
         * @description Count what the node holds and what it was asked.
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
        ActivityBucket: {
            /** @description Facts that were stored, whatever became of them. */
            facts: number;
            /** @description Those of them that are active and count as failures, as recent_failures counts. */
            failures: number;
            /** Format: date-time */
            from: string;
            /** @description Perceptions that were stored, whatever became of them. */
            perceptions: number;
            /** @description Counted since schema version 4. */
            recalls: number;
            /** @description Recalls that found nothing. */
            zero_hits: number;
        };
        ActivityResponse: {
            /** @description hour or day, of UTC. */
            bucket: string;
            buckets: components["schemas"]["ActivityBucket"][];
            /**
             * Format: date-time
             * @description Where the first bucket begins.
             */
            from: string;
            /**
             * Format: date-time
             * @description Where the last one ends.
             */
            to: string;
        };
        AuditEntry: {
            /** @description updated, forgotten, restored, pinned, unpinned, superseded, evicted, purged, ended (an episode), repaired or imported (one of a whole import); created only of what was purged, since a memory itself says who stored it. */
            action: string;
            /** @description SHA-256 of the text after, hex. */
            after?: string;
            /** Format: date-time */
            at: string;
            /** @description SHA-256 of the text before, hex. */
            before?: string;
            collection?: string;
            id: number;
            memory_id?: number;
            reason?: string;
            /** @description Of an episode that ended. */
            session_id?: string;
            /** @description The face and the program behind it as it calls itself: mcp claude-code/2.0.1, rest curl/8.5.0, cli, library, import, recorder, node. */
            tool?: string;
            uid?: string;
            /** @description The name of the token, or the user of the machine; absent where nobody was asked for a name. */
            who?: string;
        };
        AuditResponse: {
            entries: components["schemas"]["AuditEntry"][];
            limit: number;
            /** @description The cursor of the next page; absent on the last. */
            next?: string;
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
            memory_id?: number;
            /** @description On a duplicate: exact, jaccard or cosine. */
            method?: string;
            similarity?: number;
            /** @description created or duplicate. */
            status?: string;
            uid?: string;
        };
        BriefMemory: {
            category: string;
            confidence: number;
            memory_id: number;
            summary: string;
        };
        Briefing: {
            /** @description What went wrong lately. */
            failures: components["schemas"]["BriefMemory"][];
            last_session?: components["schemas"]["SessionSummary"];
            /** @description What fits the session's context. */
            relevant: components["schemas"]["BriefMemory"][];
            /** @description Constraints and pinned memories. */
            rules: components["schemas"]["BriefMemory"][];
            /** @description The briefing in a few lines. */
            text: string;
        };
        Budget: {
            /** @description Those of this collection; of all together if absent. */
            collection?: string;
            /** @description Those observed longer ago go; 0 for any age. Useful, failed and pinned ones stay. */
            max_age_days?: number;
            /** @description Bytes that they may take as they are stored; 0 for any number. */
            max_bytes?: number;
            /**
             * @description Those of this type; of every type together if absent.
             * @enum {string}
             */
            perception_type?: "visual" | "tactile" | "auditory" | "proprioceptive" | "procedural" | "spatial";
        };
        CategoriesResponse: {
            categories: components["schemas"]["CategoryCount"][];
        };
        CategoryCount: {
            category: string;
            count: number;
        };
        ChangesResponse: {
            /** @description Pass it as since. */
            change: number;
            /** @description It is not what since said. */
            changed: boolean;
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
            detail: string;
            name: string;
            remedy?: string;
            /** @description ok, warn or fail. */
            status: string;
        };
        CollectionCount: {
            active: number;
            collection: string;
            sessions: number;
            total: number;
        };
        CollectionsResponse: {
            collections: components["schemas"]["CollectionCount"][];
        };
        ConflictWith: {
            memory_id: number;
            reason: string;
        };
        Consolidated: {
            /** @description Mean Jaccard of the merged pairs, 0 to 1. */
            avg_similarity: number;
            /** @description Superseded over candidates, 0 to 1. */
            compression_ratio: number;
            merged_groups: number;
            superseded_count: number;
        };
        ContextPath: {
            /** @description What the values are: number, text, bool, null, list or an empty object. */
            kinds: string[];
            max?: number;
            /** @description Active ones with a value there. */
            memories: number;
            /** @description The smallest number, in unit if there is one. */
            min?: number;
            path: string;
            /** @description The canonical unit when most of the numbers are quantities, such as 12.5 N. */
            unit?: string;
            /** @description When one path was asked for: at most 50, most frequent first. Without lists and long texts. */
            values?: components["schemas"]["PathValue"][];
        };
        DataResponse: {
            bytes: number;
            data_base64: string;
            media_type: string;
            memory_id: number;
            sha256: string;
        };
        DoctorResponse: {
            checks: components["schemas"]["Check"][];
            /** @description False when data is lost, corrupt or diverging. A warning is healthy. */
            healthy: boolean;
            /** @description At most 20 active memories whose payload is gone or damaged. */
            lost?: components["schemas"]["LostPayload"][];
            /** @description The worst of the checks: ok, warn or fail. */
            status: string;
        };
        EndSessionRequest: {
            /** @description How well it went, 0 (failed) to 1 (succeeded). */
            outcome_score?: number;
            /** @description Memories that helped: their clock of fading starts anew. */
            used_memory_ids?: number[];
        };
        EndSessionResponse: {
            consolidated: components["schemas"]["Consolidated"];
            /** @description Memories of the collection that have faded below 0.3. */
            decayed_count: number;
            /** @description From earlier episodes, for what this one was about. */
            related_memories: components["schemas"]["BriefMemory"][];
            session_id: string;
            status: string;
            summary: components["schemas"]["SessionSummary"];
        };
        Eviction: {
            bytes: number;
            collection: string;
            memory_id: number;
            perception_type: string;
            reason: string;
            /** @description Why it goes before others: forgotten, thinned, never recalled, recalled, useful, of a failed episode or pinned. */
            value: string;
        };
        ForgetResponse: {
            /** @description The first 100 characters; empty when it was purged. */
            content: string;
            memory_id: number;
            /** @description With purge: what was removed, and what it could not reach. */
            purged?: components["schemas"]["Purged"];
            reason: string;
            status: string;
        };
        HistoryResponse: {
            memory_id: number;
            uid: string;
            versions: components["schemas"]["Version"][];
        };
        Inferred: {
            category: string;
            confidence: number;
            scope_entities: string[];
            scope_files: string[];
            tags: string[];
        };
        LearnBatchRequest: {
            /** @description 1 to 10,000 learn requests. */
            items: components["schemas"]["LearnRequest"][];
            /** @description Store every item, also those that say what is known. */
            keep_duplicates?: boolean;
        };
        LearnBatchResponse: {
            results: components["schemas"]["BatchResult"][];
        };
        LearnRequest: {
            /** @description Namespace, [A-Za-z0-9._-]{1,64}. The session's if a session is given, else default. */
            collection?: string;
            /** @description JSON object beside the fact. Known sections: params, spatial, robot, task (task.success is the outcome), env. Other keys are kept. */
            context?: {
                [key: string]: unknown;
            };
            /** @description What was learnt, in one sentence with its numbers: "grip_force=12.5 N holds wet glass". 1 byte to 16 KiB, kept byte for byte. */
            insight: string;
            /**
             * Format: date-time
             * @description When it was observed (RFC 3339). Now if absent.
             */
            observed_at?: string;
            /** @description Never fades and is never merged. By category if absent. */
            pinned?: boolean;
            /** @description Episode this belongs to, from start_session. */
            session_id?: string;
            /** @description Who or what says so, up to 64 characters. */
            source?: string;
            /** @description Tags to add to those inferred; 1 to 64 letters, digits, _ . or -. */
            tags?: string[];
        };
        LearnResponse: {
            auto_inferred: components["schemas"]["Inferred"];
            conflicts: components["schemas"]["ConflictWith"][];
            existing_id?: number;
            memory_id: number;
            /** @description On a duplicate: exact, jaccard or cosine. */
            method?: string;
            similarity?: number;
            /** @description created or duplicate. */
            status: string;
            uid: string;
        };
        Like: {
            /** @description The data of a perception as text, such as CSV. Exactly one of memory_id, data and data_base64. */
            data?: string;
            /** @description The data of a perception as base64. */
            data_base64?: string;
            /** @description Its media type; sniffed if absent. */
            media_type?: string;
            /** @description A stored perception; it is left out of the answer. */
            memory_id?: number;
            /** @description How to read the data, as in save_perception. */
            metadata?: {
                [key: string]: unknown;
            };
        };
        ListEntry: {
            /** @description bm25, vector, place, likeness or time. */
            list: string;
            /** @description From 0. */
            rank: number;
            /** @description The list's own measure: a BM25 score, a cosine, a distance. */
            value: number;
        };
        ListResponse: {
            /** @description Damaged memories that were left out, and why. */
            degraded?: string[];
            limit: number;
            memories: components["schemas"]["Memory"][];
            /** @description The cursor of the next page; absent on the last. */
            next?: string;
            /** @description 0 when a cursor was given. */
            page: number;
            /** @description How many match, on all pages. */
            total: number;
        };
        LostPayload: {
            memory_id: number;
            reason: string;
            sha256: string;
        };
        Memory: {
            access_count?: number;
            bytes?: number;
            category: string;
            collection: string;
            /** @description 0 to 1, as it stands now. */
            confidence: number;
            /** @description With get: active facts of the same collection and context that say otherwise, newest first, at most 5. */
            conflicts?: components["schemas"]["ConflictWith"][];
            content: string;
            context?: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            created_at: string;
            data_uri?: string;
            /** @description A day. */
            decay_rate?: number;
            /** @description To the target, in the unit of the coordinates. */
            distance?: number;
            env?: unknown;
            /** @description With explain: its place in every ranked list. */
            found?: components["schemas"]["ListEntry"][];
            /** Format: date-time */
            last_accessed?: string;
            media_type?: string;
            memory_id: number;
            metadata?: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            observed_at: string;
            params?: unknown;
            perception_type?: string;
            pinned?: boolean;
            /** @description Who stored it, beside its source and session_id. Absent of what was stored before schema version 5. */
            provenance?: components["schemas"]["Provenance"];
            /** @description Absolute, 0 to 1: how likely it answers the question. */
            relevance?: number;
            return_count?: number;
            robot?: unknown;
            scope_entities?: string[];
            scope_files?: string[];
            /** @description Best = 1.0. */
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
            type: string;
            uid: string;
            /** Format: date-time */
            updated_at?: string;
            /** @description Those of the tags that a caller gave. */
            user_tags?: string[];
            version?: number;
        };
        PathValue: {
            memories: number;
            value: unknown;
        };
        PathsResponse: {
            /** @description In order of the path, 10,000 at most: name a prefix when there are more. */
            paths: components["schemas"]["ContextPath"][];
            /** @description How many there are. */
            total: number;
        };
        PerceptionForm: {
            /** @description Namespace. The session's if a session is given, else default. */
            collection?: string;
            /** @description JSON object beside it, as in learn. */
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
            /** @description Media type of the payload; sniffed if absent. */
            media_type?: string;
            /** @description How to read the payload: shape, rate_hz or duration_s, channels, units. */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When it was sensed, by the sensor's clock (RFC 3339). Now if absent.
             */
            observed_at?: string;
            /** @description What its source calls it, up to 256 characters. The same origin is stored once in a collection: saving it again answers the memory that has it. */
            origin?: string;
            /** @description A file to read on the node's machine, below one of the folders its operator allows. */
            path?: string;
            /**
             * @description visual, tactile, auditory, proprioceptive, procedural or spatial.
             * @default visual
             * @enum {string}
             */
            perception_type?: "visual" | "tactile" | "auditory" | "proprioceptive" | "procedural" | "spatial";
            /** @description Episode this belongs to, from start_session. */
            session_id?: string;
            /** @description Which sensor or topic it comes from, up to 64 characters. */
            source?: string;
        };
        PinRequest: {
            /**
             * @description Whether it is pinned from now on.
             * @default true
             */
            pinned?: boolean;
        };
        PinResponse: {
            memory_id: number;
            pinned: boolean;
            /** @description pinned or unpinned. */
            status: string;
        };
        PlaceCell: {
            /** @description With task.success false. */
            failures: number;
            memories: number;
            /** @description With task.success true. */
            successes: number;
            x: number;
            y: number;
        };
        PlaceField: {
            /** @description 2 or 3. */
            dims: number;
            field: string;
            frame_id?: string;
            map_id?: string;
            /** @description The largest of each coordinate. */
            max: number[];
            memories: number;
            /** @description The smallest of each coordinate. */
            min: number[];
        };
        PlacePoint: {
            category: string;
            memory_id: number;
            /** Format: date-time */
            observed_at: string;
            /** @description task.success, where it is true or false. */
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
            /** @description The cells that hold any point, counting all of them. */
            cells: components["schemas"]["PlaceCell"][];
            /** @description Every context path that holds coordinates, by frame and map, most memories first; 1,000 at most. */
            fields: components["schemas"]["PlaceField"][];
            /** @description In order of memory_id. */
            points: components["schemas"]["PlacePoint"][];
            /** @description There are more than points holds. */
            sampled: boolean;
            /** @description Points within the bounds, of which points may be a sample. */
            total: number;
        };
        PreviewResponse: {
            data_base64: string;
            height: number;
            /** @description image/png, image/jpeg or image/svg+xml. */
            media_type: string;
            memory_id: number;
            /** @description Of the perception, not of the picture. */
            sha256: string;
            summary: string;
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
            /** @description The robot that its context or its session names. */
            robot?: string;
            /** @description The face it came through and the program behind it as it calls itself: mcp claude-code/2.0.1, rest curl/8.5.0, cli, library, import, recorder. */
            tool?: string;
            /** @description The name of the token, or the user of the machine; absent where nobody was asked for a name. */
            who?: string;
        };
        Purged: {
            /** @description Of the payload, when it was removed. */
            bytes?: number;
            /** @description What no program can take back. */
            not_reached: string[];
            /** @description rewritten, or pending with the reason: this node, or the next that opens the file, finishes it. */
            old_pages: string;
            /** @description What became of a perception's bytes: removed, kept (another memory has the same bytes) or gone before. */
            payload?: string;
            /** @description Memories that had been merged into this one, which hold their own text still; purge them too if they say the same. */
            stood_for?: number[];
            /** @description Past states of the memory. */
            versions: number;
        };
        RecallRequest: {
            /**
             * Format: date-time
             * @description Only observed at or after this time (RFC 3339).
             */
            after?: string;
            /**
             * Format: date-time
             * @description Answer as the node believed at this time (RFC 3339).
             */
            as_of?: string;
            /** @description The last word of the query may be unfinished, unless a space follows it: words that it begins count too, less than the word itself. Such a recall is not counted in the statistics. */
            as_you_type?: boolean;
            /**
             * Format: date-time
             * @description Only observed before this time (RFC 3339).
             */
            before?: string;
            /** @description Only this category. */
            category?: string;
            /**
             * @description Namespace to look in; * for all.
             * @default default
             */
            collection?: string;
            /** @description Filter over context paths: {"task.success":true,"params.force":{"$lt":15}}. Operators $eq $ne $lt $lte $gt $gte $in $nin $exists $and $or $not. */
            context_filter?: {
                [key: string]: unknown;
            };
            /** @description Answer with what is ready after this many milliseconds. 0 waits. */
            deadline_ms?: number;
            /** @description 0 ranks by score alone, 1 avoids answers that say the same. */
            diversity?: number;
            /** @description Say what each stage kept and how each memory was found. */
            explain?: boolean;
            /** @description The episode that is asking, so that it can be credited at its end. */
            for_session?: string;
            /** @description Perceptions like this one: {"memory_id":7} or {"data_base64":"…","media_type":"text/csv"}. */
            like?: components["schemas"]["Like"];
            /**
             * @description Leave out memories less sure than this now, 0 to 1.
             * @default 0.3
             */
            min_confidence?: number;
            /** @description Leave out what is less relevant than this on the absolute scale, 0 to 1. */
            min_relevance?: number;
            /**
             * @description How many to return, 1 to 100.
             * @default 5
             */
            n?: number;
            /** @description Read time words of the query (yesterday, last week, before the crash at 14:05, 昨天) as after and before; times says how they were read. */
            parse_time?: boolean;
            /**
             * @description Only perceptions of this type.
             * @enum {string}
             */
            perception_type?: "visual" | "tactile" | "auditory" | "proprioceptive" | "procedural" | "spatial";
            /** @description What to look for, in words. May be empty when anything else narrows the search. */
            query?: string;
            /** @description Only this episode. With an empty query it is replayed in time order. */
            session_id?: string;
            /** @description Nearest first: {"field":"spatial.position","target":[x,y,z],"max_distance":1.5}. */
            spatial_sort?: components["schemas"]["SpatialSort"];
            /** @description Only memories that carry all of these tags. */
            tags?: string[];
            /**
             * @description Only facts or only perceptions.
             * @enum {string}
             */
            type?: "fact" | "perception";
        };
        RecallResponse: {
            /** @description What could not answer, and why. */
            degraded: string[];
            memories: components["schemas"]["Memory"][];
            /** @description hybrid, bm25_only, vec_only or structured. */
            mode: string;
            query_ms: number;
            stages?: components["schemas"]["Stage"][];
            /** @description With parse_time, how the time words of the query were read. */
            times?: components["schemas"]["TimePhrase"][];
            /** @description How many are in this answer. */
            total: number;
        };
        RecalledMemory: {
            category: string;
            confidence: number;
            memory_id: number;
            status: string;
            summary: string;
            type: string;
            /** @description The episode said that it helped. */
            used: boolean;
        };
        RepairResponse: {
            doctor: components["schemas"]["DoctorResponse"];
            repaired: string[];
        };
        RestoreResponse: {
            /** @description The first 100 characters. */
            content: string;
            memory_id: number;
            status: string;
        };
        RetainRequest: {
            /** @description Do it; otherwise what would go is listed and stays. */
            apply?: boolean;
            /** @description Budgets: {"perception_type":"visual","max_bytes":1000000000,"max_age_days":30,"collection":"arm7"}. The node's own if absent. */
            budgets?: components["schemas"]["Budget"][];
            /** @description Bytes of the disk that must stay free. */
            min_free_bytes?: number;
        };
        RetainResponse: {
            /** @description Perceptions that go. */
            count: number;
            dry_run: boolean;
            /** @description The first 1,000 of them, in the order in which they go. */
            evictions: components["schemas"]["Eviction"][];
            freed_bytes: number;
            /** @description Stored bytes before, those of a payload once for each perception that has it. */
            held_bytes: number;
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
            /** @description trace, sound, cloud, trajectory or scan. */
            kind: string;
            memory_id: number;
            /** @description Points without a position and rays without a return: they are left out, and no part of total. */
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
            /** @description Of x, y and z: m unless the metadata names another. */
            unit?: string;
            /** @description Of a scan in the sensor's frame: x ahead, y left. */
            x?: (number | null)[];
            y?: (number | null)[];
            z?: (number | null)[];
        };
        SavePerceptionRequest: {
            /** @description Namespace. The session's if a session is given, else default. */
            collection?: string;
            /** @description JSON object beside it, as in learn. */
            context?: {
                [key: string]: unknown;
            };
            /** @description The payload as text, kept as UTF-8. At most one of data, data_base64 and path. */
            data?: string;
            /** @description The payload as base64. At most 32 MiB of bytes. */
            data_base64?: string;
            /** @description What it shows, in words; 5 characters to 16 KiB. */
            description: string;
            /** @description Media type of the payload; sniffed if absent. */
            media_type?: string;
            /** @description How to read the payload: shape, rate_hz or duration_s, channels, units. */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When it was sensed, by the sensor's clock (RFC 3339). Now if absent.
             */
            observed_at?: string;
            /** @description What its source calls it, up to 256 characters. The same origin is stored once in a collection: saving it again answers the memory that has it. */
            origin?: string;
            /** @description A file to read on the node's machine, below one of the folders its operator allows. */
            path?: string;
            /**
             * @description visual, tactile, auditory, proprioceptive, procedural or spatial.
             * @default visual
             * @enum {string}
             */
            perception_type?: "visual" | "tactile" | "auditory" | "proprioceptive" | "procedural" | "spatial";
            /** @description Episode this belongs to, from start_session. */
            session_id?: string;
            /** @description Which sensor or topic it comes from, up to 64 characters. */
            source?: string;
        };
        SavePerceptionResponse: {
            bytes: number;
            collection: string;
            has_embedding: boolean;
            media_type: string;
            memory_id: number;
            perception_type: string;
            sha256: string;
            /** @description created, or duplicate when its origin was known. */
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
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            ended_at?: string;
            memory_count: number;
            outcome_score?: number;
            session_id: string;
            status: string;
        };
        SessionResponse: {
            client_type?: string;
            collection: string;
            context?: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            ended_at?: string;
            memory_count: number;
            outcome_score?: number;
            /** @description What was recalled for it, the useful first; at most 1,000. */
            recalled: components["schemas"]["RecalledMemory"][];
            session_id: string;
            status: string;
            /** @description What became of the samples of each recorder's source. */
            streams?: components["schemas"]["StreamCount"][];
            /** @description What it came to, or comes to so far; absent while nothing has happened. */
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
            /** @description What became of the samples of each recorder's source. */
            streams?: components["schemas"]["StreamCount"][];
            /** @description Memories with task.success true. */
            successes: number;
            text: string;
            used: number;
        };
        SessionsResponse: {
            /** @description Damaged episodes whose context was left out, and why. */
            degraded?: string[];
            limit: number;
            /** @description The cursor of the next page; absent on the last. */
            next?: string;
            /** @description 0 when a cursor was given. */
            page: number;
            sessions: components["schemas"]["Session"][];
            total: number;
        };
        SpatialSort: {
            /** @description Context path of the coordinates, such as spatial.object_position. */
            field: string;
            /** @description Only coordinates of this frame. */
            frame_id?: string;
            /** @description Only coordinates of this map. */
            map_id?: string;
            /** @description Leave out what is farther, in the same unit. */
            max_distance?: number;
            /**
             * @description strict: exact nearest neighbours, nearest first. fused: place is one more ranked list.
             * @default strict
             * @enum {string}
             */
            mode?: "strict" | "fused";
            /** @description [x, y] or [x, y, z], in the unit of the stored coordinates. */
            target: number[];
        };
        Stage: {
            kept: number;
            ms: number;
            stage: string;
        };
        StartSessionRequest: {
            /**
             * @description Namespace of the episode and of all it learns.
             * @default default
             */
            collection?: string;
            /** @description What the episode is about (robot, task, env); at most 64 KiB. The briefing is made for it. */
            context?: {
                [key: string]: unknown;
            };
            /** @description What its source calls the episode, up to 256 characters. Starting the same origin in a collection again answers the session that has it. */
            origin?: string;
        };
        StartSessionResponse: {
            active_memories_count: number;
            briefing: components["schemas"]["Briefing"];
            collection: string;
            session_id: string;
            /** @description started, or continued when its origin was known. */
            status: string;
        };
        StatsResponse: {
            /** @description Memories that wait for a vector; 0 without an embedder. */
            backlog: number;
            /** @description Active ones. */
            by_category: {
                [key: string]: number;
            };
            by_status: {
                [key: string]: number;
            };
            /** @description Active ones. */
            by_type: {
                [key: string]: number;
            };
            collections: number;
            db_bytes: number;
            /** @description Free on the disk of the file, for a program without privileges; 0 when it cannot be read. */
            disk_free_bytes: number;
            embedder: string;
            /** @description Perceptions whose payload a budget took away. */
            evicted: number;
            evicted_bytes: number;
            /** @description Memories created in the last 24 hours. */
            last_day: number;
            /** @description Of all perceptions, each payload once. */
            payload_bytes: number;
            recalls: number;
            schema_version: number;
            sessions: number;
            /** @description What they take as they are stored. */
            stored_bytes: number;
            /** @description What became of the samples of each recorder's source, of all sessions. */
            streams?: components["schemas"]["StreamCount"][];
            /** @description Perceptions that this node still makes comparable by likeness. */
            to_compare: number;
            /** @description Active memories of all collections. */
            total: number;
            /** @description What the node does in the background. */
            workers: components["schemas"]["Worker"][];
            /** @description Recalls that found nothing. */
            zero_hits: number;
        };
        StreamCount: {
            bytes: number;
            /** @description Refused because the recorder's queue was full, or lost with a write that failed. */
            dropped: number;
            /** @description Never offered: gaps in the sequence numbers. */
            missed: number;
            received: number;
            source: string;
            stored: number;
        };
        TimePhrase: {
            /** Format: date-time */
            after?: string;
            /** Format: date-time */
            before?: string;
            text: string;
        };
        UpdateRequest: {
            /** @description A new context; the old one is kept if absent. */
            context?: {
                [key: string]: unknown;
            };
            /** @description The new text, 1 byte to 16 KiB, kept byte for byte. */
            new_content: string;
        };
        UpdateResponse: {
            auto_inferred: components["schemas"]["Inferred"];
            memory_id: number;
            new_content: string;
            old_content: string;
            status: string;
            version: number;
        };
        Version: {
            category: string;
            /** @description What ended it: updated, forgotten, restored or superseded. */
            change?: string;
            /** @description As stored. */
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
             * @description Absent for the present state.
             */
            to?: string;
            version: number;
        };
        Worker: {
            detail: string;
            name: string;
            /** @description idle, working, waiting (for something outside) or off. */
            status: string;
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
    activity: {
        parameters: {
            query?: {
                /** @description Namespace; all if absent. Recalls that looked into all at once count for * alone. */
                collection?: string;
                /**
                 * @description How many days back, 1 to 3,650, today among them.
                 * @example 7
                 */
                days?: number;
                /** @description hour or day, of UTC; hour up to 7 days and day beyond, unless told. By the hour at most 92 days. */
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
    audit: {
        parameters: {
            query?: {
                /** @description Only changes of this memory. */
                memory_id?: number;
                /** @description Namespace; all if absent. */
                collection?: string;
                /** @description Only changes by this token or user. */
                who?: string;
                /**
                 * @description Only this action.
                 * @example updated
                 */
                action?: "created" | "updated" | "forgotten" | "restored" | "pinned" | "unpinned" | "superseded" | "evicted" | "purged" | "ended" | "repaired" | "imported";
                /** @description Only at or after this time (RFC 3339). */
                after?: string;
                /** @description Only before this time (RFC 3339). */
                before?: string;
                /**
                 * @description Entries a page, 1 to 1,000.
                 * @example 20
                 */
                limit?: number;
                /** @description next of the page before: goes on after it, whatever was changed meanwhile. */
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
    categories: {
        parameters: {
            query?: {
                /** @description Namespace; all if absent. */
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
                /** @description The change of an earlier answer. Without it the present one is answered at once. */
                since?: number;
                /** @description How many milliseconds to wait for a change, 0 to 60,000. */
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
                /** @description Read every payload and compare its checksum; otherwise as many as 256 MiB hold, others at every check-up. */
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
                 *       "insight": "grip_force=12.5 N holds the wet glass",
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
                 *           "insight": "grip_force=8 N lets the wet glass slip",
                 *           "context": {
                 *             "task": {
                 *               "success": false
                 *             }
                 *           }
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
                /** @description Which page, from 1. */
                page?: number;
                /**
                 * @description Memories a page, 1 to 1,000.
                 * @example 50
                 */
                limit?: number;
                /** @description Only memories with a smaller id: the last one of a page begins the next, whatever is learnt meanwhile. */
                before_id?: number;
                /** @description Namespace; all if absent. */
                collection?: string;
                /** @description Only facts or only perceptions. */
                type?: "fact" | "perception";
                /**
                 * @description Only this category.
                 * @example constraint
                 */
                category?: string;
                /** @description active, superseded, invalidated or all. */
                status?: "active" | "superseded" | "invalidated" | "all";
                /** @description Stored confidence at least this. */
                confidence_min?: number;
                /** @description Stored confidence at most this. */
                confidence_max?: number;
                /** @description Only those created in the last so many days; 0 for all. */
                days?: number;
                /** @description Only perceptions of this type. */
                perception_type?: "visual" | "tactile" | "auditory" | "proprioceptive" | "procedural" | "spatial";
                /** @description Only this episode. */
                session_id?: string;
                /** @description Only memories that carry all of these tags. */
                tags?: string[];
                /** @description next of the page before: goes on after it, whatever was stored meanwhile. */
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
                 * @description Which memory.
                 * @example 1
                 */
                memory_id: number;
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
                 * @description Which memory; its id stays.
                 * @example 1
                 */
                memory_id: number;
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
                 * @description Why it is wrong, up to 1,000 characters. It stays in the audit log.
                 * @example the glass there was dry
                 */
                reason: string;
                /** @description Destroy it for good: text, context, every version, indexes, vectors and payload, and the old pages of the file. Nothing brings it back. The reason is kept, so it must not repeat the text. */
                purge?: boolean;
            };
            header?: never;
            path: {
                /**
                 * @description Which memory.
                 * @example 1
                 */
                memory_id: number;
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
                 * @description Which memory.
                 * @example 4
                 */
                memory_id: number;
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
                 * @description Which memory.
                 * @example 1
                 */
                memory_id: number;
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
                 * @description Which memory.
                 * @example 1
                 */
                memory_id: number;
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
                 * @description At most so many pixels wide, 16 to 4,096.
                 * @example 320
                 */
                width?: number;
                /** @description At most so many pixels high, 16 to 4,096. */
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
                 * @description Which perception.
                 * @example 4
                 */
                memory_id: number;
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
                 * @description Which memory.
                 * @example 1
                 */
                memory_id: number;
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
                /** @description Only samples from here on: seconds since the first, or sample numbers (from 0) when the rate is unknown. Of a recording of scans, the first sweep from here on. A cloud or a single scan has no time. */
                from?: number;
                /** @description Only samples up to here, likewise. */
                to?: number;
                /** @description At most so many entries, 16 to 200,000; 2,000 of traces and sounds and 50,000 of points if absent. More than ten channels share some 2,000,000 readings. */
                points?: number;
            };
            header?: never;
            path: {
                /**
                 * @description Which perception.
                 * @example 4
                 */
                memory_id: number;
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
    paths: {
        parameters: {
            query?: {
                /** @description Namespace; all if absent. */
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
                 *       "description": "finger force while the wet glass slipped",
                 *       "perception_type": "tactile",
                 *       "data": "t,Fz\n0.000,8.0\n0.001,7.6\n0.002,3.1\n",
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
                /** @description Namespace; all if absent. */
                collection?: string;
                /**
                 * @description Context path of the coordinates, such as spatial.object_position. Without it only fields is answered.
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
                /** @description Only facts or only perceptions. */
                type?: "fact" | "perception";
                /** @description Only this category. */
                category?: string;
                /** @description Only this episode. */
                session_id?: string;
                /** @description Only observed at or after this time (RFC 3339). */
                after?: string;
                /** @description Only observed before this time (RFC 3339). */
                before?: string;
                /** @description Filter over context paths, as in recall. */
                context_filter?: string;
                /** @description [x, y]: leave out what lies below in either, in the unit of the coordinates. */
                min?: number[];
                /** @description [x, y]: leave out what lies above in either. */
                max?: number[];
                /** @description Points at most, 1 to 20,000: of more an even sample. */
                limit?: number;
                /** @description Also count square cells, so many along the longer side, up to 256; 0 for none. */
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
                 *       "query": "how hard to grip the wet glass",
                 *       "n": 3,
                 *       "context_filter": {
                 *         "params.grip_force": {
                 *           "$lt": 15
                 *         },
                 *         "task.success": true
                 *       },
                 *       "spatial_sort": {
                 *         "field": "spatial.object_position",
                 *         "target": [
                 *           0.4,
                 *           0.1,
                 *           0.05
                 *         ],
                 *         "max_distance": 0.5
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
                /** @description Namespace; all if absent. */
                collection?: string;
                /** @description How many, 1 to 1,000. */
                limit?: number;
                /**
                 * @description Only the last so many days; 0 for all.
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
                 *           "perception_type": "visual",
                 *           "max_bytes": 1000000000
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
                /** @description Namespace to look in; all if absent. */
                collection?: string;
                /**
                 * @description How many to return, 1 to 100.
                 * @example 3
                 */
                top_k?: number;
                /** @description Read time words of q as bounds; times says how they were read. */
                parse_time?: boolean;
                /** @description Say what each stage kept and how each memory was found. */
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
                /** @description Which page, from 1. */
                page?: number;
                /** @description Episodes a page, 1 to 1,000. */
                limit?: number;
                /** @description Namespace; all if absent. */
                collection?: string;
                /** @description active or ended; both if absent. */
                status?: "active" | "ended";
                /** @description next of the page before: goes on after it, whatever was stored meanwhile. */
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
    session_memories: {
        parameters: {
            query?: {
                /** @description Which page, from 1. */
                page?: number;
                /** @description Memories a page, 1 to 1,000. */
                limit?: number;
                /** @description next of the page before: goes on after it, whatever was stored meanwhile. */
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
                        /** @description The token's name, empty without one. */
                        name: string;
                        /** @description The token may change nothing. */
                        read_only: boolean;
                        /** @description This node requires a token. */
                        required: boolean;
                    };
                };
            };
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
                        /** @description The token's name, empty without one. */
                        name: string;
                        /** @description The token may change nothing. */
                        read_only: boolean;
                        /** @description This node requires a token. */
                        required: boolean;
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
