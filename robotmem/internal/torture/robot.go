package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// robot changes a memory and tells of each change, before it asks for it and after
// it was answered.
type robot struct {
	name string // of its own, letters and digits only
	node *local.Node
	rand *rand.Rand
	tell func(call)

	reopen   func() (*local.Node, error) // closes the node first
	recalled func(time.Duration)         // gets the times of recalls
	items    int                         // of a batch; random if 0

	calls, said int
	mine        []state // facts that it may still change
	gone        []state // facts that it has forgotten
	payload     []byte  // the last one
}

func newRobot(name string, node *local.Node, seed uint64, tell func(call)) *robot {
	return &robot{name: name, node: node, rand: rand.New(rand.NewPCG(seed, 7)), tell: tell}
}

// actions are what a robot can do. Their errors are the node's.
var actions = map[string]func(*robot, context.Context) error{
	"learn":   (*robot).learn,
	"batch":   (*robot).batch,
	"update":  (*robot).update,
	"forget":  (*robot).forget,
	"restore": (*robot).restore,
	"session": (*robot).session,
	"small":   func(b *robot, ctx context.Context) error { return b.perceive(ctx, 1, 40<<10) },
	"quarter": func(b *robot, ctx context.Context) error { return b.perceive(ctx, 240_000, 250_000) },
	"large":   func(b *robot, ctx context.Context) error { return b.perceive(ctx, 256<<10+1, 512<<10) },
	"repeat":  func(b *robot, ctx context.Context) error { return b.save(ctx, b.payload) },
	"retain":  (*robot).retain,
	"repair":  func(b *robot, ctx context.Context) error { _, err := b.node.Repair(ctx, nil); return err },
	"reopen":  func(b *robot, _ context.Context) (err error) { b.node, err = b.reopen(); return err },
	"recall":  (*robot).recall,
	"pause":   func(*robot, context.Context) error { time.Sleep(time.Millisecond); return nil },
}

// everyday are the actions of a robot at work, each as often as it is named.
var everyday = strings.Fields("learn learn learn learn learn learn learn learn batch batch update update forget restore session small small repeat large")

// step does one random action.
func (b *robot) step(ctx context.Context, mix []string) error {
	return actions[b.pick(mix)](b, ctx)
}

var (
	subjects = strings.Fields("gripper wheel camera elbow wrist lidar battery conveyor door shelf cup bolt cable tray hinge magnet")
	verbs    = strings.Fields("slips holds turns stalls drifts overheats reaches misses grips presses bends lifts")
	manners  = strings.Fields("slowly often early late twice firmly badly gently fast smoothly sideways again")
	places   = strings.Fields("table dock ramp corridor kitchen bench cell hall stairs carpet rack window")
)

func (b *robot) pick(words []string) string { return words[b.rand.IntN(len(words))] }

// text is a new sentence. Its first word is in no other.
func (b *robot) text() string {
	b.said++
	return fmt.Sprintf("%sn%d the %s %s %s near the %s, %s of the %s", b.name, b.said,
		b.pick(subjects), b.pick(verbs), b.pick(manners), b.pick(places), b.pick(manners), b.pick(subjects))
}

func (b *robot) context() robotmem.Object {
	return robotmem.Object{
		"note": fmt.Sprintf("of %s after %d%s", b.name, b.said,
			strings.Repeat(" and again", b.rand.IntN(3)*b.rand.IntN(200))),
		"params":  map[string]any{"force": b.rand.IntN(20)},
		"task":    map[string]any{"success": b.rand.IntN(3) > 0},
		"spatial": map[string]any{"position": []any{b.rand.Float64() * 9, b.rand.Float64() * 9}, "frame_id": "map"},
	}
}

// do tells of a call, makes it and tells of its answer. ask sets the parts to what
// the node has answered.
func (b *robot) do(c call, ask func(*call) error) error {
	b.calls++
	c.Robot, c.N = b.name, b.calls
	b.tell(c)

	err := ask(&c)
	switch {
	case err == nil:
		c.Outcome, c.Loose = acknowledged, false
	case strings.Contains(err.Error(), "nothing was stored"):
		c.Outcome = refused
	default:
		return err // it may be stored
	}
	b.tell(c)

	return err
}

