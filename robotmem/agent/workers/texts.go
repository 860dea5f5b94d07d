package workers

import (
	"context"
	"fmt"
	"strings"

	"github.com/robotmem/robotmem-go/classify"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/agent/model"
)

const compressPrompt = "You shorten the output of a program or the log of a robot to at most two sentences: what was done, how it ended, the error if there is " +
	"one. Use only what the text says, and copy numbers, names and codes unchanged." + dataNote

// compress stores a short form of long texts, linked to them. The text itself stays as it is.
func (d *Dream) compress(ctx context.Context, r *Report) error {
	return d.perceptions(ctx, func(m *robotmem.Memory) error {
		if !strings.HasPrefix(m.MediaType, "text/") || strings.HasPrefix(m.MediaType, "text/csv") {
			return nil
		}
		return d.once(ctx, r, []string{TaskCompress, m.UID}, func(name string) error { return d.shorten(ctx, name, m, r) })
	})
}

func (d *Dream) shorten(ctx context.Context, name string, m *robotmem.Memory, r *Report) error {
	const most = 4 << 20

	// Lists do not tell the size.
	m, err := d.Node.Get(ctx, &robotmem.MemoryRequest{MemoryID: m.MemoryID})
	if err != nil || m.Bytes < leastCompress {
		return err
	}
	if m.Bytes > most {
		r.refuse("compress: memory %d has %d MiB, more than is read", m.MemoryID, m.Bytes>>20)
		return nil
	}

	data, err := d.Node.Data(ctx, &robotmem.MemoryRequest{MemoryID: m.MemoryID})
	if err != nil {
		return err
	}
	text := strings.ToValidUTF8(string(data.DataBase64), "�")

	var answer struct{ Summary string }
	err = d.ask(ctx, r, &model.Question{
		Task: TaskCompress, System: compressPrompt, Text: fenced(m.Content + "\n" + ends(text, longestRead)), Schema: summarySchema, MaxTokens: sentence,
	}, &answer)
	if err != nil {
		return nil
	}

	r.Offered++
	short := strings.Join(strings.Fields(answer.Summary), " ")

	why := sound(short)
	if n := newNumber(short, text+m.Content); why == "" && n != "" {
		why = "has the number " + n + ", which the text does not have"
	}
	if why == "" && !sharesWords(short, text+" "+m.Content) {
		why = "is about something else than the text"
	}
	if why != "" {
		r.refuse("compress: %q %s", robotmem.Clip(short, 80), why)
		return nil
	}

	return d.put(ctx, &product{
		task: TaskCompress, text: short, collection: m.Collection, tags: []string{"summary"},
		about: map[string]any{"from": []any{m.UID}, "bytes": m.Bytes}, name: name,
	}, r)
}

// ends is the head and the tail of a long text: how it began and how it ended.
func ends(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head := strings.ToValidUTF8(text[:most/2], "")
	tail := strings.ToValidUTF8(text[len(text)-most/2:], "")

	return head + "\n[…]\n" + tail
}

const captionPrompt = "You describe one image from the camera of a robot in one sentence: objects, their colours and where they are, and what is unusual. Say nothing " +
	"that cannot be seen." + dataNote

// captions describes images and keyframes, linked to them.
func (d *Dream) captions(ctx context.Context, r *Report) error {
	return d.perceptions(ctx, func(m *robotmem.Memory) error {
		if m.PerceptionType != "visual" || !strings.HasPrefix(m.MediaType, "image/") {
			return nil
		}
		return d.once(ctx, r, []string{TaskCaption, m.UID}, func(name string) error { return d.caption(ctx, name, m, r) })
	})
}

func (d *Dream) caption(ctx context.Context, name string, m *robotmem.Memory, r *Report) error {
	const width = 512

	picture, err := d.Node.Preview(ctx, &admin.PreviewRequest{MemoryID: m.MemoryID, Width: width})
	if err != nil {
		// One image that cannot be shown does not stop the others.
		r.refuse("caption: memory %d cannot be shown: %s", m.MemoryID, robotmem.Detail(err))
		return nil
	}

	var answer struct{ Summary string }
	err = d.ask(ctx, r, &model.Question{
		Task: TaskCaption, System: captionPrompt, Text: fenced("What was noted when it was taken: " + robotmem.Clip(m.Content, 400)),
		Images: [][]byte{picture.DataBase64}, Schema: summarySchema, MaxTokens: sentence,
	}, &answer)
	if err != nil {
		return nil
	}

	r.Offered++
	text := strings.Join(strings.Fields(answer.Summary), " ")
	if why := sound(text); why != "" {
		r.refuse("caption: %q %s", robotmem.Clip(text, 80), why)
		return nil
	}

	return d.put(ctx, &product{
		task: TaskCaption, text: text, collection: m.Collection, tags: []string{"caption"},
		about: map[string]any{"from": []any{m.UID}}, name: name,
	}, r)
}

