package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const testVersion = "1.2.3-test"

// host is what these tests can start.
var host = target{runtime.GOOS, runtime.GOARCH}

// released makes a release for this system.
func released(t *testing.T) *release {
	t.Helper()
	r := &release{root: "../..", out: filepath.Join(t.TempDir(), "out"), version: testVersion, targets: []target{host}}
	if err := r.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRelease builds once or twice: that takes longest.
func TestRelease(t *testing.T) {
	r := released(t)
	base := "robotmem_" + testVersion + "_" + host.goos + "_" + host.goarch
	t.Run("holds every file with its sum", func(t *testing.T) { checkSums(t, r, base) })
	t.Run("archive", func(t *testing.T) { checkArchive(t, r, base) })
	t.Run("the registry takes the entry", func(t *testing.T) { checkEntry(t, r, base) })
	t.Run("the bundle's server speaks MCP", func(t *testing.T) { checkBundle(t, r, base) })
	t.Run("has the same bytes again", func(t *testing.T) {
		again := released(t)
		if diff := cmp.Diff(readFile(t, r, "SHA256SUMS"), readFile(t, again, "SHA256SUMS")); diff != "" {
			t.Error(diff)
		}
	})
}

// A version for users is in the changelog; a preview need not be.
func TestAReleaseHasItsSectionOfTheChangelog(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "CHANGELOG.md"), []byte("# Changelog\n\n## Unreleased\n\n## v1.2.3\n\n- x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]bool{"1.2.3": true, "1.2.4": false, "1.2.4-rc.1": true, "1.2": false} {
		if err := (&release{root: root, version: version}).checkChangelog(); (err == nil) != want {
			t.Errorf("%s: %v", version, err)
		}
	}
}

// No line of the README fails before there is a release, and a release names itself.
func TestTheREADMENamesWhatIsPublished(t *testing.T) {
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	page, err := withPublished(string(data), "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"cmd/robotmem@v1.2.3\n", "robotmem-node==1.2.3 ", "/v1.2.3/robotmem_1.2.3_linux_amd64.deb "} {
		if !strings.Contains(page, line) {
			t.Errorf("the README of a release lacks %q", line)
		}
	}
	if again, err := withPublished(page, "1.2.3"); err != nil || again != page {
		t.Error("a second release of a version changes the README", err)
	}

	unpublished, err := withPublished(page, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"pip install robotmem-node", "@v", "releases/download"} {
		if strings.Contains(unpublished, line) {
			t.Errorf("the README without a release has %q, which fails", line)
		}
	}
	if _, err := withPublished("# robotmem\n", "1.2.3"); err == nil {
		t.Error("a README without the markers is taken")
	}
}

