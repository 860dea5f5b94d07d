package robotmem

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// Op is one operation, as every face sees it.
type Op struct {
	Name  string // "learn"; the MCP tool's name too
	Route string // "POST /api/learn"; {wildcards} are request fields
	CLI   string // "session start"; "" for none
	Title string
	Doc   string // what it does, when to use it, what comes back
	Hints Hints
	In    reflect.Type // the request struct
	Out   reflect.Type // the response struct

	call func(context.Context, Service, any) (any, error)
}

// Hints tell a client what an operation may do.
type Hints struct {
	Tool        bool // offered over MCP
	ReadOnly    bool // changes nothing
	Destructive bool // may take something away
	Idempotent  bool // twice is the same as once
	Progress    bool // may take long and says how far it is, see With
}

var (
	reads  = Hints{ReadOnly: true, Idempotent: true}
	writes = Hints{}
	// repeats is a write that does nothing more the second time.
	repeats = Hints{Idempotent: true}
)

func (h Hints) tool() Hints { h.Tool = true; return h }

func (h Hints) long() Hints { h.Progress = true; return h }

func (h Hints) destructive() Hints { h.Destructive = true; return h }

// Ops lists every operation once, in the order in which help shows them. The list is
// shared: it must not be changed.
func Ops() []*Op { return ops() }

