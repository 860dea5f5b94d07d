package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/given"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/hints"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/operations"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/used"
	"github.com/robotmem/robotmem-go/robotmem/local"

	"github.com/alecthomas/kong"
	"github.com/go-viper/mapstructure/v2"
	"github.com/robotmem/robotmem-go/robotmem"
)

// globals are the settings that every command takes. nil is not given.
type globals struct {
	stdin io.Reader // for a file that is named -

	DB         *string  `name:"db" placeholder:"PATH" help:"The memory's file, or the postgres:// URL of a site (ROBOTMEM_DB). Default memory.db in ROBOTMEM_HOME, which is ~/.robotmem unless set, or robotmem in XDG_DATA_HOME if that is set and ~/.robotmem does not exist." mapstructure:"db,omitempty"`
	Collection *string  `name:"collection" short:"c" placeholder:"NAME" help:"Namespace to work in; for commands that read, * is all (ROBOTMEM_COLLECTION)." mapstructure:"collection,omitempty"`
	Embedder   *string  `name:"embedder" placeholder:"NAME" help:"auto, none, ollama:MODEL, openai:MODEL or model2vec:DIR (ROBOTMEM_EMBEDDER). auto is the model in the program, unless the memory has vectors of another." mapstructure:"embedder,omitempty"`
	Reranker   *string  `name:"reranker" placeholder:"URL" help:"Service that orders the first hits of a recall, such as http://127.0.0.1:8080 (ROBOTMEM_RERANKER; the model in ROBOTMEM_RERANKER_MODEL, the key in ROBOTMEM_RERANKER_KEY). Default none." mapstructure:"reranker,omitempty"`
	Config     *string  `name:"config" placeholder:"FILE" help:"Settings as YAML, - for stdin (ROBOTMEM_CONFIG). Default config.yaml in ROBOTMEM_HOME." mapstructure:"-"`
	Tenant     *string  `name:"tenant" placeholder:"NAME" help:"Whose memory of a site on PostgreSQL (ROBOTMEM_TENANT). Default default." mapstructure:"tenant,omitempty"`
	Payloads   *string  `name:"payloads" placeholder:"DIR" help:"Folder of large payloads of a site on PostgreSQL, which all its nodes share (ROBOTMEM_PAYLOADS). Default payloads in ROBOTMEM_HOME." mapstructure:"payloads,omitempty"`
	Taxonomy   *string  `name:"taxonomy" placeholder:"FILE" help:"Rules of classification instead of the built-in ones, - for stdin (ROBOTMEM_TAXONOMY)." mapstructure:"taxonomy,omitempty"`
	Secrets    *string  `name:"secrets" placeholder:"warn|mask|refuse|off" help:"What is done about keys, tokens and passwords in new texts: warn stores them and says so, mask stores the name of the rule, refuse stores nothing (ROBOTMEM_SECRETS)." mapstructure:"secrets,omitempty"`
	Entities   *string  `name:"entities" placeholder:"FILE" help:"Robots, objects, places, parts and people with their other names, as TOML (ROBOTMEM_ENTITIES)." mapstructure:"entities,omitempty"`
	Durability *string  `name:"durability" placeholder:"full|normal" help:"full: an answered write survives power loss. normal: it survives the death of the process (ROBOTMEM_DURABILITY)." mapstructure:"durability,omitempty"`
	AllowPath  []string `name:"allow-path" sep:"none" placeholder:"DIR" help:"Folder that save-perception --path may read from; repeatable (ROBOTMEM_ALLOW_PATH)." mapstructure:"allow_path,omitempty"`
	ReadOnly   bool     `name:"read-only" help:"Change nothing: what would write is refused (ROBOTMEM_READ_ONLY). With token create: a token that may ask and not change." mapstructure:"read_only,omitempty"`
	Create     bool     `name:"create" help:"Begin a memory in a file of 0 bytes, which is refused otherwise: something may have emptied it." mapstructure:"-"`
	Memory     *string  `name:"memory" placeholder:"SIZE" help:"Limit of memory, such as 64MiB: smaller caches, slower recall (ROBOTMEM_MEMORY). Default a quarter of the machine's memory." mapstructure:"memory,omitempty"`
	KeyFile    *string  `name:"key-file" placeholder:"FILE" help:"The key of an encrypted memory; - reads it from stdin (ROBOTMEM_KEY_FILE; the key itself in ROBOTMEM_KEY, or as the systemd credential robotmem.key). A file that does not exist yet is encrypted with it." mapstructure:"key_file,omitempty"`
	KeyCommand *string  `name:"key-command" placeholder:"COMMAND" help:"Command of the shell that prints the key of an encrypted memory (ROBOTMEM_KEY_COMMAND)." mapstructure:"key_command,omitempty"`
	LogLevel   *string  `name:"log-level" placeholder:"LEVEL" help:"debug, info, warn or error, on stderr (ROBOTMEM_LOG_LEVEL)." mapstructure:"log_level,omitempty"`
	Quiet      bool     `name:"quiet" short:"q" help:"Print no notes and no progress on stderr, only errors." mapstructure:"-"`
	Color      string   `name:"color" enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"Colour the text: auto (on a terminal, unless NO_COLOR is set), always or never." mapstructure:"-"`
	URL        *string  `name:"url" placeholder:"URL" help:"Ask the node at this address, such as http://127.0.0.1:7878, instead of a file (ROBOTMEM_URL)." mapstructure:"url,omitempty"`
}

