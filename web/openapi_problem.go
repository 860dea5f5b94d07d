package web

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// meanings say what a status is answered for.
var meanings = map[int]string{
	http.StatusBadRequest:            "`invalid`: a field is missing, unknown or out of range; `field` names it and `detail` says what is allowed.",
	http.StatusUnauthorized:          "`forbidden`: this node asks for a token, and there is none or a wrong one.",
	http.StatusRequestTimeout:        "`unavailable`: the body came too slowly.",
	http.StatusTooManyRequests:       "`unavailable`: too many requests, or too many wrong tokens; Retry-After says when to ask again, in seconds.",
	http.StatusForbidden:             "`forbidden`: this caller may not do that, or the request comes from a page or for a host that is not this node's.",
	http.StatusNotFound:              "`not_found`: there is no such memory, session or route.",
	http.StatusConflict:              "`conflict`: what is asked does not fit the present state, such as ending a session twice.",
	http.StatusRequestEntityTooLarge: "`too_large`: the body or payload is over the node's limit, which `detail` names.",
	http.StatusUnsupportedMediaType:  "`invalid`: the body is declared as something that this route does not read; `detail` names what it does.",
	http.StatusInternalServerError:   "`internal` or `corrupt`: the node's fault; its log has the cause.",
	http.StatusServiceUnavailable:    "`unavailable`: the disk is full, the file locked or the time over; the same again may work later.",
}

// problemNames maps the statuses of the table to the names of their responses.
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
			"type":   text("about:blank: status and kind say it all."),
			"title":  text("The status in words."),
			"status": object{"type": "integer"},
			"kind":   kind,
			"field":  text("The request field at fault."),
			"detail": text("What failed, what is allowed, and what to do next."),
			"op":     text("The operation."),

			"request_id": text("Which line of the node's log it is."),
		},
		"required": []string{"type", "title", "status", "kind", "detail"},
	}
}