func only(s state) [][]state { return [][]state{{s}} }

func (b *robot) learn(ctx context.Context) error {
	return b.fact(ctx, b.text(), b.context(), "")
}

func (b *robot) fact(ctx context.Context, text string, about robotmem.Object, session string) error {
	s := state{Text: text, Status: "active"}

	return b.do(call{Parts: only(s)}, func(c *call) error {
		res, err := b.node.Learn(ctx, &robotmem.LearnRequest{Insight: text, SessionID: session, Context: about})
		if err != nil {
			return err
		}
		if res.Status != "created" {
			return fmt.Errorf("%q was taken for memory %d", text, res.MemoryID)
		}
		s.ID = res.MemoryID
		b.mine = append(b.mine, s)
		c.Parts = only(s)

		return nil
	})
}

// batchChunk is how many items of a batch the engine stores in one transaction.
const batchChunk = 500

func chunks(all []state) (parts [][]state) {
	for i, s := range all {
		if i%batchChunk == 0 {
			parts = append(parts, nil)
		}
		parts[i/batchChunk] = append(parts[i/batchChunk], s)
	}

	return parts
}

func (b *robot) batch(ctx context.Context) error {
	n := b.items
	if n == 0 {
		n = 5 + b.rand.IntN(60)
	}

	req := &robotmem.LearnBatchRequest{}

	var asked []state

	for range n {
		req.Items = append(req.Items, robotmem.LearnRequest{Insight: b.text(), Context: b.context()})
		asked = append(asked, state{Text: req.Items[len(asked)].Insight, Status: "active"})
	}

	var some error // of single items
	err := b.do(call{Parts: chunks(asked)}, func(c *call) error {
		res, err := b.node.LearnBatch(ctx, req)
		if err != nil {
			return err
		}

		var stored []state

		for i, item := range res.Results {
			if item.Error != nil {
				some = &robotmem.Error{Op: "learn_batch", Kind: item.Error.Kind, Err: errors.New(item.Error.Detail)}
				continue
			}
			asked[i].ID = item.MemoryID
			stored = append(stored, asked[i])
		}

		b.mine = append(b.mine, stored...)
		c.Parts = chunks(stored)

		return nil
	})

	return errors.Join(err, some)
}

// change leads a random memory of a list to a new state and puts it on another.
func (b *robot) change(from, to *[]state, alter func(*state), ask func(state) error) error {
	if len(*from) == 0 {
		return nil
	}
	at := b.rand.IntN(len(*from))
	s := (*from)[at]
	*from = slices.Delete(*from, at, at+1)
	alter(&s)

	return b.do(call{Parts: only(s)}, func(*call) error {
		err := ask(s)
		if err == nil {
			*to = append(*to, s)
		}
		return err
	})
}

func (b *robot) update(ctx context.Context) error {
	return b.change(&b.mine, &b.mine, func(s *state) { s.Text = b.text() }, func(s state) error {
		_, err := b.node.Update(ctx, &robotmem.UpdateRequest{MemoryID: s.ID, NewContent: s.Text})
		return err
	})
}

func (b *robot) forget(ctx context.Context) error {
	return b.change(&b.mine, &b.gone, func(s *state) { s.Status = "invalidated" }, func(s state) error {
		_, err := b.node.Forget(ctx, &robotmem.ForgetRequest{MemoryID: s.ID, Reason: "to see it gone"})
		return err
	})
}

func (b *robot) restore(ctx context.Context) error {
	return b.change(&b.gone, &b.mine, func(s *state) { s.Status = "active" }, func(s state) error {
		_, err := b.node.Restore(ctx, &robotmem.MemoryRequest{MemoryID: s.ID})
		return err
	})
}

