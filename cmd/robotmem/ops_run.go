package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"reflect"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/printed"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/rows"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/spoken"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/stdin"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/where"
)

// run asks the operation, once for each memory that the command line names, and prints the answers.
func (c *opCommand) run(ctx context.Context, a *app) error {
	a.spoken = func(err error) string { return spoken.Error(c.op, err, c.inShort) }

	requests, err := c.requests(a)
	if err != nil {
		return err
	}

	for _, request := range requests {
		if err := c.confirm(request); err != nil {
			return err
		}
	}

	// The default memory may be missing, so that a first look works. A file that was named must exist.
	if c.op.Hints.ReadOnly && (a.Config.DB != "" || c.op.Name == "audit") {
		if err := a.existing(); err != nil {
			return err
		}
	}

	return a.Use(ctx, func(m robotmem.Node) error {
		m = a.joined(m)
		if len(requests) == 1 {
			return c.ask(ctx, a, m, requests[0])
		}

		var first error

		if c.target.FieldByName("JSON").Bool() { // one array, also of what fails
			array, out := printed.ArrayTo(a.Stdout), a.Stdout
			defer func() { _, a.Stdout = array.Close(), out }()
			a.Stdout = array
		}

		for i, request := range requests {
			if i > 0 && !a.asJSON && c.format() == "" {
				fmt.Fprintln(a.Stdout)
			}
			err := c.ask(ctx, a, m, request)
			if ctx.Err() != nil {
				return err
			}
			// The others are handled nevertheless.
			if err != nil {
				first = cmp.Or[error](first, exitCode(a.fail(err)))
			}
		}

		return first
	})
}

// ask asks once.
func (c *opCommand) ask(ctx context.Context, a *app, m robotmem.Node, request json.RawMessage) error {
	asJSON := c.target.FieldByName("JSON").Bool()

	a.asJSON = asJSON
	switch {
	// Payloads may be larger than the memory of this machine, so they are streamed instead of put into an answer.
	case c.op.Name == "data" && !asJSON:
		return c.streamData(ctx, a, m, request)
	case c.given("File"):
		return c.streamFile(ctx, a, m, request, asJSON)
	}

	res, err := c.op.Call(ctx, m, request)
	if err != nil {
		return err
	}
	if c.op.Name == "save_perception" && !c.hasBytes(request) && stdin.HasInput(a.Stdin) {
		a.note("nothing was read from stdin; --file - reads it")
	}
	if p, ok := res.(*admin.PreviewResponse); ok && !asJSON {
		_, err := a.Stdout.Write(p.DataBase64)
		return err
	}

	if format := c.format(); format != "" && !asJSON {
		a.notes(res)
		return rows.Write(a.Stdout, format, res)
	}

	if err := a.answer(asJSON, res); err != nil {
		return err
	}
	c.hint(ctx, a, m, request, res)

	return nil
}

// format is csv or tsv, "" for text and JSON.
func (c *opCommand) format() string {
	f := c.target.FieldByName("Format")
	if !f.IsValid() || f.IsNil() || f.Elem().String() == "text" {
		return ""
	}
	return f.Elem().String()
}

// confirm refuses an operation that cannot be undone, unless --yes is given.
func (c *opCommand) confirm(request json.RawMessage) error {
	if c.op.Name != "forget" || c.given("Yes") {
		return nil
	}

	var req robotmem.ForgetRequest
	_, err := c.op.Decode(context.Background(), nil, request, &req)
	if err == nil && req.Purge {
		err = c.invalid("purge", "destroys memory %s for good, and nothing brings it back; pass --yes to do it",
			robotmem.MemoryName(req.MemoryID, req.UID))
	}

	return err
}

// answer prints the answer of an operation.
func (a *app) answer(asJSON bool, res any) error {
	if !asJSON {
		a.notes(res)
	}
	return a.show(asJSON, res, func(w *printed.Lines) { printed.Answer(w, res) })
}

// notes says what an answer has taken otherwise than given.
func (a *app) notes(res any) {
	if r, ok := res.(interface{ HowRead() *[]string }); ok {
		for _, note := range *r.HowRead() {
			a.note("%s", note)
		}
	}
}

// given reports whether an extra flag of the command was given.
func (c *opCommand) given(field string) bool {
	f := c.target.FieldByName(field)
	return f.IsValid() && !f.IsNil()
}

