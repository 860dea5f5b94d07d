package clients

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem"
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

func TestRemoteEntries(t *testing.T) {
	for _, tt := range []struct{ client, scope, token, want string }{
		{"claude-code", ScopeUser, "", `type=http url=http://r:7878/mcp`},
		{"claude-code", ScopeUser, "s", `type=http url=http://r:7878/mcp headers=map[Authorization:Bearer s]`},
		{"claude-code", ScopeProject, "s", `type=http url=http://r:7878/mcp headers=map[Authorization:Bearer ${ROBOTMEM_TOKEN}]`},
		{"cursor", ScopeUser, "s", `url=http://r:7878/mcp headers=map[Authorization:Bearer s]`},
		{"cursor", ScopeProject, "s", `url=http://r:7878/mcp headers=map[Authorization:Bearer ${env:ROBOTMEM_TOKEN}]`},
		{"vscode", ScopeProject, "s", `type=http url=http://r:7878/mcp headers=map[Authorization:Bearer ${env:ROBOTMEM_TOKEN}]`},
		{"codex", ScopeUser, "s", `url=http://r:7878/mcp http_headers=map[Authorization:Bearer s]`},
		{"codex", ScopeProject, "s", `url=http://r:7878/mcp bearer_token_env_var=ROBOTMEM_TOKEN`},
		{"gemini", ScopeProject, "s", `httpUrl=http://r:7878/mcp headers=map[Authorization:Bearer ${ROBOTMEM_TOKEN}]`},
	} {
		c, err := ByName(tt.client)
		if err != nil {
			t.Fatal(err)
		}
		fields, err := c.Remote("http://r:7878/mcp", tt.token, tt.scope)
		if got := fieldsText(fields); err != nil || got != tt.want {
			t.Errorf("%s %s: got %s, %v, want %s", tt.client, tt.scope, got, err, tt.want)
		}
	}
	desktop, _ := ByName("claude-desktop")
	if _, err := desktop.Remote("http://r:7878/mcp", "", ScopeUser); !errors.Is(err, robotmem.Invalid) || !strings.Contains(err.Error(), "--url http://r:7878:") {
		t.Errorf("Claude Desktop: got %v, want the way over --url", err)
	}
}

func fieldsText(e Entry) string {
	var parts []string
	for _, key := range entryKeys {
		if e[key] != nil {
			parts = append(parts, key+"="+fmt.Sprint(e[key]))
		}
	}
	return strings.Join(parts, " ")
}

func TestNodeAddress(t *testing.T) {
	for in, want := range map[string]string{
		"http://127.0.0.1:7878": "http://127.0.0.1:7878/mcp", "https://r.example/": "https://r.example/mcp", "https://r.example/x/mcp": "https://r.example/x/mcp",
		"r.example:7878": "", "ftp://r": "", "http://u:p@r": "", "http://": "", "http://r#x": "",
	} {
		got, err := Endpoint(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v, want %q", in, got, err, want)
		}
	}
}
