package archive_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/robotmem/robotmem-go/robotmem/archive"
)

// tarOf writes a tar of the headers, each with its data. A size that a header names and the data
// does not have is left out.
func tarOf(t *testing.T, entries ...any) []byte {
	t.Helper()
	var b bytes.Buffer
	for i := 0; i < len(entries); i += 2 {
		h, data := entries[i].(*tar.Header), entries[i+1].(string)
		var one bytes.Buffer
		w := tar.NewWriter(&one)
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		b.Write(one.Bytes())
		b.WriteString(data)
		b.Write(make([]byte, -len(data)&511))
	}
	b.Write(make([]byte, 1024))
	// The writer refuses these keys.
	return bytes.ReplaceAll(b.Bytes(), []byte("XXX.sparse."), []byte("GNU.sparse."))
}

func zip(t *testing.T, data []byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(data, nil)
}

func TestReaderRefusesTheHostile(t *testing.T) {
	manifest := func(payloads, size int64) (*tar.Header, string) {
		text := fmt.Sprintf(`{"format":"robotmem-archive","version":1,"created_at":"2026-03-01T14:05:00Z","counts":{"payloads":%d,"payload_bytes":%d},"payloads":%d,"payload_bytes":%d}`, payloads, size, payloads, size)
		return &tar.Header{Typeflag: tar.TypeReg, Name: "manifest.json", Mode: 0o600, Size: int64(len(text))}, text
	}
	h, text := manifest(1, 1<<40)
	payload := "payloads/aa/" + strings.Repeat("a", 64)
	entry := func(h *tar.Header) *tar.Header { h.Mode = 0o600; return h }
	special := func(kind byte, name, target string) []byte {
		return tarOf(t, h, text, entry(&tar.Header{Typeflag: kind, Name: name, Linkname: target}), "")
	}
	file := func(name string, size int64, data string) []byte {
		return tarOf(t, h, text, entry(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size}), data)
	}
	const hole = 1 << 20
	sparse := func(name string) []byte {
		return tarOf(t, h, text, entry(&tar.Header{Typeflag: tar.TypeReg, Name: "x", Size: 512, Format: tar.FormatPAX, PAXRecords: map[string]string{
			"XXX.sparse.major": "1", "XXX.sparse.minor": "0", "XXX.sparse.name": name, "XXX.sparse.realsize": fmt.Sprint(hole),
		}}), "0\n"+strings.Repeat("\x00", 510))
	}
	window := append([]byte("\x28\xb5\x2f\xfd\x00\xa8"), 0x01|8<<3, 0, 0) // a window of 2 GiB, one raw block
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"a symbolic link":             {special(tar.TypeSymlink, payload, "/etc/passwd"), "is a link, a folder or a device"},
		"a symbolic link to a folder": {special(tar.TypeSymlink, "payloads", "/tmp"), "is a link, a folder or a device"},
		"a hard link":                 {special(tar.TypeLink, payload, "manifest.json"), "is a link, a folder or a device"},
		"a character device":          {special(tar.TypeChar, payload, ""), "is a link, a folder or a device"},
		"a block device":              {special(tar.TypeBlock, payload, ""), "is a link, a folder or a device"},
		"a pipe":                      {special(tar.TypeFifo, payload, ""), "is a link, a folder or a device"},
		"a folder":                    {special(tar.TypeDir, "payloads/", ""), "is a link, a folder or a device"},
		"a path upwards":              {file("../outside", 1, "x"), "no name of a part"},
		"a path upwards within":       {file("payloads/aa/../../../outside", 1, "x"), "no name of a part"},
		"an absolute path":            {file("/tmp/outside", 1, "x"), "no name of a part"},
		"another system's path":       {file(`payloads\aa\..\..\outside`, 1, "x"), "no name of a part"},
		"a name of another folder":    {file("payloads/bb/"+strings.Repeat("a", 64), 1, "x"), "no name of a part"},
		"a payload without its bytes": {file(payload, 1<<20, "x"), "cut off"},
		"a payload of a terabyte":     {file(payload, 1<<40, "x"), "the limit of one is"},
		"a part of a terabyte":        {file("memories/000001-"+strings.Repeat("a", 64)+".jsonl", 1<<40, "x"), "over a limit"},
		"a part without its bytes":    {file("memories/000001-"+strings.Repeat("a", 64)+".jsonl", 60<<20, "x"), "cut off"},
		"a payload of holes":          {sparse(payload), "has holes"},
		"a manifest of holes":         {sparse("manifest.json"), "has holes"},
		"a window of 2 GiB":           {append(window, 'x'), "over a limit"},
		"a manifest that unpacks":     {zip(t, tarOf(t, &tar.Header{Typeflag: tar.TypeReg, Name: "manifest.json", Size: 8 << 20}, strings.Repeat(" ", 8<<20))), "over a limit"},
		"nothing but zeros":           {zip(t, make([]byte, 64<<20)), "no manifest.json"},
		"a zstd of a zstd":            {zip(t, zip(t, file(payload, 1, "x"))), "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := readAll(bytes.NewReader(test.data))
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if !errors.Is(err, archive.ErrDamaged) && !errors.Is(err, archive.ErrFormat) && !errors.Is(err, archive.ErrLimit) {
				t.Errorf("%v has no class", err)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > 16<<20 {
				t.Errorf("allocated %d bytes", got)
			}
		})
	}
}
