package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/site"
	"github.com/robotmem/robotmem-go/web"
)

// startPostgres starts a server for one test and returns the URL of its database.
func startPostgres(t *testing.T) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/1[5-9]/bin/initdb")
	if len(found) == 0 {
		if os.Getenv("CI") != "" {
			t.Fatal("no PostgreSQL on this machine; on Debian: apt-get install postgresql")
		}
		t.Skip("no PostgreSQL on this machine; on Debian: apt-get install postgresql")
	}
	dir, err := os.MkdirTemp("", "robotmem-postgres")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root
		u, err := user.Lookup("nobody")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(filepath.Dir(found[len(found)-1]), name), append([]string{"-D", filepath.Join(dir, "data")}, args...)...)
		cmd.Dir, cmd.SysProcAttr = dir, attr
		return cmd
	}
	if out, err := command("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v: %s", err, out)
	}
	server := command("postgres", "-p", strconv.Itoa(port), "-k", dir, "-c", "listen_addresses=127.0.0.1")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Signal(syscall.SIGQUIT); _ = server.Wait() })
	url := fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres", port)
	for until := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		s, err := site.Connect(t.Context(), url, site.Options{})
		if err == nil {
			s.Close()
			return url
		}
		if time.Now().After(until) {
			t.Fatal(err)
		}
	}
}