// perceptions calls f for the newest perceptions.
func (d *Dream) perceptions(ctx context.Context, f func(*robotmem.Memory) error) error {
	const most = 500

	res, err := d.Node.List(ctx, &robotmem.ListRequest{Collection: d.Collection, Type: "perception", Limit: most})
	if err != nil {
		return err
	}

	for i := range res.Memories {
		if err := f(&res.Memories[i]); err != nil {
			return err
		}
	}

	return nil
}

const conversationPrompt = "You keep the running summary of a conversation. Write a new summary of at most five sentences from the old summary and what was said since: " +
	"what the user wants, what was decided, what is open. Leave out greetings." + dataNote

// summariseAfter is how many turns of the user a summary waits for.
const summariseAfter = 4

// Summarise writes the running summary of a conversation. Its history keeps the earlier ones.
func (w *Workers) Summarise(ctx context.Context, collection, conversation string, r *Report) error {
	if w.Model == nil {
		return nil
	}

	const most = 30
	chat := func(role any) robotmem.Object {
		return robotmem.Object{"chat.conversation": conversation, "chat.role": role}
	}
	old, err := w.Node.List(ctx, &robotmem.ListRequest{Collection: collection, Limit: 1, ContextFilter: chat("summary")})
	if err != nil {
		return err
	}
	turns, err := w.Node.List(ctx, &robotmem.ListRequest{
		Collection: collection, Limit: most, ContextFilter: chat(map[string]any{"$in": []any{"user", "assistant"}}),
	})
	if err != nil {
		return err
	}

	var (
		before   string
		summary  *robotmem.Memory
		lines    []string
		last     float64 // id of the last turn that the summary has
		fromUser int
	)
	if len(old.Memories) > 0 {
		summary = &old.Memories[0]
		before = summary.Content
		upto, _ := summary.Context.At("model.upto")
		last, _ = asFloat(upto)
	}

	for _, m := range turns.Memories {
		if float64(m.MemoryID) <= last {
			break
		}
		role, _ := m.Context.At("chat.role")
		if role == "user" {
			fromUser++
		}
		if !classify.Instructs(m.Content) {
			lines = append([]string{fmt.Sprintf("%s: %s", role, robotmem.Clip(m.Content, 600))}, lines...)
		}
	}
	if fromUser < summariseAfter {
		return nil
	}

	text := "Old summary: " + before + "\nSince then:\n" + strings.Join(lines, "\n")

	var answer struct{ Summary string }
	err = w.ask(ctx, r, &model.Question{
		Task: TaskSummary, System: conversationPrompt, Text: fenced(ends(text, longestRead)), Schema: summarySchema, MaxTokens: 2 * sentence,
	}, &answer)
	if err != nil {
		return nil
	}

	r.Offered++

	const longest = 2000
	short := robotmem.Clip(strings.Join(strings.Fields(answer.Summary), " "), longest)

	why := ""

	switch n := newNumber(short, text); {
	case len(short) < leastRead:
		why = "is too short"
	case classify.Instructs(short):
		why = "speaks to its reader"
	case n != "":
		why = "has the number " + n + ", which the conversation does not have"
	case !sharesWords(short, text):
		why = "is about something else than the conversation"
	}
	if why != "" {
		r.refuse("summary: %q %s", robotmem.Clip(short, 80), why)
		return nil
	}

	upto := turns.Memories[0].MemoryID
	about := map[string]any{"task": TaskSummary, "name": w.name(), "upto": upto}
	context := robotmem.Object{"chat": map[string]any{"conversation": conversation, "role": "summary"}, "model": about}
	if summary != nil {
		_, err := w.Node.Update(ctx, &robotmem.UpdateRequest{MemoryID: summary.MemoryID, NewContent: short, Context: context})
		if err == nil {
			r.Replaced = append(r.Replaced, summary.MemoryID)
		}
		return err
	}

	return w.put(ctx, &product{
		task: TaskSummary, text: short, collection: collection, tags: []string{"summary"},
		context: robotmem.Object{"chat": context["chat"]}, about: map[string]any{"upto": upto}, name: nameOf([]string{TaskSummary, collection, conversation, fmt.Sprint(upto)}),
	}, r)
}