func readFile(t *testing.T, r *release, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(r.out, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func checkSums(t *testing.T, r *release, base string) {
	var names []string
	for line := range strings.Lines(readFile(t, r, "SHA256SUMS")) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if got := sumOf([]byte(readFile(t, r, name))); got != sum {
			t.Errorf("%s has the sum %s, want %s", name, got, sum)
		}
		names = append(names, name)
	}
	if diff := cmp.Diff([]string{base + ".mcpb", base + ".tar.gz", "server.json"}, names); diff != "" && host.goos != "windows" {
		t.Error(diff)
	}
}

// maxProgram is the most bytes of the program, which lies on small machines. The model is 38 MB of it, the reader of PDF 9.
const maxProgram = 107_000_000

func checkArchive(t *testing.T, r *release, base string) {
	if host.goos == "windows" {
		t.Skip("a zip there")
	}
	z, err := gzip.NewReader(strings.NewReader(readFile(t, r, base+".tar.gz")))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	files := tar.NewReader(z)
	for {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got[h.Name] = h.Mode
		if h.Size > maxProgram {
			t.Errorf("%s has %d bytes, more than %d: see which package links a dictionary or another large file", h.Name, h.Size, maxProgram)
		}
		if !h.ModTime.Equal(r.when) || h.Uname != "" {
			t.Errorf("%s is of %v by %q, want %v by nobody", h.Name, h.ModTime, h.Uname, r.when)
		}
	}
	want := map[string]int64{base + "/robotmem": 0o755, base + "/LICENSE": 0o644, base + "/README.md": 0o644, base + "/THIRD_PARTY_NOTICES": 0o644}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func checkEntry(t *testing.T, r *release, base string) {
	entry := []byte(readFile(t, r, "server.json"))
	if err := validateEntry(t, entry); err != nil {
		t.Error(err)
	}
	var s registryServer
	if err := json.Unmarshal(entry, &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Packages) != 1 || s.Packages[0].SHA256 != sumOf([]byte(readFile(t, r, base+".mcpb"))) || !strings.HasSuffix(s.Packages[0].Identifier, "/v"+testVersion+"/"+base+".mcpb") {
		t.Errorf("packages are %+v", s.Packages)
	}
	// The schema is one that refuses.
	s.Packages[0].SHA256, s.Description = "x", strings.Repeat("long ", 30)
	broken, err := encode(s)
	if err != nil {
		t.Fatal(err)
	}
	if validateEntry(t, broken) == nil {
		t.Error("the schema takes an entry with a wrong sum and a long description")
	}
}

func validateEntry(t *testing.T, entry []byte) error {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile("testdata/server.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(entry))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(doc)
}

// checkBundle unpacks it and starts its server as the manifest says, the way a
// client does that the user told a file and no collection.
func checkBundle(t *testing.T, r *release, base string) {
	dir := t.TempDir()
	unzip(t, filepath.Join(r.out, base+".mcpb"), dir)
	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(t.TempDir(), "bundled.db")
	fill := strings.NewReplacer("${__dirname}", dir, "${user_config.db}", db, "${user_config.collection}", m.UserConfig["collection"].Default)
	cmd := exec.CommandContext(t.Context(), fill.Replace(m.Server.Config.Command), m.Server.Config.Args...)
	cmd.Env = []string{"HOME=" + t.TempDir()}
	for k, v := range m.Server.Config.Env {
		cmd.Env = append(cmd.Env, k+"="+fill.Replace(v))
	}
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"learn","arguments":{"insight":"the bundle works"}}}
`)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	answers := answersByID(t, out)
	if got := answers[1].Result.ServerInfo.Version; got != "v"+testVersion {
		t.Errorf("the server is of version %q, want v%s", got, testVersion)
	}
	var listed, told []string
	for _, tool := range answers[2].Result.Tools {
		listed = append(listed, tool.Name)
	}
	for _, tool := range m.Tools {
		told = append(told, tool.Name)
		if !slices.Contains(listed, tool.Name) {
			t.Errorf("the manifest tells of %s, which the server does not list", tool.Name)
		}
	}
	if len(told) < 7 {
		t.Errorf("the manifest tells of %v", told)
	}
	if answers[3].Result.IsError || answers[3].ID != 3 {
		t.Errorf("learn answered %s", out)
	}
	if _, err := os.Stat(db); err != nil {
		t.Errorf("the file that the user named: %v", err)
	}
}

type answer struct {
	ID     int `json:"id"`
	Result struct {
		ServerInfo struct {
			Version string `json:"version"`
		} `json:"serverInfo"`
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
		IsError bool `json:"isError"`
	} `json:"result"`
}

func answersByID(t *testing.T, out []byte) map[int]answer {
	t.Helper()
	found := map[int]answer{}
	for line := range bytes.Lines(out) {
		var a answer
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatalf("not JSON: %s", line)
		}
		found[a.ID] = a
	}
	return found
}

func unzip(t *testing.T, path, dir string) {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		out, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, f.Mode())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(out, in); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(in.Close(), out.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestManifests has the official tool read the manifest of every system.
func TestManifests(t *testing.T) {
	tool, err := filepath.Abs("../../bin/mcpb/node_modules/.bin/mcpb")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(tool); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("the bundle tool is not installed; run make mcpb")
		}
		t.Skip("the bundle tool is not installed; run make mcpb")
	}
	for _, system := range targets {
		t.Run(system.String(), func(t *testing.T) {
			r := &release{root: "../..", out: t.TempDir(), version: testVersion}
			b, err := r.bundle(system, []byte("the program"))
			if err != nil {
				t.Fatal(err)
			}
			bundle, dir := filepath.Join(r.out, b.name), filepath.Join(t.TempDir(), "unpacked")
			mcpb(t, tool, "unpack", bundle, dir)
			if out := mcpb(t, tool, "validate", filepath.Join(dir, "manifest.json")); !strings.Contains(out, "passes") {
				t.Errorf("validate: %s", out)
			}
			if out := mcpb(t, tool, "info", bundle); !strings.Contains(out, b.name) {
				t.Errorf("info: %s", out)
			}
			info, err := os.Stat(filepath.Join(dir, "server", system.program()))
			if err != nil || info.Mode().Perm() != 0o755 {
				t.Errorf("the program is %v, %v; want it executable", info, err)
			}
		})
	}
}

func mcpb(t *testing.T, tool string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(context.WithoutCancel(t.Context()), tool, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("mcpb %s: %v: %s", args[0], err, out)
	}
	return string(out)
}

func TestVersionsThatAreNone(t *testing.T) {
	for _, v := range []string{"latest", "1.2", "^1.2.3", "01.2.3", "1.2.3+x"} {
		r := &release{root: "../..", out: t.TempDir(), version: v}
		if err := r.run(t.Context()); err == nil || !strings.Contains(err.Error(), "version must be") {
			t.Errorf("%s: got %v", v, err)
		}
	}
}