var ops = sync.OnceValue(func() []*Op {
	return []*Op{
		op("learn", "POST /api/learn", "learn", repeats.tool(), "Learn a fact",
			"Store one fact that was learnt by doing, with its numbers, place, parameters and outcome. Call it after every experiment that taught something, also when it failed. Text and context that say what is known are answered as a duplicate; another number is a new fact. Returns its memory_id, what was inferred of it, and as conflicts the memories that say otherwise. Example: {\"insight\":\"grip_force=12.5 N holds wet glass\",\"context\":{\"params\":{\"grip_force\":12.5},\"task\":{\"success\":true}}}.", Service.Learn),
		op("learn_batch", "POST /api/learn/batch", "", writes.long(), "Learn many facts",
			"Store up to 10,000 facts in one call. Results come in the order of the items; one bad item does not stop the rest.", Service.LearnBatch),
		op("recall", "POST /api/recall", "recall", reads.tool(), "Recall memories",
			"Find what is known before acting: by words, by place (spatial_sort), by likeness to a perception (like), by time, and by any value of the context (context_filter), quantities in any unit. Every filter is exact: a memory that matches is found, however rare. Best first, with score, relevance, distance and the whole context. Example: {\"query\":\"hold a wet glass\",\"context_filter\":{\"task.success\":true},\"n\":5}.", Service.Recall),
		op("search", "GET /api/search", "search", reads, "Search memories",
			"Recall with plain parameters, over all collections unless one is named.", Service.Search),
		op("save_perception", "POST /api/perceptions", "save-perception", writes.tool(), "Save a perception",
			"Store what a sensor gave (an image, a force trace, a point cloud, a sound) byte for byte, with a description in words. Call it when what was sensed explains how an attempt went. Give at most one of data, data_base64 and path. Returns its memory_id, media type, size, checksum and a summary. Example: {\"description\":\"force while the glass slipped\",\"perception_type\":\"tactile\",\"data\":\"t,fz\\n0,1.5\\n0.01,9.8\",\"media_type\":\"text/csv\"}.", Service.SavePerception),
		op("forget", "DELETE /api/memory/{memory_id}", "forget", writes.destructive().tool(), "Forget a memory",
			"Take a memory that is wrong out of recall, with the reason. Call it when a memory misled and update cannot correct it. Its history stays; restore undoes it. Returns the beginning of the text that is forgotten. Example: {\"memory_id\":7,\"reason\":\"the force sensor was not calibrated\"}.", Service.Forget),
		op("restore", "POST /api/memory/{memory_id}/restore", "restore", writes, "Restore a memory",
			"Make a forgotten or superseded memory active again.", Service.Restore),
		op("update", "PUT /api/memory/{memory_id}", "update", writes.destructive().tool(), "Update a memory",
			"Correct a memory: new text under the same id, classified anew. Call it when a memory turns out wrong or incomplete; what is learnt beside it is a new fact, for learn. The old text stays readable in the history and is no longer recalled. Returns the old text, the new one and its version. Example: {\"memory_id\":7,\"new_content\":\"grip_force=13 N holds wet glass\"}.", Service.Update),
		op("pin", "POST /api/memory/{memory_id}/pin", "pin", repeats, "Pin a memory",
			"Keep a memory from fading and from being merged, or let it go again with pinned false: it then fades as its category does, from now on.", Service.Pin),
		op("start_session", "POST /api/sessions", "session start", writes.tool(), "Start a session",
			"Open an episode before a task. Returns the session_id to pass along with learn and save_perception, and a briefing: rules, recent failures, and what fits the task. Example: {\"collection\":\"arm7\",\"context\":{\"task\":{\"name\":\"hold a wet glass\"}}}.", Service.StartSession),
		op("end_session", "POST /api/sessions/{session_id}/end", "session end", writes.tool().long(), "End a session",
			"Close an episode with its outcome (0 to 1) and the memories that helped. Call it once, when the task is over, also when it failed. Redundant facts of the episode are merged, never those that differ in a number, outcome or place. Returns a summary and related memories of earlier episodes. Example: {\"session_id\":\"0199d0b4-2f3a-7c1d-9e55-6b8f0a1c2d3e\",\"outcome_score\":0.9,\"used_memory_ids\":[7]}.", Service.EndSession),
		op("get", "GET /api/memory/{memory_id}", "get", reads.tool(), "Get a memory",
			"Return one memory whole, whatever its status: text, context, tags, confidence, provenance. Call it when recall has shortened a text or a context that you need. Example: {\"memory_id\":7}.", Service.Get),
		op("data", "GET /api/memory/{memory_id}/data", "data", reads, "Get a perception's bytes",
			"Return the bytes of a perception as they were saved.", Service.Data),
		op("preview", "GET /api/memory/{memory_id}/preview", "preview", reads.tool(), "Look at a perception",
			"Return a picture of a perception: a smaller copy of an image, a plot of a force trace, the spectrogram of a sound, a point cloud or a trajectory from above. Call it to see what a recalled perception shows. Example: {\"memory_id\":7,\"width\":640}.", Service.Preview),
		op("samples", "GET /api/memory/{memory_id}/samples", "samples", reads, "Numbers of a perception",
			"Return the numbers of a force trace, joint states, a sound, a point cloud, a trajectory or a laser scan, to be drawn. All that lie between from and to while they are at most points; else the smallest and the largest of equal buckets, so that no peak is lost, and of points an even part.", Service.Samples),
		op("history", "GET /api/memory/{memory_id}/history", "history", reads, "History of a memory",
			"Return every state a memory has been in, oldest first.", Service.History),
		op("list", "GET /api/memories", "list", reads, "List memories",
			"Page through memories, newest first.", Service.List),
		op("sessions", "GET /api/sessions", "session list", reads, "List sessions",
			"Page through episodes, newest first.", Service.Sessions),
		op("session", "GET /api/sessions/{session_id}", "session get", reads, "Get a session",
			"Return one episode: its context, outcome and summary, what was recalled for it and what of that helped, and the counts of its streams.", Service.Session),
		op("session_memories", "GET /api/sessions/{session_id}/memories", "session show", reads, "Memories of a session",
			"Return an episode in the order it was lived.", Service.SessionMemories),
		op("collections", "GET /api/collections", "collections", reads, "List collections",
			"Count the memories of every collection.", Service.Collections),
		op("categories", "GET /api/categories", "categories", reads, "List categories",
			"Count the active memories of every category.", Service.Categories),
		op("paths", "GET /api/paths", "paths", reads, "List context paths",
			"List the context paths of the active memories, with kinds, ranges and units; of one path also its values. Use it to build a context_filter.", Service.Paths),
		op("places", "GET /api/places", "places", reads, "Map of memories",
			"Put the active memories on a map: which context paths hold coordinates and, of one of them, its points and a grid of counts and outcomes. Takes the filters of recall.", Service.Places),
		op("recent_failures", "GET /api/recent-failures", "recent-failures", reads, "Recent failures",
			"Return what went wrong lately: postmortems, gotchas and facts with task.success false, newest first.", Service.RecentFailures),
		op("stats", "GET /api/stats", "stats", reads, "Statistics",
			"Count what the node holds and what it was asked.", Service.Stats),
		op("activity", "GET /api/activity", "activity", reads, "Activity",
			"Count what was stored, what failed and what was asked, by the hour or day.", Service.Activity),
		op("changes", "GET /api/changes", "", reads, "Wait for a change",
			"Answer at once when the memory is not at the change that since names, else as soon as it changes, by whichever process, or after wait_ms.", Service.Changes),
		op("doctor", "GET /api/doctor", "", reads.long(), "Check-up",
			"Check the node: file, index sync, zero-hit rate, sizes, embedder and backlog, each with its remedy.", Service.Doctor),
		op("retain", "POST /api/retain", "", Hints{Destructive: true}.long(), "Keep a budget",
			"Take away the payloads of perceptions that are over a budget of bytes, age or free disk space: least valuable first, long recordings thinned before others go, facts never. Lists what would go unless apply is set.", Service.Retain),
		op("audit", "GET /api/audit", "audit", reads, "Audit log",
			"Page through what was changed, newest first: by whom, through what, when and why, with hashes of the text before and after. Who stored a memory stands in the memory itself.", Service.Audit),
		op("repair", "POST /api/repair", "", repeats.long(), "Repair",
			"Rebuild every index from the tables.", Service.Repair),
	}
})

