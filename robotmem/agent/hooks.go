package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/agent/block"
)

// Hooks remembers what agents do, and tells them what is known.
type Hooks struct {
	Node       robotmem.Service
	Collection string
	// Folder has the journals of the conversations whose turns are not all stored.
	Folder string
	// Exclude are patterns of files, such as *.env; a use of a tool on one of them is not recorded.
	Exclude []string
	// AskNever leaves the agent in peace: it is not asked for the outcome of its work.
	AskNever bool
	// Log gets what a client is not told.
	Log *slog.Logger
}

const (
	// staleAfter is the time after which a conversation is taken for ended: its client was killed, or has no event for
	// the end.
	staleAfter = 12 * time.Hour
	// askFor is the number of uses of tools, that changed something, from which on a turn was work whose outcome is asked
	// for.
	askFor = 3
	// outputKept is the number of bytes of the output of a tool that is kept, of its head and its tail.
	outputKept = 1200
	promptKept = 4000 // characters
	answerKept = 8000
	taskKept   = 200
)

// Answer is what a hook tells the client; the zero value tells nothing.
type Answer struct {
	Context string // to be added to what the model reads
	Ask     string // to be answered by the model before it stops
}

// Handle answers an event. The answer is right also if an error is returned, which says what could not be stored.
func (h *Hooks) Handle(ctx context.Context, e *Event) (answer Answer, err error) {
	if e.Session == "" || e.Kind == Other {
		return Answer{}, nil
	}

	files := journals(h.Folder)
	at := files.name(e.Client, e.Session, e.Agent)
	// Whose conversation it is stands first in its journal, so that it can be stored by whoever reaches the memory.
	if _, err := os.Stat(at); errors.Is(err, os.ErrNotExist) && e.Kind != End {
		first := &entry{Kind: begun, Client: e.Client, Session: e.Session, Agent: e.Agent, Folder: e.Folder}
		if err := files.add(at, first); err != nil {
			return Answer{}, err
		}
	}

	switch e.Kind {
	case Start:
		return h.start(ctx, files, at, e)
	case Prompt:
		return h.prompt(ctx, files, at, e)
	case Tool:
		return h.tool(files, at, e)
	case Said:
		return Answer{}, files.add(at, &entry{Kind: said, Text: robotmem.Clip(block.Public(e.Message), answerKept)})
	case Stop:
		return h.stop(ctx, files, at, e)
	case End:
		return Answer{}, h.end(ctx, files, at)
	}

	return Answer{}, nil
}

// start opens the episode and returns its briefing.
func (h *Hooks) start(ctx context.Context, files journals, at string, e *Event) (Answer, error) {
	// What killed clients and an unwell memory have left is stored by the next conversation, a little each time.
	const most = 2
	err := h.storeOthers(ctx, files, at, most)

	ids, begin, openErr := h.open(ctx, e)
	if openErr != nil {
		return Answer{}, errors.Join(err, openErr)
	}

	var text string
	text, begin.Shown = h.briefing(ctx, ids, projectOf(e.Folder))

	return Answer{Context: text}, errors.Join(err, files.add(at, begin))
}

// storeOthers stores what is left of other conversations, of at most so many: those that ended or are stale are ended.
func (h *Hooks) storeOthers(ctx context.Context, files journals, but string, most int) (err error) {
	// A journal that was written to just now has a hook of its own.
	all, err := files.stale(now().Add(-sweepAfter))
	for _, c := range all {
		over := c.ended || now().Sub(c.last) > staleAfter || c.last.IsZero()
		waits := slices.ContainsFunc(c.turns, func(t *turn) bool { return t.over && !t.stored })
		if c.path == but || !over && !waits {
			continue
		}
		if most--; most < 0 || ctx.Err() != nil {
			break
		}

		if over {
			err = errors.Join(err, h.finish(ctx, files, c))
		} else if oneErr := h.adopt(ctx, files, c); oneErr != nil {
			err = errors.Join(err, oneErr)
		} else {
			err = errors.Join(err, h.store(ctx, files, c, false))
		}
	}

	return err
}

// adopt opens the episode of a conversation whose beginning did not reach the memory.
func (h *Hooks) adopt(ctx context.Context, files journals, c *conversation) error {
	if c.Episode != "" {
		return nil
	}

	e := &Event{Client: c.Client, Session: c.Session, Agent: c.Agent, Folder: c.Folder}
	if e.Session == "" {
		// Its first line is torn.
		name := strings.TrimSuffix(filepath.Base(c.path), ".jsonl")
		e.Client, _, _ = strings.Cut(name, "-")
		e.Session = name
	}
	_, begin, err := h.open(ctx, e)
	if err != nil {
		return err
	}
	c.entry = *begin

	return files.add(c.path, begin)
}

