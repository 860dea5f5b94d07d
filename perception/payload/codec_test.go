package payload_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/robotmem/robotmem-go/perception/payload"
)

// codecs are all kinds of them, for arrays of that shape.
func codecs(order string, element, columns, lead int) []payload.Codec {
	all := []payload.Codec{payload.Raw, payload.Zstd}
	for _, steps := range []string{"delta", "planar", "shuffle", "delta.planar", "delta.shuffle", "planar.shuffle", "delta.planar.shuffle"} {
		c := fmt.Sprintf("%s.zstd:%s%dx%d", steps, order, element, columns)
		if lead > 0 {
			c += fmt.Sprintf("+%d", lead)
		}
		all = append(all, payload.Codec(c))
	}
	return all
}

// walk is numbers of little change, so that every step has something to do.
func walk(size int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	data := make([]byte, 0, size+4)
	v := uint32(r.Uint64())
	for len(data) < size {
		v += uint32(r.NormFloat64() * 1000)
		data = binary.LittleEndian.AppendUint32(data, v)
	}
	return data[:size]
}

func roundTrip(t *testing.T, c payload.Codec, data []byte) {
	t.Helper()
	before := bytes.Clone(data)
	stored, err := c.Encode(data)
	if err != nil {
		t.Fatalf("%s, %d bytes: %v", c, len(data), err)
	}
	got, err := c.Decode(stored, int64(len(data)))
	if err != nil || !bytes.Equal(got, data) || !bytes.Equal(before, data) {
		t.Fatalf("%s: %d bytes do not come back: %v", c, len(data), err)
	}
}

func TestCodecsReturnEveryBit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for element := 1; element <= 8; element++ {
		for columns := 1; columns <= 9; columns++ {
			for _, order := range []string{"le", "be"} {
				lead := r.IntN(element * columns)
				for _, c := range codecs(order, element, columns, lead) {
					roundTrip(t, c, walk(r.IntN(5000), r.Uint64()))
				}
			}
		}
	}
	for _, c := range codecs("le", 4, 3, 5) {
		for size := range 5000 {
			if size > 200 && size%37 > 0 {
				continue // all small ones, and every remainder of a row
			}
			roundTrip(t, c, walk(size, uint64(size)))
		}
	}
}

func TestEncodingIsTheSameEachTime(t *testing.T) {
	data := walk(1<<20, 3)
	for _, c := range codecs("le", 4, 6, 8) {
		first, err := c.Encode(data)
		if err != nil {
			t.Fatal(err)
		}
		roundTrip(t, c, walk(300_000, 4)) // leaves something behind in what is used again
		if again, err := c.Encode(data); err != nil || !bytes.Equal(again, first) {
			t.Errorf("%s: another result, %v", c, err)
		}
	}
}

func TestUnknownCodecsAreRefused(t *testing.T) {
	for _, c := range []payload.Codec{
		"", "gzip", "zstd ", "raw.zstd", "zstd:le4x6", "delta.zstd", "planar.delta.zstd:le4x6", "delta.zstd:xe4x6",
		"delta.zstd:le0x6", "delta.zstd:le9x6", "delta.zstd:le4x0", "delta.zstd:le4x4097", "delta.zstd:le4x06",
		"delta.zstd:le4x6+24", "delta.zstd:le4x6+0", "delta.zstd:le4x6+", "delta.zstd:le4x6\n", "delta.delta.zstd:le4x6",
	} {
		if _, err := c.Encode(nil); err == nil {
			t.Errorf("%q encodes", c)
		}
		if _, err := c.Decode(nil, 0); err == nil || errors.Is(err, payload.ErrDamaged) {
			t.Errorf("%q decodes: %v", c, err)
		}
	}
}

func TestDecodeIsStrict(t *testing.T) {
	data := walk(5000, 1)
	size := int64(len(data))
	for _, c := range codecs("le", 4, 6, 0) {
		stored, err := c.Encode(data)
		if err != nil {
			t.Fatal(err)
		}
		skippable := []byte{0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0}
		for name, bad := range map[string]struct {
			stored []byte
			size   int64
		}{
			"a byte more":      {append(bytes.Clone(stored), 0), size},
			"one ahead":        {append(bytes.Clone(skippable), stored...), size},
			"a byte less":      {stored[:len(stored)-1], size},
			"nothing":          {nil, size},
			"a larger size":    {stored, size + 1},
			"a smaller size":   {stored, size - 1},
			"no size":          {stored, 0},
			"a size below 0":   {stored, -1},
			"a size of dreams": {stored, math.MaxInt64},
		} {
			if _, err := c.Decode(bad.stored, bad.size); !errors.Is(err, payload.ErrDamaged) {
				t.Errorf("%s, %s: got %v, want ErrDamaged", c, name, err)
			}
		}
	}
}

// A frame of a few bytes that claims many is refused before there is room made
// for them.
func TestDecodeAllocatesNoClaims(t *testing.T) {
	claims := []byte("\x28\xb5\x2f\xfd\xa0\x00\x00\x00\x03\x01\x00\x00") // 48 MiB, and an empty last block
	got := testing.AllocsPerRun(10, func() {
		if _, err := payload.Zstd.Decode(claims, 48<<20); !errors.Is(err, payload.ErrDamaged) {
			t.Fatalf("got %v, want ErrDamaged", err)
		}
	})
	const times = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range times {
		_, _ = payload.Zstd.Decode(claims, 48<<20)
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / times; got > 20 || each > 64<<10 {
		t.Errorf("%v allocations, %d bytes", got, each)
	}
}

func TestEncodeRefusesTheHuge(t *testing.T) {
	if _, err := payload.Zstd.Encode(make([]byte, payload.MaxWhole+1)); err == nil {
		t.Error("got no error")
	}
}

func FuzzDecode(f *testing.F) {
	data := walk(200, 1)
	for _, c := range codecs("be", 2, 3, 1) {
		stored, _ := c.Encode(data)
		f.Add(string(c), stored, int64(len(data)))
	}
	f.Add("zstd", []byte("\x28\xb5\x2f\xfd\xa0\x00\x00\x00\x03\x01\x00\x00"), int64(48<<20))
	f.Fuzz(func(t *testing.T, codec string, stored []byte, size int64) {
		c := payload.Codec(codec)
		raw, err := c.Decode(stored, size)
		if err != nil {
			return
		}
		if int64(len(raw)) != size {
			t.Fatalf("%s: %d bytes instead of %d", c, len(raw), size)
		}
		roundTrip(t, c, raw)
	})
}
