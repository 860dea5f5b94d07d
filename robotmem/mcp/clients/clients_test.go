package clients

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhereClientsKeepTheirServers(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the folder of settings has another name")
	}
	t.Setenv("HOME", "/home/u")
	t.Setenv("XDG_CONFIG_HOME", "/home/u/.config")
	for _, tt := range []struct {
		env  map[string]string
		user map[string]string
	}{
		{
			user: map[string]string{
				"claude-code": "/home/u/.claude.json", "claude-desktop": "/home/u/.config/Claude/claude_desktop_config.json",
				"cursor": "/home/u/.cursor/mcp.json", "vscode": "/home/u/.config/Code/User/mcp.json",
				"codex": "/home/u/.codex/config.toml", "gemini": "/home/u/.gemini/settings.json",
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
		env := func(k string) (string, bool) { v, ok := tt.env[k]; return v, ok }
		got := map[string]string{}
		for i := range All {
			path, err := All[i].File(env)
			if err != nil {
				t.Fatal(err)
			}
			got[All[i].Name] = filepath.ToSlash(path)
		}
		if diff := cmp.Diff(tt.user, got); diff != "" {
			t.Errorf("%v: %s", tt.env, diff)
		}
	}
}