// open starts the episode of a conversation, or goes on with it, and returns the memories of its briefing.
func (h *Hooks) open(ctx context.Context, e *Event) (ids []int64, begin *entry, err error) {
	project := projectOf(e.Folder)
	episode := e.Client + ":" + e.Session
	if e.Agent != "" {
		episode += ":" + e.Agent
	}

	const longest = 120
	if len(episode) > longest {
		episode = filepath.Base(journals("").name(e.Client, e.Session, e.Agent))
	}

	ask := &robotmem.StartSessionRequest{
		Collection: h.Collection, SessionID: episode,
		Context: robotmem.Object{"agent": agentOf(e.Client, project), "task": map[string]any{"name": "work on " + project}},
	}
	res, err := h.Node.StartSession(ctx, ask)
	// A conversation that is taken up after its end is an episode of its own.
	if errors.Is(err, robotmem.Conflict) || errors.Is(err, robotmem.NotFound) || errors.Is(err, robotmem.Invalid) {
		ask.SessionID = episode + ":" + strconv.FormatInt(now().Unix(), 36)
		res, err = h.Node.StartSession(ctx, ask)
	}
	if err != nil {
		return nil, nil, err
	}

	begin = &entry{
		Kind: begun, Client: e.Client, Session: e.Session, Agent: e.Agent, Folder: e.Folder, Episode: res.SessionID,
	}

	return res.Briefing.MemoryIDs, begin, nil
}

// agentOf is the section of a context that says whose memory it is.
func agentOf(client, project string) map[string]any {
	return map[string]any{"client": client, "project": project}
}

// projectOf is the name of the project that a folder belongs to.
func projectOf(folder string) string {
	name := path.Base(filepath.ToSlash(folder))
	if folder == "" || name == "/" || name == "." {
		return "unknown"
	}
	return name
}

// of is the conversation of an event. One whose beginning was not told begins now.
func (h *Hooks) of(ctx context.Context, files journals, at string, e *Event) (*conversation, error) {
	c, err := files.read(at)
	if err != nil || c != nil && c.Episode != "" {
		return c, err
	}

	_, begin, err := h.open(ctx, e)
	if err != nil {
		return nil, err
	}
	if err := files.add(at, begin); err != nil {
		return nil, err
	}

	return files.read(at)
}

// prompt recalls for what the user has said.
func (h *Hooks) prompt(ctx context.Context, files journals, at string, e *Event) (Answer, error) {
	text := block.Public(e.Prompt)
	line := &entry{Kind: prompted, Text: robotmem.Clip(text, promptKept)}

	c, err := h.of(ctx, files, at, e)
	if err != nil {
		// The prompt is kept: the next hook may reach the memory.
		return Answer{}, errors.Join(err, files.add(at, line))
	}

	var seen []int64
	for _, t := range c.turns {
		seen = append(seen, t.shown...)
	}
	injected, ids, err := h.relevant(ctx, c, text, append(seen, c.shown...))
	line.Shown = ids
	// These clients take no context with a prompt. It comes with the first use of a tool.
	if e.Client == Cursor || e.Client == VSCode {
		line.Late, injected = injected, ""
	}

	return Answer{Context: injected}, errors.Join(err, files.add(at, line))
}

// tool records a use of a tool.
func (h *Hooks) tool(files journals, at string, e *Event) (Answer, error) {
	u := e.Tool

	var (
		answer Answer
		lines  []*entry
	)

	if e.Client == Cursor || e.Client == VSCode {
		if c, err := files.read(at); err == nil && c != nil && c.late != "" {
			answer.Context = c.late
			lines = append(lines, &entry{Kind: delivered})
		}
	}
	if !h.excluded(u) && (!u.ReadOnly || u.Failed) {
		u.Command = robotmem.Clip(block.Public(u.Command), 2*outputKept)
		// Of a long output the ends alone are looked at, as they are kept.
		u.Output = ends(block.Public(ends(u.Output, 2*outputKept)), outputKept)
		lines = append(lines, &entry{Kind: used, Tool: u})
	}
	if lines == nil {
		return answer, nil
	}

	return answer, files.add(at, lines...)
}

