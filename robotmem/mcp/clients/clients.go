package clients

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// Client is an MCP client and where it keeps its list of servers, according to its
// documentation.
type Client struct {
	Name  string // such as claude-code
	Title string // such as Claude Code
	// Project is the file below the folder of a project, with slashes; "" if the client has
	// no such file.
	Project string
	// Reload says how to make the client read the file again.
	Reload string

	// The settings file of the user is file in the folder that variable names, or without
	// it in folder. See Machine.path for ~ and $config.
	variable, folder, file string

	program string // its command, "" if it has none
	format  configFormat
	typed   bool // each entry says its transport in "type"
}

// All are the clients that this package knows.
var All = []Client{
	{
		Name: "claude-code", Title: "Claude Code", program: "claude",
		variable: "CLAUDE_CONFIG_DIR", folder: "~", file: ".claude.json", Project: ".mcp.json",
		format: jsonConfig("mcpServers"),
		typed:  true,
		Reload: "start a new session, and look at /mcp in it",
	},
	{
		Name: "claude-desktop", Title: "Claude Desktop",
		folder: "$config/Claude", file: "claude_desktop_config.json",
		format: jsonConfig("mcpServers"),
		Reload: "quit it whole and start it again",
	},
	{
		Name: "cursor", Title: "Cursor", program: "cursor",
		folder: "~/.cursor", file: "mcp.json", Project: ".cursor/mcp.json",
		format: jsonConfig("mcpServers"),
		Reload: "switch robotmem on under MCP in its settings",
	},
	{
		Name: "vscode", Title: "VS Code", program: "code",
		folder: "$config/Code/User", file: "mcp.json", Project: ".vscode/mcp.json",
		format: jsonConfig("servers"),
		typed:  true,
		Reload: "run the command \"MCP: List Servers\" and start robotmem",
	},
	{
		Name: "codex", Title: "Codex", program: "codex",
		variable: "CODEX_HOME", folder: "~/.codex", file: "config.toml", Project: ".codex/config.toml",
		format: tomlConfig("mcp_servers"),
		Reload: "start a new session, and look at /mcp in it",
	},
	{
		Name: "gemini", Title: "Gemini CLI", program: "gemini",
		variable: "GEMINI_CLI_HOME", folder: "~", file: ".gemini/settings.json", Project: ".gemini/settings.json",
		format: jsonConfig("mcpServers"),
		Reload: "start a new session, and look at /mcp in it",
	},
}

// ByName returns the client of that name. The error names all clients.
func ByName(name string) (*Client, error) {
	var names []string
	for i := range All {
		if All[i].Name == name {
			return &All[i], nil
		}
		names = append(names, All[i].Name)
	}
	return nil, invalid("client", "must be one of %s, not %q", strings.Join(names, ", "), name)
}

// Machine is what the paths of settings depend on.
type Machine struct {
	OS   string // as runtime.GOOS
	Home string // the folder of the user
	Dir  string // the folder of the project
	Env  func(string) (string, bool)
}

// NewMachine is this machine with the present folder as the project.
func NewMachine(env func(string) (string, bool)) (m Machine, err error) {
	m = Machine{OS: runtime.GOOS, Env: env}
	if m.Home = m.or("HOME", ""); m.OS == "windows" {
		m.Home = m.or("USERPROFILE", m.Home)
	}
	if m.Home == "" {
		return m, invalid("client", "there is no home folder to look for it in; set HOME")
	}
	m.Dir, err = os.Getwd()
	return m, err
}

// or is the variable's value, or without one the fallback.
func (m Machine) or(variable, fallback string) string {
	if v, ok := m.Env(variable); ok && v != "" {
		return v
	}
	return fallback
}

// path is file in folder, both with slashes, as the system in question writes it. ~ and $config at
// the beginning of folder are the folder of the user and that of the settings of desktop programs.
func (m Machine) path(folder, file string) string {
	config := m.or("XDG_CONFIG_HOME", "~/.config")
	switch m.OS {
	case "windows":
		config = m.or("APPDATA", "~/AppData/Roaming")
	case "darwin":
		config = "~/Library/Application Support"
	}
	path := strings.TrimRight(folder, `/\`) + "/" + file
	for _, replaced := range [][2]string{{"$config", config}, {"~", m.Home}} {
		if rest, ok := strings.CutPrefix(path, replaced[0]); ok {
			path = strings.TrimRight(replaced[1], `/\`) + rest
		}
	}
	if m.OS == "windows" {
		path = strings.ReplaceAll(path, "/", `\`)
	}
	return path
}

func (c *Client) user(m Machine) string { return m.path(m.or(c.variable, c.folder), c.file) }

// Scopes of a setting: all projects of the user, or one project.
const (
	ScopeUser    = "user"
	ScopeProject = "project"
)

// File is the settings file of the client.
func (c *Client) File(m Machine, scope string) (string, error) {
	switch scope {
	case ScopeUser:
		return c.user(m), nil
	case ScopeProject:
		if c.Project == "" {
			return "", invalid("scope", "must be user: %s keeps no settings in a project", c.Title)
		}
		return m.path(m.Dir, c.Project), nil
	}
	return "", invalid("scope", "must be user or project, not %q", scope)
}

// Installed reports whether the user has started the client before, or its command is found.
func (c *Client) Installed(m Machine) bool {
	file := c.user(m)
	folder := file[:strings.LastIndexAny(file, `/\`)]
	_, noProgram := exec.LookPath(c.program) // finds no empty name
	_, noFile := os.Stat(file)
	_, noFolder := os.Stat(folder)
	return noProgram == nil || noFile == nil || noFolder == nil && folder != strings.TrimRight(m.Home, `/\`)
}
