package payload_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/perception/payload"
)

// masked is a cipher for tests. It hides bytes and names and adds a byte at the beginning.
type masked byte

func (m masked) Name(sum [32]byte) [32]byte {
	for i := range sum {
		sum[i] ^= byte(m)
	}
	return sum
}

func (m masked) Sum(name [32]byte) [32]byte { return m.Name(name) }

func (m masked) Seal(w io.Writer) (io.WriteCloser, error) {
	_, err := w.Write([]byte{byte(m)})
	return &masking{w, byte(m)}, err
}

type masking struct {
	io.Writer

	mask byte
}

func (m *masking) Write(p []byte) (int, error) {
	out := bytes.Clone(p)
	for i := range out {
		out[i] ^= m.mask
	}
	return m.Writer.Write(out)
}

func (*masking) Close() error { return nil }

func (m masked) Open(r io.ReaderAt, length int64) (io.ReaderAt, int64, error) {
	head := make([]byte, 1)
	if _, err := r.ReadAt(head, 0); err != nil || head[0] != byte(m) {
		return nil, 0, errors.New("another mask")
	}
	return unmasking{r, byte(m)}, length - 1, nil
}

type unmasking struct {
	r    io.ReaderAt
	mask byte
}

func (u unmasking) ReadAt(p []byte, at int64) (int, error) {
	n, err := u.r.ReadAt(p, at+1)
	for i := range p[:n] {
		p[i] ^= u.mask
	}
	return n, err
}

// secrets are two payloads, one that cannot be compressed and one that can, with a text that must not be in a file.
func secrets(t *testing.T) [][]byte {
	t.Helper()
	noise := make([]byte, 600_000)
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	return [][]byte{append([]byte("the secret, incompressible"), noise...), bytes.Repeat([]byte("the secret, again. "), 40_000)}
}

