package payload

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// These tests are inside the package because nobody else can choose the codec
// and the block of a file.

// contain returns the file of data.
func contain(t testing.TB, c Codec, block int, data []byte) []byte {
	t.Helper()
	l, err := c.parse()
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	length, err := writeContainer(&file, bytes.NewReader(data), l, l.blockOf(block), func() [32]byte { return sha256.Sum256(data) })
	if err != nil || length != int64(file.Len()) {
		t.Fatalf("%d bytes of %d, %v", length, file.Len(), err)
	}
	return file.Bytes()
}

// lay puts a file in the place of data.
func lay(t testing.TB, f Folder, data, file []byte) (sum [32]byte, path string) {
	t.Helper()
	sum = sha256.Sum256(data)
	path = f.locations(sum, Zstd)[0]
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, file, 0o600)); err != nil {
		t.Fatal(err)
	}
	return sum, path
}

// ramp is rows of slowly rising numbers with some noise.
func ramp(size int) []byte {
	r := rand.New(rand.NewPCG(7, 7))
	data := make([]byte, 0, size+4)
	for i := uint32(0); len(data) < size; i++ {
		data = binary.LittleEndian.AppendUint32(data, i*i+uint32(r.IntN(9)))
	}
	return data[:size]
}

var someCodecs = []Codec{Zstd, "delta.zstd:le2x1", "delta.planar.zstd:le4x6", "delta.planar.shuffle.zstd:be3x5+7", "planar.shuffle.zstd:le8x9"}

func TestContainersAroundBlockBorders(t *testing.T) {
	f := Folder{Dir: t.TempDir()}
	const block = 1 << 12
	for _, c := range someCodecs {
		for _, blocks := range []int{0, 1, 2, 3} {
			for _, more := range []int{-2, -1, 0, 1, 2, 500} {
				l, _ := c.parse()
				data := ramp(max(blocks*l.blockOf(block)+more, 0))
				checkReads(t, f, c, block, data)
			}
		}
		checkReads(t, f, c, blockSize, ramp(2*blockSize+12345))
	}
}

// checkReads reads data back whole and at every kind of place.
func checkReads(t *testing.T, f Folder, c Codec, block int, data []byte) {
	t.Helper()
	sum, _ := lay(t, f, data, contain(t, c, block, data))
	name := fmt.Sprintf("%s, %d bytes", c, len(data))
	r, err := f.Open(sum, c, int64(len(data)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, data) {
		t.Fatalf("%s: got %d bytes, %v", name, len(got), err)
	}
	for at := 0; at <= len(data); at += len(data)/7 + 1 {
		for _, n := range []int{0, 1, 100, block, 2*block + 1} {
			p := make([]byte, n)
			got, err := r.ReadAt(p, int64(at))
			want := data[at:min(at+n, len(data))]
			if end := at+n > len(data) || at == len(data); !bytes.Equal(p[:got], want) || end != (err == io.EOF) || !end && err != nil {
				t.Fatalf("%s: %d at %d: got %d, %v", name, n, at, got, err)
			}
		}
	}
}

// Every flipped bit of a file is noticed, wherever it is.
func TestContainersNoticeEveryBit(t *testing.T) {
	data := append(ramp(300), noiseBlock(300)...) // blocks of both kinds
	for _, c := range someCodecs {
		t.Run(string(c), func(t *testing.T) {
			t.Parallel()
			f := Folder{Dir: t.TempDir()}
			file := contain(t, c, 256, data)
			for at := range file {
				bad := bytes.Clone(file)
				bad[at] ^= 1 << (at % 8)
				sum, _ := lay(t, f, data, bad)
				if err := f.Verify(t.Context(), sum, c, int64(len(data)), nil); !errors.Is(err, ErrDamaged) {
					t.Fatalf("bit of byte %d of %d: got %v, want ErrDamaged", at, len(file), err)
				}
				checkNoWrongBytes(t, f, sum, c, data)
			}
			for length := 0; length < len(file); length += 7 {
				sum, _ := lay(t, f, data, file[:length])
				if err := f.Verify(t.Context(), sum, c, int64(len(data)), nil); !errors.Is(err, ErrDamaged) {
					t.Fatalf("%d bytes of %d: got %v, want ErrDamaged", length, len(file), err)
				}
			}
		})
	}
}

// checkNoWrongBytes reads here and there, where only a block's own checksum tells.
func checkNoWrongBytes(t *testing.T, f Folder, sum [32]byte, c Codec, data []byte) {
	t.Helper()
	r, err := f.Open(sum, c, int64(len(data)))
	if err != nil {
		return
	}
	defer r.Close()
	for at := 0; at < len(data); at += 250 {
		p := make([]byte, min(200, len(data)-at))
		n, err := r.ReadAt(p, int64(at))
		if !bytes.Equal(p[:n], data[at:at+n]) || err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatalf("%s: wrong bytes at %d, %v", c, at, err)
		}
	}
}

func noiseBlock(size int) []byte {
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{9}).Read(data)
	return data
}

// A whole file of another payload in the place of this one is noticed before
// anything is read of it.
func TestOpenNoticesAnotherPayload(t *testing.T) {
	f := Folder{Dir: t.TempDir()}
	data, other := ramp(1000), noiseBlock(1000)
	sum, _ := lay(t, f, data, contain(t, Zstd, 256, other))
	if _, err := f.Open(sum, Zstd, 1000); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v, want ErrDamaged", err)
	}
}

// Incompressible bytes cost a few bytes for each block.
func TestContainersDoNotGrow(t *testing.T) {
	data := noiseBlock(3 * blockSize)
	if file := contain(t, "delta.planar.zstd:le4x6", blockSize, data); len(file) > len(data)+200 {
		t.Errorf("%d bytes became %d", len(data), len(file))
	}
}

func FuzzContainer(f *testing.F) {
	data := append(ramp(600), noiseBlock(300)...)
	for _, c := range someCodecs {
		f.Add(contain(f, c, 256, data))
	}
	f.Add(contain(f, Zstd, 1<<20, data))
	f.Add(contain(f, Zstd, 1<<20, nil))
	folder := Folder{Dir: f.TempDir()}
	f.Fuzz(func(t *testing.T, file []byte) {
		sum, _ := lay(t, folder, data, file)
		r, err := folder.Open(sum, Zstd, int64(len(data)))
		if err == nil {
			defer r.Close()
			part := make([]byte, 100)
			n, partErr := r.ReadAt(part, 250)
			if partErr == nil && !bytes.Equal(part, data[250:350]) || partErr != nil && !errors.Is(partErr, ErrDamaged) {
				t.Fatalf("got %d wrong bytes, %v", n, partErr)
			}
			var got []byte
			if got, err = io.ReadAll(r); err == nil && !bytes.Equal(got, data) {
				t.Fatalf("got %d wrong bytes", len(got))
			}
		}
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatalf("got %v, want ErrDamaged", err)
		}
	})
}
