package main

import (
	"bufio"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/used"
)

// Every setting has its place in the table of where it is used, so that a new one is not silently ignored.
func TestEverySettingHasItsUsage(t *testing.T) {
	settings, placed := slices.Sorted(maps.Keys(defaults())), slices.Sorted(maps.Keys(used.Usages))
	if !slices.Equal(settings, placed) {
		t.Errorf("config has\n%q, the table\n%q", settings, placed)
	}
	for name, use := range used.Usages {
		if use.On == 0 || use.Needs != "" && used.Usages[use.Needs].On == 0 {
			t.Errorf("%s: %+v", name, use)
		}
	}
	commands := map[string]bool{}
	for line := range strings.Lines(exampleText) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "= "); ok {
			first, _, _ := strings.Cut(path, " ")
			commands[first] = true
		}
	}
	for name := range used.OwnFlags {
		if !commands[name] {
			t.Errorf("%q is no command", name)
		}
	}
	for name, use := range used.Usages {
		for _, by := range use.By {
			if !commands[by] {
				t.Errorf("%s is for %q, which is no command", name, by)
			}
		}
	}
}

// A value for each setting, and on which memories it would be ignored.
func TestSettingsWithoutEffectAreErrors(t *testing.T) {
	const site, node = "postgres://127.0.0.1:1/none", "http://127.0.0.1:1"
	for _, tt := range []struct {
		name, command string
		env           map[string]string
		field         string // of the error, "" for none
	}{
		{"a tenant on a file", "stats --tenant plant", nil, "tenant"},
		{"a tenant of the environment on a file", "stats", map[string]string{"TENANT": "plant"}, "tenant"},
		{"a tenant on the file of a flag", "stats --db own.db", map[string]string{"TENANT": "plant"}, ""},
		{"a tenant on a served file", "web --db own.db", map[string]string{"TENANT": "plant"}, "tenant"},
		{"a read-only site", "stats --read-only --db " + site, nil, "read_only"},
		{"durability of a site", "learn x --db " + site, map[string]string{"DURABILITY": "normal"}, ""},
		{"durability of a site in the environment", "learn x", map[string]string{"DURABILITY": "normal", "DB": site}, "durability"},
		{"a file beside a node", "learn x --db own.db", map[string]string{"URL": node}, "db"},
		{"an embedder for a node", "learn x --embedder none --url " + node, nil, "embedder"},
		{"an embedder of the environment for a node", "learn x", map[string]string{"EMBEDDER": "none", "URL": node}, ""},
		{"backups of a site", "web", map[string]string{"DB": site, "BACKUP_TO": "b", "BACKUP_EVERY": "6h"}, "backup_every"},
		{"a token of a site's node", "web", map[string]string{"DB": site, "TOKEN": "0123456789abcdef"}, "token"},
		{"a file without tokens", "web --open", nil, "open"},
		{"an open site in a network", "web --open --addr 0.0.0.0:0", map[string]string{"DB": site}, "open"},
		{"an open site of a provider", "web --open", map[string]string{"DB": site, "OIDC_ISSUER": "https://id.example", "OIDC_AUDIENCE": "x"}, "open"},
		{"a token for a command", "stats", map[string]string{"TOKEN": "0123456789abcdef"}, ""},
		{"an issuer that is no URL", "web", map[string]string{"OIDC_ISSUER": "not-a-url"}, "oidc_issuer"},
		{"an issuer without an audience", "web", map[string]string{"OIDC_ISSUER": "https://id.example"}, "oidc_audience"},
		{"an audience without an issuer", "web", map[string]string{"OIDC_AUDIENCE": "x"}, "oidc_audience"},
		{"a tenant of tokens on a file", "web", map[string]string{"OIDC_ISSUER": "https://id.example", "OIDC_AUDIENCE": "x", "OIDC_TENANT_CLAIM": "t"}, "oidc_tenant_claim"},
		{"settings of web for another command", "stats", map[string]string{"OIDC_ISSUER": "https://id.example", "ADDR": "127.0.0.1:1"}, ""},
		{"a key of no reranker", "web", map[string]string{"RERANKER_KEY": "x"}, "reranker_key"},
		{"a flag of no use", "version --embedder none", nil, "embedder"},
		{"a collection of tokens", "token list --collection x", nil, "collection"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("ROBOTMEM_HOME", t.TempDir())
			t.Setenv("ROBOTMEM_DURABILITY", "") // the tests set it
			for name, value := range tt.env {
				t.Setenv("ROBOTMEM_"+name, value)
			}
			code, _, stderr := runArgs(t, strings.Fields(tt.command)...)
			switch {
			case tt.field == "" && strings.Contains(stderr, "no effect"):
				t.Errorf("refused: %s", stderr)
			case tt.field != "" && (code != 2 || !strings.HasPrefix(stderr, "robotmem: "+tt.field+": ")):
				t.Errorf("code %d, %s, want an error of %s", code, stderr, tt.field)
			}
		})
	}
}

// A node on a file takes the tokens of an identity provider, and is closed to those who have none.
func TestAFileHonoursItsIdentityProvider(t *testing.T) {
	t.Setenv("ROBOTMEM_HOME", t.TempDir())
	t.Setenv("ROBOTMEM_EMBEDDER", "none")
	t.Setenv("ROBOTMEM_OIDC_ISSUER", "http://127.0.0.1:1")
	t.Setenv("ROBOTMEM_OIDC_AUDIENCE", "robotmem")
	stdin, end := io.Pipe()
	out, stdout := io.Pipe()
	ended, said := make(chan int, 1), make(chan string, 1)
	var errs strings.Builder
	go func() {
		code := run([]string{"web", "--addr", "127.0.0.1:0", "--until-stdin-ends"}, stdin, stdout, &errs)
		said <- errs.String()
		_ = stdout.Close() // a node that does not start says no address
		ended <- code
	}()
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %s", err, <-said)
	}
	for secret, want := range map[string]int{"": 401, "garbage": 401, "ey.a.b": 401, "eyJhbGciOiJFUzI1NiJ9.e30.AAAA": 503} { // the provider is not reached
		req, err := http.NewRequestWithContext(t.Context(), "POST", strings.TrimSpace(url)+"/api/learn", strings.NewReader(`{"insight":"no"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if secret != "" {
			req.Header.Set("Authorization", "Bearer "+secret)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("with %q: %s, want %d", secret, res.Status, want)
		}
	}
	_ = end.Close()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
}
