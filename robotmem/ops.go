package robotmem

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// Op describes one operation for MCP, REST, the CLI and the client.
type Op struct {
	Name  string // "learn"; also the name of the MCP tool
	Route string // "POST /api/learn"; {wildcards} are request fields
	CLI   string // "session start"; "" for none
	Title string
	Doc   string // what it does, when to use it, what it returns
	Hints Hints
	In    reflect.Type // the request struct
	Out   reflect.Type // the response struct

	call func(context.Context, Service, any) (any, error)
}

// Hints tell a client what an operation may do.
type Hints struct {
	Tool        bool // offered over MCP
	ReadOnly    bool // changes nothing
	Destructive bool // may remove something
	Idempotent  bool // a second identical call changes nothing
	Progress    bool // may take long; reports progress, see progress.With
}

var (
	reads      = Hints{ReadOnly: true, Idempotent: true}
	writes     = Hints{}
	idempotent = Hints{Idempotent: true}
)

func (h Hints) tool() Hints { h.Tool = true; return h }

func (h Hints) long() Hints { h.Progress = true; return h }

func (h Hints) destructive() Hints { h.Destructive = true; return h }

// Ops returns all operations, in the order in which the help shows them. Callers must not
// modify the list.
func Ops() []*Op { return ops() }

var ops = sync.OnceValue(func() []*Op {
	return []*Op{
		op("learn", "POST /api/learn", "learn", idempotent.tool(), "Learn a fact",
			"Store one fact learnt from experience, with its numbers, place, parameters and outcome. Call it after every attempt that taught something, also a failed one. A fact that differs in a word, a number or its context is new, else a duplicate. Returns the memory_id, the category and tags inferred, in conflicts memories that contradict it, in similar those with similar words. Example: {\"insight\":\"grip_force=12.5 N holds wet glass\",\"context\":{\"params\":{\"grip_force\":12.5},\"task\":{\"success\":true}}}.", Service.Learn),
		op("learn_batch", "POST /api/learn/batch", "", writes.long(), "Learn many facts",
			"Store up to 10,000 facts in one call. Results are in the order of the items. An invalid item does not stop the others.", Service.LearnBatch),
		op("recall", "POST /api/recall", "recall", reads.tool(), "Recall memories",
			"Find relevant memories before acting: by words, place (spatial_sort), time, similarity to a perception (like), and any value of the context (context_filter), quantities in any unit. Filters are exact: they apply to all memories before ranking. Returns the best first; in compact form a line each, with outcome, parameters, date, place and text. get returns the rest. Example: {\"query\":\"hold a wet glass\",\"context_filter\":{\"task.success\":true},\"n\":5}.", Service.Recall),
		op("search", "GET /api/search", "search", reads, "Search memories",
			"Recall with simple parameters. It searches all collections unless you name one.", Service.Search),
		op("advise", "POST /api/advise", "advise", reads.tool(), "What worked here",
			"Ask which parameters worked before you act. It counts all matching memories whose outcome is known, and returns per parameter the tried values with success rates and 95 % intervals, one suggestion with its support, and which context paths separate successes from failures. Example: {\"query\":\"pick wet glass\",\"context_filter\":{\"wet\":true}}.", Service.Advise),
		op("aggregate", "GET /api/aggregate", "aggregate", reads, "Count outcomes",
			"Count memories exactly by group and outcome: how often did corridor B fail.", Service.Aggregate),
		op("about", "GET /api/about", "about", reads.tool(), "All about a subject",
			"Return what is known of a robot, object, place, part or person by its name: current values, rules, what worked and failed in counts, where it was seen last, with the memory ids as evidence. Example: {\"subject\":\"gripper 3\"}.", Service.About),
		op("attempt", "POST /api/attempts", "attempt", writes.tool(), "Try to reach a goal",
			"Record a try at a goal that may take several. Ask with changed alone before a try: the answer says whether it was tried, and after three tries without progress what all were. It continues the open attempt at the goal, also in a later session. Example: {\"goal\":\"the arm picks the wet glass\",\"changed\":\"grip_force 12.5 N\",\"result\":\"slipped at 5 cm\",\"outcome\":\"failure\"}.", Service.Attempt),
		op("save_perception", "POST /api/perceptions", "save-perception", writes.tool(), "Save a perception",
			"Store sensor data (image, force trace, point cloud, sound) byte for byte, with a description in words. Call it when the data explains the result of an attempt. Returns the memory_id, media type, size, checksum and a summary. Example: {\"description\":\"force while the glass slipped\",\"perception_type\":\"tactile\",\"data\":\"t,fz\\n0,1.5\\n0.01,9.8\",\"media_type\":\"text/csv\"}.", Service.SavePerception),
		op("save_document", "POST /api/documents", "", idempotent.long(), "Save a document",
			"Store the text of a manual or another document as passages with page and section. The same name with the same sha256 stores nothing. With another sha256, passages that did not change keep their memory_id, new ones are added, and those that are gone are forgotten. All of it is stored or nothing. recall finds the passages with type document.", Service.SaveDocument),
		op("documents", "GET /api/documents", "documents list", reads, "List documents",
			"List the documents with their title, hash, pages and passages.", Service.Documents),
		op("remove_document", "DELETE /api/documents", "documents remove", idempotent.destructive(), "Remove a document",
			"Forget all passages of a document. The history keeps them.", Service.RemoveDocument),
		op("forget", "DELETE /api/memory/{memory_id}", "forget", writes.destructive().tool(), "Forget a memory",
			"Remove a misleading memory from recall when update cannot correct it. The history keeps it, and restore undoes it. Example: {\"memory_id\":7,\"reason\":\"the force sensor was not calibrated\"}.", Service.Forget),
		op("restore", "POST /api/memory/{memory_id}/restore", "restore", writes, "Restore a memory",
			"Make a forgotten or superseded memory active again.", Service.Restore),
		op("update", "PUT /api/memory/{memory_id}", "update", writes.destructive().tool(), "Update a memory",
			"Replace the text of a wrong or incomplete memory and keep its id; use learn for an additional fact. The history keeps the old text, which is no longer recalled. Example: {\"memory_id\":7,\"new_content\":\"grip_force=13 N holds wet glass\"}.", Service.Update),
		op("pin", "POST /api/memory/{memory_id}/pin", "pin", idempotent, "Pin a memory",
			"Protect a memory from decay and from merging. With pinned false, remove the protection: the confidence then decays from now on at the rate of the category.", Service.Pin),
		op("start_session", "POST /api/sessions", "session start", writes.tool(), "Start a session",
			"Open an episode before a task. Returns the session_id for learn and save_perception, and a briefing for the context: warnings, rules, what worked, what failed, current values. Example: {\"collection\":\"arm7\",\"context\":{\"task\":{\"name\":\"hold a wet glass\"}}}.", Service.StartSession),
		op("end_session", "POST /api/sessions/{session_id}/end", "session end", writes.tool().long(), "End a session",
			"Close an episode with its outcome and the memories that helped. Call it once, when the task is over, also when it failed. A fact that a longer one of the episode says completely is superseded by it. Returns a summary and related memories of earlier episodes. Example: {\"session_id\":\"0199d0b4-2f3a-7c1d-9e55-6b8f0a1c2d3e\",\"outcome_score\":0.9,\"used_memory_ids\":[7]}.", Service.EndSession),
		op("get", "GET /api/memory/{memory_id}", "get", reads.tool(), "Get a memory",
			"Return one complete memory of any status: text, context, tags, confidence, provenance. Example: {\"memory_id\":7}.", Service.Get),
		op("timeline", "GET /api/memory/{memory_id}/timeline", "timeline", reads.tool(), "What happened around a memory",
			"Return the memories before and after a memory, in order of time: of its episode, else of its robot or collection. Example: {\"memory_id\":7,\"before\":3,\"after\":3}.", Service.Timeline),
		op("data", "GET /api/memory/{memory_id}/data", "data", reads, "Get a perception's bytes",
			"Return the bytes of a perception as they were saved.", Service.Data),
		op("preview", "GET /api/memory/{memory_id}/preview", "preview", reads.tool(), "Look at a perception",
			"Return a picture of a perception: an image, a plot of a trace, a spectrogram, or a top view of points or a trajectory. Example: {\"memory_id\":7,\"width\":640}.", Service.Preview),
		op("samples", "GET /api/memory/{memory_id}/samples", "samples", reads, "Numbers of a perception",
			"Return the numbers of a force trace, joint states, a sound, a point cloud, a trajectory or a laser scan, for a plot. Returns all samples between from and to if there are at most points of them. Otherwise it returns the minimum and maximum of equal buckets, so that peaks are kept, and an even sample of the points of a cloud.", Service.Samples),
		op("history", "GET /api/memory/{memory_id}/history", "history", reads, "History of a memory",
			"Return all versions of a memory, oldest first.", Service.History),
		op("list", "GET /api/memories", "list", reads, "List memories",
			"Page through memories, newest first.", Service.List),
		op("sessions", "GET /api/sessions", "session list", reads, "List sessions",
			"Page through episodes, newest first.", Service.Sessions),
		op("session", "GET /api/sessions/{session_id}", "session get", reads, "Get a session",
			"Return one episode: its context, outcome and summary, the memories that were recalled for it and which of them helped, and the sample counts of its streams.", Service.Session),
		op("session_memories", "GET /api/sessions/{session_id}/memories", "session show", reads, "Memories of a session",
			"Return the memories of an episode in time order.", Service.SessionMemories),
		op("collections", "GET /api/collections", "collections", reads, "List collections",
			"Count the memories of every collection.", Service.Collections),
		op("categories", "GET /api/categories", "categories", reads, "List categories",
			"Count the active memories of every category.", Service.Categories),
		op("paths", "GET /api/paths", "paths", reads, "List context paths",
			"List the context paths of the active memories, with types, ranges and units; for a single path also its values. Use it to build a context_filter.", Service.Paths),
		op("places", "GET /api/places", "places", reads, "Map of memories",
			"List the context paths that hold coordinates and, for one of them, its points and a grid of counts and outcomes, for a map of the active memories. Takes the filters of recall.", Service.Places),
		op("recent_failures", "GET /api/recent-failures", "recent-failures", reads, "Recent failures",
			"Return recent failures: postmortems, gotchas and facts with task.success false, newest first.", Service.RecentFailures),
		op("incidents", "GET /api/incidents", "incidents", reads, "Incidents",
			"Return the episodes that failed, and failed memories outside of them: robot, task, place, what was said, the perception that shows it, how often it happened before, and the fact that resolves it. To resolve one, learn the lesson with {\"resolves\":{\"session_id\":\"…\"}} (or memory_id, or group) in its context.", Service.Incidents),
		op("stats", "GET /api/stats", "stats", reads, "Statistics",
			"Count the stored memories, sessions and bytes, and the recalls.", Service.Stats),
		op("activity", "GET /api/activity", "activity", reads, "Activity",
			"Count stored memories, failures and recalls per hour or day.", Service.Activity),
		op("changes", "GET /api/changes", "", reads, "Wait for a change",
			"Wait for a change by any process. It returns immediately if the change counter differs from since; otherwise it returns at the next change or after wait_ms.", Service.Changes),
		op("doctor", "GET /api/doctor", "", reads.long(), "Check-up",
			"Check the node: file, index sync, zero-hit rate, sizes, embedder and backlog. Each finding names its remedy.", Service.Doctor),
		op("retain", "POST /api/retain", "", Hints{Destructive: true}.long(), "Keep a budget",
			"Remove payloads of perceptions that exceed a budget of bytes, age or free disk space. It removes the least valuable first, thins long recordings before it removes others, and never removes facts. Without apply it only lists the payloads that it would remove.", Service.Retain),
		op("audit", "GET /api/audit", "audit", reads, "Audit log",
			"Page through the log of changes, newest first: who changed a memory, with which program, when and why, with hashes of the text before and after. The creator of a memory is stored in the memory itself.", Service.Audit),
		op("repair", "POST /api/repair", "", idempotent.long(), "Repair",
			"Rebuild every index from the tables.", Service.Repair),
	}
})

