// Command changelog gathers the files of changelog/unreleased into a section of CHANGELOG.md and removes
// them. Run it at the module's root, before the tag of a release:
//
//	go run ./.ci/changelog 1.2.3
//
// changelog/unreleased/README.md describes the files.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// kinds are the first lines of the files, in the order of their headings.
var kinds = []string{"removed", "changed", "added", "fixed", "security"}

const (
	folder = "changelog/unreleased"
	// breaking begins the text of a change that a user must act on. Such changes come first.
	breaking = "Breaking: "
	// unreleased is the heading that a new section stands below.
	unreleased = "## Unreleased\n"
)

var semantic = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$`)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./.ci/changelog VERSION")
		os.Exit(2)
	}
	if err := release(".", strings.TrimPrefix(os.Args[1], "v")); err != nil {
		fmt.Fprintln(os.Stderr, "changelog:", err)
		os.Exit(1)
	}
}

// change is one file of the folder.
type change struct {
	path, kind, text string
}

// read returns the changes in the order of the names of their files.
func read(root string) ([]change, error) {
	paths, err := filepath.Glob(filepath.Join(root, folder, "*.md"))
	if err != nil {
		return nil, err
	}

	var out []change
	for _, path := range paths {
		if filepath.Base(path) == "README.md" {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		kind, text, _ := strings.Cut(string(data), "\n")
		text = strings.Join(strings.Fields(text), " ")
		if !slices.Contains(kinds, kind) || text == "" {
			return nil, fmt.Errorf("%s: the first line must be one of %s, and a text must follow", path,
				strings.Join(kinds, ", "))
		}
		out = append(out, change{path, kind, text})
	}

	return out, nil
}

// section is the part of the changelog for a version.
func section(version string, changes []change) string {
	var b strings.Builder

	fmt.Fprintf(&b, "## v%s\n", version)
	list := func(title string, wanted func(change) bool) {
		heading := "\n### " + title + "\n\n"
		for _, c := range changes {
			if wanted(c) {
				fmt.Fprintf(&b, "%s- %s\n", heading, strings.TrimPrefix(c.text, breaking))
				heading = ""
			}
		}
	}
	list("Breaking changes", func(c change) bool { return strings.HasPrefix(c.text, breaking) })
	for _, kind := range kinds {
		list(strings.ToUpper(kind[:1])+kind[1:], func(c change) bool {
			return c.kind == kind && !strings.HasPrefix(c.text, breaking)
		})
	}

	return b.String()
}

// release moves the changes below root into a section of the version.
func release(root, version string) error {
	if !semantic.MatchString(version) {
		return fmt.Errorf("version must be like 1.2.3 or 1.2.3-rc.1, not %q", version)
	}
	changes, err := read(root)
	if err != nil {
		return err
	}
	if len(changes) == 0 {
		return fmt.Errorf("%s holds no change", folder)
	}

	path := filepath.Join(root, "CHANGELOG.md")
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	log := string(data)
	at := strings.Index(log, unreleased)
	if at < 0 {
		return fmt.Errorf("%s has no heading %q", path, strings.TrimSpace(unreleased))
	}
	if strings.Contains(log, "\n## v"+version+"\n") {
		return fmt.Errorf("%s has a section of v%s already", path, version)
	}

	// The text below the heading stays; the section begins where the newest one does now.
	end := len(log)
	if next := strings.Index(log[at+len(unreleased):], "\n## "); next >= 0 {
		end = at + len(unreleased) + next + 1
	}
	log = strings.TrimRight(log[:end], "\n") + "\n\n" + section(version, changes) + "\n" + log[end:]
	if err := os.WriteFile(path, []byte(strings.TrimRight(log, "\n")+"\n"), 0o644); err != nil {
		return err
	}

	var errs []error
	for _, c := range changes {
		errs = append(errs, os.Remove(c.path))
	}
	return errors.Join(errs...)
}
