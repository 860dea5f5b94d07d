package workers

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/agent/model"
)

// Dream is what is done while nobody asks: episodes are summarised, what recurs over at least three of them becomes a
// pattern, what patterns suggest is proposed as a rule, facts that disagree in different situations are linked, long texts
// are shortened, and images get captions. Without a model it finds patterns alone.
type Dream struct {
	*Workers
	// Collection is where it looks and what it writes to.
	Collection string
	// Done remembers what was looked at, so that it is not asked again.
	Done Done
	// Captions has the model describe images: it needs one that sees.
	Captions bool
	// Most bounds the calls of the model in one run; 0 is DefaultMost.
	Most int
}

// Done remembers keys. It may forget: then work is done again, with the same result.
type Done interface {
	Has(key string) bool
	Add(key string) error
}

// DefaultMost is how many calls one dream makes.
const DefaultMost = 60

const (
	window        = 2000 // of the newest facts, in which patterns are looked for
	leastMembers  = 3    // of a pattern, of different episodes
	mostMembers   = 12   // that a model is shown
	leastEpisode  = 3    // facts of an episode that is summarised
	mostEpisodes  = 200
	leastCompress = 4 << 10 // bytes of a text that is shortened
	sentence      = 200     // tokens
)

// Run dreams once. It ends early when a cap is reached, without an error.
func (d *Dream) Run(ctx context.Context, r *Report) error {
	facts, err := d.facts(ctx)
	if err != nil {
		return err
	}

	groups := group(facts)

	steps := []func(context.Context, *Report) error{
		func(ctx context.Context, r *Report) error { return d.patterns(ctx, groups, r) },
	}
	if d.Model != nil {
		steps = append(steps, d.turns, d.episodes,
			func(ctx context.Context, r *Report) error { return d.rules(ctx, groups, r) },
			func(ctx context.Context, r *Report) error { return d.contradictions(ctx, facts, r) },
			d.compress)
		if d.Captions {
			steps = append(steps, d.captions)
		}
	}

	for _, step := range steps {
		if err := step(ctx, r); err != nil {
			return err
		}
	}

	return nil
}

// enough reports whether no more calls may be made.
func (d *Dream) enough(r *Report) bool {
	if most := cmp.Or(d.Most, DefaultMost); d.Model != nil && r.Asked >= most {
		if !r.Spent {
			r.say(fmt.Sprintf("the dream has made its %d calls of the model", most))
		}
		r.Spent = true
	}

	return r.Spent
}

// once does a piece of work unless it was done. What fails for a reason of the model is done again at the next dream. The name
// of the work is that of its product.
func (d *Dream) once(ctx context.Context, r *Report, key []string, work func(name string) error) error {
	name := nameOf(append(key, d.Collection))
	if d.Done.Has(name) {
		return nil
	}
	if d.enough(r) {
		r.Remaining++
		return nil
	}

	known, err := d.Node.List(ctx, &robotmem.ListRequest{
		Collection: d.Collection, Status: "all", Limit: 1, ContextFilter: robotmem.Object{"model.key": name},
	})
	if err != nil {
		return err
	}
	if len(known.Memories) > 0 {
		return d.Done.Add(name)
	}

	failed := r.Failed
	err = work(name)

	switch {
	case r.Spent:
		r.Remaining++
		return nil
	case r.Failed > failed:
		return nil
	case err != nil:
		return err
	}

	return d.Done.Add(name)
}

// facts returns the newest facts that no model has said, without turns of conversations and copies of other robots.
func (d *Dream) facts(ctx context.Context) ([]robotmem.Memory, error) {
	const page = 1000

	var (
		all    []robotmem.Memory
		before int64
	)
	for len(all) < window {
		res, err := d.Node.List(ctx, &robotmem.ListRequest{
			Collection: d.Collection, Type: "fact", Limit: page, BeforeID: before,
			ContextFilter: robotmem.Object{
				"model.name": map[string]any{"$exists": false}, "chat.role": map[string]any{"$exists": false},
			},
		})
		if err != nil {
			return nil, err
		}
		all = append(all, res.Memories...)
		if len(res.Memories) < page {
			break
		}
		before = res.Memories[len(res.Memories)-1].MemoryID
	}

	return all[:min(len(all), window)], nil
}

