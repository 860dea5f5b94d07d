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
}

var (
	reads  = Hints{ReadOnly: true, Idempotent: true}
	writes = Hints{}
	// repeats is a write that does nothing more the second time.
	repeats = Hints{Idempotent: true}
)

func (h Hints) tool() Hints { h.Tool = true; return h }

func (h Hints) destructive() Hints { h.Destructive = true; return h }

// Ops lists every operation once, in the order in which help shows them.
var Ops = sync.OnceValue(func() []*Op {
	return []*Op{
		op("learn", "POST /api/learn", "learn", repeats.tool(), "Learn a fact",
			"Store one fact that was learnt by doing, with its numbers, place, parameters and outcome. Call it after every experiment that taught something, also when it failed. Text and context that say what is known are answered as a duplicate; another number is a new fact. Example: {\"insight\":\"grip_force=12.5 N holds wet glass\",\"context\":{\"params\":{\"grip_force\":12.5},\"task\":{\"success\":true}}}.", Service.Learn),
		op("learn_batch", "POST /api/learn/batch", "", writes, "Learn many facts",
			"Store up to 10,000 facts in one call. Results come in the order of the items; one bad item does not stop the rest.", Service.LearnBatch),
		op("recall", "POST /api/recall", "recall", reads.tool(), "Recall memories",
			"Find what is known before acting: by words, by place (spatial_sort), by likeness to a perception (like), by time, and by any value of the context (context_filter), quantities in any unit. Every filter is exact: a memory that matches is found, however rare. Best first, with score, relevance, distance and the whole context. Example: {\"query\":\"hold a wet glass\",\"context_filter\":{\"task.success\":true},\"n\":5}.", Service.Recall),
		op("search", "GET /api/search", "search", reads, "Search memories",
			"Recall with plain parameters, over all collections unless one is named.", Service.Search),
		op("save_perception", "POST /api/perceptions", "save-perception", writes.tool(), "Save a perception",
			"Store what a sensor gave (an image, a force trace, a point cloud, a sound) byte for byte, with a description in words. Give at most one of data, data_base64 and path. Returns its id, media type, size, checksum and a summary.", Service.SavePerception),
		op("forget", "DELETE /api/memory/{memory_id}", "forget", writes.destructive().tool(), "Forget a memory",
			"Take a memory that is wrong out of recall, with the reason. Its history stays; restore undoes it.", Service.Forget),
		op("restore", "POST /api/memory/{memory_id}/restore", "restore", writes, "Restore a memory",
			"Make a forgotten or superseded memory active again.", Service.Restore),
		op("update", "PUT /api/memory/{memory_id}", "update", writes.destructive().tool(), "Update a memory",
			"Correct a memory: new text under the same id, classified anew. The old text stays readable in the history and is no longer recalled.", Service.Update),
		op("start_session", "POST /api/sessions", "session start", writes.tool(), "Start a session",
			"Open an episode before a task. Returns the session_id to pass along with learn and save_perception, and a briefing: rules, recent failures, and what fits the task.", Service.StartSession),
		op("end_session", "POST /api/sessions/{session_id}/end", "session end", writes.tool(), "End a session",
			"Close an episode with its outcome (0 to 1) and the memories that helped. Redundant facts of the episode are merged, never those that differ in a number, outcome or place. Returns a summary and related memories of earlier episodes.", Service.EndSession),
		op("get", "GET /api/memory/{memory_id}", "get", reads.tool(), "Get a memory",
			"Return one memory whole, whatever its status: text, context, tags, confidence, provenance.", Service.Get),
		op("data", "GET /api/memory/{memory_id}/data", "data", reads, "Get a perception's bytes",
			"Return the bytes of a perception as they were saved.", Service.Data),
		op("preview", "GET /api/memory/{memory_id}/preview", "preview", reads.tool(), "Look at a perception",
			"Return a picture of a perception: a smaller copy of an image, a plot of a force trace, the spectrogram of a sound, a point cloud or a trajectory from above. Call it to see what a recalled perception shows.", Service.Preview),
		op("history", "GET /api/memory/{memory_id}/history", "history", reads, "History of a memory",
			"Return every state a memory has been in, oldest first.", Service.History),
		op("list", "GET /api/memories", "list", reads, "List memories",
			"Page through memories, newest first.", Service.List),
		op("sessions", "GET /api/sessions", "session list", reads, "List sessions",
			"Page through episodes, newest first.", Service.Sessions),
		op("session_memories", "GET /api/sessions/{session_id}/memories", "session show", reads, "Memories of a session",
			"Return an episode in the order it was lived.", Service.SessionMemories),
		op("collections", "GET /api/collections", "collections", reads, "List collections",
			"Count the memories of every collection.", Service.Collections),
		op("categories", "GET /api/categories", "categories", reads, "List categories",
			"Count the active memories of every category.", Service.Categories),
		op("recent_failures", "GET /api/recent-failures", "recent-failures", reads, "Recent failures",
			"Return what went wrong lately: postmortems, gotchas and facts with task.success false, newest first.", Service.RecentFailures),
		op("stats", "GET /api/stats", "stats", reads, "Statistics",
			"Count what the node holds and what it was asked.", Service.Stats),
		op("doctor", "GET /api/doctor", "", reads, "Check-up",
			"Check the node: file, index sync, zero-hit rate, sizes, embedder and backlog, each with its remedy.", Service.Doctor),
		op("retain", "POST /api/retain", "", Hints{Destructive: true}, "Keep a budget",
			"Take away the payloads of perceptions that are over a budget of bytes, age or free disk space: least valuable first, long recordings thinned before others go, facts never. Lists what would go unless apply is set.", Service.Retain),
		op("repair", "POST /api/repair", "", repeats, "Repair",
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
	return wrap(o.Name, err)
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
