package archive_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// small is an archive with one of each.
func small(t testing.TB, zstd bool) []byte {
	t.Helper()
	var b bytes.Buffer
	w := archive.NewWriter(&b, zstd)
	at := "2026-03-01T14:05:00.000000000Z"
	data := "t,fx\n0,1\n"
	m := &archive.Memory{UID: "01a1feaa-a80c-7a1b-9c31-251ec8f2a842", Type: "perception", Collection: "lab", Content: "force at the wrist", Status: "active",
		Version: 1, Context: []byte(`{"n":1.50}`), ValidFrom: at, CreatedAt: at, UpdatedAt: at, ObservedAt: at, Extra: archive.Extra{Tool: "gripper"},
		Payload: &archive.Payload{SHA256: sumOf(data), Bytes: int64(len(data))}}
	for _, err := range []error{
		w.Begin(&archive.Manifest{CreatedAt: at, Counts: archive.Counts{Sessions: 1, Memories: 1, Payloads: 1, PayloadBytes: int64(len(data)), Links: 1}}),
		w.Session(&archive.Session{SessionID: "01a1feaa-a80c-7a1b-9c31-251ec8f2a843", Collection: "lab", Status: "active", CreatedAt: at, UpdatedAt: at}),
		w.Memory(m, &archive.Bytes{First: true, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(data)), nil }}),
		w.Link(&archive.Link{SessionID: "01a1feaa-a80c-7a1b-9c31-251ec8f2a843", Memory: m.UID, Used: true}),
		w.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// readAll reads an archive to its end and counts what it holds.
func readAll(r io.Reader) (n archive.Counts, err error) {
	a, err := archive.NewReader(r)
	if err != nil {
		return n, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	for {
		e, err := a.Next()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		n.Sessions += int64(len(e.Sessions))
		n.Memories += int64(len(e.Memories))
		n.Links += int64(len(e.Links))
		if e.Payload != nil {
			n.Payloads++
			got, err := io.Copy(io.Discard, e.Payload.Reader)
			if err != nil {
				return n, err
			}
			n.PayloadBytes += got
		}
	}
}

func TestReaderReadsWhatWriterWrites(t *testing.T) {
	for _, zstd := range []bool{false, true} {
		n, err := readAll(bytes.NewReader(small(t, zstd)))
		if want := (archive.Counts{Sessions: 1, Memories: 1, Payloads: 1, PayloadBytes: 9, Links: 1}); err != nil || n != want {
			t.Errorf("zstd %t: %+v (%v), want %+v", zstd, n, err, want)
		}
	}
}

// Every prefix of an archive is known to be cut off, compressed or not.
func TestEveryPrefixIsKnownToBeCut(t *testing.T) {
	for _, zstd := range []bool{false, true} {
		data := small(t, zstd)
		// The last blocks of a tar are zeros that say nothing.
		whole := len(data)
		if !zstd {
			whole = len(bytes.TrimRight(data, "\x00")) - 1
		}
		for n := 0; n < whole; n += rounds.Of(3, 1) {
			if _, err := readAll(bytes.NewReader(data[:n])); err == nil {
				t.Fatalf("zstd %t: %d of %d bytes pass for whole", zstd, n, len(data))
			} else if !errors.Is(err, archive.ErrDamaged) && !errors.Is(err, archive.ErrFormat) {
				t.Fatalf("zstd %t: %d bytes: %v is of no class", zstd, n, err)
			}
		}
	}
}

// FuzzArchive feeds bytes that may be an archive: it ends, with records or with
// an error that has a class, and never with more than was put in.
func FuzzArchive(f *testing.F) {
	f.Add(small(f, false))
	f.Add(small(f, true))
	f.Add([]byte("ustar"))
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := readAll(bytes.NewReader(data))
		if n.PayloadBytes > 64<<20 {
			t.Errorf("%d bytes became %d", len(data), n.PayloadBytes)
		}
		if err == nil {
			return
		}
		for _, class := range []error{archive.ErrDamaged, archive.ErrFormat, archive.ErrLimit, archive.ErrNewer} {
			if errors.Is(err, class) {
				return
			}
		}
		t.Errorf("%v is of no class", err)
	})
}