// turns reads what users have said and no model has read: the proxy ended before, or a cap was reached.
func (d *Dream) turns(ctx context.Context, r *Report) error {
	const most = 500

	res, err := d.Node.List(ctx, &robotmem.ListRequest{
		Collection: d.Collection, Type: "fact", Tags: []string{"turn"}, Limit: most,
		ContextFilter: robotmem.Object{"chat.role": "user"},
	})
	if err != nil {
		return err
	}

	for _, m := range res.Memories {
		conversation, _ := m.Context.At("chat.conversation")
		name, _ := conversation.(string)
		src := &Source{
			Text: m.Content, UID: m.UID, Collection: m.Collection, Conversation: name,
		}
		err := d.once(ctx, r, []string{TaskExtract, m.UID}, func(string) error { return d.Extract(ctx, src, r) })
		if err != nil {
			return err
		}
	}

	return nil
}

// episodes summarises what happened in episodes that have ended.
func (d *Dream) episodes(ctx context.Context, r *Report) error {
	res, err := d.Node.Sessions(ctx, &robotmem.SessionsRequest{Collection: d.Collection, Status: "ended", Limit: mostEpisodes})
	if err != nil {
		return err
	}

	for _, s := range res.Sessions {
		err := d.once(ctx, r, []string{TaskEpisode, s.SessionID}, func(name string) error { return d.episode(ctx, name, s.SessionID, r) })
		if err != nil {
			return err
		}
	}

	return nil
}

const episodePrompt = "You summarise one episode of a robot in at most two sentences: what it tried, with which values, how it went. Use only what " +
	"the numbered facts say, and copy numbers with their units." + dataNote

var summarySchema = json.RawMessage(`{"type":"object","properties":{"summary":{"type":"string"}},"required":["summary"],"additionalProperties":false}`)

func (d *Dream) episode(ctx context.Context, name, id string, r *Report) error {
	const most = 40

	res, err := d.Node.SessionMemories(ctx, &admin.SessionMemoriesRequest{SessionID: id, Limit: most})
	if err != nil {
		return err
	}
	facts := slices.DeleteFunc(res.Memories, func(m robotmem.Memory) bool {
		_, ofModel := m.Context.At("model.name")
		_, ofChat := m.Context.At("chat.role")
		return m.Type != "fact" || ofModel || ofChat
	})
	if len(facts) < leastEpisode {
		return nil
	}

	text, ok := d.sentence(ctx, r, TaskEpisode, episodePrompt, facts)
	if !ok {
		return nil
	}

	return d.put(ctx, &product{
		task: TaskEpisode, text: text, collection: facts[0].Collection, tags: []string{"summary"},
		about: map[string]any{"session": id, "from": uids(facts)}, name: name,
	}, r)
}

// sentence asks for a sentence about facts and checks it against them.
func (d *Dream) sentence(ctx context.Context, r *Report, task, prompt string, facts []robotmem.Memory) (string, bool) {
	list := numbered(facts)

	var answer struct{ Summary string }
	err := d.ask(ctx, r, &model.Question{
		Task: task, System: prompt, Text: fenced(robotmem.Clip(list, longestRead)), Schema: summarySchema, MaxTokens: sentence,
	}, &answer)
	if err != nil {
		return "", false
	}

	r.Offered++
	text := strings.Join(strings.Fields(answer.Summary), " ")

	why := sound(text)
	if n := newNumber(text, list); why == "" && n != "" {
		why = "has the number " + n + ", which no fact has"
	}
	if why == "" && !sharesWords(text, list) {
		why = "is about something else than the facts"
	}
	if why != "" {
		r.refuse("%s: %q %s", task, robotmem.Clip(text, 80), why)
		return "", false
	}

	return text, true
}