func filesIn(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestACipherHidesNamesAndBytes(t *testing.T) {
	t.Parallel()
	f := payload.Folder{Dir: t.TempDir(), Cipher: masked(0x5a)}
	ctx := t.Context()
	bodies := secrets(t)
	var written []*payload.Written
	for _, body := range bodies {
		w, err := f.Write(ctx, bytes.NewReader(body), payload.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if again, err := f.Write(ctx, bytes.NewReader(body), payload.Options{}); err != nil || again.New {
			t.Fatalf("the same bytes again: new %v, %v", again.New, err)
		}
		written = append(written, w)
	}
	if written[0].Codec != payload.Raw || written[1].Codec == payload.Raw {
		t.Fatalf("codecs %q and %q: one should be compressed", written[0].Codec, written[1].Codec)
	}

	names := filesIn(t, f.Dir)
	if len(names) != len(bodies) {
		t.Fatalf("files %q", names)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte("the secret")) {
			t.Errorf("%s holds the payload in clear", name)
		}
	}

	for i, w := range written {
		r, err := f.Open(w.Sum, w.Codec, w.Size)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil || !bytes.Equal(got, bodies[i]) {
			t.Errorf("payload %d comes back as %d bytes, %v", i, len(got), err)
		}
		if w.Sum != sha256.Sum256(bodies[i]) {
			t.Error("the sum is not that of the payload")
		}
	}

	sums, stray, err := f.List()
	if err != nil || len(sums) != 2 || len(stray) > 0 {
		t.Errorf("listed %d, stray %q, %v", len(sums), stray, err)
	}
	// Without the cipher they are foreign files, which nothing removes.
	sums, stray, err = payload.Folder{Dir: f.Dir}.List()
	if err != nil || len(sums) != 0 || len(stray) != 2 {
		t.Errorf("without the cipher: listed %d, stray %q, %v", len(sums), stray, err)
	}
	other := payload.Folder{Dir: f.Dir, Cipher: masked(0x11)}
	if err := other.Verify(ctx, written[0].Sum, payload.Raw, written[0].Size, nil); !errors.Is(err, payload.ErrMissing) {
		t.Errorf("another cipher answers %v", err)
	}

	if err := f.Remove(written[0].Sum); err != nil || len(filesIn(t, f.Dir)) != 1 {
		t.Errorf("after the removal of one: %q, %v", filesIn(t, f.Dir), err)
	}
}

func TestConvertEncryptsAndDecrypts(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	plain := payload.Folder{Dir: t.TempDir()}
	sealed := payload.Folder{Dir: plain.Dir, Cipher: masked(0x5a)}
	var written []*payload.Written
	for _, body := range secrets(t) {
		w, err := plain.Write(ctx, bytes.NewReader(body), payload.Options{})
		if err != nil {
			t.Fatal(err)
		}
		written = append(written, w)
	}
	check := func(what string, f payload.Folder, encrypted bool) {
		t.Helper()
		names := filesIn(t, f.Dir)
		if len(names) != len(written) {
			t.Errorf("%s: files %q", what, names)
		}
		for _, name := range names {
			if strings.HasSuffix(name, ".age") != encrypted {
				t.Errorf("%s: %s", what, name)
			}
		}
		for _, w := range written {
			if err := f.Verify(ctx, w.Sum, w.Codec, w.Size, nil); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
	}

	// What is not encrypted yet is read meanwhile.
	check("before", sealed, false)
	if n, err := sealed.InClear(); n != 2 || err != nil {
		t.Errorf("%d in clear, %v", n, err)
	}
	for range 2 { // the second time there is nothing to do
		if err := sealed.Convert(ctx, sealed, func() {}); err != nil {
			t.Fatal(err)
		}
		check("encrypted", sealed, true)
	}
	if n, err := sealed.InClear(); n != 0 || err != nil {
		t.Errorf("%d in clear, %v", n, err)
	}
	if err := sealed.Convert(ctx, plain, func() {}); err != nil {
		t.Fatal(err)
	}
	check("decrypted", plain, false)
}

// A payload that is damaged is not converted, and the others are.
func TestConvertLeavesADamagedPayload(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	plain := payload.Folder{Dir: t.TempDir()}
	sealed := payload.Folder{Dir: plain.Dir, Cipher: masked(0x5a)}
	for _, body := range secrets(t) {
		if _, err := plain.Write(ctx, bytes.NewReader(body), payload.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range filesIn(t, plain.Dir) {
		if strings.HasSuffix(name, ".z") {
			if err := os.Truncate(name, 100); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := sealed.Convert(ctx, sealed, func() {}); !errors.Is(err, payload.ErrDamaged) {
		t.Errorf("it answers %v", err)
	}
	encrypted := 0
	for _, name := range filesIn(t, plain.Dir) {
		if strings.HasSuffix(name, ".age") {
			encrypted++
		}
	}
	if encrypted != 1 {
		t.Errorf("%d files are encrypted, of one whole and one damaged", encrypted)
	}
}

// A backup of an encrypted folder never gets a file in clear.
func TestSharingEncrypts(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	plain := payload.Folder{Dir: t.TempDir()}
	w, err := plain.Write(ctx, bytes.NewReader(secrets(t)[0]), payload.Options{})
	if err != nil {
		t.Fatal(err)
	}
	from, to := payload.Folder{Dir: plain.Dir, Cipher: masked(0x5a)}, payload.Folder{Dir: t.TempDir(), Cipher: masked(0x5a)}
	if linked, err := from.Share(ctx, w.Sum, w.Codec, to); linked || err != nil {
		t.Fatalf("linked %v, %v", linked, err)
	}
	if names := filesIn(t, to.Dir); len(names) != 1 || !strings.HasSuffix(names[0], ".age") {
		t.Errorf("files %q", names)
	}
	if err := to.Verify(ctx, w.Sum, w.Codec, w.Size, nil); err != nil {
		t.Error(err)
	}
}
