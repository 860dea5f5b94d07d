package web

import (
	"cmp"
	"maps"
	"net/http"
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

// OpenAPI describes every operation in OpenAPI 3.1, from the same table that
// serves them. Encoded as JSON it is what /api/openapi.json answers.
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
		"servers":  []any{object{"url": "/"}}, // wherever this document was read
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

func describe(op *robotmem.Op, schemas *robotmem.Definitions) object {
	d := object{
		"operationId": op.Name, "summary": op.Title, "description": op.Doc,
		"tags":      []string{groupOf(op).name},
		"responses": responses(op, schemas),
	}
	in := requestIn(op, schemas)
	if params := in.parameters(); params != nil {
		d["parameters"] = params
	}
	if body := in.body(schemas); body != nil {
		d["requestBody"] = body
	}
	return d
}

func responses(op *robotmem.Op, schemas *robotmem.Definitions) object {
	answer := schemas.Output(op)
	doc := op.Title
	if op.Hints.Progress {
		doc += progressDoc
	}
	out := object{"200": object{"description": doc, "content": object{"application/json": object{"schema": answer}}}}
	for code, name := range problemNames() {
		out[code] = object{"$ref": "#/components/responses/" + name}
	}
	if op.Method() == http.MethodGet { // whose body nobody reads
		delete(out, strconv.Itoa(http.StatusUnsupportedMediaType))
	}
	switch op.Name {
	case "data":
		binary(out, op, answer, "*/*")
	case "preview":
		binary(out, op, answer, "image/png", "image/jpeg", "image/svg+xml")
	}
	return out
}

// inQuery reports whether the route takes its fields in the query.
func inQuery(op *robotmem.Op) bool {
	return op.Method() == http.MethodGet || op.Method() == http.MethodDelete
}