// given puts the settings of the environment, and over them the flags of the command line, into out
// by their names in the file, and where they come from into from.
func (g *globals) given(env func(string) (string, bool), out map[string]any, from map[string]used.Layer) error {
	for key := range defaults() {
		v, _ := env("ROBOTMEM_" + strings.ToUpper(key))
		// A variable of other programs is not meant for this one.
		own := v != ""
		if other := foreignNames[key]; v == "" && other != "" {
			v, _ = env(other)
		}
		if v == "" {
			continue
		}
		if split := listSettings[key]; split != nil {
			out[key] = split(v)
		} else {
			out[key] = v
		}
		if own {
			from[key] = used.InEnvironment
		}
	}

	flags := map[string]any{}
	if err := mapstructure.Decode(g, &flags); err != nil {
		return err
	}

	for key, value := range flags {
		out[key], from[key] = value, used.InFlags
	}

	return nil
}

// cli is the grammar: the commands of robotmem.Ops and the commands of this package.
type cli struct {
	globals `group:"settings"`

	HelpAll     helpAllFlag      `name:"help-all" help:"Show help with the settings that every command takes."`
	ShowVersion kong.VersionFlag `name:"version" group:"settings" help:"Print the version."`

	kong.Plugins // one command for each operation

	Init    initCmd    `cmd:"" group:"data" help:"Begin a memory, with --encrypt an encrypted one."`
	Encrypt encryptCmd `cmd:"" group:"data" help:"Encrypt a memory that exists, with its payloads."`
	Decrypt decryptCmd `cmd:"" group:"data" help:"Bring an encrypted memory back to clear."`
	Rekey   rekeyCmd   `cmd:"" group:"data" help:"Give an encrypted memory to another key."`
	Key     keyCmd     `cmd:"" group:"data" help:"Make a key for an encrypted memory, or print its public key."`
	Import  importCmd  `cmd:"" group:"data" help:"Read facts from lines of JSON, or perceptions from a recording or a dataset."`
	Watch   watchCmd   `cmd:"" group:"data" help:"Follow a folder: its documents are stored when they change and removed with their files. With --notes, its Markdown files and the facts of the collection are kept equal both ways."`
	Attach  attachCmd  `cmd:"" group:"node" help:"Follow a living robot: keep the last minute, store incidents, and warn where things went wrong before."`
	Play    playCmd    `cmd:"" group:"node" help:"Show an episode or an incident in Foxglove or Lichtblick: a Foxglove WebSocket server with time control."`
	Export  exportCmd  `cmd:"" group:"data" help:"Write every active fact as a learn request a line, or all as an MCAP file."`
	Backup  backupCmd  `cmd:"" group:"data" help:"Make a verified copy of the memory while it works, keep the newest, and restore one."`
	MCP     mcpCmd     `cmd:"" name:"mcp" group:"node" help:"Serve the memory to a model over stdio."`
	Hook    hookCmd    `cmd:"" group:"node" help:"Answer the hook of a coding agent: JSON on stdin, the answer on stdout. setup --hooks tells the client of it."`
	Proxy   proxyCmd   `cmd:"" group:"node" help:"Stand between a chat client and its language model, and let the model remember."`
	Dream   dreamCmd   `cmd:"" group:"node" help:"Find patterns in what was stored, and let a language model summarise and propose."`
	Web     webCmd     `cmd:"" group:"node" help:"Serve the dashboard, REST and MCP over HTTP."`
	Fleet   fleetCmd   `cmd:"" group:"node" help:"Experimental: share what robots learn through a site, and manage its tenants and tokens. docs/explanation/fleet.md says what is not safe."`
	Token   tokenCmd   `cmd:"" group:"node" help:"Make, list and revoke the tokens that web asks for."`
	Model   modelCmd   `cmd:"" group:"node" help:"Pull, list, test and remove models for search by meaning."`
	Reembed reembedCmd `cmd:"" group:"node" help:"Compute all vectors again with the model of --embedder. Recall uses the old ones until the last is stored; after an interruption the next run continues."`
	Doctor  doctorCmd  `cmd:"" group:"node" help:"Check the node, and with --repair rebuild its indexes."`
	Setup   setupCmd   `cmd:"" group:"node" help:"Tell an MCP client of this program: Claude Code, Claude Desktop, Cursor, VS Code, Codex or Gemini CLI."`
	Retain  retainCmd  `cmd:"" group:"node" help:"Keep perceptions within a budget: list what would be evicted, and with --apply evict it."`
	Demo    demoCmd    `cmd:"" group:"try" help:"See what it does, on a file of its own."`
	Bench   benchCmd   `cmd:"" group:"try" help:"Measure this machine, on a file or a PostgreSQL server of its own."`
	Eval    evalCmd    `cmd:"" group:"try" help:"Measure retrieval on a data set in the BEIR layout."`
	Config  configCmd  `cmd:"" group:"node" help:"Show the settings and where each was given."`
	OpenAPI openapiCmd `cmd:"" name:"openapi" group:"node" help:"Print the OpenAPI document of the REST API."`
	Notices noticesCmd `cmd:"" name:"licences" group:"node" help:"Print the licences of the parts that the program is built of."`
	Version versionCmd `cmd:"" group:"node" help:"Print the version."`

	Help       helpCmd       `cmd:"" group:"learn" help:"Show the help of a command."`
	Man        manCmd        `cmd:"" group:"learn" help:"Print the page of the manual of a command, or write all pages to a folder."`
	Completion completionCmd `cmd:"" group:"learn" help:"Print the script that completes commands in a shell."`
}