// numbered are facts as a model is shown them.
func numbered(facts []robotmem.Memory) string {
	var list strings.Builder

	for i := range facts {
		m := &facts[i]
		fmt.Fprintf(&list, "%d. (%s, %s) %s\n", i+1, m.ObservedAt.Format(time.DateOnly), m.Outcome, robotmem.Clip(m.Content, 300))
	}

	return list.String()
}

func uids(facts []robotmem.Memory) []any {
	out := make([]any, len(facts))
	for i := range facts {
		out[i] = facts[i].UID
	}
	return out
}

// cluster is a group of facts that say nearly the same, of different episodes.
type cluster struct {
	members []robotmem.Memory // the oldest first
	medoid  *robotmem.Memory  // the one that is nearest to the others
}

func (c *cluster) key() []string {
	var key []string
	for i := range c.members {
		key = append(key, c.members[i].UID)
	}
	slices.Sort(key)

	return key
}

// alike is the share of common words from which two facts say nearly the same. Numbers do not count: a pattern is over values.
const alike = 0.6

// group finds groups of facts by their words: each fact joins the group whose first member it is most like.
func group(facts []robotmem.Memory) []cluster {
	type leader struct {
		words []string
		at    []int
	}

	sets := make([][]string, len(facts))
	for i := range facts {
		sets[i] = wordSet(facts[i].Content)
	}

	var (
		leaders []leader
		byWord  = map[string][]int{} // leaders
	)
	// The oldest first, so that a group does not change its leader as facts are added.
	for i := len(facts) - 1; i >= 0; i-- {
		best, at, tried := alike, -1, map[int]bool{}

		for _, word := range sets[i] {
			for _, l := range byWord[word] {
				if tried[l] {
					continue
				}
				tried[l] = true
				if s := consolidate.Jaccard(sets[i], leaders[l].words); s > best || s == best && l < at {
					best, at = s, l
				}
			}
		}
		if at < 0 {
			at = len(leaders)

			leaders = append(leaders, leader{words: sets[i]})
			for _, word := range sets[i] {
				byWord[word] = append(byWord[word], at)
			}
		}
		leaders[at].at = append(leaders[at].at, i)
	}

	var groups []cluster

	for _, l := range leaders {
		if c := clusterOf(facts, sets, l.at); c != nil {
			groups = append(groups, *c)
		}
	}

	return groups
}

// clusterOf is nil for too few episodes. Facts outside of episodes count by their day.
func clusterOf(facts []robotmem.Memory, sets [][]string, at []int) *cluster {
	episodes := map[string]bool{}
	for _, i := range at {
		episodes[cmp.Or(facts[i].SessionID, facts[i].ObservedAt.UTC().Format(time.DateOnly))] = true
	}
	if len(episodes) < leastMembers {
		return nil
	}

	c := &cluster{}
	best := -1.0

	for _, i := range at {
		c.members = append(c.members, facts[i])

		sum := 0.0
		for _, j := range at {
			sum += consolidate.Jaccard(sets[i], sets[j])
		}
		if sum > best {
			best, c.medoid = sum, &facts[i]
		}
	}

	return c
}

// wordSet are the words of a text without its numbers, sorted, each once.
func wordSet(text string) []string {
	set := slices.DeleteFunc(words(text), func(word string) bool { return strings.ContainsAny(word, "0123456789") })
	slices.Sort(set)

	return slices.Compact(set)
}

const patternPrompt = "You state in one sentence what recurs in these facts of different episodes of a robot. Use only what the numbered facts say, and " +
	"copy numbers with their units. Do not give advice." + dataNote

// patterns stores what recurs, with the ids of the facts that show it.
func (d *Dream) patterns(ctx context.Context, groups []cluster, r *Report) error {
	for i := range groups {
		c := &groups[i]
		err := d.once(ctx, r, append([]string{TaskPattern, d.name()}, c.key()...), func(name string) error { return d.pattern(ctx, name, c, r) })
		if err != nil {
			return err
		}
	}

	return nil
}

