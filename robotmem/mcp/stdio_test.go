package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

const initialize = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
	`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

// answer is one line of the server.
type answer struct {
	ID     any `json:"id"`
	Result struct {
		Content []struct{ Text string }
		IsError bool
		Meta    map[string]map[string]string `json:"_meta"`
	} `json:"result"`
	Error *struct {
		Code    int
		Message string
	} `json:"error"`
}

func call(id any, tool, args string) string {
	n, err := json.Marshal(id)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", n, tool, args)
}

// serve sends input, which then ends, and returns all answers.
func serve(t *testing.T, s *Server, input string) []answer {
	t.Helper()
	var out bytes.Buffer
	if err := s.ServeStdio(t.Context(), strings.NewReader(input), &out); err != nil {
		t.Fatal(err)
	}
	return parse(t, out.String())
}

func parse(t *testing.T, out string) []answer {
	t.Helper()
	var got []answer
	for line := range strings.Lines(out) {
		var a answer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("not a JSON line: %q: %v", line, err)
		}
		got = append(got, a)
	}
	return got
}

func TestEndOfInputCutsNoCallOff(t *testing.T) {
	const n = 500
	var in strings.Builder
	in.WriteString(initialize)
	for i := range n {
		in.WriteString(call(i, "learn", fmt.Sprintf(`{"insight":"fact %d"}`, i)))
	}
	f := &fake{delay: time.Millisecond}
	got := serve(t, NewServer(f, Options{}), in.String())
	if len(got) != n+1 || len(f.texts) != n {
		t.Fatalf("%d answers, %d facts; want %d, %d", len(got), len(f.texts), n+1, n)
	}
	for i, a := range got[1:] {
		if a.ID != float64(i) || a.Result.IsError || a.Error != nil {
			t.Fatalf("answer %d is %+v", i, a)
		}
	}
}

func TestPipelinedRecallSeesTheLearnBeforeIt(t *testing.T) {
	var in strings.Builder
	for i := range 50 {
		in.WriteString(call(2*i, "learn", fmt.Sprintf(`{"insight":"fact %d."}`, i)))
		in.WriteString(call(2*i+1, "recall", fmt.Sprintf(`{"query":"fact %d."}`, i)))
	}
	got := serve(t, NewServer(&fake{delay: time.Millisecond}, Options{}), in.String())
	if len(got) != 100 {
		t.Fatalf("%d answers, want 100", len(got))
	}
	for i := 1; i < 100; i += 2 {
		if want := fmt.Sprintf("fact %d.", i/2); !strings.Contains(got[i].Result.Content[0].Text, want) {
			t.Errorf("recall %d does not find %q: %s", i, want, got[i].Result.Content[0].Text)
		}
	}
}

func TestPingIsNotHeldUpByACall(t *testing.T) {
	got := serve(t, NewServer(&fake{delay: 100 * time.Millisecond}, Options{}),
		call(1, "learn", `{"insight":"slow"}`)+`{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n")
	if len(got) != 2 || got[0].ID != 2.0 {
		t.Fatalf("got %+v, want the ping first", got)
	}
}

func TestLinesAreReadGenerously(t *testing.T) {
	learn := strings.TrimSpace(call(1, "learn", `{"insight":"one"}`))
	for name, input := range map[string]string{
		"byte order mark": "\ufeff" + learn + "\n",
		"blank lines":     "\n\n  \n" + learn + "\n\n",
		"CRLF":            "\r\n" + learn + "\r\n",
		"no last LF":      learn,
	} {
		t.Run(name, func(t *testing.T) {
			got := serve(t, NewServer(&fake{}, Options{}), input)
			if len(got) != 1 || got[0].ID != 1.0 || got[0].Result.IsError {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestBadMessagesAreAnsweredAndServingGoesOn(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		code       int // 0: an answer without a protocol error; -1: none
		id         any
	}{
		{"not JSON", "{nope", -32700, nil},
		{"a batch", "[]", -32700, nil},
		{"no such method", `{"jsonrpc":"2.0","id":7,"method":"nope"}`, -32601, 7.0},
		{"no such tool", strings.TrimSpace(call(7, "nope", `{}`)), -32602, 7.0},
		{"notification", `{"jsonrpc":"2.0","method":"notifications/nope"}`, -1, nil},
		{"call without id", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"learn","arguments":{"insight":"x"}}}`, -1, nil},
		{"a number out of range", strings.TrimSpace(call(7, "learn", `{"insight":"x","context":{"n":1e999}}`)), 0, 7.0},
		{"arguments no object", strings.TrimSpace(call(7, "learn", `"insight"`)), 0, 7.0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := serve(t, NewServer(&fake{}, Options{}), tt.line+"\n"+`{"jsonrpc":"2.0","id":"last","method":"ping"}`+"\n")
			if tt.code == -1 {
				if len(got) != 1 || got[0].ID != "last" {
					t.Errorf("got %+v, want no answer", got)
				}
				return
			}
			if len(got) != 2 {
				t.Fatalf("got %+v", got)
			}
			a := got[0]
			if a.ID == "last" { // a call is answered by the worker
				a = got[1]
			}
			if a.ID != tt.id {
				t.Errorf("id %v, want %v", a.ID, tt.id)
			}
			switch {
			case tt.code == 0 && (a.Error != nil || !a.Result.IsError || a.Result.Meta["robotmem/error"]["kind"] != "invalid"):
				t.Errorf("got %+v, want a result with isError", a)
			case tt.code != 0 && (a.Error == nil || a.Error.Code != tt.code):
				t.Errorf("got %+v, want error %d", a, tt.code)
			}
		})
	}
}

func TestTooLongMessageIsRefused(t *testing.T) {
	const limit = 100 << 10
	for name, line := range map[string]string{
		"far over":  `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"learn","arguments":{"insight":"` + strings.Repeat("x", 3*limit) + `"}}}`,
		"just over": `{"id":7,"x":"` + strings.Repeat("x", limit) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{}
			got := serve(t, NewServer(f, Options{MaxMessage: limit}), line+"\n"+call(8, "learn", `{"insight":"after"}`))
			if len(got) != 2 || got[0].ID != nil || got[0].Error == nil || !strings.Contains(got[0].Error.Message, "102400 bytes") {
				t.Fatalf("got %+v", got)
			}
			if got[1].ID != 8.0 || len(f.texts) != 1 {
				t.Errorf("serving did not go on: %+v", got[1])
			}
		})
	}
}