// OpByName returns the operation of that name, or nil.
func OpByName(name string) *Op {
	for _, o := range Ops() {
		if o.Name == name {
			return o
		}
	}
	return nil
}

func op[In, Out any](
	name, route, cli string, hints Hints, title, doc string, method func(Service, context.Context, *In) (*Out, error),
) *Op {
	return &Op{
		Name: name, Route: route, CLI: cli, Title: title, Doc: doc, Hints: hints,
		In:  reflect.TypeFor[In](),
		Out: reflect.TypeFor[Out](),
		call: func(ctx context.Context, s Service, req any) (any, error) {
			// A nil *Out in an any would not compare equal to nil.
			res, err := method(s, ctx, req.(*In))
			if err != nil {
				return nil, err
			}
			return res, nil
		},
	}
}

// Decode decodes a JSON request to s into req, a pointer to the request struct. It refuses unknown
// fields. It returns notes on what it took otherwise than given, for the response. s may be nil;
// its clock and collections decide what "yesterday" and "all" mean. Errors are *Error.
func (o *Op) Decode(
	ctx context.Context, s Service, request json.RawMessage, req any,
) (interpreted []string, err error) {
	// The decoder would replace half of a surrogate pair in silence.
	if err := o.refuseSurrogate(request); err != nil {
		return nil, err
	}

	r := &requestReader{ctx: ctx, service: s}
	if own, ok := req.(selfReader); ok {
		err = own.read(r, request)
	} else {
		err = r.decode(request, req)
	}
	if len(r.empty) > 0 {
		r.notes = append(r.notes,
			strings.Join(r.empty[:min(len(r.empty), maxNotes)], ", ")+": empty, taken as not given")
	}

	return r.notes, inOp(o.Name, err)
}