func (d *Dream) pattern(ctx context.Context, name string, c *cluster, r *Report) error {
	old, grown, err := d.earlier(ctx, TaskPattern, c)
	if err != nil || old != nil && !grown {
		return err
	}

	count := map[string]int{}
	for i := range c.members {
		count[c.members[i].Outcome]++
	}

	outcomes := ""
	if succeeded, failed := count[robotmem.OutcomeSuccess], count[robotmem.OutcomeFailure]; succeeded+failed > 0 {
		outcomes = fmt.Sprintf(" (%d succeeded, %d failed)", succeeded, failed)
	}
	text := fmt.Sprintf("Seen in %d facts%s, such as: %s", len(c.members), outcomes, c.medoid.Content)
	if d.Model != nil {
		var ok bool
		if text, ok = d.sentence(ctx, r, TaskPattern, patternPrompt, newest(c)); !ok {
			return nil
		}
	}

	p := &product{
		task: TaskPattern, text: robotmem.Clip(text, 1000), collection: c.medoid.Collection, tags: []string{"pattern"},
		about: map[string]any{
			"from": uids(c.members), "first": c.members[0].UID, "medoid": c.medoid.UID, "facts": len(c.members),
			"succeeded": count[robotmem.OutcomeSuccess], "failed": count[robotmem.OutcomeFailure],
		},
		name: name,
	}
	if old != nil {
		p.supersedes = old.MemoryID
	}

	return d.put(ctx, p, r)
}

func newest(c *cluster) []robotmem.Memory {
	return c.members[max(0, len(c.members)-mostMembers):]
}

// earlier returns what was said before of most of a group, and whether the group has grown by half since.
func (d *Dream) earlier(ctx context.Context, task string, c *cluster) (old *robotmem.Memory, grown bool, err error) {
	const few = 5

	res, err := d.Node.List(ctx, &robotmem.ListRequest{
		Collection: c.medoid.Collection, Type: "fact", Limit: few,
		ContextFilter: robotmem.Object{"model.task": task, "model.first": c.members[0].UID},
	})
	if err != nil || len(res.Memories) == 0 {
		return nil, false, err
	}

	old = &res.Memories[0]
	n, _ := old.Context.At("model.facts")
	before, _ := asFloat(n)

	return old, float64(len(c.members)) >= 1.5*before && mayReplace(old, old.Collection), nil
}

func asFloat(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case int:
		return float64(n), true
	case json.Number:
		f, err := n.Float64()
		return f, err == nil
	}

	return 0, false
}

const rulePrompt = "You propose one rule for a robot, in one sentence, from facts whose outcomes are known: what to do or to avoid in this situation. Name in " +
	"support the numbers of at least three facts that show it. Use only numbers that the facts have. If the facts show no rule, answer " +
	"with an empty rule." + dataNote

var ruleSchema = json.RawMessage(`{"type":"object","properties":{"rule":{"type":"string"},"support":{"type":"array","items":{"type":"integer"}}},` +
	`"required":["rule","support"],"additionalProperties":false}`)

// rules proposes rules from groups of facts with outcomes. A proposal is no rule until a person or outcomes confirm it.
func (d *Dream) rules(ctx context.Context, groups []cluster, r *Report) error {
	for i := range groups {
		c := &groups[i]

		known := 0

		for j := range c.members {
			if o := c.members[j].Outcome; o == robotmem.OutcomeSuccess || o == robotmem.OutcomeFailure || o == robotmem.OutcomePartial {
				known++
			}
		}
		if known < leastMembers {
			continue
		}

		err := d.once(ctx, r, append([]string{TaskRule, d.name()}, c.key()...), func(name string) error { return d.rule(ctx, name, c, r) })
		if err != nil {
			return err
		}
	}

	return nil
}

