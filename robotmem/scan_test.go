package robotmem

import (
	"errors"
	"strings"
	"testing"
)

func TestRequestsOverALimitAreRefusedBeforeDecoding(t *testing.T) {
	list := func(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	text := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	for _, tt := range []struct {
		name, op, request string
		want              Kind // "" if the limits allow it
		field, says       string
	}{
		{"values", "recall", `{"context_filter":{"a":{"$in":[` + list(maxValues, "0") + `]}}}`, TooLarge, "context_filter", "/context_filter/a/$in/16380 is one value more than the 16384"},
		{"values within the limit", "recall", `{"context_filter":{"a":{"$in":[` + list(maxValues-4, "0") + `]}}}`, "", "", ""},
		{"members", "learn", `{` + list(maxValues, `"insight":"a"`) + `}`, TooLarge, "insight", "16384"},
		{"items", "learn_batch", `{"items":[` + list(maxItems+1, "{}") + `]}`, Invalid, "items", "/items/10000 must be between 1 and 10000"},
		{"items within the limit", "learn_batch", `{"items":[` + list(maxItems, "{}") + `]}`, "", "", ""},
		{"values of items", "learn_batch", `{"items":[` + list(100, `{"context":{"a":[`+list(maxBatchValues/100, "0")+`]}}`) + `]}`, TooLarge, "items", "1000000"},
		{"an item", "learn_batch", `{"items":[{"insight":` + text(MaxRequest) + `}]}`, TooLarge, "items", "/items/0/insight goes beyond 1114112 bytes"},
		{"many items together", "learn_batch", `{"items":[` + list(3, `{"insight":`+text(MaxRequest-1000)+`}`) + `]}`, "", "", ""},
		{"depth", "learn", `{"context":` + strings.Repeat(`{"a":`, maxNesting) + "0" + strings.Repeat("}", maxNesting) + "}", Invalid, "context", "more than 64 deep"},
		{"digits", "learn", `{"context":{"a":` + strings.Repeat("7", maxNumber+1) + `}}`, Invalid, "context", "/context/a is a number of more than 400"},
		{"unknown field", "recall", `{"u":` + text(MaxRequest) + `}`, TooLarge, "", "/u goes beyond"},
		{"long key", "recall", `{` + text(MaxRequest) + `:0}`, TooLarge, "", "goes beyond"},
		{"space", "recall", `{` + strings.Repeat(" ", MaxRequest) + `"n":1}`, TooLarge, "n", "goes beyond"},
		{"data of like", "recall", `{"like":{"data":` + text(2*MaxRequest) + `}}`, "", "", ""},
		{"like as a string", "recall", `{"like":` + text(2*MaxRequest) + `}`, "", "", ""},
		{"data elsewhere", "recall", `{"context_filter":{"data":` + text(2*MaxRequest) + `}}`, TooLarge, "context_filter", "/context_filter/data"},
		{"data", "save_perception", `{"description":"a","data_base64":` + text(2*MaxRequest) + `,"n":1}`, "", "", ""},
		{"data and more", "save_perception", `{"data":` + text(2*MaxRequest) + `,"description":` + text(MaxRequest) + `}`, TooLarge, "description", "goes beyond"},
		{"data of another operation", "learn", `{"data":` + text(2*MaxRequest) + `}`, TooLarge, "", "/data"},
		{"not JSON", "learn", `{"insight":nope`, "", "", ""},
	} {
		err := OpByName(tt.op).scan([]byte(tt.request))
		e := (*Error)(nil)
		if errors.As(err, &e); tt.want == "" && err == nil {
			continue
		}
		if e == nil || e.Kind != tt.want || e.Field != tt.field || !strings.Contains(e.Detail(), tt.says) || len(e.Detail()) > 500 {
			t.Errorf("%s: %+v, want %s of %q with %q", tt.name, err, tt.want, tt.field, tt.says)
		}
	}
}

// Objects in strings are not seen by the scan.
func TestObjectsInStringsHaveLimits(t *testing.T) {
	object := `"{\"a\":[` + strings.Repeat("0,", maxValues) + `0]}"`
	if err := new(Object).UnmarshalJSON([]byte(object)); !errors.Is(err, TooLarge) {
		t.Errorf("one: %v", err)
	}
	item := `{"insight":"a","context":"{\"a\":[` + strings.Repeat("0,", maxValues/2) + `0]}"},`
	err := new(LearnBatchRequest).UnmarshalJSON([]byte(`{"items":[` + strings.Repeat(item, 3*maxBatchValues/maxValues) + `{}]}`))
	if !errors.Is(err, TooLarge) || !strings.Contains(err.Error(), "items[") {
		t.Errorf("all items: %v", err)
	}
}
