package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/operations"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/printed"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/rows"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/spoken"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/stdin"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/syncing"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// runOp asks the operation, once for each memory that the command line names, and prints the answers.
func (a *app) runOp(ctx context.Context, c *operations.Command) error {
	a.spoken = func(err error) string { return spoken.Error(c.Op, err, c.InShort) }

	requests, err := c.Requests(operations.Input{Stdin: a.Stdin, Collection: a.Config.Collection, Given: a.Config.collectionGiven})
	if err != nil {
		return err
	}

	for _, request := range requests {
		if err := c.Confirm(request); err != nil {
			return err
		}
	}

	// The default memory may be missing, so that a first look works. A file that was named must exist.
	if c.Op.Hints.ReadOnly && (a.Config.DB != "" || c.Op.Name == "audit") {
		if err := a.existing(); err != nil {
			return err
		}
	}

	return a.Use(ctx, func(m robotmem.Node) error {
		m = syncing.Joined(m, a.Config.onServer())
		if len(requests) == 1 {
			return a.ask(ctx, c, m, requests[0])
		}

		var first error

		if c.JSON() { // one array, also of what fails
			array, out := printed.ArrayTo(a.Stdout), a.Stdout
			defer func() { _, a.Stdout = array.Close(), out }()
			a.Stdout = array
		}

		for i, request := range requests {
			if i > 0 && !a.asJSON && c.Format() == "" {
				fmt.Fprintln(a.Stdout)
			}
			err := a.ask(ctx, c, m, request)
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
func (a *app) ask(ctx context.Context, c *operations.Command, m robotmem.Node, request json.RawMessage) error {
	asJSON := c.JSON()

	a.asJSON = asJSON
	switch {
	// Payloads may be larger than the memory of this machine, so they are streamed instead of put into an answer.
	case c.Op.Name == "data" && !asJSON:
		return a.streamData(ctx, c, m, request)
	case c.Given("File"):
		return a.streamFile(ctx, c, m, request, asJSON)
	}

	res, err := c.Op.Call(ctx, m, request)
	if err != nil {
		return err
	}
	if c.Op.Name == "save_perception" && !c.HasBytes(request) && stdin.HasInput(a.Stdin) {
		a.note("nothing was read from stdin; --file - reads it")
	}
	if p, ok := res.(*admin.PreviewResponse); ok && !asJSON {
		_, err := a.Stdout.Write(p.DataBase64)
		return err
	}

	if format := c.Format(); format != "" && !asJSON {
		a.notes(res)
		return rows.Write(a.Stdout, format, res)
	}

	if err := a.answer(asJSON, res); err != nil {
		return err
	}
	a.hint(ctx, c, m, request, res)

	return nil
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

// streamFile saves the file of --file.
func (a *app) streamFile(ctx context.Context, c *operations.Command, m robotmem.Node, request json.RawMessage, asJSON bool) error {
	var req robotmem.SavePerceptionRequest
	notes, err := c.Op.Decode(ctx, m, request, &req)
	if err != nil {
		return err
	}

	input := bufio.NewReader(a.Stdin)
	in := io.Reader(input)
	if name := c.Extra("File"); name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return c.Invalid("file", "%v", err)
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return c.Invalid("file", "%s is a folder; save each file", name)
		}
		in = f
	} else if _, err := input.Peek(1); errors.Is(err, io.EOF) {
		return c.Invalid("file", "stdin is empty; --file - reads the bytes of a perception from it")
	}

	res, err := m.SavePerceptionFrom(ctx, &req, in)
	if err != nil {
		return err
	}

	*res.HowRead() = notes

	return a.answer(asJSON, res)
}

// streamData writes a perception's bytes as they were saved.
func (a *app) streamData(ctx context.Context, c *operations.Command, m robotmem.Streams, request json.RawMessage) error {
	var req robotmem.MemoryRequest
	if _, err := c.Op.Decode(context.Background(), nil, request, &req); err != nil {
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
