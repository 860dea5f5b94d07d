package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem/mcp/clients"
)

// setupCmd adds robotmem to the settings of an MCP client, or removes it.
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

// setupReport is what was done to the file of one client.
type setupReport struct {
	Client string `json:"client"`
	Scope  string `json:"scope"`
	File   string `json:"file"`
	Action string `json:"action"` // created, changed, unchanged, restored, removed or deleted
	DryRun bool   `json:"dry_run,omitempty"`
	Backup string `json:"backup,omitempty"` // that was made, or for restored that was restored
	Diff   string `json:"diff,omitempty"`
	Next   string `json:"next,omitempty"`
}

// Run sets up one client, or lists all.
func (c *setupCmd) Run(a *app, g *globals) error {
	m, err := clients.NewMachine(a.env)
	if err != nil {
		return err
	}
	if c.Client == "" {
		return c.list(a, m)
	}
	client, err := clients.ByName(c.Client)
	if err != nil {
		return err
	}
	path, err := client.File(m, c.Scope)
	if err != nil {
		return err
	}
	var change *clients.Change
	if c.Undo {
		change, err = client.Undo(path)
	} else {
		entry, eerr := c.entry(a, g, client)
		if eerr != nil {
			return eerr
		}
		if c.Print {
			_, err := a.Stdout.Write(client.Snippet(entry))
			return err
		}
		change, err = client.Add(path, entry)
	}
	if err != nil {
		return err
	}
	if !c.DryRun {
		if err := change.Apply(); err != nil {
			return err
		}
	}
	r := &setupReport{Client: client.Name, Scope: c.Scope, File: path, Action: change.Action, DryRun: c.DryRun, Backup: change.Backup, Diff: change.Diff}
	if r.Action == "created" || r.Action == "changed" {
		r.Next = client.Reload
	}
	return a.show(c.JSON, r, func(w *lines) { c.print(w, r) })
}

func (c *setupCmd) print(w *lines, r *setupReport) {
	if r.DryRun && r.Action != "unchanged" {
		w.line("%s", strings.TrimSuffix(r.Diff, "\n"))
		return
	}
	undo := "robotmem setup " + r.Client
	if r.Scope != clients.ScopeUser {
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
}

// entry is the entry that the command line asks for.
func (c *setupCmd) entry(a *app, g *globals, client *clients.Client) (clients.Entry, error) {
	if c.HTTP != "" {
		address, err := clients.Endpoint(c.HTTP)
		if err != nil {
			return nil, err
		}
		return client.Remote(address, a.Config.Token, c.Scope)
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
	if a.Config.URL != "" && c.Scope == clients.ScopeUser && a.Config.Token != "" {
		env[clients.TokenVariable] = a.Config.Token
	}
	return client.Local(command, append([]string{"mcp"}, args...), env), nil
}

// carried are the settings of this command line and environment as arguments of robotmem mcp.
// Paths are absolute: the client starts the program in another folder.
func (g *globals) carried(env func(string) (string, bool)) ([]string, error) {
	given := g.given()
	if g.Config != nil {
		given["config"] = *g.Config
	}
	var args []string
	for _, flag := range []string{"config", "db", "collection", "embedder", "taxonomy", "durability", "url", "log-level"} {
		key := strings.ReplaceAll(flag, "-", "_")
		value, ok := given[key].(string)
		if !ok {
			value, _ = env("ROBOTMEM_" + strings.ToUpper(key))
		}
		if value == "" {
			continue
		}
		path, isModel := strings.CutPrefix(value, "model2vec:")
		if flag == "config" || flag == "db" || flag == "taxonomy" || flag == "embedder" && isModel {
			absolute, err := filepath.Abs(path)
			if err != nil {
				return nil, invalid(flag, "has no absolute path: %v", err)
			}
			value = strings.TrimSuffix(value, path) + absolute
		}
		args = append(args, "--"+flag, value)
	}
	if v, ok := env("ROBOTMEM_READ_ONLY"); g.ReadOnly || ok && v != "" && v != "false" && v != "0" {
		args = append(args, "--read-only")
	}
	folders := g.AllowPath
	if v, ok := env("ROBOTMEM_ALLOW_PATH"); ok && len(folders) == 0 {
		folders = filepath.SplitList(v)
	}
	for _, dir := range folders {
		absolute, err := filepath.Abs(dir)
		if err != nil {
			return nil, invalid("allow-path", "has no absolute path: %v", err)
		}
		args = append(args, "--allow-path", absolute)
	}
	return args, nil
}

// thisProgram is the absolute path of the running program. A temporary program is refused.
func thisProgram() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", invalid("command", "this program's own path is unknown (%v); give it", err)
	}
	if slices.ContainsFunc(strings.Split(filepath.ToSlash(path), "/"), func(s string) bool { return strings.HasPrefix(s, "go-build") }) {
		return "", invalid("command", "this program is a temporary one of go run; go install ./cmd/robotmem and run setup with that, or name a program with --command")
	}
	return path, nil
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
func (c *setupCmd) list(a *app, m clients.Machine) error {
	var answer struct {
		Clients []setupState `json:"clients"`
	}
	for _, client := range clients.All {
		file, err := client.File(m, clients.ScopeUser)
		if err != nil {
			return err
		}
		s := setupState{Client: client.Name, Title: client.Title, Installed: client.Installed(m), File: file, Project: client.Project}
		command, address, err := client.Present(file)
		if err != nil {
			s.Problem = err.Error()
		}
		for i := range command {
			if i > 0 {
				command[i] = shellQuote(command[i])
			}
		}
		s.SetUp = address + strings.Join(command, " ")
		answer.Clients = append(answer.Clients, s)
	}
	return a.show(c.JSON, answer, func(w *lines) {
		w.line("%-15s %-10s %s", "CLIENT", "INSTALLED", "FILE")
		for _, s := range answer.Clients {
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