// excluded reports whether a use of a tool names a file that is not to be recorded.
func (h *Hooks) excluded(u *ToolUse) bool {
	names := slices.Concat(u.Files, strings.FieldsFunc(u.Command, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`=;|&<>()", r) }))

	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(h.Exclude, func(pattern string) bool {
			whole, err := path.Match(pattern, filepath.ToSlash(name))
			base, baseErr := path.Match(pattern, path.Base(filepath.ToSlash(name)))
			return err == nil && whole || baseErr == nil && base
		})
	})
}

// stop stores the turn, or asks for its outcome first.
func (h *Hooks) stop(ctx context.Context, files journals, at string, e *Event) (Answer, error) {
	line := &entry{Kind: stopped, Text: robotmem.Clip(block.Public(e.Message), answerKept)}
	if e.Aborted {
		line.Text = ""
	}

	c, err := h.of(ctx, files, at, e)
	if err != nil {
		return Answer{}, errors.Join(err, files.add(at, line))
	}

	t := c.current(now())
	if !e.Aborted && !h.AskNever && !e.Asked && !t.asked && !t.over && worthAsking(t) && readReport(line.Text).outcome == "" {
		line.Kind = said
		return Answer{Ask: askText(t)}, files.add(at, line, &entry{Kind: asked})
	}
	if err := files.add(at, line); err != nil {
		return Answer{}, err
	}

	if c, err = files.read(at); err != nil || c == nil {
		return Answer{}, err
	}

	return Answer{}, h.store(ctx, files, c, false)
}

// worthAsking reports whether a turn was work, or was helped by the memory.
func worthAsking(t *turn) bool {
	n := len(t.work())
	return n >= askFor || n > 0 && len(t.shown) > 0
}

// end stores what is left and ends the episode.
func (h *Hooks) end(ctx context.Context, files journals, at string) error {
	c, err := files.read(at)
	if err != nil || c == nil {
		return err
	}
	if err := files.add(at, &entry{Kind: ended}); err != nil {
		return err
	}

	return h.finish(ctx, files, c)
}

// finish stores a conversation that goes on no more, and removes its journal.
func (h *Hooks) finish(ctx context.Context, files journals, c *conversation) error {
	if c.Episode == "" && len(c.turns) == 0 {
		return c.remove()
	}
	if err := h.adopt(ctx, files, c); err != nil {
		return err
	}
	if err := h.store(ctx, files, c, true); err != nil {
		return err
	}

	ask := &robotmem.EndSessionRequest{SessionID: c.Episode, MemoryScores: robotmem.Object{}}
	ask.Outcome, ask.MemoryScores = c.verdict()
	_, err := h.Node.EndSession(ctx, ask)
	// A memory that was forgotten meanwhile, or that the agent has made up, has no record. The others have theirs.
	if errors.Is(err, robotmem.NotFound) && len(ask.MemoryScores) > 0 {
		h.keepKnown(ctx, ask.MemoryScores)
		_, err = h.Node.EndSession(ctx, ask)
	}
	if err != nil && !errors.Is(err, robotmem.Conflict) && !errors.Is(err, robotmem.NotFound) {
		return err
	}

	return c.remove()
}

// keepKnown removes the scores of memories that do not exist.
func (h *Hooks) keepKnown(ctx context.Context, scores robotmem.Object) {
	for text := range maps.Clone(scores) {
		id, err := strconv.ParseInt(text, 10, 64)
		if err == nil {
			_, err = h.Node.Get(ctx, &robotmem.MemoryRequest{MemoryID: id})
		}
		if err != nil {
			delete(scores, text)
		}
	}
}

// verdict is the outcome of a conversation, that of its last turn with one, and what the memories were worth that were
// injected: those that the agent names, or else all that were shown for a turn, as the turn went.
func (c *conversation) verdict() (outcome string, scores robotmem.Object) {
	outcome = robotmem.OutcomeUnknown
	sums, counts := map[int64]float64{}, map[int64]float64{}
	add := func(id int64, worth float64) { sums[id] += worth; counts[id]++ }

	for _, t := range c.turns {
		r := readReport(t.answer)
		outcome = cmp.Or(r.outcome, outcome)

		worth, known := worthOf[r.outcome]
		if known {
			credited := t.shown
			if r.named {
				credited = r.helped
			}

			for _, id := range credited {
				if !slices.Contains(r.misled, id) {
					add(id, worth)
				}
			}
		}

		for _, id := range r.misled {
			add(id, 0)
		}
	}

	scores = robotmem.Object{}

	for id, sum := range sums {
		word := "partly"
		if mean := sum / counts[id]; mean > 2.0/3 {
			word = "helped"
		} else if mean < 1.0/3 {
			word = "misled"
		}
		scores[strconv.FormatInt(id, 10)] = word
	}

	return outcome, scores
}

var worthOf = map[string]float64{robotmem.OutcomeSuccess: 1, robotmem.OutcomePartial: 0.5, robotmem.OutcomeFailure: 0}

// store stores the turns that are over and not stored yet, or all. Each call has a name of its own, so that a call
// that is repeated after an interruption stores nothing twice.
func (h *Hooks) store(ctx context.Context, files journals, c *conversation, all bool) error {
	for i, t := range c.turns {
		goesOn := !t.over && i == len(c.turns)-1
		if t.stored || goesOn && !all {
			continue
		}
		if err := h.storeTurn(ctx, c, t); err != nil {
			return err
		}
		if err := files.add(c.path, &entry{Kind: stored, Turn: t.number}); err != nil {
			return err
		}
		t.stored = true
	}

	return nil
}

// Sweep stores what hooks had no time to store, now and every minute until ctx ends. First it asks what the beginning of
// a conversation asks, so that the indexes for it are ready.
func (h *Hooks) Sweep(ctx context.Context) {
	if _, err := h.lessons(ctx, ""); err != nil && ctx.Err() == nil {
		h.log().Warn("the lessons of projects cannot be read", "error", err)
	}

	files := journals(h.Folder)
	every := time.NewTicker(time.Minute)
	defer every.Stop()

	for {
		err := h.storeOthers(ctx, files, "", math.MaxInt)
		if err != nil && ctx.Err() == nil {
			h.log().Warn("what agents did is not stored yet", "error", err)
		}

		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

const sweepAfter = 10 * time.Second

// storeTurn stores the lessons of a turn, and one perception with all that was done.
func (h *Hooks) storeTurn(ctx context.Context, c *conversation, t *turn) error {
	project := projectOf(c.Folder)
	context := robotmem.Object{"agent": agentOf(c.Client, project)}
	// What was to be done is not what was learnt: it is found with the memories of the turn, and is no rule.
	if task := block.OneLine(t.prompt, taskKept); task != "" {
		context["task"] = map[string]any{"name": task}
	}
	r := readReport(t.answer)

	type lesson struct {
		text, from string
		tags       []string
	}

	var all []lesson
	for _, text := range r.lessons {
		all = append(all, lesson{text, c.Client, []string{"lesson"}})
	}

	for _, text := range ordersIn(t.prompt) {
		all = append(all, lesson{text, "user", []string{"lesson", "user"}})
	}

	for _, f := range fixesIn(t.uses) {
		all = append(all, lesson{f.text(), c.Client, []string{"lesson", "command"}})
	}

	for i, l := range all {
		_, err := h.Node.Learn(ctx, &robotmem.LearnRequest{
			Insight: l.text, Context: maps.Clone(context), Collection: h.Collection, SessionID: c.Episode, Tags: l.tags,
			// What a lesson speaks of may have failed. The lesson itself is neither a success nor a failure.
			Outcome: robotmem.OutcomeUnknown, Source: l.from, ObservedAt: &t.until, RequestID: fmt.Sprintf("%s/%d/%d", c.Episode, t.number, i),
		})
		// A text that the memory refuses is no reason to lose the others.
		if errors.Is(err, robotmem.Invalid) || errors.Is(err, robotmem.TooLarge) {
			h.log().Warn("a lesson is not stored", "lesson", l.text, "error", err)
		} else if err != nil {
			return err
		}
	}

	work := t.work()
	if len(work) == 0 {
		return nil
	}

	var data strings.Builder
	lines := json.NewEncoder(&data)
	lines.SetEscapeHTML(false)

	for _, u := range work {
		if err := lines.Encode(u); err != nil {
			return err
		}
	}
	if files := t.files(); len(files) > 0 {
		context["files"] = files[:min(len(files), mostFiles)]
	}
	_, err := h.Node.SavePerception(ctx, &robotmem.SavePerceptionRequest{
		Description: describe(t, c.Client, project), PerceptionType: "procedural", Data: data.String(),
		MediaType: "application/x-ndjson", Context: context, Collection: h.Collection, SessionID: c.Episode,
		ObservedAt: &t.until, Source: c.Client, Origin: fmt.Sprintf("%s/%d", c.Episode, t.number),
	})

	return err
}

const mostFiles = 50

// describe says in a sentence what was done in a turn.
func describe(t *turn, client, project string) string {
	const most, longest = 5, 100

	var ran, failed []string

	for _, u := range t.work() {
		if u.Command == "" {
			continue
		}
		command := block.OneLine(u.Command, longest)
		if u.Failed {
			failed = append(failed, command)
		} else if !slices.Contains(ran, command) {
			ran = append(ran, command)
		}
	}

	var files []string
	for _, file := range t.files() {
		files = append(files, path.Base(filepath.ToSlash(file)))
	}

	list := func(verb string, items []string) string {
		if len(items) == 0 {
			return ""
		}
		text := "; " + verb + " " + strings.Join(items[:min(len(items), most)], ", ")
		if more := len(items) - most; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}

		return text
	}

	return fmt.Sprintf("%s worked on %s%s%s%s", client, project,
		list("wrote", files), list("ran", ran), list("status not 0:", failed))
}

func (h *Hooks) log() *slog.Logger {
	if h.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return h.Log
}
