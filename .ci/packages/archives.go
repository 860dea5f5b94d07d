package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// program is an archive of the release.
type program struct {
	archive string // its name
	sum     string // SHA-256 of it
	version string
	goos    string
	arch    string // as in the name: amd64, arm64 or armv7
	when    time.Time
	files   map[string][]byte // by their last name
}

// binary is the program itself.
func (p *program) binary() []byte {
	if p.goos == "windows" {
		return p.files["robotmem.exe"]
	}
	return p.files["robotmem"]
}

var archiveName = regexp.MustCompile(`^robotmem_(.+)_([a-z]+)_([a-z0-9]+)\.(tar\.gz|zip)$`)

// readArchives reads the programs of a release, in the order of their names.
func readArchives(dir string) ([]program, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}

	var out []program

	for _, e := range entries {
		found := archiveName.FindStringSubmatch(e.Name())
		if found == nil {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}

		p := program{archive: e.Name(), sum: sumOf(data), version: found[1], goos: found[2], arch: found[3], files: map[string][]byte{}}
		read := p.readTar
		if found[4] == "zip" {
			read = p.readZip
		}
		if err := read(data); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}

		for _, name := range []string{"LICENSE", "README.md", "THIRD_PARTY_NOTICES"} {
			if len(p.files[name]) == 0 {
				return nil, fmt.Errorf("%s has no %s", e.Name(), name)
			}
		}
		if len(p.binary()) == 0 {
			return nil, fmt.Errorf("%s has no program", e.Name())
		}
		out = append(out, p)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no archives: run make release", dir)
	}

	return out, nil
}

func (p *program) readTar(data []byte) error {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return err
	}

	for files := tar.NewReader(z); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		p.when = h.ModTime.UTC()
		if p.files[path.Base(h.Name)], err = io.ReadAll(files); err != nil {
			return err
		}
	}
}

func (p *program) readZip(data []byte) error {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}

	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return err
		}
		p.when = f.Modified.UTC()
		p.files[path.Base(f.Name)], err = io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			return err
		}
	}

	return nil
}

// checkNotices fails if the program is built of a module whose licence it does not come with.
func checkNotices(p *program) error {
	info, err := buildinfo.Read(bytes.NewReader(p.binary()))
	if err != nil {
		return err
	}

	lines := strings.Split(string(p.files["THIRD_PARTY_NOTICES"]), "\n")

	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		if !slices.Contains(lines, m.Path+" "+m.Version) {
			return fmt.Errorf("THIRD_PARTY_NOTICES lacks %s %s, which is in the program; run .ci/licences/run", m.Path, m.Version)
		}
	}
	if len(info.Deps) == 0 {
		return errors.New("the program does not say what it is built of")
	}

	return nil
}
