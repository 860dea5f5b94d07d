package operations

import (
	"context"
	"encoding/json"
	"io"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/stdin"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/where"
)

// Input holds what a request needs in addition to the flags of its command.
type Input struct {
	Stdin io.Reader
	// Collection is the namespace of the settings, and Given says that the command line names it.
	Collection string
	Given      bool
}

// Requests are the operation's JSON requests, made from the command line: one, or one for each of several memories.
func (c *Command) Requests(in Input) ([]json.RawMessage, error) {
	values := url.Values{}
	each, named := "", []string{""}

	for i, f := range c.fields {
		texts := textsOf(c.target.Field(i))
		if texts == nil {
			continue
		}

		isArg := f.in.Tag.Get("cli") == "arg"
		switch {
		case isArg && c.several():
			each, named = f.name, texts
			if f.name == "memory_id" { // an episode may have a comma in its name
				named = strings.FieldsFunc(strings.Join(texts, ","), func(r rune) bool { return r == ',' })
			}
			if len(named) == 0 {
				named = texts
			}
			continue
		case isArg && f.in.Type.Kind() == reflect.String && texts[0] == "-":
			data, err := io.ReadAll(io.LimitReader(in.Stdin, stdin.Most))
			if stdin.Interrupted(err) {
				return nil, err
			}
			if err != nil {
				return nil, c.Invalid(f.name, "reading stdin: %w", err)
			}
			texts = []string{string(data)}
		}
		values[f.name] = texts
	}

	if err := c.addConditions(values); err != nil {
		return nil, err
	}
	if collection, ok := c.collection(in, values); ok {
		values["collection"] = []string{collection}
	}

	requests := make([]json.RawMessage, len(named))

	for i, name := range named {
		if each != "" {
			values[each] = []string{name}
		}

		var err error
		if requests[i], err = c.Op.Request(values); err != nil {
			return nil, err
		}
	}

	return requests, nil
}

// addConditions joins the filters of --where with that of --context-filter.
func (c *Command) addConditions(values url.Values) (err error) {
	const field = "context_filter"
	if filter := values.Get(field); strings.Contains(filter, `"":`) || strings.HasPrefix(filter, "{") &&
		strings.Contains(filter, ":") && !strings.Contains(filter, `"`) {
		return c.Invalid(field, "is %s, in which a shell has taken a $ or the double quotes away; "+
			`put it in single quotes: --context-filter '{"task.success":true}'`, filter)
	}

	f := c.target.FieldByName("Where")
	if !f.IsValid() || f.Len() == 0 {
		return nil
	}
	c.InShort = values.Get(field) == ""
	filter, err := where.And(f.Interface().([]string), values.Get(field))
	if err != nil {
		return c.Invalid("where", "%w; put each in single quotes after a --where of its own, "+
			"because a shell takes < and > for names of files", err)
	}

	values[field] = []string{filter}

	return nil
}

// Invalid is an error of the operation.
func (c *Command) Invalid(field, format string, args ...any) error {
	err := robotmem.Errorf(robotmem.Invalid, field, format, args...)
	err.Op = c.Op.Name
	return err
}

// collection is the namespace of the settings. With a session, whose collection counts, only
// one of the command line is sent.
func (c *Command) collection(in Input, values url.Values) (string, bool) {
	f, ok := c.Op.In.FieldByName("Collection")
	if !ok || in.Collection == "" {
		return "", false
	}
	if values["session_id"] != nil && f.Tag.Get("default") == "" && !in.Given {
		return "", false
	}

	return in.Collection, true
}

// textsOf is a parsed value as text, nil if it was not given.
func textsOf(v reflect.Value) []string {
	switch v := v.Interface().(type) {
	case *string:
		if v != nil {
			return []string{*v}
		}
	case *bool:
		if v != nil {
			return []string{strconv.FormatBool(*v)}
		}
	case []string:
		if len(v) > 0 {
			return v
		}
	}

	return nil
}

// Confirm refuses an operation that cannot be undone, unless --yes is given.
func (c *Command) Confirm(request json.RawMessage) error {
	if c.Op.Name != "forget" || c.Given("Yes") {
		return nil
	}

	var req robotmem.ForgetRequest
	_, err := c.Op.Decode(context.Background(), nil, request, &req)
	if err == nil && req.Purge {
		err = c.Invalid("purge", "destroys memory %s for good, and nothing brings it back; pass --yes to do it",
			robotmem.MemoryName(req.MemoryID, req.UID))
	}

	return err
}

// Given reports whether an extra flag of the command was given.
func (c *Command) Given(field string) bool {
	f := c.target.FieldByName(field)
	return f.IsValid() && !f.IsNil()
}

// HasBytes reports whether a request to save a perception names its bytes.
func (c *Command) HasBytes(request json.RawMessage) bool {
	var given map[string]json.RawMessage
	_ = json.Unmarshal(request, &given) // nil if it is no object
	return given["data_base64"] != nil || given["path"] != nil
}

// Format is csv or tsv, "" for text and JSON.
func (c *Command) Format() string {
	f := c.target.FieldByName("Format")
	if !f.IsValid() || f.IsNil() || f.Elem().String() == "text" {
		return ""
	}
	return f.Elem().String()
}

// JSON reports whether the answer is asked for as JSON.
func (c *Command) JSON() bool { return c.target.FieldByName("JSON").Bool() }

// Extra is the value of an extra flag that was given.
func (c *Command) Extra(field string) string { return c.target.FieldByName(field).Elem().String() }

// Field returns the field of the request for a flag.
func (c *Command) Field(flag string) (reflect.StructField, bool) {
	for _, f := range c.fields {
		if strings.ReplaceAll(f.name, "_", "-") == flag {
			return f.in, true
		}
	}
	return reflect.StructField{}, false
}