// Call checks the limits of a JSON request, decodes it, runs the operation on s and
// returns its response. It refuses unknown fields, and callers that may not use the
// operation. Errors are *Error.
func (o *Op) Call(ctx context.Context, s Service, request json.RawMessage) (any, error) {
	// The cheap checks come first: the right to call needs no request, and scan bounds the memory that decoding takes.
	if err := o.Allowed(ctx); err != nil {
		return nil, err
	}
	if err := o.scan(request); err != nil {
		return nil, err
	}

	req := reflect.New(o.In).Interface()
	notes, err := o.Decode(ctx, s, request, req)
	if err != nil {
		return nil, err
	}

	// Only the decoded request shows which fields are set, under whichever name.
	if err := o.refuseModelFields(ctx, req); err != nil {
		return nil, err
	}

	res, err := o.call(ctx, s, req)
	// The service may have notes of its own, on what it read. Those of the decoding come first.
	if i, ok := res.(interface{ HowRead() *[]string }); ok && len(notes) > 0 {
		*i.HowRead() = append(notes, *i.HowRead()...)
	}

	return res, err
}

// Method returns the HTTP method of the route.
func (o *Op) Method() string { m, _, _ := strings.Cut(o.Route, " "); return m }

// Path returns the path of the route.
func (o *Op) Path() string { _, p, _ := strings.Cut(o.Route, " "); return p }

// Fields returns the JSON names of the request's fields, in order.
func (o *Op) Fields() []string {
	return fieldNames(o.In)
}

func fieldNames(t reflect.Type) []string {
	var names []string

	for i := range t.NumField() {
		if n := jsonName(t.Field(i)); n != "" {
			names = append(names, n)
		}
	}

	return names
}
