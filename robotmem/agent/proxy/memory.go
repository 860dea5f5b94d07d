package proxy

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/classify"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/agent/block"
)

// call is one request: what the memory has for it, and what it leaves in the memory.
type call struct {
	*Proxy
	question *question

	injected string
	hits     []hit
	degraded string // why the memory has not helped, "" if it has

	remembered chan struct{} // closed when turn is known; nil if there is none
	turn       *Turn         // of the user, nil if it is not stored
}

// hit is a memory that was given to the model.
type hit struct {
	MemoryID   int64     `json:"memory_id"`
	Collection string    `json:"collection"`
	Role       string    `json:"role"` // user, assistant, fact, document or perception
	Content    string    `json:"content"`
	CreatedAt  time.Time `json:"created_at"`
	Score      float64   `json:"score"`

	memory *robotmem.Memory
}

const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleSummary   = "summary"

	// recencyDays is the time in which the part of recency falls to 1/e.
	recencyDays = 30
	// askedFor is how many memories a scope is asked for, for each that may be given.
	askedFor = 3
	// diversity is 1 - λ of maximal marginal relevance.
	diversity = 0.3
	// mostInjected is the size of a block in tokens.
	mostInjected = 1500
	longestQuery = 2000 // bytes
)

// remember recalls for the user's message and stores it. Neither waits for the other, and the request waits for
// neither longer than memoryTime.
func (c *call) remember(ctx context.Context) {
	q := c.question
	if q.last < 0 {
		return
	}

	var (
		both     sync.WaitGroup
		err      error
		storeErr error
		found    []hit
		summary  string
	)

	both.Go(func() { found, summary, err = c.recall(ctx) })
	if q.isNew {
		// It is stored also if the client hangs up just now.
		both.Go(func() {
			limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
			defer cancel()
			c.turn, storeErr = c.store(limited, roleUser, q.texts[q.last], "", false)
		})
	}

	done := make(chan struct{})
	c.remembered = done
	c.storing.Go(func() {
		both.Wait()
		close(done)
	})

	late := time.NewTimer(memoryTime)
	defer late.Stop()

	select {
	case <-done:
		c.inject(found, summary)

		switch {
		case storeErr != nil:
			c.degrade("the turn is not stored", storeErr)
		case err != nil:
			c.degrade("nothing was recalled", err)
		default:
			c.state.unwell.Store("")
		}
	case <-late.C:
		c.degrade("the memory is slow", fmt.Errorf("it has not answered within %s", memoryTime))
	}
}

func (c *call) degrade(what string, err error) {
	c.degraded = what
	c.state.unwell.Store(what)
	c.state.degraded.Add(1)
	c.o.Log.Warn("the chat goes on without the memory", "because", what, "error", err)
}

// recall returns what fits the message, the best first, and the summary of the conversation.
func (c *call) recall(ctx context.Context) ([]hit, string, error) {
	q, k := c.question, c.o.TopK
	if q.topK != nil {
		k = *q.topK
	}
	if k == 0 {
		return nil, "", nil
	}

	ctx, cancel := context.WithTimeout(ctx, memoryTime)
	defer cancel()

	own := []any{map[string]any{"chat.conversation": global}}
	if q.conversation != global {
		own = append(own, map[string]any{"chat.conversation": q.conversation})
	}
	outside := map[string]any{"chat.conversation": map[string]any{"$exists": false}}

	type scope struct {
		collection string
		filter     robotmem.Object
	}
	scopes := []scope{{c.o.Collection, robotmem.Object{"$or": own}}, {c.o.Global, outside}}
	if c.o.Global == c.o.Collection {
		scopes = []scope{{c.o.Collection, robotmem.Object{"$or": append(own, outside)}}}
	}

	var (
		hits []hit
		text = robotmem.Clip(asked(q.texts[q.last]), longestQuery)
	)
	if block.AsksSomething(text) {
		for _, s := range scopes {
			found, err := c.ask(ctx, s.collection, s.filter, text, k)
			if err != nil {
				return nil, "", err
			}
			hits = append(hits, found...)
		}
	}

	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.Score, a.Score) })
	summary, err := c.summary(ctx)

	return hits[:min(k, len(hits))], summary, err
}

// ask asks one scope.
func (c *call) ask(ctx context.Context, collection string, filter robotmem.Object, text string, k int) ([]hit, error) {
	const most = 100

	res, err := c.o.Node.Recall(ctx, &robotmem.RecallRequest{
		Query: text, Collection: collection, ContextFilter: filter, N: min(most, askedFor*k), Diversity: diversity,
		ParseTime: new(false), DeadlineMS: int(memoryTime.Milliseconds()),
	})
	if err != nil {
		return nil, err
	}

	least := block.LeastRelevance(res)
	if t := cmp.Or(c.question.threshold, positive(c.o.Threshold)); t != nil {
		least = *t
	}
	weight := c.o.Recency
	if c.question.recency != nil {
		weight = *c.question.recency
	}

	var hits []hit

	for i := range res.Memories {
		m := &res.Memories[i]
		role := roleOf(m)
		if m.Relevance == nil || *m.Relevance < least || role == roleSummary || c.pointless(m, role) {
			continue
		}

		age := max(time.Since(m.ObservedAt).Hours()/24, 0)
		hits = append(hits, hit{
			MemoryID: m.MemoryID, Collection: m.Collection, Role: role, Content: m.Content, CreatedAt: m.CreatedAt,
			Score: (1-weight)**m.Relevance + weight*math.Exp(-age/recencyDays), memory: m,
		})
	}

	return hits, nil
}