func (d *Dream) rule(ctx context.Context, name string, c *cluster, r *Report) error {
	if old, grown, err := d.earlier(ctx, TaskRule, c); err != nil || old != nil && !grown {
		return err
	}

	facts := newest(c)
	list := numbered(facts)

	var answer struct {
		Rule    string
		Support []int
	}
	err := d.ask(ctx, r, &model.Question{
		Task: TaskRule, System: rulePrompt, Text: fenced(robotmem.Clip(list, longestRead)), Schema: ruleSchema, MaxTokens: sentence,
	}, &answer)
	if err != nil || strings.TrimSpace(answer.Rule) == "" {
		return nil
	}

	r.Offered++
	text := strings.Join(strings.Fields(answer.Rule), " ")

	var support []robotmem.Memory
	for _, n := range answer.Support {
		if n >= 1 && n <= len(facts) && !slices.ContainsFunc(support, func(m robotmem.Memory) bool { return m.UID == facts[n-1].UID }) {
			support = append(support, facts[n-1])
		}
	}

	why := sound(text)
	switch n := newNumber(text, list); {
	case why != "":
	case len(support) < leastMembers:
		why = fmt.Sprintf("names %d facts that show it, of at least %d", len(support), leastMembers)
	case n != "":
		why = "has the number " + n + ", which no fact has"
	case !sharesWords(text, list):
		why = "is about something else than the facts"
	}
	if why != "" {
		r.refuse("rule: %q %s", robotmem.Clip(text, 80), why)
		return nil
	}

	return d.put(ctx, &product{
		task: TaskRule, text: text, collection: c.medoid.Collection, tags: []string{"proposed"},
		about: map[string]any{"state": "proposed", "from": uids(support), "first": c.members[0].UID, "facts": len(c.members)}, name: name,
	}, r)
}

const contradictPrompt = "You compare two facts of a robot's memory. Say whether they contradict each other: both cannot be true of the same thing in the same " +
	"situation. Different things, places, robots, units or times are no contradiction. Give the reason in a few words." + dataNote

var contradictSchema = json.RawMessage(`{"type":"object","properties":{"contradicts":{"type":"boolean"},"reason":{"type":"string"}},` +
	`"required":["contradicts","reason"],"additionalProperties":false}`)

// contradictions links facts that disagree although their contexts differ: those of the same context are found without a
// model, when they are stored.
func (d *Dream) contradictions(ctx context.Context, facts []robotmem.Memory, r *Report) error {
	sets := make([][]string, len(facts))
	byWord := map[string][]int{}

	for i := range facts {
		sets[i] = wordSet(facts[i].Content)
		for _, word := range sets[i] {
			byWord[word] = append(byWord[word], i)
		}
	}

	for i := range facts {
		seen := map[int]bool{}

		for _, word := range sets[i] {
			for _, j := range byWord[word] {
				if j <= i || seen[j] {
					continue
				}
				seen[j] = true
				a, b := &facts[j], &facts[i] // the older first
				if consolidate.Jaccard(sets[i], sets[j]) < alike || !mayDisagree(a, b) {
					continue
				}
				key := []string{TaskContradiction, d.name(), a.UID, b.UID}
				if err := d.once(ctx, r, key, func(name string) error { return d.contradiction(ctx, name, a, b, r) }); err != nil {
					return err
				}
			}
		}
	}

	return nil
}

// mayDisagree reports whether two facts with nearly the same words are worth a question: their contexts differ, and so do
// their words or numbers. Two tries with different parameters do not disagree, whatever came of them.
func mayDisagree(a, b *robotmem.Memory) bool {
	if folded(a.Content) == folded(b.Content) || differentTries(a, b) {
		return false
	}
	x, _ := json.Marshal(a.Context)
	y, _ := json.Marshal(b.Context)

	return string(x) != string(y)
}