const description = "A memory for robots: it records what happened, recalls what worked here, and says why."

// newParser returns the grammar, the commands of operations, and what parses them.
func newParser(options ...kong.Option) (*cli, operations.Commands, *kong.Kong, error) {
	grammar := &cli{}
	ops, plugin := operations.New()
	grammar.Plugins = kong.Plugins{plugin}
	parser, err := kong.New(grammar, append(options,
		kong.Name("robotmem"), kong.Description(description),
		kong.WithHyphenPrefixedParameters(true),
		kong.Help(printHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, WrapUpperBound: 100}),
		kong.ExplicitGroups([]kong.Group{
			{Key: "memory", Title: "Memory:"},
			{Key: "sessions", Title: "Sessions:"},
			{Key: "data", Title: "Files:"},
			{Key: "node", Title: "Node:"},
			{Key: "try", Title: "Try and measure:"},
			{Key: "learn", Title: "This program:"},
			{Key: settingsGroup, Title: "Settings:"},
		}),
	)...)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("the command line's grammar: %w", err)
	}

	ops.Describe(parser.Model.Node, examples)
	hideSettings(parser.Model.Node)

	return grammar, ops, parser, nil
}

// wantsJSON reports whether a command line asks for JSON, also one that cannot be parsed.
func wantsJSON(args []string) bool {
	end := slices.Index(args, "--")
	if end < 0 {
		end = len(args)
	}

	return slices.Contains(args[:end], "--json")
}

