package lexical_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
)

// small returns an index with everything that a snapshot can hold, and its
// snapshot.
func small(t testing.TB) (*lexical.Index, []byte) {
	t.Helper()
	c := newCorpus(9, 60)
	x := lexical.New(fts5)
	for id := range 400 {
		x.Apply([]lexical.Document{{ID: int64(id * 3), Collection: fmt.Sprint("c", id%2), Terms: c.text()}}, nil)
	}
	x.Apply([]lexical.Document{{ID: math.MinInt64, Collection: "far", Terms: []string{"w1", ""}}, {ID: math.MaxInt64, Collection: "far", Terms: slices.Repeat([]string{"w1"}, 70_000)}}, []int64{3, 9, 300})
	var b bytes.Buffer
	if err := x.Freeze().Write(&b); err != nil {
		t.Fatal(err)
	}
	return x, b.Bytes()
}

func TestSnapshotKeepsTheMomentOfFreezing(t *testing.T) {
	s := newSpeech(4)
	x := lexical.New(fts5)
	x.SetLimit(200)
	x.Apply(s.texts(1, 3000), []int64{1})
	x.Apply(nil, []int64{5, 6, 2990})
	questions := [][]string{{"stem0", "stem9"}, s.question(), s.question(), {"new7", "stem4000", "stem29000"}}
	all := func(x *lexical.Index) (hits [][]lexical.Hit) {
		for _, q := range questions {
			hits = append(hits, x.Search(lexical.Query{Collection: lexical.All, Terms: q}))
		}
		return hits
	}
	frozen, want := x.Freeze(), all(x)
	for first := 1; first < 6000; first += 50 { // through packing, deaths and compactions
		docs := s.texts(first, 50)
		for i := range docs {
			docs[i].Terms = append(docs[i].Terms, fmt.Sprint("new", first%500+i))
		}
		x.Apply(docs, []int64{int64(first + 100)})
	}
	if diff := gocmp.Diff(all(thaw(t, frozen, fts5)), want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	if diff := gocmp.Diff(all(thaw(t, x.Freeze(), fts5)), all(x)); diff != "" {
		t.Errorf("after the changes (-got +want):\n%s", diff)
	}
	if gocmp.Equal(all(x), want) {
		t.Error("the changes changed nothing")
	}
}

// A compaction removes the stems that no document holds.
func TestSnapshotKeepsStemsThatGoAway(t *testing.T) {
	x := lexical.New(fts5)
	x.SetLimit(1)
	put := func(id int64, stem string) {
		x.Apply([]lexical.Document{{ID: id, Collection: "a", Terms: []string{stem}}}, nil)
	}
	put(1, "old")
	put(2, "kept")
	frozen := x.Freeze()
	x.Apply(nil, []int64{1})
	put(3, "new")
	if dead, stems := x.Dead(), x.Stems(); dead != 0 || stems != 2 {
		t.Fatalf("%d dead, %d stems, want a finished compaction", dead, stems)
	}
	thawed := thaw(t, frozen, fts5)
	for stem, want := range map[string]int{"old": 1, "kept": 1, "new": 0} {
		if got := thawed.DocumentFrequency("a", stem); got != want {
			t.Errorf("%q is in %d documents, want %d", stem, got, want)
		}
	}
}

func TestReadRefusesDamage(t *testing.T) {
	_, good := small(t)
	if _, err := lexical.Read(bytes.NewReader(good), fts5); err != nil {
		t.Fatal(err)
	}
	for at := range good {
		bad := slices.Clone(good)
		bad[at] ^= 0x10
		if _, err := lexical.Read(bytes.NewReader(bad), fts5); err == nil {
			t.Errorf("byte %d of %d changed: no error", at, len(good))
		}
		if _, err := lexical.Read(bytes.NewReader(good[:at]), fts5); err == nil {
			t.Errorf("cut off after %d of %d bytes: no error", at, len(good))
		}
	}
	if _, err := lexical.Read(bytes.NewReader(append(good, 0)), fts5); err == nil {
		t.Error("a byte too many: no error")
	}
}

// compose writes a snapshot of one collection, with the right checksum.
func compose(ids, lengths, dead, dictionary, postings string) []byte {
	b := []byte("robolex\x01\x01")
	for _, section := range []string{"c", ids, lengths, dead, dictionary, postings} {
		b = append(binary.AppendUvarint(b, uint64(len(section))), section...)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

func TestReadRefusesWhatIsNotSound(t *testing.T) {
	block := func(first byte, rest string) string { return string([]byte{first}) + rest }
	many := strings.Repeat("\x02", 128) // identifiers 1 to 128
	short := strings.Repeat("\x05", 128)
	in := func(postings string) string { // the dictionary for one list of 128 postings
		return "\x01w" + string(binary.AppendUvarint(binary.AppendUvarint(nil, 128), uint64(len(postings))))
	}
	gaps16 := strings.Repeat("\x00\x01", 128)
	for _, tt := range []struct {
		name                                     string
		ids, lengths, dead, dictionary, postings string
		sound                                    bool
	}{
		{"two documents", "\x02\x02", "\x01\x01", "", "\x01w\x02\x02", "\x01\x01", true},
		{"a dead one of the same identifier", "\x02\x00", "\x01\x01", "\x00", "\x01w\x02\x02", "\x01\x01", true},
		{"an identifier twice", "\x02\x00", "\x01\x01", "", "\x01w\x02\x02", "\x01\x01", false},
		{"nobody lives", "\x02\x02", "\x01\x01", "\x00\x00", "\x01w\x02\x02", "\x01\x01", false},
		{"a dead one that is none", "\x02\x02", "\x01\x01", "\x02", "\x01w\x02\x02", "\x01\x01", false},
		{"an identifier cut off", "\x02\x82", "\x01\x01", "", "\x01w\x02\x02", "\x01\x01", false},
		{"too few lengths", "\x02\x02", "\x01", "", "\x01w\x02\x02", "\x01\x01", false},
		{"too many lengths", "\x02\x02", "\x01\x01\x01", "", "\x01w\x02\x02", "\x01\x01", false},
		{"a stem twice", "\x02\x02", "\x01\x01", "", "\x01w\x01\x01\x01w\x01\x01", "\x01\x01", false},
		{"a stem beyond the dictionary", "\x02\x02", "\x01\x01", "", "\x09w\x02\x02", "\x01\x01", false},
		{"a list of nothing", "\x02\x02", "\x01\x01", "", "\x01w\x00\x00", "", false},
		{"more postings than documents", "\x02\x02", "\x01\x01", "", "\x01w\x03\x03", "\x01\x01\x01", false},
		{"more bytes than there are", "\x02\x02", "\x01\x01", "", "\x01w\x02\x03", "\x01\x01", false},
		{"bytes of no list", "\x02\x02", "\x01\x01", "", "\x01w\x02\x02", "\x01\x01\x01", false},
		{"bytes behind a list", "\x02\x02", "\x01\x01", "", "\x01w\x02\x03", "\x01\x01\x01", false},
		{"an unknown document", "\x02\x02", "\x01\x01", "", "\x01w\x02\x02", "\x01\x03", false},
		{"a document twice", "\x02\x02", "\x01\x01", "", "\x01w\x02\x06", "\x01\xff\xff\xff\xff\x1f", false},
		{"a block", many, short, "", in(block(0, "")), block(0, ""), true},
		{"a block as its tail", many, short, "", in(block(0xff, strings.Repeat("\x01", 128))), block(0xff, strings.Repeat("\x01", 128)), true},
		{"a block of unknown documents", many, short, "", in(block(16, gaps16)), block(16, gaps16), false},
		{"a block cut off", many, short, "", in(block(16, "abc")), block(16, "abc"), false},
		{"a block without its bitmap", many, short, "", in(block(0x80, "abc")), block(0x80, "abc"), false},
		{"a number that is too large", many, short, "", in(block(0xff, strings.Repeat("\x01", 20)+"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"+strings.Repeat("\x01", 107))), block(0xff, strings.Repeat("\x01", 20)+"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"+strings.Repeat("\x01", 107)), false},
		{"a tail cut off", many, short, "", in(block(0xff, many[:100])), block(0xff, many[:100]), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, err := lexical.Read(bytes.NewReader(compose(tt.ids, tt.lengths, tt.dead, tt.dictionary, tt.postings)), fts5)
			if sound := err == nil; sound != tt.sound {
				t.Fatalf("error %v, want one: %t", err, !tt.sound)
			}
			if err == nil && len(x.Search(lexical.Query{Collection: "c", Terms: []string{"w"}})) != x.Stats("c").Rows {
				t.Error("not all documents are found")
			}
		})
	}
	b := compose("\x02", "\x01", "", "\x01w\x01\x01", "\x01")
	b[8]++ // two collections, of the same name
	b = slices.Concat(b[:len(b)-4], b[9:len(b)-4])
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	if _, err := lexical.Read(bytes.NewReader(b), fts5); err == nil {
		t.Error("a name twice: no error")
	}
}

func TestReadTakesNoMemoryOnTrust(t *testing.T) {
	_, good := small(t)
	huge := slices.Concat(good[:8], []byte{1}, binary.AppendUvarint(nil, 1<<40), []byte("c0"))
	before := heap()
	if _, err := lexical.Read(bytes.NewReader(huge), fts5); err == nil {
		t.Fatal("a section of a terabyte: no error")
	}
	if used := heap() - before; used > 1<<24 {
		t.Errorf("%d bytes taken", used)
	}
}

type full struct{ room int }

func (w *full) Write(b []byte) (int, error) {
	n := min(len(b), w.room)
	w.room -= n
	if n < len(b) {
		return n, errFull
	}
	return n, nil
}

var errFull = errors.New("no space left")

func TestWriteReturnsTheErrorOfTheWriter(t *testing.T) {
	x, good := small(t)
	for _, room := range []int{0, 5, len(good) - 1} {
		if err := x.Freeze().Write(&full{room}); !errors.Is(err, errFull) {
			t.Errorf("room for %d bytes: %v", room, err)
		}
	}
}

// FuzzRead appends the right checksum to its input, so that all later checks are
// reached, and then searches the index that was read.
func FuzzRead(f *testing.F) {
	_, good := small(f)
	f.Add(good[:len(good)-4])
	f.Add(good[:9])
	for _, n := range []int{1, 3, 300} {
		x := lexical.New(fts5)
		for id := range n {
			x.Apply([]lexical.Document{{ID: int64(id), Collection: "c0", Terms: []string{"w1", "w2", "w1"}[:1+id%3]}}, nil)
		}
		x.Apply(nil, []int64{2, 7})
		var b bytes.Buffer
		if err := x.Freeze().Write(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes()[:b.Len()-4])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = binary.LittleEndian.AppendUint32(slices.Clip(data), crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
		x, err := lexical.Read(bytes.NewReader(data), fts5)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "read lexical snapshot: ") {
				t.Errorf("error %q does not tell what was being done", err)
			}
			return
		}
		for _, collection := range append(x.Collections(), lexical.All) {
			terms := []string{"w1", "w2", "w0", "", "w7"}
			all := x.Search(lexical.Query{Collection: collection, Terms: terms})
			best := x.Search(lexical.Query{Collection: collection, Terms: terms, N: 3})
			if diff := gocmp.Diff(best, all[:min(3, len(all))]); diff != "" {
				t.Errorf("best (-got +want):\n%s", diff)
			}
			for _, hit := range best {
				x.Terms(hit.ID)
			}
		}
		x.Apply([]lexical.Document{{ID: 1, Collection: "c0", Terms: []string{"w1", "w1"}}}, []int64{0, 6})
		var b bytes.Buffer
		if err := x.Freeze().Write(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := lexical.Read(&b, fts5); err != nil {
			t.Errorf("what was read and written cannot be read: %v", err)
		}
	})
}
