package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// api is the description that a node gives of itself, as far as requests are
// made and answers are judged by it.
type api struct {
	operations []*operation
	schemas    map[string]*schema // of components
	problem    *jsonschema.Schema
}

// operation is one method of a path.
type operation struct {
	ID        string            `json:"operationId"`
	Params    []parameter       `json:"parameters"`
	Responses map[string]answer `json:"responses"`
	Body      struct {
		Content map[string]struct{ Schema *schema }
	} `json:"requestBody"`

	method, path string
	conforms     *jsonschema.Schema // what a JSON answer to it looks like
}

type parameter struct {
	Name, In string
	Required bool
	Schema   *schema
}

type answer struct {
	Content map[string]struct {
		Schema json.RawMessage
	}
}

// schema is what a request's value is made from.
type schema struct {
	Ref             string `json:"$ref"`
	Type            string
	Enum            []any
	Minimum         *float64
	Maximum         *float64
	MinLength       *float64
	MaxLength       *float64
	MinItems        *float64
	MaxItems        *float64
	Items           *schema
	Properties      map[string]*schema
	Required        []string
	Pattern         string
	Format          string
	ContentEncoding string `json:"contentEncoding"`
}

const apiURL = "robotmem.json"

// readAPI asks a node for its description, and compiles what answers must
// conform to.
func readAPI(ctx context.Context, n *node) (*api, error) {
	var raw []byte
	if err := n.get(ctx, "/api/openapi.json", &raw); err != nil {
		return nil, err
	}
	var doc struct {
		Paths      map[string]map[string]*operation
		Components struct{ Schemas map[string]*schema }
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("the description of the API: %w", err)
	}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource(apiURL, whole); err != nil {
		return nil, err
	}
	a := &api{schemas: doc.Components.Schemas}
	if a.problem, err = compiler.Compile(apiURL + "#/components/schemas/Problem"); err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(doc.Paths[path])) {
			op := doc.Paths[path][method]
			op.method, op.path = strings.ToUpper(method), path
			if op.Responses["200"].Content["application/json"].Schema != nil {
				at := fmt.Sprintf("%s#/paths/%s/%s/responses/200/content/application~1json/schema", apiURL, pointer(path), method)
				if op.conforms, err = compiler.Compile(at); err != nil {
					return nil, fmt.Errorf("%s: %w", op.ID, err)
				}
			}
			a.operations = append(a.operations, op)
		}
	}
	if len(a.operations) < 20 {
		return nil, errors.New("the description of the API names hardly any operations")
	}
	return a, nil
}

// pointer spells a member's name within a JSON pointer within a URL.
func pointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(name)
}

func (a *api) operation(id string) *operation {
	for _, op := range a.operations {
		if op.ID == id {
			return op
		}
	}
	return nil
}

// resolve follows a reference.
func (a *api) resolve(s *schema) *schema {
	for s != nil && s.Ref != "" {
		s = a.schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]]
	}
	if s == nil {
		return &schema{}
	}
	return s
}

// valueOf reads JSON as the validator takes it: numbers as they are spelt.
func valueOf(data []byte) (any, error) { return jsonschema.UnmarshalJSON(bytes.NewReader(data)) }
