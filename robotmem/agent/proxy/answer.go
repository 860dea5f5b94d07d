package proxy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/robotmem/robotmem-go/robotmem"
)

// counters are what /health tells.
type counters struct {
	requests, turns, degraded, unreachable, broken, skipped, evicted atomic.Int64

	// unwell is why the memory has not helped in the newest request, "" if it has.
	unwell atomic.Value
}

// health says whether the proxy works. It asks neither the memory nor the upstream.
func (p *Proxy) health(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	status := "ok"
	if why, _ := p.state.unwell.Load().(string); why != "" {
		status = "degraded: " + why
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"status": status, "upstream": p.o.Upstream.Redacted(), "collection": p.o.Collection, "global": p.o.Global,
		"requests": p.state.requests.Load(), "turns_stored": p.state.turns.Load(), "without_memory": p.state.degraded.Load(),
		"upstream_unreachable": p.state.unreachable.Load(), "broken_streams": p.state.broken.Load(),
		"not_read_by_the_model": p.state.skipped.Load(), "turns_forgotten": p.state.evicted.Load(),
		"language_model": p.o.After != nil, "waiting": len(p.queue),
	})
}

// degradedHeader says why the memory has not helped. hitsField are the memories that the model was given. Both are ours
// alone: what an upstream says under these names is left out.
const (
	degradedHeader = "X-Robotmem-Degraded"
	hitsField      = "memory_hits"
)

// answer passes the answer on and stores what the assistant has said.
func (c *call) answer(w http.ResponseWriter, r *http.Request, res *http.Response) {
	c.state.requests.Add(1)

	header := w.Header()
	for name, values := range res.Header {
		switch name {
		case "Connection", "Keep-Alive", "Proxy-Authenticate", "Trailer", "Transfer-Encoding", "Upgrade", "Content-Length",
			degradedHeader:
		default:
			header[name] = values
		}
	}
	if c.degraded != "" {
		header.Set(degradedHeader, c.degraded)
	}

	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))

	switch {
	case res.StatusCode != http.StatusOK:
		// What the upstream refuses is for the client: its key, its limits, its errors.
		w.WriteHeader(res.StatusCode)
		_, _ = io.Copy(w, io.LimitReader(res.Body, maxAnswer))
		c.finish(r.Context(), "", "", false)
	case kind == "text/event-stream":
		c.stream(w, r, res)
	default:
		c.whole(w, r, res)
	}
}

// whole answers a request without a stream.
func (c *call) whole(w http.ResponseWriter, r *http.Request, res *http.Response) {
	data, err := io.ReadAll(http.MaxBytesReader(nil, res.Body, maxAnswer))
	if err != nil {
		c.state.broken.Add(1)
		c.o.Log.Warn("the answer of the upstream has no end", "error", err)
		fail(w, http.StatusBadGateway, "the answer of the language model broke off")
		c.finish(r.Context(), "", "", true)
		return
	}

	var answer struct {
		Model   string
		Choices []struct {
			Message struct{ Content json.RawMessage }
		}
	}
	text := ""
	if json.Unmarshal(data, &answer) == nil && len(answer.Choices) > 0 {
		text = textOf(answer.Choices[0].Message.Content)
		data = c.withHits(data)
	} else {
		data = withoutHits(data)
	}

	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(data)
	c.finish(r.Context(), text, answer.Model, false)
}

// withHits adds memory_hits to an object of the upstream, and leaves everything else as it came.
func (c *call) withHits(object []byte) []byte {
	hits := c.hits
	if hits == nil {
		hits = []hit{}
	}

	list, err := plainJSON(hits)
	trimmed := bytes.TrimRight(withoutHits(object), " \t\r\n")
	if err != nil || !bytes.HasSuffix(trimmed, []byte("}")) || bytes.Equal(bytes.TrimSpace(trimmed), []byte("{}")) {
		return object
	}

	return fmt.Appendf(nil, `%s,"memory_hits":%s}`, trimmed[:len(trimmed)-1], list)
}

// withoutHits leaves out what an upstream calls memory_hits, however it spells the name. An object without it stays as it
// came.
func withoutHits(object []byte) []byte {
	// A name may be escaped.
	if !bytes.Contains(bytes.ToLower(object), []byte(hitsField)) && !bytes.Contains(object, []byte(`\u`)) {
		return object
	}

	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil {
		return object
	}

	before := len(fields)
	maps.DeleteFunc(fields, func(name string, _ json.RawMessage) bool { return strings.EqualFold(name, hitsField) })
	if len(fields) == before {
		return object
	}
	data, err := plainJSON(fields)
	if err != nil {
		return object
	}

	return bytes.TrimSpace(data)
}

// maxLine is the longest event of a stream in bytes.
const maxLine = 4 << 20

