package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/robotmem/robotmem-go/robotmem"
)

// setupCmd writes robotmem into the settings of an MCP client, or takes it out.
type setupCmd struct {
	Client  string `arg:"" optional:"" help:"claude-code, claude-desktop, cursor, vscode, codex or gemini. Without it, lists them and what is set up."`
	Scope   string `name:"scope" default:"user" placeholder:"user|project" help:"user: in every project. project: in the one of this folder, in a file that can be shared."`
	HTTP    string `name:"http" placeholder:"URL" help:"Have the client ask the node at this address instead of starting this program. A token in ROBOTMEM_TOKEN goes with it."`
	Command string `name:"command" placeholder:"PATH" help:"The program to start. Default this one."`
	DryRun  bool   `name:"dry-run" help:"Show what would change and write nothing."`
	Undo    bool   `name:"undo" help:"Put back the file as it was before the last setup, or if it changed since, take robotmem out of it."`
	Print   bool   `name:"print" help:"Print what belongs into the file, and touch nothing."`
	JSON    bool   `name:"json" help:"Print it as JSON."`
}

// setupReport is what was done to one client's file.
type setupReport struct {
	Client string `json:"client"`
	Scope  string `json:"scope"`
	File   string `json:"file"`
	// Action is created, changed, unchanged, restored, removed or deleted.
	Action string `json:"action"`
	DryRun bool   `json:"dry_run,omitempty"`
	// Backup is the copy that was made, or for restored the one that was put back.
	Backup string `json:"backup,omitempty"`
	Diff   string `json:"diff,omitempty"`
	Next   string `json:"next,omitempty"`
}

// Run implements the command.
func (c *setupCmd) Run(a *app, g *globals) error {
	m, err := a.machinePaths(runtime.GOOS)
	if err != nil {
		return err
	}
	if c.Client == "" {
		return c.list(a, m)
	}
	client, err := clientNamed(c.Client)
	if err != nil {
		return err
	}
	path, err := client.file(m, c.Scope)
	if err != nil {
		return err
	}
	if c.Undo {
		return c.undo(a, client, path)
	}
	fields, err := c.fields(a, g, client)
	if err != nil {
		return err
	}
	if c.Print {
		_, err := a.Stdout.Write(client.format.snippet(fields))
		return err
	}
	return c.apply(a, client, path, fields)
}

// fields is the entry that the command line asks for.
func (c *setupCmd) fields(a *app, g *globals, client *setupClient) ([]field, error) {
	if c.HTTP != "" {
		address, err := nodeAddress(c.HTTP)
		if err != nil {
			return nil, err
		}
		return client.remoteEntry(address, a.Config.Token, c.Scope)
	}
	command := c.Command
	if command == "" {
		var err error
		if command, err = thisProgram(); err != nil {
			return nil, err
		}
	}
	args, err := g.carried(a.env)
	if err != nil {
		return nil, err
	}
	token := ""
	if a.Config.URL != "" && c.Scope == scopeUser {
		token = a.Config.Token
	}
	return client.localEntry(command, args, carriedEnv(a.Config.Home, token, a.env)), nil
}

// apply puts the entry into the file.
func (c *setupCmd) apply(a *app, client *setupClient, path string, fields []field) error {
	s, err := readSettings(path)
	if err != nil {
		return err
	}
	present, found, err := client.format.entry(s.data)
	if err != nil {
		return unparsed(path, err)
	}
	r := &setupReport{Client: client.name, Scope: c.Scope, File: path, Action: "created", DryRun: c.DryRun, Next: client.reload}
	if s.exists {
		r.Action = "changed"
	}
	if found {
		ours, _ := writtenBySetup(present)
		fields = keepForeign(fields, ours)
		if reflect.DeepEqual(ours, fields) {
			r.Action, r.Next = "unchanged", ""
			return c.report(a, r)
		}
	}
	after, err := client.format.set(s.data, fields)
	if err != nil {
		return unparsed(path, err)
	}
	if err := checkedEdit(client.format, path, s.data, after); err != nil {
		return err
	}
	return c.write(a, r, s, after)
}