// OpByName returns the operation of that name, nil if there is none.
func OpByName(name string) *Op {
	for _, o := range Ops() {
		if o.Name == name {
			return o
		}
	}
	return nil
}

func op[In, Out any](name, route, cli string, hints Hints, title, doc string, method func(Service, context.Context, *In) (*Out, error)) *Op {
	return &Op{
		Name: name, Route: route, CLI: cli, Title: title, Doc: doc, Hints: hints,
		In: reflect.TypeFor[In](), Out: reflect.TypeFor[Out](),
		call: func(ctx context.Context, s Service, req any) (any, error) {
			// A nil response must not become a non-nil any.
			res, err := method(s, ctx, req.(*In))
			if err != nil {
				return nil, err
			}
			return res, nil
		},
	}
}

// Decode reads a JSON request strictly into req, a pointer to the request
// struct. Errors are *Error.
func (o *Op) Decode(request json.RawMessage, req any) (err error) {
	if u, ok := req.(json.Unmarshaler); ok {
		err = u.UnmarshalJSON(request)
	} else {
		err = decode(request, req)
	}
	return inOp(o.Name, err)
}

// Call decodes a JSON request strictly, runs the operation on s and returns
// its response, if the caller is allowed to. Errors are *Error.
func (o *Op) Call(ctx context.Context, s Service, request json.RawMessage) (any, error) {
	if err := o.Allowed(ctx); err != nil {
		return nil, err
	}
	req := reflect.New(o.In).Interface()
	if err := o.Decode(request, req); err != nil {
		return nil, err
	}
	if err := o.offered(ctx, req); err != nil {
		return nil, err
	}
	return o.call(ctx, s, req)
}

// Method is the HTTP method of the route.
func (o *Op) Method() string { m, _, _ := strings.Cut(o.Route, " "); return m }

// Path is the path of the route.
func (o *Op) Path() string { _, p, _ := strings.Cut(o.Route, " "); return p }

// Fields names the request's fields in order.
func (o *Op) Fields() []string {
	var names []string
	for i := range o.In.NumField() {
		if n := jsonName(o.In.Field(i)); n != "" {
			names = append(names, n)
		}
	}
	return names
}

func (o *Op) field(name string) (reflect.StructField, bool) {
	for i := range o.In.NumField() {
		if f := o.In.Field(i); jsonName(f) == name {
			return f, true
		}
	}
	return reflect.StructField{}, false
}