// session is an episode whose end merges the facts that say the same as the last one.
func (b *robot) session(ctx context.Context) error {
	session, err := b.node.StartSession(ctx,
		&robotmem.StartSessionRequest{Context: robotmem.Object{"task": map[string]any{"name": "lift the " + b.pick(subjects)}}})
	if err != nil {
		return err
	}

	had, subject, place := len(b.mine), b.pick(subjects), b.pick(places)

	b.said++
	for _, end := range []string{"", " again", " once more", " as expected"} {
		// Digits would make four different facts: letters tell the sessions apart.
		word := strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprint(b.said))
		text := fmt.Sprintf("%sin%s the %s holds the tall glass well on the wet %s%s", b.name, word, subject, place,
			end)
		if err := b.fact(ctx, text, robotmem.Object{"note": fmt.Sprintf("of %s after %d", b.name, b.said)},
			session.SessionID); err != nil {
			return err
		}
	}

	learnt := b.mine[had:]
	// The others are never changed again.
	b.mine = b.mine[:had]
	c := call{Parts: [][]state{nil}, Loose: true}

	for _, s := range learnt {
		s.Status = "superseded"
		c.Parts[0] = append(c.Parts[0], s)
	}

	return b.do(c, func(c *call) error {
		score := b.rand.Float64()
		_, err := b.node.EndSession(ctx,
			&robotmem.EndSessionRequest{
				SessionID: session.SessionID, OutcomeScore: &score, UsedMemoryIDs: []int64{learnt[0].ID},
			})
		if err != nil {
			return err
		}

		return b.observe(ctx, c, learnt)
	})
}

// observe sets a call's parts to what it has changed of some memories.
func (b *robot) observe(ctx context.Context, c *call, before []state) error {
	c.Parts = [][]state{nil}

	for _, s := range before {
		m, err := b.node.Get(ctx, &robotmem.MemoryRequest{MemoryID: s.ID})
		if err != nil {
			return err
		}
		if now := stateOf(m); now != s {
			c.Parts[0] = append(c.Parts[0], now)
		}
	}

	return nil
}

// perceive saves a new payload of so many bytes.
func (b *robot) perceive(ctx context.Context, least, most int) error {
	b.payload = make([]byte, least+b.rand.IntN(most-least))
	for i := 0; i+8 <= len(b.payload); i += 8 {
		binary.LittleEndian.PutUint64(b.payload[i:], b.rand.Uint64()&0x0f0f0f0f0f0f0f0f)
	}
	return b.save(ctx, b.payload)
}

// save saves a payload, in the request or as a stream.
func (b *robot) save(ctx context.Context, data []byte) error {
	if data == nil {
		return nil
	}

	req := &robotmem.SavePerceptionRequest{
		Description: b.text(), PerceptionType: "tactile", MediaType: "application/octet-stream",
	}
	s := state{Text: req.Description, Status: "active", Data: sumOf(data)}

	return b.do(call{Parts: only(s)}, func(c *call) error {
		var (
			res *robotmem.SavePerceptionResponse
			err error
		)
		if b.rand.IntN(2) == 0 {
			res, err = b.node.SavePerceptionFrom(ctx, req, bytes.NewReader(data))
		} else {
			req.DataBase64 = data
			res, err = b.node.SavePerception(ctx, req)
		}
		if err != nil {
			return err
		}
		s.ID = res.MemoryID
		c.Parts = only(s)

		return nil
	})
}

func (b *robot) recall(ctx context.Context) error {
	start := time.Now()
	_, err := b.node.Recall(ctx, &robotmem.RecallRequest{Query: b.pick(subjects) + " " + b.pick(places), N: 5})
	b.recalled(time.Since(start))
	return err
}

// retain evicts all but the last payloads. It must be the only robot.
func (b *robot) retain(ctx context.Context) error {
	return b.do(call{}, func(c *call) error {
		res, err := b.node.Retain(ctx, &admin.RetainRequest{Budgets: []admin.Budget{{MaxBytes: 600_000}}, Apply: true})
		if err != nil {
			return err
		}

		var evicted []state
		for _, e := range res.Evictions {
			evicted = append(evicted, state{ID: e.MemoryID})
		}

		return b.observe(ctx, c, evicted)
	})
}
