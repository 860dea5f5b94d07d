package clients

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhereClientsKeepTheirServers(t *testing.T) {
	for _, tt := range []struct {
		goos, home, dir string
		env             map[string]string
		user, project   map[string]string
	}{
		{
			goos: "linux", home: "/home/u", dir: "/w",
			user: map[string]string{
				"claude-code": "/home/u/.claude.json", "claude-desktop": "/home/u/.config/Claude/claude_desktop_config.json",
				"cursor": "/home/u/.cursor/mcp.json", "vscode": "/home/u/.config/Code/User/mcp.json",
				"codex": "/home/u/.codex/config.toml", "gemini": "/home/u/.gemini/settings.json",
			},
			project: map[string]string{
				"claude-code": "/w/.mcp.json", "cursor": "/w/.cursor/mcp.json", "vscode": "/w/.vscode/mcp.json",
				"codex": "/w/.codex/config.toml", "gemini": "/w/.gemini/settings.json",
			},
		},
		{
			goos: "linux", home: "/home/u", dir: "/w",
			env: map[string]string{"XDG_CONFIG_HOME": "/c", "CLAUDE_CONFIG_DIR": "/cl/", "CODEX_HOME": "/cx", "GEMINI_CLI_HOME": "/g"},
			user: map[string]string{
				"claude-code": "/cl/.claude.json", "claude-desktop": "/c/Claude/claude_desktop_config.json",
				"cursor": "/home/u/.cursor/mcp.json", "vscode": "/c/Code/User/mcp.json", "codex": "/cx/config.toml", "gemini": "/g/.gemini/settings.json",
			},
		},
		{
			goos: "darwin", home: "/Users/u", dir: "/w",
			user: map[string]string{
				"claude-code": "/Users/u/.claude.json", "claude-desktop": "/Users/u/Library/Application Support/Claude/claude_desktop_config.json",
				"cursor": "/Users/u/.cursor/mcp.json", "vscode": "/Users/u/Library/Application Support/Code/User/mcp.json",
				"codex": "/Users/u/.codex/config.toml", "gemini": "/Users/u/.gemini/settings.json",
			},
		},
		{
			goos: "windows", home: `C:\Users\u`, dir: `D:\w`, env: map[string]string{"APPDATA": `C:\Users\u\AppData\Roaming`},
			user: map[string]string{
				"claude-code": `C:\Users\u\.claude.json`, "claude-desktop": `C:\Users\u\AppData\Roaming\Claude\claude_desktop_config.json`,
				"cursor": `C:\Users\u\.cursor\mcp.json`, "vscode": `C:\Users\u\AppData\Roaming\Code\User\mcp.json`,
				"codex": `C:\Users\u\.codex\config.toml`, "gemini": `C:\Users\u\.gemini\settings.json`,
			},
			project: map[string]string{"vscode": `D:\w\.vscode\mcp.json`},
		},
	} {
		m := Machine{OS: tt.goos, Home: tt.home, Dir: tt.dir, Env: func(k string) (string, bool) { v, ok := tt.env[k]; return v, ok }}
		got := map[string]string{}
		for i := range All {
			c := &All[i]
			got[c.Name] = c.user(m)
			if want, ok := tt.project[c.Name]; ok {
				if file, err := c.File(m, ScopeProject); err != nil || file != want {
					t.Errorf("%s on %s: project file %s, %v, want %s", c.Name, tt.goos, file, err, want)
				}
			}
		}
		if diff := cmp.Diff(tt.user, got); diff != "" {
			t.Errorf("%s %v: %s", tt.goos, tt.env, diff)
		}
	}
}
