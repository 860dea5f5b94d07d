package payload_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/perception/payload"
)

func newFolder(t *testing.T) payload.Folder {
	t.Helper()
	return payload.Folder{Dir: filepath.Join(t.TempDir(), "memory.db.payloads")}
}

// noise does not compress.
func noise(size int) []byte {
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data)
	return data
}

// always writes even small payloads to the folder.
var always = payload.Options{Inline: -1}

func write(t *testing.T, f payload.Folder, data []byte, o payload.Options) *payload.Written {
	t.Helper()
	w, err := f.Write(t.Context(), bytes.NewReader(data), o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func read(f payload.Folder, w *payload.Written) ([]byte, error) {
	if w.Inline != nil {
		return w.Codec.Decode(w.Inline, w.Size)
	}
	r, err := f.Open(w.Sum, w.Codec, w.Size)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// pathOf is where the payload lies.
func pathOf(f payload.Folder, w *payload.Written) string {
	name := hex.EncodeToString(w.Sum[:])
	if w.Codec != payload.Raw {
		name += ".z"
	}
	return filepath.Join(f.Dir, name[:2], name)
}

func replace(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// holds checks what lies in the folder.
func holds(t *testing.T, f payload.Folder, payloads int, wantStray ...string) {
	t.Helper()
	sums, stray, err := f.List()
	if err != nil || len(sums) != payloads || !slices.Equal(stray, wantStray) {
		t.Errorf("got %d payloads, stray %v, %v; want %d, %v", len(sums), stray, err, payloads, wantStray)
	}
}

func TestFolderKeepsPayloads(t *testing.T) {
	text := bytes.Repeat([]byte("force 12 N\n"), 300_000)
	trace := bytes.Repeat(wrench(0), 3)[:3<<20]
	for _, c := range []struct {
		name    string
		data    []byte
		options payload.Options
		codec   payload.Codec
		inline  bool
	}{
		{"empty", nil, payload.Options{}, payload.Raw, true},
		{"small", []byte("force"), payload.Options{}, payload.Raw, true},
		{"small text", text[:10_000], payload.Options{}, payload.Zstd, true},
		{"as large as inline allows", noise(payload.DefaultInline), payload.Options{}, payload.Raw, true},
		{"one byte larger", noise(payload.DefaultInline + 1), payload.Options{}, payload.Raw, false},
		{"small, written all the same", []byte("force"), always, payload.Raw, false},
		{"empty, written all the same", nil, always, payload.Raw, false},
		{"large text", text, payload.Options{}, payload.Zstd, false},
		{"large noise", noise(3 << 20), payload.Options{}, payload.Raw, false},
		{"our own magic", append([]byte("\x89RMP\r\n\x1a\n"), noise(1<<20)...), payload.Options{}, payload.Raw, false},
		{"numbers", trace, payload.Options{}, "delta.planar.shuffle.zstd:le2x12", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFolder(t)
			w := write(t, f, c.data, c.options)
			if w.Sum != sha256.Sum256(c.data) || w.Size != int64(len(c.data)) || w.Codec != c.codec {
				t.Errorf("got %x, %d, %s; want %d, %s", w.Sum, w.Size, w.Codec, len(c.data), c.codec)
			}
			if (w.Inline != nil) != c.inline || w.New == c.inline {
				t.Errorf("inline is %t, new %t; want %t, %t", w.Inline != nil, w.New, c.inline, !c.inline)
			}
			if !bytes.Equal(w.Head, c.data[:len(w.Head)]) || len(w.Head) < min(len(c.data), 256<<10) {
				t.Errorf("the head of %d bytes is wrong", len(w.Head))
			}
			if got, err := read(f, w); err != nil || !bytes.Equal(got, c.data) {
				t.Errorf("got %d bytes, %v, want %d", len(got), err, len(c.data))
			}
			if c.inline {
				holds(t, f, 0)
				return
			}
			holds(t, f, 1)
			if err := f.Verify(t.Context(), w.Sum, w.Codec, w.Size, nil); err != nil {
				t.Error(err)
			}
			checkModes(t, f, w)
		})
	}
}

func checkModes(t *testing.T, f payload.Folder, w *payload.Written) {
	t.Helper()
	if runtime.GOOS == "windows" {
		return
	}
	path := pathOf(f, w)
	for path, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700, f.Dir: 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: got %v, want %v", path, info, want)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Size() != w.Stored {
		t.Errorf("stored is %d, the file has %v", w.Stored, info)
	}
}

func TestHeadLimit(t *testing.T) {
	data := noise(3 << 20)
	for limit, want := range map[int64]int{0: 256 << 10, 1 << 20: 1 << 20, 4 << 20: 3 << 20} {
		if w := write(t, newFolder(t), data, payload.Options{HeadLimit: limit}); len(w.Head) != want || !bytes.Equal(w.Head, data[:want]) {
			t.Errorf("a limit of %d: got %d bytes, want %d", limit, len(w.Head), want)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	broken := errors.New("the line broke")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	const size = 2 << 20
	for _, c := range []struct {
		name    string
		ctx     context.Context
		after   error // of the reader
		options payload.Options
		want    error
	}{
		{"more than the limit", nil, nil, payload.Options{Limit: size - 1}, payload.ErrTooLarge},
		{"much more than the limit", nil, nil, payload.Options{Limit: 10}, payload.ErrTooLarge},
		{"a declaration beyond the limit", nil, broken, payload.Options{Limit: size, Expect: size + 1}, payload.ErrTooLarge},
		{"more than declared", nil, nil, payload.Options{Expect: size - 1}, payload.ErrSize},
		{"less than declared", nil, nil, payload.Options{Expect: size + 1}, payload.ErrSize},
		{"a reader that fails", nil, broken, payload.Options{}, broken},
		{"a reader that is cut off", nil, io.ErrUnexpectedEOF, payload.Options{}, io.ErrUnexpectedEOF},
		{"a context that ended", cancelled, nil, payload.Options{}, context.Canceled},
	} {
		for kind, data := range map[string][]byte{"noise": noise(size), "text": make([]byte, size), "small": make([]byte, 100)} {
			if kind == "small" && (c.options.Expect == size-1 || c.options.Limit == size-1) {
				continue // it is not too long
			}
			f := newFolder(t)
			r := io.Reader(bytes.NewReader(data))
			if c.after != nil {
				r = io.MultiReader(r, iotest.ErrReader(c.after))
			}
			ctx := c.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			if w, err := f.Write(ctx, r, c.options); !errors.Is(err, c.want) || w != nil {
				t.Errorf("%s, %s: got %v, want %v", c.name, kind, err, c.want)
			}
			holds(t, f, 0)
		}
	}
}

// At the limit, and as declared, a payload is taken.
func TestWriteTakesWhatJustFits(t *testing.T) {
	for _, size := range []int{1, 1000, payload.DefaultInline, payload.DefaultInline + 1, 2 << 20} {
		w := write(t, newFolder(t), noise(size), payload.Options{Limit: int64(size), Expect: int64(size)})
		if w.Size != int64(size) {
			t.Errorf("got %d bytes, want %d", w.Size, size)
		}
	}
}

// A reader may end in any of the ways that io.Reader allows.
func TestWriteFromAwkwardReaders(t *testing.T) {
	data := append(walk(1<<20, 1), noise(77)...)
	for name, r := range map[string]io.Reader{
		"data with the end": iotest.DataErrReader(bytes.NewReader(data)),
		"half of each read": iotest.HalfReader(bytes.NewReader(data)),
		"a byte at a time":  iotest.OneByteReader(bytes.NewReader(data)),
	} {
		w, err := newFolder(t).Write(t.Context(), r, payload.Options{})
		if err != nil || w.Sum != sha256.Sum256(data) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// plain puts a file of the payload into the folder, unchanged, as another version may have stored it.
func plain(t *testing.T, f payload.Folder, sum [32]byte, data []byte) string {
	t.Helper()
	name := fmt.Sprintf("%x", sum)
	path := filepath.Join(f.Dir, name[:2], name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheSameBytesAreStoredOnce(t *testing.T) {
	f, data := newFolder(t), wrench(0)
	path := plain(t, f, sha256.Sum256(data), data)
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	// The codec of the bytes is another one; the file that is there counts.
	w := write(t, f, data, payload.Options{})
	if w.New || w.Codec != payload.Raw || w.Stored != int64(len(data)) {
		t.Errorf("got %t, %s, %d; want the plain file", w.New, w.Codec, w.Stored)
	}
	after, err := os.Stat(path)
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the file was written again (%v)", err)
	}
	holds(t, f, 1)
}

func TestDamageIsNoticedAndMended(t *testing.T) {
	for name, data := range map[string][]byte{"plain": noise(1 << 20), "compressed": bytes.Repeat([]byte("force 12 N\n"), 100_000)} {
		f := newFolder(t)
		w := write(t, f, data, payload.Options{})
		path := pathOf(f, w)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		bad := bytes.Clone(whole)
		bad[len(bad)/2] ^= 1
		for what, file := range map[string][]byte{"a changed bit": bad, "a short file": whole[:len(whole)-1], "a long file": append(bytes.Clone(whole), 0), "an empty file": nil} {
			replace(t, path, file)
			if err := f.Verify(t.Context(), w.Sum, w.Codec, w.Size, nil); !errors.Is(err, payload.ErrDamaged) {
				t.Errorf("%s, %s: got %v, want ErrDamaged", name, what, err)
			}
			if got, err := read(f, w); !errors.Is(err, payload.ErrDamaged) || len(got) == len(data) {
				t.Errorf("%s, %s: read %d bytes, %v", name, what, len(got), err)
			}
			if again := write(t, f, data, payload.Options{}); !again.New {
				t.Errorf("%s, %s: the damaged file was kept", name, what)
			}
			if got, err := read(f, w); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s, %s: after another write: %d bytes, %v", name, what, len(got), err)
			}
		}
	}
}

// A damaged file goes when the payload is written again under another codec.
func TestADamagedFileOfAnotherCodecGoes(t *testing.T) {
	f, data := newFolder(t), wrench(0)
	plain(t, f, sha256.Sum256(data), []byte("short"))
	coded := write(t, f, data, payload.Options{})
	if coded.Codec == payload.Raw {
		t.Fatal("the codec is raw: the test tests nothing")
	}
	// Whoever recorded the first codec reads it all the same.
	recorded := *coded
	recorded.Codec = payload.Raw
	if got, err := read(f, &recorded); err != nil || !bytes.Equal(got, data) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	holds(t, f, 1)
}

func TestMissing(t *testing.T) {
	f := newFolder(t)
	for _, c := range []payload.Codec{payload.Raw, payload.Zstd} {
		if _, err := f.Open(sha256.Sum256(nil), c, 0); !errors.Is(err, payload.ErrMissing) {
			t.Errorf("%s: got %v, want ErrMissing", c, err)
		}
		if err := f.Verify(t.Context(), sha256.Sum256(nil), c, 0, nil); !errors.Is(err, payload.ErrMissing) {
			t.Errorf("%s: got %v, want ErrMissing", c, err)
		}
	}
}

func TestRemove(t *testing.T) {
	f := newFolder(t)
	for _, data := range [][]byte{noise(1 << 20), make([]byte, 1<<20)} {
		w := write(t, f, data, payload.Options{})
		for range 2 {
			if err := f.Remove(w.Sum); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := f.Open(w.Sum, w.Codec, w.Size); !errors.Is(err, payload.ErrMissing) {
			t.Errorf("%s: got %v, want ErrMissing", w.Codec, err)
		}
	}
}

func TestListAndSweep(t *testing.T) {
	f := newFolder(t)
	if removed, err := f.SweepStrays(time.Now()); len(removed) != 0 || err != nil {
		t.Errorf("no folder: %v, %v", removed, err)
	}
	holds(t, f, 0)
	var want [][32]byte
	for _, data := range []string{"a", "b", "c"} {
		want = append(want, write(t, f, []byte(data), always).Sum)
	}
	coded := write(t, f, make([]byte, 1000), always)
	want = append(want, coded.Sum)
	slices.SortFunc(want, func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) })
	name := hex.EncodeToString(coded.Sum[:])
	replace(t, filepath.Join(f.Dir, name[:2], name), make([]byte, 1000)) // under both names
	if err := os.Mkdir(filepath.Join(f.Dir, "zz"), 0o700); err != nil {
		t.Fatal(err)
	}
	wantStray := []string{name[:2] + "/" + name + ".gz", name[:2] + "/" + name + "00", name[:2] + "/tmp-1", "note", "tmp-2", "tmp-3", "zz/" + name}
	for _, stray := range wantStray {
		replace(t, filepath.Join(f.Dir, filepath.FromSlash(stray)), []byte("x"))
	}
	sums, stray, err := f.List()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sums, want); diff != "" {
		t.Errorf("sums -got +want:\n%s", diff)
	}
	slices.Sort(stray)
	slices.Sort(wantStray)
	if diff := cmp.Diff(stray, wantStray); diff != "" {
		t.Errorf("stray -got +want:\n%s", diff)
	}
	old := time.Now().Add(-2 * time.Hour)
	for _, stray := range []string{name[:2] + "/tmp-1", "tmp-2", "note"} {
		if err := os.Chtimes(filepath.Join(f.Dir, filepath.FromSlash(stray)), old, old); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := f.SweepStrays(time.Now().Add(-time.Hour))
	if diff := cmp.Diff(removed, []string{name[:2] + "/tmp-1", "tmp-2"}); diff != "" || err != nil {
		t.Errorf("%v; removed -got +want:\n%s", err, diff)
	}
}

// A reader beside many writers of one payload sees all of it or none.
func TestWriteIsNeverHalfVisible(t *testing.T) {
	for _, data := range [][]byte{noise(1 << 20), wrench(0)} {
		f := newFolder(t)
		codec := payload.Choose(data)
		var writers sync.WaitGroup
		for range 8 {
			writers.Go(func() {
				if _, err := f.Write(t.Context(), bytes.NewReader(data), payload.Options{}); err != nil {
					t.Error(err)
				}
			})
		}
		done := make(chan struct{})
		go func() { writers.Wait(); close(done) }()
		for running := true; running; {
			select {
			case <-done:
				running = false
			default:
			}
			err := f.Verify(t.Context(), sha256.Sum256(data), codec, int64(len(data)), nil)
			if err != nil && !errors.Is(err, payload.ErrMissing) {
				t.Fatal(err)
			}
		}
		holds(t, f, 1)
	}
}

func TestWriteLeavesNothingBehindWhenItCannotRename(t *testing.T) {
	f, data := newFolder(t), []byte("force")
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:])
	// A folder in the place of the payload makes the rename fail.
	if err := os.MkdirAll(filepath.Join(f.Dir, name[:2], name, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(t.Context(), bytes.NewReader(data), always); !errors.Is(err, payload.ErrDisk) {
		t.Fatalf("got %v, want ErrDisk", err)
	}
	holds(t, f, 0, name[:2]+"/"+name)
}