// execute parses args and runs the command.
func (a *app) execute(ctx context.Context, args []string) error {
	ended := -1
	// kong would end the process at --help, without closing anything.
	grammar, ops, parser, err := newParser(kong.Writers(a.Stdout, a.Stderr), kong.Exit(func(code int) { ended = code }),
		kong.Vars{"version": thisBuild().String()})
	if err != nil {
		return err
	}
	if words, asked := completing(args); asked {
		return a.complete(ctx, parser, ops, words)
	}

	a.asJSON = wantsJSON(args)
	k, err := parser.Parse(args)
	if ended >= 0 { // help was printed
		return exitCode(ended)
	}
	parsed := k
	if p := (*kong.ParseError)(nil); errors.As(err, &p) {
		parsed = p.Context
	}
	if missing := given.Check(args, parsed); missing != nil {
		return missing
	}
	if err != nil {
		return usage(args, err)
	}

	grammar.stdin = a.Stdin
	a.parser, a.quiet, a.color = parser, grammar.Quiet, grammar.Color
	if a.Config, err = loadConfig(&grammar.globals, a.env); err != nil {
		// A broken file of settings must not prevent the version from being printed for a bug report, nor the help.
		if !slices.Contains([]string{"version", "help", "man", "completion"}, first(k.Selected().Path())) {
			return err
		}
	}

	if err := used.Check(first(k.Selected().Path()), a.Config.given, a.Config.target()); err != nil {
		return err
	}

	a.Log = slog.New(slog.NewTextHandler(a.Stderr, &slog.HandlerOptions{Level: a.Config.level}))
	if ctx, err = a.withKey(ctx, k.Selected().Path()); err != nil {
		return err
	}
	ctx = robotmem.WithCaller(ctx, robotmem.Caller{Who: local.OSUser(), Tool: robotmem.ToolCLI})
	if c := ops[k.Selected().Path()]; c != nil {
		return a.runOp(ctx, c)
	}

	k.BindTo(ctx, (*context.Context)(nil))
	k.Bind(&grammar.globals)

	return k.Run(a)
}

// usage is the error for a command line that cannot be parsed.
func usage(args []string, err error) error {
	help, hint := "robotmem --help", ""
	if p := (*kong.ParseError)(nil); errors.As(err, &p) && p.Context != nil && p.Context.Selected() != nil {
		name := p.Context.Selected().Path()
		help = "robotmem " + name + " --help"
		if strings.HasPrefix(p.Error(), "unexpected argument") {
			hint = hintAtQuotes(args, p.Context)
		}
		hint += hints.Meant(name, p.Error())
		err = fmt.Errorf("%s: %w", name, err)
	}

	return invalid("", "%w%s; see %s", err, hint, help)
}

// first is the first word of a path of commands.
func first(path string) string {
	word, _, _ := strings.Cut(path, " ")
	return word
}

// exampleText has the examples in the help of each command, below a line "= " and its path.
//
//go:embed examples.txt
var exampleText string

func examples(path string) string {
	_, lines, found := strings.Cut("\n"+exampleText, "\n= "+path+"\n")
	if !found {
		return ""
	}
	lines, _, _ = strings.Cut(strings.TrimSuffix(lines, "\n"), "\n= ")
	return "Examples:\n\n  " + strings.ReplaceAll(lines, "\n", "\n  ")
}