// stream passes events on as they come, the first with memory_hits, and collects the text.
func (c *call) stream(w http.ResponseWriter, r *http.Request, res *http.Response) {
	w.WriteHeader(http.StatusOK)
	out := http.NewResponseController(w)
	_ = out.Flush()

	var (
		said   strings.Builder
		model  string
		told   bool // the hits
		ended  bool
		gone   bool // the client
		events = bufio.NewReaderSize(res.Body, 64<<10)
	)

	for {
		line, err := readLine(events)
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = bytes.TrimSpace(data)
			m, text, isPart := delta(data)

			kept := data
			switch {
			case string(data) == "[DONE]":
				ended = true
			case isPart && !told:
				kept, told = c.withHits(data), true
			default:
				kept = withoutHits(data)
			}

			if isPart {
				model = m
				if said.Len() < maxAnswer {
					said.WriteString(text)
				}
			}
			if len(kept) != len(data) {
				line = fmt.Appendf(nil, "data: %s\n", kept)
			}
		}

		if len(line) > 0 && !gone {
			if _, writeErr := w.Write(line); writeErr != nil {
				gone = true
			} else if len(bytes.TrimSpace(line)) == 0 || err != nil {
				// At the end of an event.
				_ = out.Flush()
			}
		}
		if err == nil && !gone {
			continue
		}

		// Clients leave when they have read the end.
		if !ended {
			c.state.broken.Add(1)
			c.o.Log.Warn("a stream broke off", "client_gone", gone || r.Context().Err() != nil, "error", err)
			if !gone && r.Context().Err() == nil {
				// Clients of the API take it for an error. Without it an answer that breaks off looks complete.
				_, _ = fmt.Fprintf(w, "data: %s\n\n", errorJSON("the stream of the language model broke off"))
				_ = out.Flush()
			}
		}

		break
	}

	c.finish(r.Context(), said.String(), model, !ended)
}

// readLine reads a line with its end, and refuses one without an end.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte

	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > maxLine {
			return nil, fmt.Errorf("an event has more than %d MiB", maxLine>>20)
		}
	}
}

// delta is the text that an event adds to the first choice. ok is false for what is no part of an answer.
func delta(data []byte) (model, text string, ok bool) {
	var event struct {
		Model   string
		Choices []struct {
			Index int
			Delta struct{ Content json.RawMessage }
		}
	}
	if json.Unmarshal(data, &event) != nil || event.Choices == nil {
		return "", "", false
	}

	for _, choice := range event.Choices {
		if choice.Index == 0 {
			text += textOf(choice.Delta.Content)
		}
	}

	return event.Model, text, true
}

// finish stores the assistant's turn, and has facts extracted and the conversation kept within its bounds. It does not wait.
func (c *call) finish(ctx context.Context, said, model string, broken bool) {
	ctx = context.WithoutCancel(ctx)

	c.storing.Go(func() {
		limited, cancel := context.WithTimeout(ctx, storeTime)
		defer cancel()

		// The messages of a repeated request are the same, and so may be the answer; of two different answers both are kept.
		if _, err := c.store(limited, roleAssistant, said, model, broken); err != nil {
			c.o.Log.Warn("the answer is not stored", "error", err)
		}
		if err := c.evict(limited); err != nil {
			c.o.Log.Warn("the conversation is not kept within its bounds", "error", err)
		}
		c.think()
	})
}

// think gives the turn to the language model, after those that wait.
func (c *call) think() {
	if c.o.After == nil || c.remembered == nil {
		return
	}
	<-c.remembered
	turn := c.turn
	if turn == nil {
		return
	}

	work := func(ctx context.Context) {
		c.o.After.Turn(ctx, turn)
		c.o.After.Summarise(ctx, turn.Collection, turn.Conversation)
	}

	select {
	case c.queue <- work:
	default:
		c.state.skipped.Add(1)
		c.o.Log.Warn("a turn is not read by the language model: too many wait", "memory_id", turn.MemoryID)
	}
}

// evict forgets the oldest turns of a conversation that has more than its share. Facts and the summary stay.
func (c *call) evict(ctx context.Context) error {
	if c.o.MaxTurns <= 0 {
		return nil
	}

	list := func(page int64, limit int) (*robotmem.ListResponse, error) {
		return c.o.Node.List(ctx, &robotmem.ListRequest{
			Collection: c.o.Collection, Tags: []string{"turn"}, Page: int(page), Limit: limit,
			ContextFilter: robotmem.Object{"chat.conversation": c.question.conversation},
		})
	}

	for {
		newest, err := list(1, 1)
		if err != nil || newest.Total <= int64(c.o.MaxTurns) {
			return err
		}

		// Pages begin with the newest, so the oldest stand on the last, which may hold fewer than are too many.
		const most = 1000
		limit := min(newest.Total-int64(c.o.MaxTurns), most)
		old, err := list((newest.Total+limit-1)/limit, int(limit))
		if err != nil {
			return err
		}
		if gone, err := c.forget(ctx, old.Memories); err != nil || gone == 0 {
			return err
		}
	}
}

// forget forgets turns that this proxy has stored and nobody has pinned, and returns how many.
func (c *call) forget(ctx context.Context, turns []robotmem.Memory) (gone int, err error) {
	for _, m := range turns {
		if m.Pinned || m.Source != "chat" {
			continue
		}

		_, err := c.o.Node.Forget(ctx, &robotmem.ForgetRequest{
			MemoryID: m.MemoryID, Reason: fmt.Sprintf("the conversation keeps its last %d turns", c.o.MaxTurns),
		})
		// Another request of the conversation may have forgotten it.
		if errors.Is(err, robotmem.Conflict) || errors.Is(err, robotmem.NotFound) {
			continue
		}
		if err != nil {
			return gone, err
		}
		gone++
		c.state.evicted.Add(1)
	}

	return gone, nil
}
