package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// problemNames maps the statuses of the table to the names of their responses.
func problemNames() map[string]string {
	names := map[string]string{}
	for _, code := range status {
		names[strconv.Itoa(code)] = strings.ReplaceAll(http.StatusText(code), " ", "")
	}
	return names
}

func problemResponses() object {
	out := object{}
	for code, name := range problemNames() {
		n, _ := strconv.Atoi(code)
		out[name] = object{
			"description": http.StatusText(n),
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
		},
		"required": []string{"type", "title", "status", "kind", "detail"},
	}
}
