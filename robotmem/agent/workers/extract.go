package workers

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/classify"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/agent/model"
)

// Source is a text that facts are taken from.
type Source struct {
	Text         string
	UID          string // of the memory that holds it
	Collection   string // where the facts go
	Conversation string // of a chat, "" outside of one
}

const (
	mostFacts    = 5
	longestRead  = 6000 // bytes of a source that are shown to a model
	leastRead    = 12   // bytes: less says nothing
	factTokens   = 700
	decideTokens = 120
)

const extractPrompt = "You find facts in a text that will still be useful weeks later: preferences, decisions, measured values, what works, " +
	"what fails, names and places. For each, write one short sentence that can be read alone (text) and copy the words of the text that say " +
	"it, unchanged (quote). At most 5. An empty list is right for small talk, questions and wishes." + dataNote

var extractSchema = json.RawMessage(`{"type":"object","properties":{"facts":{"type":"array","maxItems":5,"items":{"type":"object",` +
	`"properties":{"text":{"type":"string"},"quote":{"type":"string"}},"required":["text","quote"],"additionalProperties":false}}},` +
	`"required":["facts"],"additionalProperties":false}`)

// Extract takes at most five facts from a text, each with a quote that stands in it, and reconciles them with what is known.
func (w *Workers) Extract(ctx context.Context, src *Source, r *Report) error {
	if w.Model == nil || len(strings.TrimSpace(src.Text)) < leastRead || onlyAsks(src.Text) || classify.Instructs(src.Text) {
		return nil
	}

	read := robotmem.Clip(src.Text, longestRead)

	var answer struct {
		Facts []struct{ Text, Quote string }
	}
	err := w.ask(ctx, r, &model.Question{
		Task: TaskExtract, System: extractPrompt, Text: fenced(read), Schema: extractSchema, MaxTokens: factTokens,
	}, &answer)
	if err != nil {
		return err
	}

	r.Offered += len(answer.Facts)
	if n := len(answer.Facts); n > mostFacts {
		r.Refused += n - mostFacts
		r.say(fmt.Sprintf("extract: %d facts of one text, of which %d are looked at", n, mostFacts))
		answer.Facts = answer.Facts[:mostFacts]
	}

	var taken []string

	for _, f := range answer.Facts {
		text := strings.Join(strings.Fields(f.Text), " ")

		quote, why := verified(text, f.Quote, src.Text)
		if why == "" && slices.Contains(taken, folded(text)) {
			why = "is said twice"
		}
		if why != "" {
			r.refuse("extract: %q %s", robotmem.Clip(text, 80), why)
			continue
		}
		taken = append(taken, folded(text))

		if err := w.add(ctx, src, text, quote, r); err != nil {
			return err
		}
	}

	return nil
}

// onlyAsks reports whether a text is one question, which tells nothing.
func onlyAsks(text string) bool {
	text = strings.TrimSpace(text)
	asks := strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？")

	return asks && !strings.ContainsAny(text[:len(text)-1], ".!?。！？\n;；")
}

// verified returns the quote of a fact if it stands in its source, and else why the fact is not taken.
func verified(text, quote, source string) (string, string) {
	if why := sound(text); why != "" {
		return "", why
	}
	if classify.AddressesReader(text) {
		return "", "speaks to its reader"
	}

	quote = strings.Join(strings.Fields(strings.Trim(strings.TrimSpace(quote), `"'“”`)), " ")
	// A quote of one short word proves nothing.
	const shortest = 8

	switch {
	case len(quote) < shortest:
		return "", "has no quote"
	case !strings.Contains(folded(source), folded(quote)):
		return "", "has a quote that does not stand in its source"
	}

	// What surrounds the quote may name what it is about.
	if n := newNumber(withoutNames(text, source), quote); n != "" {
		return "", "has the number " + n + ", which its quote does not have"
	}
	if negates(text) != negates(clauseOf(quote, source)) {
		return "", "negates what its source does not, or the other way round"
	}
	if !sharesWords(text, source) {
		return "", "is about something else than its source"
	}

	return quote, ""
}

// add stores a fact beside, over or instead of what is known.
func (w *Workers) add(ctx context.Context, src *Source, text, quote string, r *Report) error {
	p := &product{
		task: TaskExtract, text: text, collection: src.Collection, tags: []string{"extracted"}, context: robotmem.Object{},
		about: map[string]any{"quote": quote, "of": src.UID},
		name:  nameOf([]string{TaskExtract, src.Collection, src.UID, folded(text)}),
	}
	if src.Conversation != "" {
		p.context["chat"] = map[string]any{"conversation": src.Conversation, "role": "fact"}
	}

	if err := w.reconcile(ctx, p, r); err != nil {
		return err
	}

	return w.put(ctx, p, r)
}

