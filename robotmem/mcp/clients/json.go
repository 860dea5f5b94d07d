package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// JSON, in which clients allow comments and trailing commas. An edit changes the syntax tree, which
// holds all comments and spaces.

// unit is the indentation of an entry.
const unit = "  "

func parseJSON(data []byte) (*hujson.Object, *hujson.Value, error) {
	root, err := hujson.Parse(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, nil, errors.New("must be an object in braces")
	}

	return object, &root, nil
}

func decodeJSON(data []byte) (map[string]any, error) {
	_, root, err := parseJSON(bytes.Clone(data)) // Standardize overwrites comments
	if err != nil {
		return nil, err
	}
	root.Standardize()
	dec := json.NewDecoder(bytes.NewReader(root.Pack()))
	dec.UseNumber()
	all := map[string]any{}

	return all, dec.Decode(&all)
}

func editJSON(section string, data []byte, e Entry) ([]byte, error) {
	root, file, err := parseJSON(data)
	if err != nil {
		return nil, err
	}

	if e == nil {
		err := file.Patch([]byte(`[{"op": "remove", "path": "/` + section + `/` + setupName + `"}]`))
		return file.Pack(), err
	}

	servers := member(root, section, "")
	if servers.Value == nil {
		servers.Value = &hujson.Object{}
	}

	object, ok := servers.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("%q must be an object in braces", section)
	}

	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent(unit+unit, unit)
	if err := enc.Encode(e); err != nil {
		return nil, err
	}

	value, err := hujson.Parse(text.Bytes())
	member(object, setupName, unit).Value = value.Value

	return file.Pack(), err
}

// member returns the value of that name. A new member, whose value is nil, comes behind everything
// in the object, comments included, on a line of its own. indent is that of the object.
func member(object *hujson.Object, name, indent string) *hujson.Value {
	for i := range object.Members {
		if object.Members[i].Name.Value.(hujson.Literal).String() == name {
			return &object.Members[i].Value
		}
	}
	m := hujson.ObjectMember{
		Name: hujson.Value{Value: hujson.String(name)}, Value: hujson.Value{BeforeExtra: hujson.Extra(" ")},
	}
	// A comma at the end stays one.
	if n := len(object.Members); n > 0 {
		last := &object.Members[n-1].Value
		m.Value.AfterExtra, last.AfterExtra = last.AfterExtra, nil
	}
	comments := bytes.TrimRight(object.AfterExtra, " \t\r\n")
	m.Name.BeforeExtra = append(bytes.Clone(comments), "\n"+indent+unit...)
	object.AfterExtra = hujson.Extra("\n" + indent)
	object.Members = append(object.Members, m)

	return &object.Members[len(object.Members)-1].Value
}
