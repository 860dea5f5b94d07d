package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// packed is one file of an archive.
type packed struct {
	name       string // with slashes
	data       []byte
	executable bool
}

func (p packed) mode() os.FileMode {
	if p.executable {
		return 0o755
	}
	return 0o644
}

// archive writes the program with its README and licences: a zip for Windows, a
// tar for the others.
func (r *release) archive(t target, binary []byte) error {
	name := fmt.Sprintf("robotmem_%s_%s_%s", r.version, t.goos, t.goarch)
	readme, err := os.ReadFile(filepath.Join(r.root, "README.md"))
	if err != nil {
		return err
	}
	papers, err := r.papers()
	if err != nil {
		return err
	}

	files := []packed{{name + "/" + t.program(), binary, true}, {name + "/README.md", readme, false}}
	for _, p := range papers {
		p.name = name + "/" + p.name
		files = append(files, p)
	}

	if t.goos == "windows" {
		data, err := zipped(files, r.when)
		if err != nil {
			return err
		}
		return r.write(name+".zip", data)
	}

	data, err := tarred(files, r.when)
	if err != nil {
		return err
	}

	return r.write(name+".tar.gz", data)
}

// tarred holds no owner, no name of a machine and no time but the commit's.
func tarred(files []packed, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, f := range files {
		err := w.WriteHeader(&tar.Header{Name: f.name, Mode: int64(f.mode()), Size: int64(len(f.data)), ModTime: when, Format: tar.FormatUSTAR})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err = errors.Join(w.Close(), z.Close())
	return b.Bytes(), err
}

// zipped is a zip with Unix modes: a bundle's program must stay executable.
func zipped(files []packed, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: when}
		h.SetMode(f.mode())
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}
