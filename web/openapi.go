package web

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

type object = map[string]any

// description is the text at the head of the document, in Markdown.
const description = `A memory for robots.

A request is a JSON body, overlaid by the query and then by the path, so these three are the same. GET and DELETE take the path and the query only. Times are RFC 3339. An object in a query is its JSON text.

    POST /api/recall              {"query":"wet glass","n":3}
    POST /api/recall?n=3          {"query":"wet glass"}
    POST /api/recall?query=wet+glass&n=3

A node with tokens needs one of them in each request: ` + "`Authorization: Bearer $ROBOTMEM_TOKEN`" + `.

An error is a problem document (RFC 9457, ` + "`application/problem+json`" + `) with the kind of the error, the field that is wrong and what to do next.`

// OpenAPI returns the description of every operation in OpenAPI 3.1, which
// /api/openapi.json answers as JSON.
func OpenAPI(version string) any { return openAPI(version) }

func openAPI(version string) object {
	schemas := &robotmem.Definitions{Prefix: "#/components/schemas/"}
	paths := object{}
	for _, op := range robotmem.Ops() {
		item, ok := paths[op.Path()].(object)
		if !ok {
			item = object{}
			paths[op.Path()] = item
		}
		item[strings.ToLower(op.Method())] = describe(op, schemas)
	}
	maps.Copy(paths, accessPaths())
	schemas.Define("Problem", problemSchema())
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title":       "robotmem",
			"version":     cmp.Or(version, "dev"),
			"description": description,
			"license":     object{"name": "Apache 2.0", "identifier": "Apache-2.0"},
		},
		"servers":  []any{object{"url": "/"}}, // the server of this document
		"security": security,
		"tags":     tags(),
		"paths":    paths,
		"components": object{
			"schemas":         schemas.Schemas,
			"responses":       problemResponses(),
			"securitySchemes": securitySchemes(),
		},
	}
}

// group is a tag of the document: a chapter with operations.
type group struct {
	name, doc string
	has       func(op *robotmem.Op) bool
}

// groups are in reading order. An operation belongs to the first group that has it;
// the last group has all operations.
var groups = []group{
	{"Learning", "Store what was done and what resulted.", under("/api/learn", "/api/perceptions")},
	{"Recalling", "Find what is known before acting.", under("/api/recall", "/api/search", "/api/recent-failures")},
	{"Perceptions", "Sensor data: its bytes, a picture, its numbers.", ends("/data", "/preview", "/samples")},
	{"Memories", "Read, correct and restore memories.", under("/api/memory", "/api/memories")},
	{"Episodes", "Memories of one task, from its start to its end.", under("/api/sessions")},
	{"Contents", "What the memory contains: collections, categories, paths and places.", under("/api/collections", "/api/categories", "/api/paths", "/api/places")},
	{"Node", "Statistics, health and maintenance of the node.", under("/")},
}

func groupOf(op *robotmem.Op) group {
	i := slices.IndexFunc(groups, func(g group) bool { return g.has(op) })
	return groups[i]
}

// under matches the routes below one of the paths.
func under(paths ...string) func(*robotmem.Op) bool {
	return func(op *robotmem.Op) bool {
		return slices.ContainsFunc(paths, func(p string) bool {
			return op.Path() == p || strings.HasPrefix(op.Path(), strings.TrimSuffix(p, "/")+"/")
		})
	}
}

func ends(suffixes ...string) func(*robotmem.Op) bool {
	return func(op *robotmem.Op) bool {
		return slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(op.Path(), s) })
	}
}

func tags() []any {
	var out []any
	for _, g := range groups {
		out = append(out, object{"name": g.name, "description": g.doc})
	}
	return append(out, object{"name": accessTag, "description": "Logins, and the stream of changes."})
}

// meanings describe when a status is answered.
var meanings = map[int]string{
	http.StatusBadRequest:            "`invalid`: a field is missing, unknown or out of range; `field` names it and `detail` says what is allowed.",
	http.StatusUnauthorized:          "`forbidden`: this node requires a token, and the request has none or a wrong one.",
	http.StatusRequestTimeout:        "`unavailable`: the body came too slowly.",
	http.StatusTooManyRequests:       "`unavailable`: too many requests, or too many wrong tokens; Retry-After says after how many seconds to try again.",
	http.StatusForbidden:             "`forbidden`: the caller may not do this, or the request comes from a page or names a host that is not of this node.",
	http.StatusNotFound:              "`not_found`: there is no such memory, session or route.",
	http.StatusConflict:              "`conflict`: the request does not fit the current state, such as ending a session twice.",
	http.StatusRequestEntityTooLarge: "`too_large`: the body or payload is over the node's limit, which `detail` names.",
	http.StatusUnsupportedMediaType:  "`invalid`: this route does not read the media type of the body; `detail` names the ones that it reads.",
	http.StatusInternalServerError:   "`internal` or `corrupt`: an error of the node; its log has the cause.",
	http.StatusServiceUnavailable:    "`unavailable`: the disk is full, the file is locked or the time limit has passed; try again later.",
}

