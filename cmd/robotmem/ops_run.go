package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"reflect"

	"github.com/robotmem/robotmem-go/robotmem"
)

// maxStdin bounds what - reads; the memory's own limit is far below.
const maxStdin = 64 << 20

// run asks the operation and prints its answer.
func (c *opCommand) run(ctx context.Context, a *app) error {
	request, err := c.request(a)
	if err != nil {
		return err
	}
	return a.Use(ctx, func(m robotmem.Service) error {
		res, err := c.op.Call(ctx, m, request)
		if err != nil {
			return err
		}
		if c.target.FieldByName("JSON").Bool() {
			return a.PrintJSON(res)
		}
		if d, ok := res.(*robotmem.DataResponse); ok {
			return c.writeData(a, d)
		}
		return a.print(res)
	})
}

// request is the operation's JSON request, made from the command line.
func (c *opCommand) request(a *app) (json.RawMessage, error) {
	values := robotmem.Values{}
	for i, f := range c.fields {
		texts := textsOf(c.target.Field(i))
		if texts == nil {
			continue
		}
		if f.in.Tag.Get("cli") == "arg" && f.in.Type.Kind() == reflect.String && texts[0] == "-" {
			data, err := io.ReadAll(io.LimitReader(a.Stdin, maxStdin))
			if err != nil {
				return nil, c.invalid(f.name, "reading stdin: %v", err)
			}
			texts = []string{string(data)}
		}
		values[f.name] = texts
	}
	if collection, ok := c.collection(a, values); ok {
		values["collection"] = []string{collection}
	}
	if f := c.target.FieldByName("File"); f.IsValid() && !f.IsNil() {
		data, err := os.ReadFile(f.Elem().String())
		if err != nil {
			return nil, c.invalid("file", "%v", err)
		}
		if values["data_base64"] != nil {
			return nil, c.invalid("file", "give at most one of --file and --data-base64")
		}
		values["data_base64"] = []string{base64.StdEncoding.EncodeToString(data)}
	}
	return c.op.Request(values)
}

func (c *opCommand) invalid(field, format string, args ...any) error {
	err := invalid(field, format, args...)
	err.Op = c.op.Name
	return err
}

// collection is the namespace of the settings. What belongs to a session is in
// the session's collection: only one named on the command line is held against
// it.
func (c *opCommand) collection(a *app, values robotmem.Values) (string, bool) {
	f, ok := c.op.In.FieldByName("Collection")
	if !ok || a.Config.Collection == "" {
		return "", false
	}
	if values["session_id"] != nil && f.Tag.Get("default") == "" && !a.Config.collectionGiven {
		return "", false
	}
	return a.Config.Collection, true
}

// textsOf is a parsed value as text, nil if it was not given.
func textsOf(v reflect.Value) []string {
	switch v := v.Interface().(type) {
	case *string:
		if v != nil {
			return []string{*v}
		}
	case *bool:
		if v != nil && *v {
			return []string{"true"}
		}
		if v != nil {
			return []string{"false"}
		}
	case []string:
		if len(v) > 0 {
			return v
		}
	}
	return nil
}

// writeData writes a perception's bytes as they were saved.
func (c *opCommand) writeData(a *app, d *robotmem.DataResponse) error {
	if f := c.target.FieldByName("Output"); !f.IsNil() {
		if err := os.WriteFile(f.Elem().String(), d.DataBase64, 0o644); err != nil {
			return c.invalid("output", "%v", err)
		}
		return nil
	}
	_, err := a.Stdout.Write(d.DataBase64)
	return err
}
