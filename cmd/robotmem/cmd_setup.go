package main

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
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
	Undo    bool   `name:"undo" help:"Restore the file as it was before the last setup, or if it changed since, remove robotmem from it."`
	Print   bool   `name:"print" help:"Print what belongs into the file, and change nothing."`
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
	// Backup is the copy that was made, or for restored the one that was restored.
	Backup string `json:"backup,omitempty"`
	Diff   string `json:"diff,omitempty"`
	Next   string `json:"next,omitempty"`
}

// Run sets up one client, or lists all.
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
	var fields []field
	if !c.Undo {
		if fields, err = c.fields(a, g, client); err != nil {
			return err
		}
		if c.Print {
			_, err := a.Stdout.Write(client.format.file(client.format.section, fields))
			return err
		}
	}
	s, err := readSettings(path)
	if err != nil {
		return err
	}
	entry, _, err := client.format.parts(s.data)
	if err != nil {
		return unparsed(path, err)
	}
	r := &setupReport{Client: client.name, Scope: c.Scope, File: path, Action: "unchanged", DryRun: c.DryRun}
	if c.Undo {
		return c.undo(a, client, s, r, entry)
	}
	if entry != nil {
		present, _ := writtenBySetup(entry)
		if fields = keepForeign(fields, present); reflect.DeepEqual(present, fields) {
			return c.report(a, r)
		}
	}
	after, err := client.format.set(s.data, fields)
	if err != nil {
		return unparsed(path, err)
	}
	r.Action, r.Next = "created", client.reload
	if s.exists {
		r.Action = "changed"
	}
	return c.write(a, client, r, s, after)
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
	env := map[string]string{} // what has no flag
	if v, ok := a.env("ROBOTMEM_HOME"); ok && v != "" {
		env["ROBOTMEM_HOME"] = a.Config.Home
	}
	if a.Config.URL != "" && c.Scope == scopeUser && a.Config.Token != "" {
		env[tokenVariable] = a.Config.Token
	}
	return client.localEntry(command, args, env), nil
}

// undo restores the newest backup if the file is that backup plus our entry. Otherwise it
// removes our entry.
func (c *setupCmd) undo(a *app, client *setupClient, s *settingsFile, r *setupReport, entry map[string]any) error {
	if entry == nil {
		return c.report(a, r)
	}
	present, others := writtenBySetup(entry)
	backup, before, err := s.newestBackup()
	if err != nil {
		return err
	}
	if again, err := client.format.set(before, present); err == nil && string(again) == string(s.data) {
		if backup == "" {
			r.Action = "deleted"
			return c.write(a, client, r, s, nil)
		}
		r.Action, r.Backup = "restored", backup
		if err := c.write(a, client, r, s, before); err != nil || c.DryRun {
			return err
		}
		return os.Remove(backup)
	}
	if len(others) > 0 {
		return &robotmem.Error{Kind: robotmem.Conflict, Field: "client", Err: fmt.Errorf("%s changed since, and its robotmem has what setup does not write (%s); remove it by hand", s.path, strings.Join(others, ", "))}
	}
	after, err := client.format.remove(s.data)
	if err != nil {
		return unparsed(s.path, err)
	}
	r.Action = "removed"
	return c.write(a, client, r, s, after)
}

// write makes the change, with a backup unless it restores one, or shows it.
func (c *setupCmd) write(a *app, client *setupClient, r *setupReport, s *settingsFile, after []byte) error {
	was, will := s.path, s.path
	if !s.exists {
		was = os.DevNull
	}
	if r.Action == "deleted" {
		will = os.DevNull
	} else if r.Action != "restored" {
		if err := checkedEdit(client.format, s.path, s.data, after); err != nil {
			return err
		}
	}
	r.Diff = string(diff.Diff(was, s.data, will, after))
	switch {
	case c.DryRun:
	case r.Action == "deleted":
		if err := os.Remove(s.real); err != nil {
			return s.failed("written", err)
		}
	default:
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
	}
	return c.report(a, r)
}

func (c *setupCmd) report(a *app, r *setupReport) error {
	return a.show(c.JSON, r, func(w *lines) {
		if r.DryRun && r.Action != "unchanged" {
			w.line("%s", strings.TrimSuffix(r.Diff, "\n"))
			return
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
	})
}

// setupState is the state of one client.
type setupState struct {
	Client    string `json:"client"`
	Title     string `json:"title"`
	Installed bool   `json:"installed"`
	File      string `json:"file"`
	// SetUp is the command that the client starts or the address that it asks, "" if
	// robotmem is not in File.
	SetUp   string `json:"set_up,omitempty"`
	Problem string `json:"problem,omitempty"` // with File
	Project string `json:"project_file,omitempty"`
}

// list shows every client.
func (c *setupCmd) list(a *app, m machinePaths) error {
	var states []setupState
	for i := range setupClients {
		client := &setupClients[i]
		s := setupState{Client: client.name, Title: client.title, Installed: client.installed(m), File: client.user(m), Project: client.project}
		if present, err := client.present(s.File); err != nil {
			s.Problem = err.Error()
		} else {
			s.SetUp = present
		}
		states = append(states, s)
	}
	answer := struct {
		Clients []setupState `json:"clients"`
	}{states}
	return a.show(c.JSON, answer, func(w *lines) {
		w.line("%-15s %-10s %s", "CLIENT", "INSTALLED", "FILE")
		for _, s := range states {
			installed := "no"
			if s.Installed {
				installed = "yes"
			}
			w.line("%-15s %-10s %s", s.Client, installed, s.File)
			switch {
			case s.Problem != "":
				w.line("%-26s cannot be read: %s", "", s.Problem)
			case s.SetUp != "":
				w.line("%-26s set up: %s", "", s.SetUp)
			}
		}
	})
}

// present is the command or the address of robotmem in a file.
func (c *setupClient) present(path string) (string, error) {
	s, err := readSettings(path)
	if err != nil {
		return "", err
	}
	entry, _, err := c.format.parts(s.data)
	if entry == nil || err != nil {
		return "", err
	}
	if command, ok := entry["command"].(string); ok {
		args, _ := entry["args"].([]any)
		for _, a := range args {
			command += " " + shellQuote(fmt.Sprint(a))
		}
		return command, nil
	}
	if address, ok := entry[c.entry.url].(string); ok {
		return address, nil
	}
	return "", errors.New("its robotmem has neither a command nor an address")
}
