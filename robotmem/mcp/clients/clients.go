package clients

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Client is an MCP client and where it keeps its list of servers, according to its documentation.
type Client struct {
	Name string // such as claude-code

	// The settings file of the user is file in the folder that variable names, or without it in
	// folder, where ~ is the home of the user and $config that of the settings of desktop programs.
	variable, folder, file string

	format configFormat
	typed  bool // each entry says its transport in "type"
}

// All are the clients that this package knows.
var All = []Client{
	{
		Name: "claude-code", variable: "CLAUDE_CONFIG_DIR", folder: "~", file: ".claude.json",
		format: jsonConfig("mcpServers"),
		typed:  true,
	},
	{
		Name:   "claude-desktop",
		folder: "$config/Claude", file: "claude_desktop_config.json",
		format: jsonConfig("mcpServers"),
	},
	{
		Name:   "cursor",
		folder: "~/.cursor", file: "mcp.json",
		format: jsonConfig("mcpServers"),
	},
	{
		Name:   "vscode",
		folder: "$config/Code/User", file: "mcp.json",
		format: jsonConfig("servers"),
		typed:  true,
	},
	{
		Name: "codex", variable: "CODEX_HOME", folder: "~/.codex", file: "config.toml",
		format: tomlConfig("mcp_servers"),
	},
	{
		Name: "gemini", variable: "GEMINI_CLI_HOME", folder: "~", file: ".gemini/settings.json",
		format: jsonConfig("mcpServers"),
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

// File is the settings file of the user.
func (c *Client) File(env func(string) (string, bool)) (string, error) {
	home, herr := os.UserHomeDir()
	config, cerr := os.UserConfigDir()
	if err := errors.Join(herr, cerr); err != nil {
		return "", invalid("client", "there is no home folder to look for it in: %v", err)
	}
	folder := strings.NewReplacer("$config", config, "~", home).Replace(c.folder)
	if v, ok := env(c.variable); ok && v != "" {
		folder = v
	}

	return filepath.Join(folder, filepath.FromSlash(c.file)), nil
}
