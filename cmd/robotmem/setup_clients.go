package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
)

// setupClient is an MCP client and where it keeps its list of servers, according to its
// documentation.
type setupClient struct {
	name  string // as it is typed
	title string
	// user is the settings file of the user.
	user func(machinePaths) string
	// project is the file below a project's folder, with slashes; "" if the
	// client knows no such file.
	project string
	// program is its command, where it has one.
	program string
	format  configFormat
	entry   entryStyle
	// reload says how to make the client read the file again.
	reload string
}

// entryStyle is how a client spells a server.
type entryStyle struct {
	typed   bool   // each entry says its transport in "type"
	url     string // key of a remote server's address; "" if it only starts programs
	headers string // key of the headers to send along
	// variable is how a value names an environment variable of the client; for
	// Codex, which names the variable of a token alone, it is empty.
	variable  string
	bearerEnv string // key that names the variable of a token
}

var setupClients = []setupClient{
	{
		name: "claude-code", title: "Claude Code", program: "claude",
		user: func(m machinePaths) string {
			return m.join(m.or("CLAUDE_CONFIG_DIR", m.home), ".claude.json")
		},
		project: ".mcp.json",
		format:  jsonConfig("mcpServers"),
		entry:   entryStyle{typed: true, url: "url", headers: "headers", variable: "${%s}"},
		reload:  "start a new session, and look at /mcp in it",
	},
	{
		name: "claude-desktop", title: "Claude Desktop",
		user:   func(m machinePaths) string { return m.join(m.appData(), "Claude", "claude_desktop_config.json") },
		format: jsonConfig("mcpServers"),
		reload: "quit it whole and start it again",
	},
	{
		name: "cursor", title: "Cursor", program: "cursor",
		user:    func(m machinePaths) string { return m.join(m.home, ".cursor", "mcp.json") },
		project: ".cursor/mcp.json",
		format:  jsonConfig("mcpServers"),
		entry:   entryStyle{url: "url", headers: "headers", variable: "${env:%s}"},
		reload:  "switch robotmem on under MCP in its settings",
	},
	{
		name: "vscode", title: "VS Code", program: "code",
		user:    func(m machinePaths) string { return m.join(m.appData(), "Code", "User", "mcp.json") },
		project: ".vscode/mcp.json",
		format:  jsonConfig("servers"),
		entry:   entryStyle{typed: true, url: "url", headers: "headers", variable: "${env:%s}"},
		reload:  "run the command \"MCP: List Servers\" and start robotmem",
	},
	{
		name: "codex", title: "Codex", program: "codex",
		user: func(m machinePaths) string {
			return m.join(m.or("CODEX_HOME", m.join(m.home, ".codex")), "config.toml")
		},
		project: ".codex/config.toml",
		format:  tomlConfig("mcp_servers"),
		entry:   entryStyle{url: "url", headers: "http_headers", bearerEnv: "bearer_token_env_var"},
		reload:  "start a new session, and look at /mcp in it",
	},
	{
		name: "gemini", title: "Gemini CLI", program: "gemini",
		user: func(m machinePaths) string {
			return m.join(m.or("GEMINI_CLI_HOME", m.home), ".gemini", "settings.json")
		},
		project: ".gemini/settings.json",
		format:  jsonConfig("mcpServers"),
		entry:   entryStyle{url: "httpUrl", headers: "headers", variable: "${%s}"},
		reload:  "start a new session, and look at /mcp in it",
	},
}

// clientNamed is the client of that name, or an error that names them all.
func clientNamed(name string) (*setupClient, error) {
	var names []string
	for i := range setupClients {
		if setupClients[i].name == name {
			return &setupClients[i], nil
		}
		names = append(names, setupClients[i].name)
	}
	return nil, invalid("client", "must be one of %s, not %q", strings.Join(names, ", "), name)
}

// machinePaths is what the place of a file depends on.
type machinePaths struct {
	goos string
	home string // of the user
	dir  string // the project's folder
	env  func(string) (string, bool)
}

func (a *app) machinePaths(goos string) (machinePaths, error) {
	m := machinePaths{goos: goos, env: a.env}
	m.home = m.or("HOME", "")
	if goos == "windows" {
		m.home = m.or("USERPROFILE", m.home)
	}
	if m.home == "" {
		return m, invalid("client", "there is no home folder to look for it in; set HOME")
	}
	var err error
	m.dir, err = os.Getwd()
	return m, err
}

// or is the variable's value, or without one the fallback.
func (m machinePaths) or(variable, fallback string) string {
	if v, ok := m.env(variable); ok && v != "" {
		return v
	}
	return fallback
}

// join is filepath.Join for the system in question, not the one that runs.
func (m machinePaths) join(parts ...string) string {
	separator := "/"
	if m.goos == "windows" {
		separator = `\`
	}
	for i := range parts[:len(parts)-1] {
		parts[i] = strings.TrimRight(parts[i], separator)
	}
	return strings.Join(parts, separator)
}

// appData is where programs with windows keep their settings.
func (m machinePaths) appData() string {
	switch m.goos {
	case "windows":
		return m.or("APPDATA", m.join(m.home, "AppData", "Roaming"))
	case "darwin":
		return m.join(m.home, "Library", "Application Support")
	}
	return m.or("XDG_CONFIG_HOME", m.join(m.home, ".config"))
}

// Scopes of a setting.
const (
	scopeUser    = "user"
	scopeProject = "project"
)

// file is where the client reads its servers from.
func (c *setupClient) file(m machinePaths, scope string) (string, error) {
	switch scope {
	case scopeUser:
		return c.user(m), nil
	case scopeProject:
		if c.project == "" {
			return "", invalid("scope", "must be user: %s keeps no settings in a project", c.title)
		}
		return m.join(append([]string{m.dir}, strings.Split(c.project, "/")...)...), nil
	}
	return "", invalid("scope", "must be user or project, not %q", scope)
}

// installed reports whether the client was ever started by this user, or its
// command can be found.
func (c *setupClient) installed(m machinePaths) bool {
	file := c.user(m)
	folder := file[:strings.LastIndexAny(file, `/\`)]
	traces := []string{file}
	if folder != m.home {
		traces = append(traces, folder)
	}
	exists := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	if slices.ContainsFunc(traces, exists) {
		return true
	}
	if c.program == "" {
		return false
	}
	_, err := exec.LookPath(c.program)
	return err == nil
}