// differentTries reports whether the texts name the parameters of their contexts, and these have other values.
func differentTries(a, b *robotmem.Memory) bool {
	x, y := triedValues(a), triedValues(b)
	return len(x) > 0 && len(y) > 0 && !maps.Equal(x, y)
}

// triedValues are the parameters of a memory whose values stand in its text.
func triedValues(m *robotmem.Memory) map[string]string {
	params, _ := m.Context["params"].(map[string]any)
	said := numbers.FindAllString(m.Content, -1)
	tried := map[string]string{}

	for name, v := range params {
		if of, ok := v.(map[string]any); ok {
			v = of["value"]
		}
		value, ok := asFloat(v)
		if !ok {
			continue
		}

		for _, text := range said {
			if n, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", "."), 64); err == nil && n == math.Abs(value) {
				tried[name] = text
			}
		}
	}

	return tried
}

func (d *Dream) contradiction(ctx context.Context, name string, a, b *robotmem.Memory, r *Report) error {
	show := func(m *robotmem.Memory) string {
		about, _ := json.Marshal(m.Context)
		return fmt.Sprintf("(%s; %s) %s", m.ObservedAt.Format(time.DateOnly), robotmem.Clip(string(about), 400), robotmem.Clip(m.Content, 600))
	}

	var answer struct {
		Contradicts bool
		Reason      string
	}
	err := d.ask(ctx, r, &model.Question{
		Task: TaskContradiction, System: contradictPrompt, Text: fenced("1. " + show(a) + "\n2. " + show(b)),
		Schema: contradictSchema, MaxTokens: decideTokens,
	}, &answer)
	if err != nil || !answer.Contradicts {
		return nil
	}

	r.Offered++

	const shown = 300
	text := fmt.Sprintf("Two memories disagree: #%d says “%s”, and #%d says “%s”", a.MemoryID, robotmem.Clip(a.Content, shown),
		b.MemoryID, robotmem.Clip(b.Content, shown))

	return d.put(ctx, &product{
		task: TaskContradiction, text: text, collection: b.Collection, tags: []string{"contradiction"},
		about: map[string]any{"contradicts": []any{a.UID, b.UID}, "reason": robotmem.Clip(robotmem.Visible(answer.Reason), 200)},
		name:  name,
	}, r)
}

// Confirm makes a proposal a rule. The text stays, and the history says who did it.
func Confirm(ctx context.Context, node robotmem.Service, id int64) (*robotmem.Memory, error) {
	m, err := proposal(ctx, node, id)
	if err != nil {
		return nil, err
	}

	about, _ := m.Context["model"].(map[string]any)
	about["state"] = "confirmed"
	_, err = node.Update(ctx, &robotmem.UpdateRequest{MemoryID: id, NewContent: m.Content, Context: m.Context})

	return m, err
}

// Reject forgets a proposal. It can be restored.
func Reject(ctx context.Context, node robotmem.Service, id int64, reason string) (*robotmem.Memory, error) {
	m, err := proposal(ctx, node, id)
	if err != nil {
		return nil, err
	}
	_, err = node.Forget(ctx, &robotmem.ForgetRequest{MemoryID: id, Reason: reason})

	return m, err
}

func proposal(ctx context.Context, node robotmem.Service, id int64) (*robotmem.Memory, error) {
	m, err := node.Get(ctx, &robotmem.MemoryRequest{MemoryID: id})
	if err != nil {
		return nil, err
	}
	if state, _ := m.Context.At("model.state"); state != "proposed" {
		return nil, robotmem.Errorf(robotmem.Conflict, "memory_id", "memory %d is no proposal of a model; `robotmem dream proposed` lists them", id)
	}

	return m, nil
}

// Proposals lists what models propose.
func Proposals(ctx context.Context, node robotmem.Service, collection string) (*robotmem.ListResponse, error) {
	const most = 200
	return node.List(ctx, &robotmem.ListRequest{
		Collection: collection, Limit: most, ContextFilter: robotmem.Object{"model.state": "proposed"},
	})
}