// hasBytes reports whether a request to save a perception names its bytes.
func (c *opCommand) hasBytes(request json.RawMessage) bool {
	var given map[string]json.RawMessage
	_ = json.Unmarshal(request, &given) // nil if it is no object
	return given["data_base64"] != nil || given["path"] != nil
}

// streamFile saves the file of --file.
func (c *opCommand) streamFile(ctx context.Context, a *app, m robotmem.Node, request json.RawMessage, asJSON bool) error {
	var req robotmem.SavePerceptionRequest
	notes, err := c.op.Decode(ctx, m, request, &req)
	if err != nil {
		return err
	}

	input := bufio.NewReader(a.Stdin)
	in := io.Reader(input)
	if name := c.target.FieldByName("File").Elem().String(); name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return c.invalid("file", "%v", err)
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return c.invalid("file", "%s is a folder; save each file", name)
		}
		in = f
	} else if _, err := input.Peek(1); errors.Is(err, io.EOF) {
		return c.invalid("file", "stdin is empty; --file - reads the bytes of a perception from it")
	}

	res, err := m.SavePerceptionFrom(ctx, &req, in)
	if err != nil {
		return err
	}

	*res.HowRead() = notes

	return a.answer(asJSON, res)
}

// streamData writes a perception's bytes as they were saved.
func (c *opCommand) streamData(ctx context.Context, a *app, m robotmem.Streams, request json.RawMessage) error {
	var req robotmem.MemoryRequest
	if _, err := c.op.Decode(context.Background(), nil, request, &req); err != nil {
		return err
	}
	data, err := m.OpenData(ctx, &req)
	if err != nil {
		return err
	}
	defer data.Close()
	_, err = io.Copy(a.Stdout, data)

	return err
}

// requests are the operation's JSON requests, made from the command line: one, or one for each of several memories.
func (c *opCommand) requests(a *app) ([]json.RawMessage, error) {
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
				named = splitAt(",")(strings.Join(texts, ","))
			}
			if len(named) == 0 {
				named = texts
			}
			continue
		case isArg && f.in.Type.Kind() == reflect.String && texts[0] == "-":
			data, err := io.ReadAll(io.LimitReader(a.Stdin, stdin.Most))
			if stdin.Interrupted(err) {
				return nil, err
			}
			if err != nil {
				return nil, c.invalid(f.name, "reading stdin: %w", err)
			}
			texts = []string{string(data)}
		}
		values[f.name] = texts
	}

	if err := c.addConditions(values); err != nil {
		return nil, err
	}
	if collection, ok := c.collection(a, values); ok {
		values["collection"] = []string{collection}
	}

	requests := make([]json.RawMessage, len(named))

	for i, name := range named {
		if each != "" {
			values[each] = []string{name}
		}

		var err error
		if requests[i], err = c.op.Request(values); err != nil {
			return nil, err
		}
	}

	return requests, nil
}

// addConditions joins the filters of --where with that of --context-filter.
func (c *opCommand) addConditions(values url.Values) (err error) {
	const field = "context_filter"
	if filter := values.Get(field); strings.Contains(filter, `"":`) || strings.HasPrefix(filter, "{") &&
		strings.Contains(filter, ":") && !strings.Contains(filter, `"`) {
		return c.invalid(field, "is %s, in which a shell has taken a $ or the double quotes away; "+
			`put it in single quotes: --context-filter '{"task.success":true}'`, filter)
	}

	f := c.target.FieldByName("Where")
	if !f.IsValid() || f.Len() == 0 {
		return nil
	}
	c.inShort = values.Get(field) == ""
	filter, err := where.And(f.Interface().([]string), values.Get(field))
	if err != nil {
		return c.invalid("where", "%w; put each in single quotes after a --where of its own, "+
			"because a shell takes < and > for names of files", err)
	}

	values[field] = []string{filter}

	return nil
}

func (c *opCommand) invalid(field, format string, args ...any) error {
	err := invalid(field, format, args...)
	err.Op = c.op.Name
	return err
}

// collection is the namespace of the settings. With a session, whose collection counts, only
// one of the command line is sent.
func (c *opCommand) collection(a *app, values url.Values) (string, bool) {
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