func positive(v float64) *float64 {
	if v > 0 {
		return &v
	}
	return nil
}

// pointless reports whether a memory tells the model nothing: it stands in the messages, it asks what the user asks, or it
// gives orders to its reader.
func (c *call) pointless(m *robotmem.Memory, role string) bool {
	if classify.Instructs(m.Content) {
		return true
	}
	if role != roleUser && role != roleAssistant {
		return false
	}

	text := strings.TrimSpace(m.Content)
	if role == roleUser && (strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？")) {
		return true
	}

	return slices.ContainsFunc(c.question.texts, func(t string) bool { return strings.Contains(t, text) })
}

// roleOf says what a memory is to the model.
func roleOf(m *robotmem.Memory) string {
	if role, ok := m.Context.At("chat.role"); ok {
		if text, ok := role.(string); ok {
			return text
		}
	}
	return m.Type
}

// summary is the running summary of the conversation, "" if there is none.
func (c *call) summary(ctx context.Context) (string, error) {
	if c.o.After == nil {
		return "", nil
	}
	res, err := c.o.Node.List(ctx, &robotmem.ListRequest{
		Collection: c.o.Collection, Limit: 1,
		ContextFilter: robotmem.Object{"chat.conversation": c.question.conversation, "chat.role": roleSummary},
	})
	if err != nil || len(res.Memories) == 0 {
		return "", err
	}

	return res.Memories[0].Content, nil
}

// inject writes the block that the model reads before the message.
func (c *call) inject(found []hit, summary string) {
	lines := []string{block.Open, block.Note}
	left := mostInjected - block.Tokens(block.Open+block.Note+block.Close)

	if summary != "" && !classify.Instructs(summary) {
		line := "So far in this conversation: " + block.Fenced(block.OneLine(summary, longestQuery))
		left -= block.Tokens(line)
		lines = append(lines, line)
	}

	for _, h := range found {
		line := block.Line(h.memory)
		if h.Role == roleUser || h.Role == roleAssistant {
			line = strings.Replace(line, "] ", ", said by the "+h.Role+"] ", 1)
		}
		if n := block.Tokens(line) + 1; n <= left {
			left -= n
			lines, c.hits = append(lines, line), append(c.hits, h)
		}
	}
	if len(lines) > 2 {
		c.injected = strings.Join(append(lines, block.Close), "\n")
	}
}

// partBytes is the longest part of a turn that is one memory, and mostParts how many parts are kept.
const (
	partBytes = 15 << 10
	mostParts = 64
)

// store stores a turn, a long one in parts, and returns the first. Turns that say nothing are not stored.
func (c *call) store(ctx context.Context, role, text, model string, broken bool) (*Turn, error) {
	text = strings.TrimSpace(strings.ToValidUTF8(block.Public(text), "�"))
	if text == "" {
		return nil, nil
	}

	q := c.question
	caller := robotmem.CallerOf(ctx)
	caller.Tool = robotmem.ToolLibrary
	ctx = robotmem.WithCaller(ctx, caller)
	parts := split(text)

	// The request tells equal answers to different questions apart.
	request := requestID([]byte(q.conversation), q.fields["messages"])
	chat := map[string]any{"conversation": q.conversation, "role": role, "turn": len(q.messages), "request": request}
	if model != "" {
		chat["model"] = model
	}
	if broken {
		chat["incomplete"] = true
	}
	if len(parts) > mostParts {
		chat["left_out_parts"] = len(parts) - mostParts
		parts = parts[:mostParts]
	}

	var first *Turn

	for i, part := range parts {
		about := maps.Clone(chat)
		if len(parts) > 1 {
			about["part"], about["parts"] = i+1, len(parts)
		}

		res, err := c.o.Node.Learn(ctx, &robotmem.LearnRequest{
			Insight: part, Collection: c.o.Collection, Context: robotmem.Object{"chat": about}, Tags: []string{"turn"},
			Source: "chat", Outcome: robotmem.OutcomeUnknown,
			RequestID: requestID([]byte(request), []byte(role), fmt.Append(nil, i), []byte(part)),
		})
		if err != nil {
			return first, err
		}
		if first == nil {
			first = &Turn{
				Collection: c.o.Collection, Conversation: q.conversation, MemoryID: res.MemoryID, UID: res.UID, Text: text,
			}
		}
	}

	c.state.turns.Add(1)

	return first, nil
}

// split cuts a text into parts that a memory can hold, at the end of a line or of a word where there is one.
func split(text string) []string {
	var parts []string

	for len(text) > partBytes {
		at := partBytes
		for at > 0 && !utf8.RuneStart(text[at]) {
			at--
		}
		if end := strings.LastIndexAny(text[:at], "\n"); end > partBytes/2 {
			at = end + 1
		} else if end := strings.LastIndexAny(text[:at], " \t"); end > partBytes/2 {
			at = end + 1
		}
		if part := strings.TrimSpace(text[:at]); part != "" {
			parts = append(parts, part)
		}
		text = text[at:]
	}
	if part := strings.TrimSpace(text); part != "" {
		parts = append(parts, part)
	}

	return parts
}
