package clients

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Client is an MCP client and where it keeps its list of servers, according to its
// documentation.
type Client struct {
	Name  string // such as claude-code
	Title string // such as Claude Code
	// Reload says how to make the client read the file again.
	Reload string

	// The settings file of the user is file in the folder that variable names, or without
	// it in folder, where ~ and $config are those of the Machine.
	variable, folder, file string

	format configFormat
	typed  bool // each entry says its transport in "type"
}

// All are the clients that this package knows.
var All = []Client{
	{
		Name: "claude-code", Title: "Claude Code",
		variable: "CLAUDE_CONFIG_DIR", folder: "~", file: ".claude.json",
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
		Name: "cursor", Title: "Cursor",
		folder: "~/.cursor", file: "mcp.json",
		format: jsonConfig("mcpServers"),
		Reload: "switch robotmem on under MCP in its settings",
	},
	{
		Name: "vscode", Title: "VS Code",
		folder: "$config/Code/User", file: "mcp.json",
		format: jsonConfig("servers"),
		typed:  true,
		Reload: "run the command \"MCP: List Servers\" and start robotmem",
	},
	{
		Name: "codex", Title: "Codex",
		variable: "CODEX_HOME", folder: "~/.codex", file: "config.toml",
		format: tomlConfig("mcp_servers"),
		Reload: "start a new session, and look at /mcp in it",
	},
	{
		Name: "gemini", Title: "Gemini CLI",
		variable: "GEMINI_CLI_HOME", folder: "~", file: ".gemini/settings.json",
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
	Home   string // the folder of the user
	Config string // the folder of the settings of desktop programs
	Env    func(string) (string, bool)
}

// NewMachine is this machine.
func NewMachine(env func(string) (string, bool)) (m Machine, _ error) {
	m.Env = env
	home, herr := os.UserHomeDir()
	config, cerr := os.UserConfigDir()
	if err := errors.Join(herr, cerr); err != nil {
		return m, invalid("client", "there is no home folder to look for it in: %v", err)
	}
	m.Home, m.Config = home, config
	return m, nil
}

// File is the settings file of the user.
func (c *Client) File(m Machine) string {
	folder := strings.NewReplacer("$config", m.Config, "~", m.Home).Replace(c.folder)
	if v, ok := m.Env(c.variable); ok && v != "" {
		folder = v
	}
	return filepath.Join(folder, filepath.FromSlash(c.file))
}
