package robotmem

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestLoneSurrogate(t *testing.T) {
	for data, want := range map[string]string{
		``: "", `"a"`: "", `"\u00e9"`: "", `"\ud83e\udd16"`: "", `"\uD83E\uDD16"`: "", `"\\ud800"`: "", `"\\\\ud800"`: "", `"\ufffd"`: "", `"\n\t\"\\"`: "", `\`: "", `"\u12`: "",
		`"\ud800"`: `\ud800`, `"\uDFFF"`: `\uDFFF`, `"\udd16\ud83e"`: `\udd16`, `"\ud83e\ud83e\udd16"`: `\ud83e`, `"\ud800\u0041"`: `\ud800`, `"\\\ud800"`: `\ud800`,
		`"\ud83e\udd16\ud800"`: `\ud800`, `"\ud800\\udc00"`: `\ud800`, `{"\udc00":1}`: `\udc00`, `"\ud800`: `\ud800`,
	} {
		if got := LoneSurrogate([]byte(data)); got != want {
			t.Errorf("%s: got %q, want %q", data, got, want)
		}
	}
}

// Half of a surrogate pair is refused in every field, and the error names the field.
func TestHalfOfASurrogatePairIsRefused(t *testing.T) {
	for _, tt := range []struct{ op, request, field string }{
		{"learn", `{"insight":"a \ud800 b"}`, "insight"},
		{"learn", `{"insight":"a","context":{"x":["\udc00"]}}`, "context"},
		{"learn", `{"insight":"a","context":{"\ud800":1}}`, "context"},
		{"learn", `{"insight":"a","context":"{\"x\":\"\\ud800\"}"}`, "context"},
		{"learn", `{"insight":"a","tags":["ok","\ud83e"]}`, "tags"},
		{"learn_batch", `{"items":[{"insight":"a"},{"insight":"\ud800"}]}`, "items"},
		{"recall", `{"query":"\ud800"}`, "query"},
		{"recall", `{"context_filter":{"x":"\ud800"}}`, "context_filter"},
		{"save_perception", `{"description":"a","data":"\ud800"}`, "data"},
		{"update", `{"memory_id":1,"new_content":"\ud800"}`, "new_content"},
	} {
		op := OpByName(tt.op)
		_, err := op.Decode(t.Context(), nil, []byte(tt.request), newRequest(op))
		e := (*Error)(nil)
		if !errors.As(err, &e) || e.Kind != Invalid || e.Field != tt.field || !strings.Contains(e.Error(), "surrogate pair") {
			t.Errorf("%s %s: got %v of field %q, want invalid %s", tt.op, tt.request, err, fieldOf(e), tt.field)
		}
		whole := strings.NewReplacer(`\\ud800`, `\\ud83e\\udd16`, `\ud800`, `\ud83e\udd16`, `\udc00`, `x`, `\ud83e`, `x`).Replace(tt.request)
		if _, err := op.Decode(t.Context(), nil, []byte(whole), newRequest(op)); err != nil {
			t.Errorf("%s %s: %v", tt.op, whole, err)
		}
	}
}

func newRequest(op *Op) any { return reflect.New(op.In).Interface() }

func fieldOf(e *Error) string {
	if e == nil {
		return ""
	}
	return e.Field
}
