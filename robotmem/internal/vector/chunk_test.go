package vector_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

func TestSavedChunksAnswerTheSame(t *testing.T) {
	oneGoroutine(t)
	for _, dims := range []int{5, 64, 100, 384} {
		const members = 9000
		s := makeSet(dims, members, offCentre(dims, isotropic(dims)))
		x := index(t, s)
		x.Remove(5000)
		mean := meanOf(t, s)
		y := vector.New(dims, mean)
		must(t, y.Put(3, s.vector(9))) // replaced with its chunk
		for i := range x.Chunks() {
			data := x.MarshalChunk(i)
			must(t, y.UnmarshalChunk(i, data))
			again := y.MarshalChunk(i)
			if !bytes.Equal(again, data) {
				t.Errorf("%d dimensions: chunk %d is not written as it was read", dims, i)
			}
		}
		if got, want := y.Len(), members-1; got != want {
			t.Errorf("%d dimensions: Len is %d, want %d", dims, got, want)
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

func TestUnusedChunks(t *testing.T) {
	x := vector.New(16, nil)
	must(t, x.Put(9000, makeSet(16, 1, isotropic(16)).vector(1)))
	if got := x.Chunks(); got != 3 {
		t.Errorf("%d chunks, want 3", got)
	}
	for _, i := range []int{-1, 1, 99} {
		if data := x.MarshalChunk(i); data != nil {
			t.Errorf("chunk %d was never used and has %d bytes", i, len(data))
		}
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

// sealed gives data a matching checksum, so that the later checks are tested.
func sealed(data []byte) []byte {
	end := max(len(data)-4, 0)
	sum := crc32.Checksum(data[:end], crc32.MakeTable(crc32.Castagnoli))
	return binary.LittleEndian.AppendUint32(slices.Clone(data[:end]), sum)
}

func TestDamagedChunks(t *testing.T) {
	s := makeSet(100, 20, isotropic(100))
	x := vector.New(100, nil)
	for id := int64(1); id <= 20; id++ {
		must(t, x.Put(4095+id, s.vector(id)))
	}
	good := x.MarshalChunk(1)
	change := func(at int, b ...byte) []byte {
		data := slices.Clone(good)
		copy(data[at:], b)
		return data
	}
	const codes, lows, terms = 532, 532 + 20*16, 532 + 20*32
	for name, test := range map[string]struct {
		into *vector.Index
		i    int
		data []byte
		want string
	}{
		"empty":         {x, 1, nil, "not a chunk"},
		"cut":           {x, 1, good[:len(good)-1], "checksum"},
		"a bit flipped": {x, 1, change(600, good[600]^4), "checksum"},
		"magic":         {x, 1, sealed(change(0, 'R')), "not a chunk"},
		"version":       {x, 1, sealed(change(4, 1)), "version 1, want 2"},
		"other chunk":   {x, 2, good, "is chunk 1"},
		"below":         {x, -1, good, "chunk -1, want 0 to 524287"},
		"above":         {x, 1 << 19, good, "want 0 to 524287"},
		"other mean":    {vector.New(100, s.vector(1)), 1, good, "another mean"},
		"other dims":    {vector.New(101, nil), 1, good, "other dimensions"},
		"count":         {x, 1, sealed(change(16, 19)), "bytes for 19 vectors"},
		"count huge":    {x, 1, sealed(change(16, 255, 255, 255, 255)), "vectors"},
		"presence":      {x, 1, sealed(change(20, 1)), "ids for 20 vectors"},
		"longer":        {x, 1, sealed(append(slices.Clone(good), 0)), "bytes for 20 vectors"},
		"signs unused":  {x, 1, sealed(change(codes+15, 1)), "codes that no vector has"},
		"lows unused":   {x, 1, sealed(change(lows+15, 1)), "codes that no vector has"},
		"scale below 0": {x, 1, sealed(change(terms+3, 0xbf)), "codes that no vector has"},
		"shift no number": {x, 1, sealed(change(terms+4, 0, 0, 0xc0, 0x7f)),
			"codes that no vector has"},
	} {
		err := test.into.UnmarshalChunk(test.i, test.data)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	if got := x.Len(); got != 20 {
		t.Errorf("Len is %d after what was refused, want 20", got)
	}
}

// Id 0 is no memory, so a chunk with it is refused.
func TestChunkWithIDZero(t *testing.T) {
	x := vector.New(8, nil)
	must(t, x.Put(1, makeSet(8, 1, isotropic(8)).vector(1)))
	data := x.MarshalChunk(0)
	data[20] = 1
	if err := x.UnmarshalChunk(0, sealed(data)); err == nil {
		t.Error("a chunk with memory 0 was taken")
	}
}

func FuzzUnmarshalChunk(f *testing.F) {
	s := makeSet(70, 3, isotropic(70))
	x := vector.New(70, nil)
	for id := int64(1); id <= 3; id++ {
		must(f, x.Put(id*64, s.vector(id)))
	}
	good := x.MarshalChunk(0)
	f.Add(good)
	f.Add(good[:100])
	f.Add([]byte("rmvc"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, data := range [][]byte{data, sealed(data)} {
			y := vector.New(70, nil)
			if err := y.UnmarshalChunk(0, data); err != nil {
				if y.Len() != 0 {
					t.Fatalf("Len is %d after %v", y.Len(), err)
				}
				continue
			}
			if again := y.MarshalChunk(0); !bytes.Equal(again, data) {
				t.Fatalf("%d bytes were taken and written as %d others", len(data), len(again))
			}
			_, err := y.Search(vector.Query{Vector: s.vector(1), N: 2}, func([]int64, func(int64, []byte) error) error { return nil })
			must(t, err)
		}
	})
}
