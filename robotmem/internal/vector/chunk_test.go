package vector_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem/internal/stream"
	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

const format = "test 1\n"

func saved(t testing.TB, x *vector.Index) []byte {
	t.Helper()
	var b bytes.Buffer
	w := stream.NewWriter(&b, format)
	x.Write(w)
	must(t, w.Close())
	return b.Bytes()
}

func read(data []byte) (*vector.Index, error) {
	r := stream.NewReader(bytes.NewReader(data), format)
	x, err := vector.Read(r)
	if err == nil {
		err = r.Close()
	}
	return x, err
}

// sealed is a snapshot of other bytes with a matching checksum, so that the later checks are tested.
func sealed(t testing.TB, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := stream.NewWriter(&b, format)
	w.Bytes(body)
	must(t, w.Close())
	return b.Bytes()
}

func TestSavedCodesAnswerTheSame(t *testing.T) {
	oneGoroutine(t)
	for _, dims := range []int{5, 64, 100, 384} {
		const members = 9000
		s := makeSet(dims, members, offCentre(dims, isotropic(dims)))
		x := index(t, s)
		x.Remove(5000)
		x.SetRescore(321)
		data := saved(t, x)
		y, err := read(data)
		must(t, err)
		if !bytes.Equal(saved(t, y), data) {
			t.Errorf("%d dimensions: the codes are not written as they were read", dims)
		}
		if got, want := y.Len(), members-1; got != want || y.Rescore() != 321 || y.Dims() != dims {
			t.Errorf("%d dimensions: Len is %d, want %d; rescore %d", dims, got, want, y.Rescore())
		}
		for _, q := range questions(10, offCentre(dims, isotropic(dims))) {
			want, err := x.Search(vector.Query{Vector: q, N: 50}, s.load)
			must(t, err)
			got, err := y.Search(vector.Query{Vector: q, N: 50}, s.load)
			must(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%d dimensions (-want +got):\n%s", dims, diff)
			}
		}
	}
}

func TestASparseSetIsSmall(t *testing.T) {
	x := vector.New(16, nil)
	one := makeSet(16, 1, isotropic(16)).vector(1)
	must(t, x.Put(9000, one))
	must(t, x.Put(vector.MaxID, one))
	data := saved(t, x)
	if want := 120_000; len(data) > want { // a chunk takes 115 KB
		t.Errorf("%d bytes for two vectors, want less than %d", len(data), want)
	}
	if y, err := read(data); err != nil || !y.Contains(9000) || !y.Contains(vector.MaxID) {
		t.Errorf("read: %v", err)
	}
}

func meanOf(t testing.TB, s *set) []float32 {
	t.Helper()
	var mean vector.MeanBuilder
	for id := int64(1); id <= int64(min(s.len(), 5000)); id++ {
		must(t, mean.Add(s.vector(id)))
	}
	return mean.Mean()
}

func TestDamagedCodes(t *testing.T) {
	s := makeSet(100, 20, isotropic(100))
	x := vector.New(100, nil)
	for id := int64(1); id <= 20; id++ {
		must(t, x.Put(id, s.vector(id)))
	}
	good := saved(t, x)
	for at := 0; at < len(good); at += 1 + at/500*97 {
		bad := slices.Clone(good)
		bad[at] ^= 0x10
		if _, err := read(bad); err == nil {
			t.Errorf("byte %d of %d changed: no error", at, len(good))
		}
		if _, err := read(good[:at]); err == nil {
			t.Errorf("cut off after %d of %d bytes: no error", at, len(good))
		}
	}
	body := good[len(format) : len(good)-4]
	const head = 1 + 400 + 2 + 1 + 1 + 1 // dims, mean, rescore, parts, no centres, chunks
	length := binary.AppendUvarint(nil, 4096*(4+8*5))
	chunk := head + len(length)
	signs, lows, terms := chunk+4096*4, chunk+4096*(4+16), chunk+4096*(4+32) // of memory 1
	change := func(at int, b ...byte) []byte {
		data := slices.Clone(body)
		copy(data[at:], b)
		return data
	}
	if _, err := read(sealed(t, change(0))); err != nil {
		t.Fatal(err)
	}
	// A memory whose vector was replaced while the snapshot was written is in it twice.
	if y, err := read(sealed(t, change(chunk+4, 1))); err != nil || y.Len() != 19 || !y.Contains(1) || y.Contains(2) {
		t.Errorf("a memory in two slots: %v", err)
	}
	for name, data := range map[string][]byte{
		"empty":           nil,
		"dimensions":      change(0, 0),
		"many chunks":     slices.Concat(body[:head-1], binary.AppendUvarint(nil, 1<<19+1), body[head:]),
		"centre alone":    slices.Concat(body[:head-2], []byte{40}, make([]byte, 40), body[head-1:head-1], []byte{0}),
		"cut centre":      slices.Concat(body[:head-2], []byte{39}, make([]byte, 39), body[head-1:]),
		"short chunk":     slices.Concat(body[:head], []byte{7}, body[chunk:chunk+7]),
		"cut chunk":       slices.Concat(body[:head], []byte{0x80, 8}, body[chunk:chunk+1024]),
		"memory below 0":  change(chunk+3, 0x80),
		"longer":          slices.Concat(body, []byte{0}),
		"signs unused":    change(signs+15, 0x10),
		"lows unused":     change(lows+15, 0x10),
		"scale below 0":   change(terms+3, 0xbf),
		"shift no number": change(terms+4, 0, 0, 0xc0, 0x7f),
	} {
		if _, err := read(sealed(t, data)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzRead(f *testing.F) {
	s := makeSet(70, 3, isotropic(70))
	x := vector.New(70, nil)
	for id := int64(1); id <= 3; id++ {
		must(f, x.Put(id*64, s.vector(id)))
	}
	good := saved(f, x)
	good = good[len(format) : len(good)-4]
	f.Add(good)
	f.Add(good[:100])
	f.Fuzz(func(t *testing.T, data []byte) {
		y, err := read(sealed(t, data))
		if err != nil || y.Dims() != 70 {
			return
		}
		if again, err := read(saved(t, y)); err != nil || again.Len() != y.Len() {
			t.Fatalf("what was read and written cannot be read: %v", err)
		}
		_, err = y.Search(vector.Query{Vector: s.vector(1), N: 2}, func([]int64, func(int64, []byte) error) error { return nil })
		must(t, err)
	})
}
