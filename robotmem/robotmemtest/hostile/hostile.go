// Package hostile makes JSON requests that cost a careless decoder far more than their
// size. Tests of the transports and the soak of the torture harness send them.
package hostile

import (
	"bytes"
	"fmt"
	"strings"
)

// Shape is one kind of request of any size.
type Shape struct {
	Name string
	Op   string // the operation, "" for a JSON-RPC message
	make func(size int) []byte
}

// Body returns the request. It has about size bytes.
func (s Shape) Body(size int) []byte { return s.make(size) }

// Message returns the JSON-RPC message of the request, with the given id.
func (s Shape) Message(id, size int) []byte {
	if s.Op == "" {
		return s.make(size)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, s.Op, s.make(size))
}

// Shapes returns all shapes.
func Shapes() []Shape {
	return []Shape{
		{"keys", "recall", numbered(`{"query":"x","context_filter":{`, `"k%d":0`, `}}`)},
		{"values of $in", "recall", repeated(`{"query":"x","context_filter":{"a":{"$in":[`, `0`, `]}}}`)},
		{"empty items", "learn_batch", repeated(`{"items":[`, `{}`, `]}`)},
		{"small objects in items", "learn_batch", repeated(`{"items":[{"insight":"a","context":{"a":[`, `{"a":0}`, `]}}]}`)},
		{"depth", "learn", func(size int) []byte {
			n := size / 6
			return []byte(`{"insight":"a","context":` + strings.Repeat(`{"a":`, n) + "0" + strings.Repeat("}", n) + "}")
		}},
		{"string", "learn", filled(`{"insight":"`, "x", `"}`)},
		{"escapes", "learn", filled(`{"insight":"`, `\u0041`, `"}`)},
		{"digits", "recall", repeated(`{"query":"x","context_filter":{"a":{"$in":[`, strings.Repeat("7", 1000), `]}}}`)},
		{"object in a string", "learn", repeated(`{"insight":"a","context":"{\"a\":[`, `0`, `]}"}`)},
		{"objects in strings of items", "learn_batch", func(size int) []byte {
			context := `"{\"a\":[` + strings.Repeat("0,", 3000) + `0]}"`
			return repeated(`{"items":[`, `{"insight":"a","context":`+context+`}`, `]}`)(size)
		}},
		{"duplicate keys", "learn", repeated(`{`, `"insight":"a"`, `}`)},
		{"lists of lists", "learn", repeated(`{"insight":"a","context":{"a":[`, `[[],[]]`, `]}}`)},
		{"unknown fields", "recall", numbered(`{`, `"u%d":"`+strings.Repeat("x", 50_000)+`"`, `}`)},
		{"base64", "recall", filled(`{"query":"x","like":{"media_type":"application/octet-stream","data_base64":"`, "AAAA", `"}}`)},
		{"base64 with escapes", "save_perception", filled(`{"description":"a","data_base64":"`, `\u0041AAA`, `"}`)},
		{"white space", "learn", filled(`{`, " ", `"insight":"a"}`)},
		{"params", "", repeated(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[`, `{"a":0}`, `]}}`)},
		{"messages in a list", "", repeated(`[`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `]`)},
		{"id", "", filled(`{"jsonrpc":"2.0","method":"ping","id":"`, "x", `"}`)},
	}
}

// filled puts n copies of part between head and tail.
func filled(head, part, tail string) func(int) []byte {
	return func(size int) []byte {
		n := max(1, (size-len(head)-len(tail))/len(part))
		return []byte(head + strings.Repeat(part, n) + tail)
	}
}

// repeated puts copies of part, separated by commas, between head and tail.
func repeated(head, part, tail string) func(int) []byte {
	return filled(head, part+",", part+tail)
}

// numbered is repeated with a number in each copy.
func numbered(head, part, tail string) func(int) []byte {
	return func(size int) []byte {
		b := bytes.NewBuffer(append(make([]byte, 0, size+len(part)+64), head...))
		for i := 0; b.Len() < size-len(part)-len(tail)-20; i++ {
			fmt.Fprintf(b, part+",", i)
		}
		fmt.Fprintf(b, part+"%s", -1, tail)
		return b.Bytes()
	}
}
