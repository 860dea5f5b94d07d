package payload_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

func TestReaderKeepsTheContractsOfItsInterfaces(t *testing.T) {
	for name, data := range map[string][]byte{"plain": noise(300 << 10), "compressed": bytes.Repeat(wrench(0.0625), 2)[:2<<20+5]} {
		f := newFolder(t)
		w := write(t, f, data, payload.Options{})
		if compressed := w.Codec != payload.Raw; compressed != (name == "compressed") {
			t.Fatalf("%s: the codec is %s", name, w.Codec)
		}
		r, err := f.Open(w.Sum, w.Codec, w.Size)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := iotest.TestReader(r, data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, bad := range []struct {
			offset int64
			whence int
		}{{-1, io.SeekStart}, {-w.Size - 1, io.SeekEnd}, {0, 3}} {
			if _, err := r.Seek(bad.offset, bad.whence); err == nil {
				t.Errorf("%s: sought %d from %d", name, bad.offset, bad.whence)
			}
		}
		if _, err := r.ReadAt(make([]byte, 1), -1); err == nil {
			t.Errorf("%s: read at -1", name)
		}
	}
}

func TestReadAtFromManyGoroutines(t *testing.T) {
	f, data := newFolder(t), bytes.Repeat(wrench(0.0625)[:1<<20], 3)
	w := write(t, f, data, payload.Options{})
	r, err := f.Open(w.Sum, w.Codec, w.Size)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var readers sync.WaitGroup
	for i := range 8 {
		readers.Go(func() {
			p := make([]byte, 1000)
			for at := i * 1000; at+len(p) < len(data); at += 300_007 {
				if _, err := r.ReadAt(p, int64(at)); err != nil || !bytes.Equal(p, data[at:at+len(p)]) {
					t.Errorf("at %d: wrong bytes, %v", at, err)
				}
			}
		})
	}
	readers.Wait()
}

func TestServeContent(t *testing.T) {
	data := bytes.Repeat(wrench(0.0625)[:1<<20], 10)
	f := newFolder(t)
	w := write(t, f, data, payload.Options{})
	if w.Codec == payload.Raw {
		t.Fatal("the payload is not compressed: the test tests nothing")
	}
	server := httptest.NewServer(http.HandlerFunc(func(res http.ResponseWriter, req *http.Request) {
		r, err := f.Open(w.Sum, w.Codec, w.Size)
		if err != nil {
			t.Error(err)
			return
		}
		defer r.Close()
		http.ServeContent(res, req, "trace", time.Unix(1, 0), r)
	}))
	defer server.Close()
	size := len(data)
	for _, c := range []struct {
		name, ask string
		status    int
		want      [][2]int // from, to
	}{
		{"all", "", 200, [][2]int{{0, size}}},
		{"the first byte", "bytes=0-0", 206, [][2]int{{0, 1}}},
		{"over a border", "bytes=1048000-1049000", 206, [][2]int{{1048000, 1049001}}},
		{"from the middle on", fmt.Sprintf("bytes=%d-", size/2), 206, [][2]int{{size / 2, size}}},
		{"the last ones", "bytes=-777", 206, [][2]int{{size - 777, size}}},
		{"several", "bytes=5-9,3000000-5000000,-1", 206, [][2]int{{5, 10}, {3000000, 5000001}, {size - 1, size}}},
		{"backwards", "bytes=9000000-9000009,0-9", 206, [][2]int{{9000000, 9000010}, {0, 10}}},
		{"past the end", fmt.Sprintf("bytes=%d-", size), 416, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			if c.ask != "" {
				req.Header.Set("Range", c.ask)
			}
			res, err := server.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if res.StatusCode != c.status {
				t.Fatalf("got status %d, want %d", res.StatusCode, c.status)
			}
			if c.want == nil {
				return
			}
			got, err := parts(res)
			if err != nil || len(got) != len(c.want) {
				t.Fatalf("got %d parts, %v, want %d", len(got), err, len(c.want))
			}
			for i, span := range c.want {
				if !bytes.Equal(got[i], data[span[0]:span[1]]) {
					t.Errorf("part %d of %d bytes is wrong", i, len(got[i]))
				}
			}
		})
	}
}

// parts are the ranges of an answer.
func parts(res *http.Response) ([][]byte, error) {
	kind, parameters, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/byteranges" {
		body, err := io.ReadAll(res.Body)
		return [][]byte{body}, err
	}
	var all [][]byte
	for reader := multipart.NewReader(res.Body, parameters["boundary"]); ; {
		part, err := reader.NextPart()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		all = append(all, body)
	}
}

// The last bytes of a damaged plain file are not given out by a reader that came
// from the beginning, and not by the same one when it comes again.
// A damaged database may claim any size.
func TestOpenRefusesAnotherSize(t *testing.T) {
	f := newFolder(t)
	for _, data := range [][]byte{noise(1000), bytes.Repeat([]byte("abc"), 1000)} {
		w := write(t, f, data, payload.Options{Inline: -1})
		for _, size := range []int64{-1, 0, w.Size - 1, w.Size + 1, math.MaxInt64, math.MinInt64} {
			if r, err := f.Open(w.Sum, w.Codec, size); r != nil || !errors.Is(err, payload.ErrDamaged) {
				t.Errorf("%s of %d bytes, opened as %d: got %v", w.Codec, w.Size, size, err)
			}
		}
	}
}

func TestAReaderChecksTheSumAsItGoes(t *testing.T) {
	f, data := newFolder(t), noise(1<<20)
	w := write(t, f, data, payload.Options{})
	bad := bytes.Clone(data)
	bad[0] ^= 1
	replace(t, pathOf(f, w), bad)
	r, err := f.Open(w.Sum, w.Codec, w.Size)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 2 {
		if got, err := io.ReadAll(r); !errors.Is(err, payload.ErrDamaged) || len(got) == len(data) {
			t.Errorf("read %d bytes, %v", len(got), err)
		}
	}
}

// More passes through than the heap may grow by.
func TestMemoryStaysFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("64 MiB take a while")
	}
	const limit = 32 << 20
	size := int64(rounds.Of(40, 64)) << 20
	f := newFolder(t)
	var peak uint64
	look := func() {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapInuse)
	}
	w, err := f.Write(t.Context(), &watched{r: &steps{left: uint64(size)}, look: look}, payload.Options{Expect: size})
	if err != nil {
		t.Fatal(err)
	}
	if w.Codec == payload.Raw || w.Stored > size/2 {
		t.Fatalf("stored as %s in %d bytes: the test tests less than it should", w.Codec, w.Stored)
	}
	t.Logf("%s, %d -> %d bytes, peak %d KiB", w.Codec, w.Size, w.Stored, peak>>10)
	r, err := f.Open(w.Sum, w.Codec, w.Size)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n, err := io.Copy(io.Discard, &watched{r: r, look: look}); n != size || err != nil {
		t.Errorf("read %d bytes, %v", n, err)
	}
	if peak > limit {
		t.Errorf("the heap grew to %d MiB, want at most %d", peak>>20, limit>>20)
	}
}

// watched looks at something every 16 MiB.
type watched struct {
	r    io.Reader
	look func()
	seen int
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if w.seen += n; w.seen >= 16<<20 {
		w.seen = 0
		w.look()
	}
	return n, err
}
