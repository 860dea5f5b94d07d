package web

import (
	"net/http"
	"strconv"
)

// guarded are the statuses of what is refused before any operation is asked.
var guarded = []int{http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusUnsupportedMediaType, http.StatusTooManyRequests}

// security are the ways to say who asks. None is enough for a node without
// tokens on a loopback address.
var security = []any{object{"bearer": []any{}}, object{"cookie": []any{}}, object{}}

func securitySchemes() object {
	return object{
		"bearer": object{"type": "http", "scheme": "bearer", "description": "A token that `robotmem token create NAME` printed, or the setting ROBOTMEM_TOKEN. One that was made with --read-only may use what changes nothing."},
		"cookie": object{"type": "apiKey", "in": "cookie", "name": "robotmem-7878", "description": "What /login sets, for browsers; the number is the port that the node is known by."},
	}
}

const accessTag = "Access"

// accessPaths are the routes that are no operations of the memory.
func accessPaths() object {
	ref := func(code int) object {
		return object{"$ref": "#/components/responses/" + problemNames()[strconv.Itoa(code)]}
	}
	text := func(doc string) object { return object{"type": "string", "description": doc} }
	truth := func(doc string) object { return object{"type": "boolean", "description": doc} }
	whose := object{"description": "Whose token it is.", "content": object{"application/json": object{"schema": object{
		"type": "object", "title": "Access", "required": []string{"name", "read_only", "required"},
		"properties": object{
			"name": text("The token's name, empty without one."), "read_only": truth("It may change nothing."), "required": truth("This node asks for a token."),
		},
	}}}}
	return object{
		"/login": object{"post": object{
			"operationId": "login", "summary": "Log in", "tags": []string{accessTag}, "security": []any{},
			"description": "Take a token and set the cookie that stands for it, for 24 hours or until the node restarts.",
			"requestBody": object{"required": true, "content": object{"application/json": object{"schema": object{
				"type": "object", "title": "LoginRequest", "required": []string{"token"}, "properties": object{"token": text("The token.")},
			}}}},
			"responses": object{"200": whose, "400": ref(400), "401": ref(401), "403": ref(403), "413": ref(413), "415": ref(415), "429": ref(429)},
		}},
		"/logout": object{"post": object{
			"operationId": "logout", "summary": "Log out", "tags": []string{accessTag},
			"description": "End the login that the cookie stands for.",
			"responses":   object{"204": object{"description": "The cookie is worth nothing any more."}, "401": ref(401), "403": ref(403), "429": ref(429)},
		}},
		"/api/whoami": object{"get": object{
			"operationId": "whoami", "summary": "Who am I", "tags": []string{accessTag},
			"description": "Say whose token this is, and whether the node asks for one.",
			"responses":   object{"200": whose, "401": ref(401), "403": ref(403), "429": ref(429)},
		}},
		"/api/events": object{"get": object{
			"operationId": "events", "summary": "Follow changes", "tags": []string{accessTag},
			"description": "Server-sent events: `ready` at the beginning and `change` after every change of the memory, by whichever process and at most ten a second, each with {\"change\":N}; `problem` if it cannot go on. A comment every 15 seconds keeps the connection.",
			"parameters":  []any{object{"in": "header", "name": "Last-Event-ID", "required": false, "description": "The last event that was seen: if there are changes since, the first event is change.", "schema": object{"type": "string"}}},
			"responses":   object{"200": object{"description": "Events without an end.", "content": eventStream("An event at a time.")}, "401": ref(401), "403": ref(403), "429": ref(429), "503": ref(503)},
		}},
	}
}

// progressDoc is said of operations that take long. As a second media type it
// would make of every response a choice, which generated clients pass on.
const progressDoc = ". If Accept names text/event-stream alone: events, any number of progress with {done, total, unit, stage}, then result with the response or problem with the problem."

// eventStream is an answer of events.
func eventStream(doc string) object {
	return object{"text/event-stream": object{"schema": object{"type": "string", "description": doc}}}
}
