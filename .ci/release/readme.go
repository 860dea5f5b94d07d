package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// The README names published forms only between these lines, so that no line of it fails before there is a
// release. A release with a version writes them.
const (
	publishedBegin = "<!-- published: written by make release VERSION= -->\n"
	publishedEnd   = "<!-- end -->\n"
)

var published = template.Must(template.New("").Parse(`
Published, version {{.}}:

` + "```" + `
go install github.com/robotmem/robotmem-go/cmd/robotmem@v{{.}}
pip install robotmem-node=={{.}}          # with the program; the import name is robotmem_node
curl -LO https://github.com/robotmem/robotmem-go/releases/download/v{{.}}/robotmem_{{.}}_linux_amd64.deb && sudo dpkg -i robotmem_{{.}}_linux_amd64.deb
` + "```" + `

The [release](https://github.com/robotmem/robotmem-go/releases/tag/v{{.}}) has archives for Linux (amd64, arm64, armv7), macOS and Windows (amd64, arm64), ` + "`.deb` and `.rpm`" + `, a container image, wheels, MCP bundles, a Homebrew formula, ` + "`SHA256SUMS`" + ` with its signature, and the lists of parts.

`))

// writeReadme names the published forms of this version in the README. A preview stays unnamed.
func (r *release) writeReadme() error {
	if strings.Contains(r.version, "-") {
		return nil
	}

	path := filepath.Join(r.root, "README.md")
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}

	page, err := withPublished(string(data), r.version)
	if err != nil {
		return err
	}
	if page == string(data) {
		return nil
	}
	fmt.Println("README.md names the version; commit it")

	return os.WriteFile(path, []byte(page), 0o644)
}

// withPublished is a README with the published forms of a version, or with none for "".
func withPublished(page, version string) (string, error) {
	before, rest, found := strings.Cut(page, publishedBegin)
	_, after, ended := strings.Cut(rest, publishedEnd)
	if !found || !ended {
		return "", fmt.Errorf("README.md lacks the lines %q and %q", publishedBegin, publishedEnd)
	}

	var b strings.Builder
	if version != "" {
		if err := published.Execute(&b, version); err != nil {
			return "", err
		}
	}

	return before + publishedBegin + b.String() + publishedEnd + after, nil
}