func TestFleetCommands(t *testing.T) {
	t.Setenv("ROBOTMEM_DURABILITY", "") // the tests set it, and a site does not use it
	url := startPostgres(t)
	t.Setenv("ROBOTMEM_HOME", t.TempDir())
	want := func(code int, part string, args ...string) string {
		t.Helper()
		got, out, errs := runArgs(t, append([]string{"fleet"}, args...)...)
		if got != code || !strings.Contains(out+errs, part) {
			t.Errorf("%q: exit code %d, %s%s, want %d and %q", args, got, out, errs, code, part)
		}
		return out
	}
	want(2, "postgres://", "tenant", "list")
	want(2, "postgres://", "tenant", "list", "--db", "memory.db")
	config := filepath.Join(os.Getenv("ROBOTMEM_HOME"), "config.yaml") // a URL there is no path
	if err := os.WriteFile(config, []byte("db: "+url+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want(0, "", "tenant", "create", "plant-2")
	want(1, "there is a tenant", "tenant", "create", "plant-2")
	want(2, "letters, digits", "tenant", "create", "a b")
	want(0, `"max_payload_bytes":200000000000`, "tenant", "limit", "plant-2", "--memories", "1000", "--payload-bytes", "200GB", "--per-second", "500", "--json")
	want(0, "186 GiB", "tenant", "list")
	want(0, `{"tenants":[{"name":"plant-2",`, "tenant", "list", "--json")
	if out := want(0, `"max_memories":1000`, "tenant", "limit", "plant-2", "--per-second", "none", "--json"); strings.Contains(out, "per_second") {
		t.Error(out)
	}
	want(2, "memories or none", "tenant", "limit", "plant-2", "--memories", "-2")
	want(2, "requests or none", "tenant", "limit", "plant-2", "--per-second", "0")
	want(3, "no tenant", "tenant", "limit", "plant-3")

	want(0, "no robots", "robots", "--tenant", "plant-2")
	want(0, `{"robots":[]}`, "robots", "--tenant", "plant-2", "--stale", "1h", "--json")
	want(3, "no tenant", "robots", "--tenant", "plant-3")
	want(2, "such as 1h", "robots", "--stale", "-1h")

	arm := strings.TrimSpace(want(0, "rmt_", "token", "create", "arm-7", "--tenant", "plant-2", "--collections", "grasps,corridors"))
	want(2, "is required for the role robot", "token", "create", "arm-8", "--tenant", "plant-2")
	want(2, "--collections a,shared", "token", "create", "arm-8", "--tenant", "plant-2", "--collection", "b", "--collection", "a")
	want(1, "has a token", "token", "create", "arm-7", "--tenant", "plant-2", "--collections", "a")
	want(3, "no tenant", "token", "create", "arm-7", "--tenant", "plant-3", "--collections", "a")
	root := strings.TrimSpace(want(0, "rmt_", "token", "create", "root", "--tenant", "plant-2", "--role", "admin"))
	want(0, "corridors, grasps", "token", "list", "--tenant", "plant-2")
	if out := want(0, `"robot":"arm-7"`, "token", "list", "--tenant", "plant-2", "--json"); strings.Contains(out, arm) || strings.Contains(out, "sha256") {
		t.Error(out)
	}

	// A node admits them, and an admin makes tokens over REST.
	site, err := site.Connect(t.Context(), url, site.Options{Payloads: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer site.Close()
	guard := site.Guard()
	defer func() { _ = guard.Close() }()
	options := web.Options{}
	admit(&options, site)
	node := httptest.NewServer(web.NewServer(guard, options).Handler)
	defer node.Close()
	ask := func(status int, secret, method, path, body string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, node.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+secret)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		if res.StatusCode != status {
			t.Errorf("%s %s %s: %s %s, want %d", method, path, body, res.Status, text, status)
		}
		return string(text)
	}
	ask(200, "", "GET", "/readyz", "")
	ask(200, arm, "POST", "/api/learn", `{"insight":"the cup slips below 8 N","collection":"grasps"}`)
	ask(403, arm, "GET", "/api/tokens", "")
	var made struct{ Secret string }
	if err := json.Unmarshal([]byte(ask(200, root, "POST", "/api/tokens", `{"name":"arm-9","role":"robot","robot":"arm-9","collections":["grasps"]}`)), &made); err != nil {
		t.Fatal(err)
	}
	if got := ask(200, made.Secret, "GET", "/api/search?q=cup", ""); !strings.Contains(got, "slips below") {
		t.Error(got)
	}
	ask(400, root, "POST", "/api/tokens", `{"name":"arm-10","role":"robot"}`)
	ask(200, root, "POST", "/api/tokens", `{"name":"wall","read_only":true}`)
	if got := ask(200, root, "GET", "/api/tokens", ""); !strings.Contains(got, `"role":"reader"`) || !strings.Contains(got, `"robot":"arm-9"`) {
		t.Error(got)
	}
	ask(200, root, "DELETE", "/api/tokens/arm-9", "")
	ask(401, made.Secret, "GET", "/api/stats", "")
	want(0, "", "token", "revoke", "arm-7", "--tenant", "plant-2")
	want(3, "no token", "token", "revoke", "arm-7", "--tenant", "plant-2")
	if _, ok, err := site.Caller(context.Background(), web.NewToken("", root, false).SHA256); !ok || err != nil {
		t.Error(err)
	}
}

func TestOIDCSettings(t *testing.T) {
	for issuer, c := range map[string]struct{ audience, field string }{
		"": {"x", ""}, "https://id.example": {"robotmem", ""}, "id.example": {"robotmem", "oidc_issuer"}, "https://id.example/": {"", "oidc_audience"},
	} {
		o, err := (&config{OIDCIssuer: issuer, OIDCAudience: c.audience}).oidc()
		if got := fmt.Sprint(err); (err == nil) != (c.field == "") || err != nil && !strings.Contains(got, c.field) || (o != nil) != (issuer != "" && err == nil) {
			t.Errorf("%q: %+v %v", issuer, o, err)
		}
	}
}

// A node of a site without tokens starts only with --open, and is then open to this machine. It requires a token as soon
// as one was made elsewhere, with the rights of that token.
func TestANodeOfASiteNoticesTheFirstToken(t *testing.T) {
	t.Setenv("ROBOTMEM_DURABILITY", "")
	url := startPostgres(t)
	t.Setenv("ROBOTMEM_HOME", t.TempDir())
	t.Setenv("ROBOTMEM_EMBEDDER", "none")
	t.Setenv("ROBOTMEM_DB", url)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	refused := func(args ...string) {
		t.Helper()
		code, out, errs := runArgs(t, append([]string{"web", "--addr", addr}, args...)...)
		if code != 2 || out != "" || !strings.Contains(errs, "robotmem fleet token create NAME --role operator") || !strings.Contains(errs, "--open") {
			t.Errorf("without a token: exit code %d, %s%s", code, out, errs)
		}
	}
	refused()
	refused("--tenant", "plant-2")
	if code, out, errs := runArgs(t, "fleet", "tenant", "list", "--json"); code != 0 || strings.Contains(out, "plant-2") {
		t.Errorf("a node that did not start made a tenant: %s%s", out, errs)
	}
	in, end := io.Pipe()
	ended := make(chan string, 1)
	go func() {
		var out, errs bytes.Buffer
		code := run([]string{"web", "--open", "--addr", addr, "--until-stdin-ends"}, in, &out, &errs)
		ended <- fmt.Sprintf("%d %s%s", code, out.String(), errs.String())
	}()
	defer func() {
		_ = end.Close()
		if got := <-ended; !strings.HasPrefix(got, "0 ") {
			t.Errorf("the node ended with %s", got)
		}
	}()
	ask := func(secret, method, path, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+addr+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		if secret != "" {
			r.Header.Set("Authorization", "Bearer "+secret)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, err.Error()
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(text)
	}
	for until := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if status, text := ask("", "GET", "/readyz", ""); status == http.StatusOK {
			break
		} else if time.Now().After(until) {
			t.Fatal(status, text)
		}
	}
	learn := func(secret string) (int, string) {
		t.Helper()
		return ask(secret, "POST", "/api/learn", `{"insight":"the cup slips below 8 N"}`)
	}
	if status, text := learn(""); status != http.StatusOK {
		t.Errorf("without any token: %d %s", status, text)
	}
	for path, body := range map[string]string{"/api/learn": `{"insight":"x y z"}`, "/api/fleet/hello": `{"replica":"r","robot":"arm"}`, "/mcp": `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`} {
		for _, secret := range []string{"garbage", web.NewSecret()} {
			if status, text := ask(secret, "POST", path, body); status != http.StatusUnauthorized {
				t.Errorf("%s with an unknown token: %d %s", path, status, text)
			}
		}
	}

	code, out, errs := runArgs(t, "fleet", "token", "create", "wall", "--role", "reader", "--collections", "*")
	if code != 0 {
		t.Fatal(out, errs)
	}
	secret := strings.TrimSpace(out)
	if status, text := learn(""); status != http.StatusUnauthorized {
		t.Errorf("after the first token, without one: %d %s", status, text)
	}
	if status, text := ask(secret, "GET", "/api/search?q=cup", ""); status != http.StatusOK || !strings.Contains(text, "slips below") {
		t.Errorf("with the token: %d %s", status, text)
	}
	if status, text := learn(secret); status != http.StatusForbidden {
		t.Errorf("a token for reading: %d %s", status, text)
	}

	if code, out, errs := runArgs(t, "fleet", "token", "revoke", "wall"); code != 0 {
		t.Fatal(out, errs)
	}
	if status, text := learn(""); status != http.StatusUnauthorized {
		t.Errorf("after the last token was revoked: %d %s", status, text)
	} else if !strings.Contains(text, "robotmem fleet token create NAME") {
		t.Errorf("it does not say what makes a token: %s", text)
	}
	refused()
}