func TestLongMessageWithinTheLimit(t *testing.T) {
	text := strings.Repeat("y", 1<<20)
	f := &fake{}
	got := serve(t, NewServer(f, Options{}), call(1, "learn", `{"insight":"`+text+`"}`))
	if len(got) != 1 || len(f.texts) != 1 || f.texts[0] != text {
		t.Errorf("%d answers, %d facts", len(got), len(f.texts))
	}
}

func TestCancelledContextFinishesAcceptedCalls(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, feed := io.Pipe()
	var out bytes.Buffer
	f := &fake{delay: 50 * time.Millisecond}
	done := make(chan error, 1)
	go func() { done <- NewServer(f, Options{}).ServeStdio(ctx, in, &out) }()
	for i := range 3 {
		if _, err := io.WriteString(feed, call(i, "learn", `{"insight":"x"}`)); err != nil {
			t.Fatal(err)
		}
	}
	// The pipe accepts this only after the calls before it were accepted.
	if _, err := io.WriteString(feed, "\n \n"); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := parse(t, out.String()); len(got) != 3 || len(f.texts) != 3 {
		t.Errorf("%d facts, answers %+v; want 3 of both", len(f.texts), got)
	}
}

// A client that sends faster than the memory answers is slowed down by its pipe,
// and loses nothing.
func TestQueueHoldsTheReaderBack(t *testing.T) {
	p := newPatient()
	s := NewServer(p, Options{})
	message := call(1, "recall", `{"query":"`+strings.Repeat("x", 100<<10)+`"}`)
	s.maxQueued = int64(len(message)) // room for one waiting message
	in, feed := io.Pipe()
	var out bytes.Buffer
	done := make(chan error, 1)
	go func() { done <- s.ServeStdio(context.WithoutCancel(t.Context()), in, &out) }()
	const n = 5
	written := make(chan int, n)
	go func() {
		defer feed.Close()
		for i := range n {
			if _, err := io.WriteString(feed, message); err != nil {
				t.Error(err)
			}
			written <- i
		}
	}()
	<-p.begun // the first runs, the second waits, the third is read and waits for room
	for i := range 2 {
		if got := <-written; got != i {
			t.Fatalf("message %d was written, want %d", got, i)
		}
	}
	time.Sleep(50 * time.Millisecond) // time for the others, if nothing held them back
	if got := len(written); got > 1 {
		t.Errorf("%d messages were read over the limit", got)
	}
	p.let <- struct{}{}
	for range n - 1 {
		if err := <-p.ended; err != nil {
			t.Error(err)
		}
		<-p.begun
		p.let <- struct{}{}
	}
	<-p.ended
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := parse(t, out.String()); len(got) != n {
		t.Errorf("%d answers, want %d", len(got), n)
	}
}

// A message over the limit of the queue runs when nothing else waits.
func TestQueueTakesALargeMessage(t *testing.T) {
	s := NewServer(&fake{}, Options{})
	s.maxQueued = 10
	if got := serve(t, s, call(1, "learn", `{"insight":"x"}`)+call(2, "learn", `{"insight":"y"}`)); len(got) != 2 {
		t.Errorf("%d answers, want 2", len(got))
	}
}

// Two calls with one id, which the protocol forbids, are both answered.
func TestOneIDTwice(t *testing.T) {
	got := serve(t, NewServer(&fake{delay: 10 * time.Millisecond}, Options{}), call(1, "learn", `{"insight":"x"}`)+call(1, "learn", `{"insight":"y"}`))
	if len(got) != 2 || got[0].Result.IsError || got[1].Result.IsError {
		t.Errorf("got %+v, want two results", got)
	}
}

func TestLineReaderEndsWithTheInput(t *testing.T) {
	r := &lineReader{in: bufio.NewReader(strings.NewReader("a\nb")), limit: 10}
	for _, want := range []string{"a", "b"} {
		if got, err := r.next(); err != nil || string(got) != want {
			t.Fatalf("got %q, %v, want %q", got, err, want)
		}
	}
	if _, err := r.next(); err != io.EOF {
		t.Errorf("got %v, want EOF", err)
	}
}
