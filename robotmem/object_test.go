package robotmem_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// An object reads as encoding/json reads it, from a request and from the file.
func FuzzParseObject(f *testing.F) {
	f.Add(`{"params":{"force":12.50,"n":1e400,"tags":["a",null,true,[]]},"a":{},"a":"\u00e9\ud800"}`)
	f.Add("{\"bad\":\"\xff\"}")
	f.Add(`{"a":1}{`)
	f.Fuzz(func(t *testing.T, data string) {
		var want, got robotmem.Object
		dec := json.NewDecoder(strings.NewReader(data))
		dec.UseNumber()
		err := dec.Decode((*map[string]any)(&want))
		if err == nil && dec.InputOffset() != int64(len(data)) {
			if _, err = dec.Token(); err == io.EOF {
				err = nil
			} else {
				err = errors.New("more than one value")
			}
		}
		if failed := got.UnmarshalJSON([]byte(data)); data == "" || data[0] == '"' {
			return // another value, or a string that holds the object
		} else if (failed != nil) != (err != nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%s reads as %v (%v), want %v (%v)", data, got, failed, want, err)
		}
		if len(want) == 0 || err != nil {
			return
		}
		stored, err := robotmem.EncodeJSON(want)
		if err != nil {
			t.Skip(err)
		}
		if got := robotmem.ParseObject(string(stored)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s reads as %v, want %v", stored, got, want)
		}
		checkNormalize(t, want)
	})
}

// The spelling of a canonical number is stored in hashes: it must stay what it is.
func TestCanonicalNumbers(t *testing.T) {
	spelt := func(s string) string {
		data, err := robotmem.CanonicalJSON(json.Number(s))
		if err != nil {
			t.Fatal(s, err)
		}
		return string(data)
	}
	for s, want := range map[string]string{"12.5": "12.5", "12.50": "12.5", "5.0": "5", "-0": "0", "-0.5": "-0.5", "0.0001": "0.0001", "0.00001": "1e-05",
		"123456.5": "123456.5", "1234567.5": "1.2345675e+06", "1e3": "1000", "0.1000000001": "0.1000000001", "12345678901234567890": "12345678901234567890", "1.25e-7": "1.25e-07"} {
		if got := spelt(s); got != want {
			t.Errorf("%s is spelt %s, want %s", s, got, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 200_000 { // as strconv spells it
		s := strconv.FormatFloat(float64(r.IntN(2_000_000)-1_000_000)/math.Pow10(r.IntN(12)), 'f', r.IntN(12), 64)
		f, _ := strconv.ParseFloat(s, 64)
		want := strconv.FormatFloat(f, 'g', -1, 64)
		if f == float64(int64(f)) {
			want = strconv.FormatInt(int64(f), 10)
		}
		if got := spelt(s); got != want {
			t.Fatalf("%s is spelt %s, want %s", s, got, want)
		}
	}
}

// checkNormalize compares with what encoding/json makes of an object.
func checkNormalize(t *testing.T, o robotmem.Object) {
	t.Helper()
	got, text, err := o.Normalize("context", robotmem.MaxContext)
	stored, encodeErr := robotmem.EncodeJSON(o)
	if want := robotmem.ParseObject(string(stored)); err == nil && (encodeErr != nil || text != string(stored) || !reflect.DeepEqual(got, want)) {
		t.Errorf("%#v: %#v %s, want %#v %s (%v)", o, got, text, want, stored, encodeErr)
	}
	if out := errors.Is(err, robotmem.TooLarge) || errors.Is(err, robotmem.Invalid); err != nil && !out {
		t.Error(err)
	}
}

func TestNormalizeValuesOfGo(t *testing.T) {
	for i, v := range []any{
		nil, true, 7, -7, int64(7), uint8(7), 12.5, 0.0, math.Copysign(0, -1), 1e21, 1e20, 1e-6, 9.9e-7, 123456789.125, float32(0.1), math.NaN(), math.Inf(1),
		json.Number("12.50"), json.Number("1e400"), json.Number("+1"), json.Number("0x10"), json.Number(""), json.Number("1_0"), json.Number("01"),
		"汉 é", "\u2028", "\xe2x", "\xff", "a\"b\\", "\t", "\x7f", "<&>", "", []any{}, []any(nil), []any{1, "a", []any{}}, []string{"a"}, map[string]any(nil), map[string]any{},
		map[string]any{"b": 1.5, "a": []any{nil}, "\u2029": 1}, map[string]float64{"x": 1}, struct{ A int }{1}, robotmem.Object{"a": 1}, []byte("ab"), time.Unix(0, 0).UTC(), make(chan int),
	} {
		o := robotmem.Object{"v": v, fmt.Sprint("k", i): "w"}
		checkNormalize(t, o)
		_, _, err := o.Normalize("context", robotmem.MaxContext)
		if _, refused := json.Marshal(o); (refused != nil || v == json.Number("1e400")) != (err != nil) {
			t.Errorf("%#v: %v, encoding/json says %v", v, err, refused)
		}
	}
	deep := map[string]any{}
	for range 40 {
		deep = map[string]any{"a": deep}
	}
	if _, _, err := (robotmem.Object{"v": deep}).Normalize("context", robotmem.MaxContext); !errors.Is(err, robotmem.Invalid) {
		t.Error(err)
	}
	if _, _, err := (robotmem.Object{"v": "four"}).Normalize("context", 11); !errors.Is(err, robotmem.TooLarge) {
		t.Error(err)
	}
}

// A context with too many values is too large, however many it has.
func TestNormalizeTooManyValues(t *testing.T) {
	for _, n := range []int{5_000, 20_000} {
		_, _, err := robotmem.Object{"a": make([]any, n)}.Normalize("context", robotmem.MaxContext)
		if !errors.Is(err, robotmem.TooLarge) {
			t.Errorf("%d values: %v", n, err)
		}
	}
}