// put stores a product and counts it.
func (w *Workers) put(ctx context.Context, p *product, r *Report) error {
	if p.text == "" {
		r.Known++
		return nil
	}

	res, err := w.learn(ctx, p)
	if err != nil {
		return err
	}

	switch {
	case res.Status != "created":
		r.Known++
	case p.about["contradicts"] != nil || p.about["from"] != nil:
		r.Linked = append(r.Linked, res.MemoryID)
	default:
		r.Added = append(r.Added, res.MemoryID)
	}
	if res.Superseded != 0 {
		r.Replaced = append(r.Replaced, res.Superseded)
	}

	return nil
}

const reconcilePrompt = "You compare a new fact with facts that a memory has. Say what the new fact does: add (it is about something else, or says " +
	"more), same (fact number n says it already), replaces (it is newer and fact number n is no longer true: the same thing of the same owner " +
	"in the same situation has another value), contradicts (it disagrees with fact number n, and both may be true in their situations). " +
	"If unsure, say add." + dataNote

var reconcileSchema = json.RawMessage(`{"type":"object","properties":{"action":{"type":"string","enum":["add","same","replaces","contradicts"]},` +
	`"n":{"type":"integer"}},"required":["action","n"],"additionalProperties":false}`)

// neighbours is how many memories a new fact is compared with.
const neighbours = 5

// reconcile decides with the model what a new fact does to those that are known. A product without a text is not stored.
func (w *Workers) reconcile(ctx context.Context, p *product, r *Report) error {
	known, err := w.near(ctx, p)
	if err != nil || len(known) == 0 {
		return err
	}

	for i := range known {
		if folded(known[i].Content) == folded(p.text) {
			p.text = ""
			return nil
		}
	}

	var list strings.Builder
	fmt.Fprintf(&list, "New fact: %s\n", p.text)

	for i := range known {
		fmt.Fprintf(&list, "%d. (%s) %s\n", i+1, known[i].ObservedAt.Format(time.DateOnly), robotmem.Clip(known[i].Content, 400))
	}

	var answer struct {
		Action string
		N      int
	}
	err = w.ask(ctx, r, &model.Question{
		Task: TaskReconcile, System: reconcilePrompt, Text: fenced(list.String()), Schema: reconcileSchema, MaxTokens: decideTokens,
	}, &answer)
	if err != nil {
		// Without a decision the fact is added: nothing is lost, and a person or consolidation may merge it.
		return nil
	}

	if answer.Action == "add" || answer.Action == "" {
		return nil
	}
	if answer.N < 1 || answer.N > len(known) {
		r.refuse("reconcile: %s of fact %d, which was not shown", answer.Action, answer.N)
		return nil
	}

	p.decide(&known[answer.N-1], answer.Action, r)

	return nil
}

// decide does to a product what a model says of a known fact, if it can be true.
func (p *product) decide(old *robotmem.Memory, action string, r *Report) {
	if action == "replaces" && !sharesWords(p.text, old.Content) {
		r.refuse("reconcile: %q is about something else than memory %d", robotmem.Clip(p.text, 80), old.MemoryID)
		return
	}

	switch {
	case action == "same":
		// What has other numbers, or says the opposite, is not the same, whatever the model says.
		if n := newNumber(p.text, old.Content); n != "" || !sharesWords(p.text, old.Content) || negates(p.text) != negates(old.Content) {
			r.refuse("reconcile: %q is not the same as memory %d", robotmem.Clip(p.text, 80), old.MemoryID)
			return
		}
		p.text = ""
	case action == "replaces" && mayReplace(old, p.collection):
		p.supersedes = old.MemoryID
		p.about["replaces"] = old.UID
	case action == "replaces", action == "contradicts":
		p.about["contradicts"] = []any{old.UID}
	default:
		r.refuse("reconcile: %q is none of the actions", robotmem.Clip(action, 40))
	}
}

// mayReplace reports whether a model may supersede a memory: one that a model has said, of the same collection, that nobody
// protects. What a robot has measured or a person has said stays.
func mayReplace(old *robotmem.Memory, collection string) bool {
	_, ofModel := old.Context.At("model.name")
	state, _ := old.Context.At("model.state")

	return ofModel && state != "confirmed" && !old.Pinned && old.Type == "fact" && old.Collection == collection &&
		old.Source != "operator" && old.Source != "verified"
}

// near returns the facts that a new one may say again, replace or contradict.
func (w *Workers) near(ctx context.Context, p *product) ([]robotmem.Memory, error) {
	filter := robotmem.Object{"chat.role": map[string]any{"$nin": []any{"user", "assistant", "summary"}}}
	if conversation, ok := p.context.At("chat.conversation"); ok {
		filter["$or"] = []any{
			map[string]any{"chat.conversation": conversation}, map[string]any{"chat.conversation": map[string]any{"$exists": false}},
		}
	}

	res, err := w.Node.Recall(ctx, &robotmem.RecallRequest{
		Query: p.text, Collection: p.collection, N: neighbours, Type: "fact", ContextFilter: filter, ParseTime: new(false),
	})
	if err != nil {
		return nil, err
	}

	return slices.DeleteFunc(res.Memories, func(m robotmem.Memory) bool {
		return !sharesWords(p.text, m.Content) && !sharesWords(m.Content, p.text)
	}), nil
}