// problemNames returns the name of the response for each status of an error.
func problemNames() map[string]string {
	names := map[string]string{}
	for _, code := range append(guarded, slices.Collect(maps.Values(status))...) {
		names[strconv.Itoa(code)] = strings.ReplaceAll(http.StatusText(code), " ", "")
	}
	return names
}

func problemResponses() object {
	out := object{}
	for code, name := range problemNames() {
		n, _ := strconv.Atoi(code)
		out[name] = object{
			"description": cmp.Or(meanings[n], http.StatusText(n)),
			"content":     object{"application/problem+json": object{"schema": object{"$ref": "#/components/schemas/Problem"}}},
		}
	}
	return out
}

func problemSchema() object {
	kinds := []string{}
	for kind := range status {
		kinds = append(kinds, string(kind))
	}
	text := func(doc string) object { return object{"type": "string", "description": doc} }
	kind := text("The class of the error.")
	slices.Sort(kinds)
	kind["enum"] = kinds
	return object{
		"type": "object",
		"properties": object{
			"type":   text("about:blank: status and kind describe the error."),
			"title":  text("The status in words."),
			"status": object{"type": "integer"},
			"kind":   kind,
			"field":  text("The request field that is wrong."),
			"detail": text("What failed, what is allowed, and what to do next."),
			"op":     text("The operation."),

			"request_id": text("The id of the request in the node's log."),
		},
		"required": []string{"type", "title", "status", "kind", "detail"},
	}
}

// guarded are the statuses of the guards before an operation.
var guarded = []int{http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusUnsupportedMediaType, http.StatusTooManyRequests}

// security are the ways to authenticate. A node without tokens on a loopback address
// needs none.
var security = []any{object{"bearer": []any{}}, object{"cookie": []any{}}, object{}}

func securitySchemes() object {
	return object{
		"bearer": object{"type": "http", "scheme": "bearer", "description": "A token that `robotmem token create NAME` printed, or the setting ROBOTMEM_TOKEN. A token that was created with --read-only may use the operations that change nothing."},
		"cookie": object{"type": "apiKey", "in": "cookie", "name": "robotmem-7878", "description": "The cookie that /login sets, for browsers. The number is the port of the node."},
	}
}

const accessTag = "Access"

// accessPaths are the routes that are not operations of the memory.
func accessPaths() object {
	ref := func(code int) object {
		return object{"$ref": "#/components/responses/" + problemNames()[strconv.Itoa(code)]}
	}
	text := func(doc string) object { return object{"type": "string", "description": doc} }
	truth := func(doc string) object { return object{"type": "boolean", "description": doc} }
	whose := object{"description": "The token.", "content": object{"application/json": object{"schema": object{
		"type": "object", "title": "Access", "required": []string{"name", "read_only", "required"},
		"properties": object{
			"name": text("The token's name, empty without one."), "read_only": truth("The token may change nothing."), "required": truth("This node requires a token."),
		},
	}}}}
	return object{
		"/login": object{"post": object{
			"operationId": "login", "summary": "Log in", "tags": []string{accessTag}, "security": []any{},
			"description": "Set a cookie for a token. It is valid for 24 hours, or until the node restarts.",
			"requestBody": object{"required": true, "content": object{"application/json": object{"schema": object{
				"type": "object", "title": "LoginRequest", "required": []string{"token"}, "properties": object{"token": text("The token.")},
			}}}},
			"responses": object{"200": whose, "400": ref(400), "401": ref(401), "403": ref(403), "413": ref(413), "415": ref(415), "429": ref(429)},
		}},
		"/logout": object{"post": object{
			"operationId": "logout", "summary": "Log out", "tags": []string{accessTag},
			"description": "End the login of the cookie.",
			"responses":   object{"204": object{"description": "The cookie is no longer valid."}, "401": ref(401), "403": ref(403), "429": ref(429)},
		}},
		"/api/whoami": object{"get": object{
			"operationId": "whoami", "summary": "Who am I", "tags": []string{accessTag},
			"description": "Return the name of the token, and whether the node requires one.",
			"responses":   object{"200": whose, "401": ref(401), "403": ref(403), "429": ref(429)},
		}},
		"/api/events": object{"get": object{
			"operationId": "events", "summary": "Follow changes", "tags": []string{accessTag},
			"description": "Server-sent events: `ready` at the beginning and `change` after every change of the memory by any process, at most ten per second, each with {\"change\":N}; `problem` if the stream must end. A comment every 15 seconds keeps the connection open.",
			"parameters":  []any{object{"in": "header", "name": "Last-Event-ID", "required": false, "description": "The last event that the client received. If there were changes since, the first event is change.", "schema": object{"type": "string"}}},
			"responses":   object{"200": object{"description": "Events, until the client ends the request.", "content": eventStream("Events.")}, "401": ref(401), "403": ref(403), "429": ref(429), "503": ref(503)},
		}},
	}
}

// progressDoc describes the events of long operations in words. As a second media
// type of the response, it would give every generated client a choice of two types.
const progressDoc = ". If Accept names only text/event-stream: events, any number of progress with {done, total, unit, stage}, then result with the response or problem with the problem document."

// eventStream is the content of an answer with events.
func eventStream(doc string) object {
	return object{"text/event-stream": object{"schema": object{"type": "string", "description": doc}}}
}
