package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/used"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/printed"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/shell"
	"github.com/robotmem/robotmem-go/robotmem/mcp/clients"
)

// setupCmd adds robotmem to the settings of an MCP client, or removes it.
type setupCmd struct {
	Client  string   `arg:"" help:"claude-code, claude-desktop, cursor, vscode, codex or gemini."`
	Hooks   bool     `name:"hooks" help:"Also let the client run robotmem hook: what is known is told at the beginning and with each prompt, what was done and learnt is stored. Not for claude-desktop."`
	Exclude []string `name:"exclude" sep:"none" placeholder:"GLOB" help:"With --hooks: files whose uses are not recorded, such as *.env; repeatable."`
	NoAsk   bool     `name:"no-ask" help:"With --hooks: do not ask the agent for the outcome of its work."`
	Command string   `name:"command" placeholder:"PATH" help:"The program to start. Default this one."`
	DryRun  bool     `name:"dry-run" help:"Show what would change and write nothing."`
	Undo    bool     `name:"undo" help:"Remove robotmem from the file."`
	Print   bool     `name:"print" help:"Print what belongs into the file, and change nothing."`
	JSON    bool     `name:"json" help:"Print it as JSON."`
}

// setupReport describes the change to the file of one client.
type setupReport struct {
	Client string `json:"client"`
	File   string `json:"file"`
	*clients.Change
	Hooks  *hooksReport `json:"hooks,omitempty"`
	DryRun bool         `json:"dry_run,omitempty"`
	Next   string       `json:"next,omitempty"`
	Undo   string       `json:"undo,omitempty"`
}

// hooksReport describes the change to the file with the hooks of one client.
type hooksReport struct {
	File string `json:"file"`
	*clients.Change
}

// Run sets up one client.
func (c *setupCmd) Run(a *app, g *globals) error {
	client, err := clients.ByName(c.Client)
	if err != nil {
		return err
	}

	path, err := client.File(a.env)
	if err != nil {
		return err
	}
	if c.Hooks {
		// Before anything is written.
		if _, err := client.HookFile(a.env); err != nil {
			return err
		}
	}

	var entry clients.Entry // nil removes it
	if !c.Undo {
		if entry, err = c.entry(a, g, client); err != nil {
			return err
		}
	}

	if (c.Exclude != nil || c.NoAsk) && !c.Hooks {
		return invalid("hooks", "exclude and no-ask are about hooks; give --hooks with them")
	}

	if c.Print && !c.Undo {
		if c.Hooks {
			return invalid("print", "shows the entry of the MCP server alone; setup --hooks --dry-run shows what both files become")
		}
		text, err := client.Snippet(entry)
		if err == nil {
			_, err = a.Stdout.Write(text)
		}

		return err
	}

	r := &setupReport{Client: client.Name, File: path, DryRun: c.DryRun}
	// The hooks come last and go first: both may be in one file.
	if c.Undo {
		if r.Hooks, err = c.hooks(a, client, ""); err != nil {
			return err
		}
	}
	if r.Change, err = client.Set(path, entry); err == nil && c.Hooks && !c.Undo {
		// Before anything is written: a file with hooks that cannot be edited leaves the other alone, too.
		err = c.checkHooks(a, client)
	}
	if err == nil {
		err = c.apply(r.Change)
	}
	if err == nil && c.Hooks && !c.Undo {
		var command string
		if command, err = c.hookCommand(a, g, client); err == nil {
			r.Hooks, err = c.hooks(a, client, command)
		}
	}
	if err != nil {
		return err
	}

	changed := r.Action == "created" || r.Action == "changed" || r.Hooks != nil && r.Hooks.Action != "unchanged"
	if changed && !c.Undo {
		r.Next = "start the client again, and look for robotmem among its MCP servers"
		if !c.DryRun {
			r.Undo = "robotmem setup " + client.Name + " --undo"
		}
	}

	return a.show(c.JSON, r, nil)
}

func (c *setupCmd) apply(change *clients.Change) error {
	if c.DryRun {
		return nil
	}
	return change.Apply()
}

// hooks puts a command into the hooks of a client, or with an empty one takes ours out. A client without hooks has
// none to take out.
func (c *setupCmd) hooks(a *app, client *clients.Client, command string) (*hooksReport, error) {
	path, err := client.HookFile(a.env)
	if err != nil && command == "" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}

	change, err := client.SetHooks(path, command)
	if err == nil {
		err = c.apply(change)
	}
	if err != nil || command == "" && change.Action == "unchanged" {
		return nil, err
	}

	return &hooksReport{path, change}, nil
}

