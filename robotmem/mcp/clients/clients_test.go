package clients

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhereClientsKeepTheirServers(t *testing.T) {
	for _, tt := range []struct {
		env           map[string]string
		user, project map[string]string
	}{
		{
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
			env: map[string]string{"CLAUDE_CONFIG_DIR": "/cl/", "CODEX_HOME": "/cx", "GEMINI_CLI_HOME": "/g"},
			user: map[string]string{
				"claude-code": "/cl/.claude.json", "claude-desktop": "/home/u/.config/Claude/claude_desktop_config.json",
				"cursor": "/home/u/.cursor/mcp.json", "vscode": "/home/u/.config/Code/User/mcp.json", "codex": "/cx/config.toml", "gemini": "/g/.gemini/settings.json",
			},
		},
	} {
		m := Machine{Home: "/home/u", Config: "/home/u/.config", Dir: "/w", Env: func(k string) (string, bool) { v, ok := tt.env[k]; return v, ok }}
		got := map[string]string{}
		for i := range All {
			c := &All[i]
			got[c.Name] = filepath.ToSlash(c.user(m))
			if want, ok := tt.project[c.Name]; ok {
				if file, err := c.File(m, ScopeProject); err != nil || filepath.ToSlash(file) != want {
					t.Errorf("%s: project file %s, %v, want %s", c.Name, file, err, want)
				}
			}
		}
		if diff := cmp.Diff(tt.user, got); diff != "" {
			t.Errorf("%v: %s", tt.env, diff)
		}
	}
}
