package robotmem_test

import (
	"reflect"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// What is stored reads as it was decoded from the request.
func FuzzParseObject(f *testing.F) {
	f.Add(`{"params":{"force":12.50,"n":1e400,"tags":["a",null,true,[]]},"a":{},"a":"\u00e9\ud800"}`)
	f.Add("{\"bad\":\"\xff\"}")
	f.Add(`{"a":1}{`)
	f.Fuzz(func(t *testing.T, data string) {
		var want robotmem.Object
		if want.UnmarshalJSON([]byte(data)) != nil || len(want) == 0 {
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
