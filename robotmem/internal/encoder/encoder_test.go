//go:build !nomodel

package encoder

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
)

func builtinModel(t testing.TB) *Model {
	t.Helper()
	m, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func cosine(a, b []float32) float64 {
	dot, x, y := 0.0, 0.0, 0.0
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		x += float64(a[i]) * float64(a[i])
		y += float64(b[i]) * float64(b[i])
	}
	return dot / math.Sqrt(x*y)
}

// Another program has computed the vectors of 500 texts in 20 languages with the same weights; see
// .ci/model-reference.
func TestVectorsAreThoseOfAnotherProgram(t *testing.T) {
	m := builtinModel(t)
	f, err := os.Open("testdata/reference.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var texts []struct{ Text, Vector string }
	if err := json.NewDecoder(z).Decode(&texts); err != nil || len(texts) != 500 {
		t.Fatal(len(texts), err)
	}
	if testing.Short() {
		texts = texts[:50]
	}

	least := 1.0
	for _, text := range texts {
		raw, err := base64.StdEncoding.DecodeString(text.Vector)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float32, len(raw))
		for i, b := range raw {
			want[i] = float32(int8(b))
		}
		c := cosine(m.Embed(text.Text), want)
		if least = min(least, c); c < 0.999 {
			t.Errorf("%.60q: cosine %.5f", text.Text, c)
		}
	}
	t.Logf("least cosine of %d texts: %.5f", len(texts), least)
}

func TestNearTextsMeanTheSame(t *testing.T) {
	m := builtinModel(t)
	texts := []string{"no Wi-Fi coverage in the stairwell", "the charging dock stands in room 3", "hold a wet glass with 12 newtons"}
	for question, want := range map[string]int{
		"where is there no wireless network": 0, "哪里没有无线网络": 0, "wo gibt es kein WLAN": 0,
		"where is the charger": 1, "in welchem Raum ist die Ladestation": 1,
		"how hard may I grip a damp tumbler": 2, "湿杯子要用多大的力": 2, "wie fest greife ich ein nasses Glas": 2,
	} {
		q := m.Embed("query: " + question)
		best, at := -1.0, 0
		for i, text := range texts {
			if c := cosine(q, m.Embed("passage: "+text)); c > best {
				best, at = c, i
			}
		}
		if at != want {
			t.Errorf("%s: nearest is %q", question, texts[at])
		}
	}
}

// Any text has a vector of length 1.
func TestAnyText(t *testing.T) {
	m := builtinModel(t)
	var scripts strings.Builder
	for r := rune(0); r <= unicode.MaxRune && scripts.Len() < 30_000; r += 97 {
		scripts.WriteRune(r)
	}
	size := 16 << 10
	if testing.Short() {
		size = 2 << 10
	}
	for name, text := range map[string]string{
		"empty": "", "spaces": " \t\n  ", "emoji": "🤖🔋🪫🧑‍🔧", "control": "\x00\x01\x1b[31m\u202e\ufeff", "one letter": strings.Repeat("a", size/8),
		"long": strings.Repeat("The gripper holds the wet glass. ", size/33), "broken UTF-8": "grip\xff\xfe\xc3", "scripts": scripts.String()[:size/4],
		"tokens of the model": "<s></s><unk><pad><mask>", "combining": "e" + strings.Repeat("\u0301", 500),
	} {
		v := m.Embed(text)
		square := 0.0
		for _, x := range v {
			square += float64(x) * float64(x)
		}
		if len(v) != 384 || math.Abs(square-1) > 1e-4 {
			t.Errorf("%s: %d numbers, squared length %g", name, len(v), square)
		}
	}
}

// What a text says in its end counts, however long it is.
func TestLongTextsAreReadToTheirEnd(t *testing.T) {
	m := builtinModel(t)
	start := "passage: " + strings.Repeat("The corridor is empty and nothing happens there. ", 60)
	a, b := m.Embed(start+"The end."), m.Embed(start+strings.Repeat("The pump of the coolant leaks oil. ", 40))
	q := m.Embed("query: where is oil leaking")
	if near, far := cosine(q, b), cosine(q, a); near < far+0.01 {
		t.Errorf("the text about the leak has cosine %.3f, the other %.3f", near, far)
	}
}

func TestCompositionDoesNotCount(t *testing.T) {
	m := builtinModel(t)
	if a, b := m.Embed("Größe des Behälters"), m.Embed("Gro\u0308ße des Beha\u0308lters"); !slices.Equal(a, b) {
		t.Error("composed and decomposed letters differ")
	}
}

func TestOneVectorWhateverRunsBeside(t *testing.T) {
	m := builtinModel(t)
	texts := []string{"query: short", "passage: " + strings.Repeat("a longer text ", 30), "query: 湿玻璃杯"}
	var want [3][]float32
	for i, text := range texts {
		want[i] = m.Embed(text)
	}
	var running sync.WaitGroup
	for i := range 12 {
		running.Go(func() {
			if got := m.Embed(texts[i%3]); !slices.Equal(got, want[i%3]) {
				t.Errorf("%.20q has another vector", texts[i%3])
			}
		})
	}
	running.Wait()
}

func TestDamagedModel(t *testing.T) {
	whole := builtinData()
	for name, data := range map[string][]byte{
		"nothing": nil, "header alone": whole[:headerBytes], "cut in the table": whole[:len(whole)-1], "cut in half": whole[:len(whole)/4], "another file": make([]byte, 4096),
	} {
		if _, err := Open(data); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, at := range []int{9, 13, 17, 21, 29, 45, 60, headerBytes + 20*sections + 200, 3_000_000, 8_000_000} {
		data := slices.Clone(whole)
		data[at] ^= 0x55
		if _, err := Open(data); !errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d changed: %v", at, err)
		}
	}
}

func BenchmarkQuery(b *testing.B) {
	m := builtinModel(b)
	for b.Loop() {
		m.Embed("query: how hard do i grip the wet glass in the sink")
	}
}

func BenchmarkPassage(b *testing.B) {
	m := builtinModel(b)
	for b.Loop() {
		m.Embed("passage: the gripper held the wet glass with 12.5 N and it did not slip, so use this force for glass that was washed before; dry glass needs 9 N only")
	}
}

func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		if _, err := Open(builtinData()); err != nil {
			b.Fatal(err)
		}
	}
}
