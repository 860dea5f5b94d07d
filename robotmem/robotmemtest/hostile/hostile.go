// Package hostile makes JSON requests that cost a careless decoder far more than their
// size. Tests of the transports and the soak of the torture harness send them.
package hostile

import (
	"fmt"
	"io"
	"strings"
)

// Shape is one kind of request of any size.
type Shape struct {
	Name string
	Op   string // the operation, "" for a JSON-RPC message
	Body func(size int) Body
}

// Message returns the JSON-RPC message of a request of about size bytes.
func (s Shape) Message(size int) Body {
	if s.Op == "" {
		return s.Body(size)
	}
	begin := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":`, s.Op)
	return append(append(Body{{begin, 1}}, s.Body(size)...), part{"}}", 1})
}

// Body is a request. It is made while it is written, so that whoever sends it takes no
// memory and little time from the machine that both share.
type Body []part

// In a part, repetition stands for the number of the repetition.
type part struct {
	text  string
	times int
}

const repetition = "####"

// WriteTo writes the request.
func (b Body) WriteTo(w io.Writer) (n int64, err error) {
	for _, p := range b {
		for i := range p.times {
			m, err := io.WriteString(w, strings.ReplaceAll(p.text, repetition, fmt.Sprintf("%04d", i)))
			if n += int64(m); err != nil {
				return n, err
			}
		}
	}

	return n, nil
}

// Shapes returns all shapes.
func Shapes() []Shape {
	return []Shape{
		{"keys", "recall", numbered(`{"query":"x","context_filter":{`, `"k%s":0`, `}}`)},
		{"values of $in", "recall", repeated(`{"query":"x","context_filter":{"a":{"$in":[`, `0`, `]}}}`)},
		{"empty items", "learn_batch", repeated(`{"items":[`, `{}`, `]}`)},
		{
			"small objects in items", "learn_batch",
			repeated(`{"items":[{"insight":"a","context":{"a":[`, `{"a":0}`, `]}}]}`),
		},
		{"depth", "learn", func(size int) Body {
			n := size / 6
			return append(copies(`{"insight":"a","context":`, `{"a":`, n, "0"), copies("", "}", n, "}")...)
		}},
		{"string", "learn", filled(`{"insight":"`, "x", `"}`)},
		{"escapes", "learn", filled(`{"insight":"`, `\u0041`, `"}`)},
		{
			"digits", "recall",
			repeated(`{"query":"x","context_filter":{"a":{"$in":[`, strings.Repeat("7", 1000), `]}}}`),
		},
		{"object in a string", "learn", repeated(`{"insight":"a","context":"{\"a\":[`, `0`, `]}"}`)},
		{"objects in strings of items", "learn_batch", func(size int) Body {
			context := `"{\"a\":[` + strings.Repeat("0,", 3000) + `0]}"`
			return repeated(`{"items":[`, `{"insight":"a","context":`+context+`}`, `]}`)(size)
		}},
		{"duplicate keys", "learn", repeated(`{`, `"insight":"a"`, `}`)},
		{"lists of lists", "learn", repeated(`{"insight":"a","context":{"a":[`, `[[],[]]`, `]}}`)},
		{"unknown fields", "recall", numbered(`{`, `"u%s":"`+strings.Repeat("x", 50_000)+`"`, `}`)},
		{
			"base64", "recall",
			filled(`{"query":"x","like":{"media_type":"application/octet-stream","data_base64":"`, "AAAA", `"}}`),
		},
		{"base64 with escapes", "save_perception", filled(`{"description":"a","data_base64":"`, `\u0041AAA`, `"}`)},
		{"white space", "learn", filled(`{`, " ", `"insight":"a"}`)},
		{"params", "", repeated(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[`, `{"a":0}`, `]}}`)},
		{"messages in a list", "", repeated(`[`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `]`)},
		{"id", "", filled(`{"jsonrpc":"2.0","method":"ping","id":"`, "x", `"}`)},
	}
}

// filled puts copies of part between head and tail.
func filled(head, part, tail string) func(int) Body {
	return func(size int) Body {
		return copies(head, part, max(1, (size-len(head)-len(tail))/len(part)), tail)
	}
}

// repeated puts copies of part, separated by commas, between head and tail.
func repeated(head, part, tail string) func(int) Body {
	return filled(head, part+",", part+tail)
}

// numbered is repeated with another word in each copy.
func numbered(head, part, tail string) func(int) Body {
	several := ""
	for i := range max(1, chunk/len(part)) {
		several += fmt.Sprintf(part+",", fmt.Sprintf("%s%04d", repetition, i))
	}
	return filled(head, several, fmt.Sprintf(part, "last")+tail)
}

const chunk = 32 << 10 // bytes that are written at once

func copies(head, text string, n int, tail string) Body {
	several := max(1, chunk/len(text))
	return Body{{head, 1}, {strings.Repeat(text, several), n / several}, {strings.Repeat(text, n%several) + tail, 1}}
}