// keepForeign adds the variables and headers that are not ours to write.
func keepForeign(fields, present []field) []field {
	own := map[string]bool{"ROBOTMEM_HOME": true, tokenVariable: true, "Authorization": true}
	local := slices.ContainsFunc(fields, func(f field) bool { return f.key == "command" })
	for _, p := range present {
		old, ok := p.value.(map[string]string)
		if !ok {
			continue
		}
		old = maps.Clone(old)
		maps.DeleteFunc(old, func(k, _ string) bool { return own[k] })
		for i := range fields {
			if m, ok := fields[i].value.(map[string]string); ok && fields[i].key == p.key {
				merged := maps.Clone(old)
				maps.Copy(merged, m)
				fields[i].value = merged
				old = nil
			}
		}
		if len(old) > 0 && (p.key == "env") == local {
			fields = append(fields, field{p.key, old})
		}
	}
	return fields
}

// undo steps back: to the newest backup, if what stands there is that with our
// entry and nothing else; else only our entry goes.
func (c *setupCmd) undo(a *app, client *setupClient, path string) error {
	s, err := readSettings(path)
	if err != nil {
		return err
	}
	present, found, err := client.format.entry(s.data)
	if err != nil {
		return unparsed(path, err)
	}
	r := &setupReport{Client: client.name, Scope: c.Scope, File: path, Action: "unchanged", DryRun: c.DryRun}
	if !found {
		return c.report(a, r)
	}
	ours, others := writtenBySetup(present)
	name, before, err := s.newestBackup()
	if err != nil {
		return err
	}
	if again, err := client.format.set(before, ours); name != "" && err == nil && string(again) == string(s.data) {
		r.Action, r.Backup = "restored", name
		if err := c.write(a, r, s, before); err != nil || c.DryRun {
			return err
		}
		return os.Remove(name)
	}
	if again, err := client.format.set(nil, ours); name == "" && err == nil && string(again) == string(s.data) {
		r.Action = "deleted"
		return c.write(a, r, s, nil)
	}
	if len(others) > 0 {
		return &robotmem.Error{Kind: robotmem.Conflict, Field: "client", Err: fmt.Errorf("%s changed since, and its robotmem has what setup does not write (%s); take it out by hand", path, strings.Join(others, ", "))}
	}
	after, err := client.format.remove(s.data)
	if err != nil {
		return unparsed(path, err)
	}
	if err := checkedEdit(client.format, path, s.data, after); err != nil {
		return err
	}
	r.Action = "removed"
	return c.write(a, r, s, after)
}

// write makes the change, with a backup where a step back has none, or shows it.
func (c *setupCmd) write(a *app, r *setupReport, s *settingsFile, after []byte) error {
	was, will := s.path, s.path
	if !s.exists {
		was = os.DevNull
	}
	if r.Action == "deleted" {
		will = os.DevNull
	}
	r.Diff = string(diff.Diff(was, s.data, will, after))
	if c.DryRun {
		return c.report(a, r)
	}
	if r.Action == "deleted" {
		if err := os.Remove(s.real); err != nil {
			return s.unwritable(err)
		}
		return c.report(a, r)
	}
	made := ""
	if s.exists && r.Action != "restored" {
		var err error
		if made, err = s.backup(time.Now()); err != nil {
			return err
		}
		r.Backup = made
	}
	if err := s.replace(after); err != nil {
		if made != "" {
			err = errors.Join(err, os.Remove(made))
		}
		return err
	}
	return c.report(a, r)
}

func (c *setupCmd) report(a *app, r *setupReport) error {
	if c.JSON {
		return a.PrintJSON(r)
	}
	w := &lines{w: a.Stdout}
	if r.DryRun && r.Action != "unchanged" {
		w.line("%s", strings.TrimSuffix(r.Diff, "\n"))
		return w.err
	}
	undo := "robotmem setup " + r.Client
	if r.Scope != scopeUser {
		undo += " --scope " + r.Scope
	}
	switch r.Action {
	case "created", "changed":
		w.line("%s %s", r.Action, r.File)
		if r.Backup != "" {
			w.line("backup  %s", r.Backup)
		}
		w.line("next    %s", r.Next)
		w.line("undo    %s --undo", undo)
	case "restored":
		w.line("restored %s from %s", r.File, r.Backup)
	case "removed":
		w.line("removed robotmem from %s, which changed since it was set up", r.File)
		w.line("backup  %s", r.Backup)
	case "deleted":
		w.line("deleted %s, which setup had made", r.File)
	default:
		if c.Undo {
			w.line("nothing to do: no robotmem in %s", r.File)
		} else {
			w.line("nothing to do: %s has it already", r.File)
		}
	}
	return w.err
}