// checkHooks fails if the file with the hooks of a client cannot be edited.
func (c *setupCmd) checkHooks(a *app, client *clients.Client) error {
	path, err := client.HookFile(a.env)
	if err == nil {
		_, err = client.SetHooks(path, "robotmem hook --client "+client.Name)
	}
	return err
}

// hookCommand is the line of the shell that a client runs for each event.
func (c *setupCmd) hookCommand(a *app, g *globals, client *clients.Client) (string, error) {
	entry, err := c.entry(a, g, client)
	if err != nil {
		return "", err
	}
	args, err := g.carried(a.env)
	if err != nil {
		return "", err
	}

	for _, glob := range c.Exclude {
		args = append(args, "--exclude", glob)
	}
	if c.NoAsk {
		args = append(args, "--no-ask")
	}

	program, _ := entry["command"].(string)

	words := []string{shell.Quote(program), "hook", "--client", client.Name}
	for _, arg := range args {
		words = append(words, shell.Quote(arg))
	}
	// A token is not written into a line that every process of the machine can see.
	if env, _ := entry["env"].(map[string]any); env["ROBOTMEM_HOME"] != nil {
		words = slices.Insert(words, 0, "ROBOTMEM_HOME="+shell.Quote(fmt.Sprint(env["ROBOTMEM_HOME"])))
	}

	return strings.Join(words, " "), nil
}

// entry is the entry that the command line asks for.
func (c *setupCmd) entry(a *app, g *globals, client *clients.Client) (clients.Entry, error) {
	command := c.Command
	// A client of another machine, or a program that comes later, is possible.
	if _, err := exec.LookPath(command); command != "" && err != nil {
		a.warn("note: there is no program " + printed.OneLine(command) + " here that can be run; the client cannot start it until there is")
	}
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

	env := map[string]any{} // settings that have no flag
	// The client may start the program without the variables of this shell, and must find the same memory.
	bare, err := home(func(name string) (string, bool) {
		if name == "ROBOTMEM_HOME" || name == "XDG_DATA_HOME" {
			return "", false
		}
		return a.env(name)
	})
	if given, _ := a.env("ROBOTMEM_HOME"); a.Config.homeErr == nil && (given != "" || err != nil || bare != a.Config.Home) {
		env["ROBOTMEM_HOME"] = a.Config.Home
	}
	if a.Config.URL != "" && a.Config.Token != "" {
		env[clients.TokenVariable] = a.Config.Token
	}

	mcp := []string{"mcp"}
	if c.Hooks {
		mcp = append(mcp, "--hooks")
	}

	return client.Local(command, append(mcp, args...), env), nil
}

// carried are the settings of this command line and environment as arguments of robotmem mcp.
// Paths are absolute: the client starts the program in another folder.
func (g *globals) carried(env func(string) (string, bool)) (args []string, err error) {
	var c config
	given := map[string]any{}
	// Only what was given is carried: defaults may change with the version.
	err = g.given(env, given, map[string]used.Layer{})
	if err == nil {
		err = mapstructure.WeakDecode(given, &c)
	}
	if err != nil {
		return nil, err
	}

	file, _ := configPath(g, env, "")
	absolute := func(path string) string {
		if path == "" {
			return ""
		}
		path, aerr := filepath.Abs(path)
		err = errors.Join(err, aerr)
		return path
	}
	if model, ok := strings.CutPrefix(c.Embedder, "model2vec:"); ok {
		c.Embedder = "model2vec:" + absolute(model)
	}

	db := c.DB
	if !c.onServer() {
		db = absolute(db)
	}

	for _, setting := range [][2]string{
		{"config", absolute(file)}, {"db", db}, {"tenant", c.Tenant}, {"payloads", absolute(c.Payloads)}, {"memory", c.Memory}, {"collection", c.Collection}, {"embedder", c.Embedder}, {"reranker", c.Reranker},
		{"taxonomy", absolute(c.Taxonomy)}, {"entities", absolute(c.Entities)}, {"durability", c.Durability}, {"secrets", c.Secrets}, {"url", c.URL}, {"log-level", c.LogLevel},
		{"key-file", absolute(c.KeyFile)}, {"key-command", c.KeyCommand},
	} {
		if setting[1] != "" {
			args = append(args, "--"+setting[0], setting[1])
		}
	}

	if c.ReadOnly {
		args = append(args, "--read-only")
	}

	for _, dir := range c.AllowPath {
		args = append(args, "--allow-path", absolute(dir))
	}

	return args, err
}

// thisProgram is the absolute path of the running program. A temporary program is refused.
func thisProgram() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", invalid("command", "this program's own path is unknown (%v); give it", err)
	}
	if strings.Contains(filepath.ToSlash(path), "/go-build") {
		return "", invalid("command", "this program is a temporary one of go run; go install ./cmd/robotmem and run setup with that, or name a program with --command")
	}

	return path, nil
}
