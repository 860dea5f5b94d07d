package robotmem_test

import (
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

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
	})
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
