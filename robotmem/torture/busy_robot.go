package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

// memoryNode is what a busy robot asks of a memory, over whichever face.
type memoryNode interface {
	Learn(context.Context, *robotmem.LearnRequest) (*robotmem.LearnResponse, error)
	Recall(context.Context, *robotmem.RecallRequest) (*robotmem.RecallResponse, error)
	SavePerception(context.Context, *robotmem.SavePerceptionRequest) (*robotmem.SavePerceptionResponse, error)
	Update(context.Context, *robotmem.UpdateRequest) (*robotmem.UpdateResponse, error)
	Forget(context.Context, *robotmem.ForgetRequest) (*robotmem.ForgetResponse, error)
	StartSession(context.Context, *robotmem.StartSessionRequest) (*robotmem.StartSessionResponse, error)
	EndSession(context.Context, *robotmem.EndSessionRequest) (*robotmem.EndSessionResponse, error)
}

// busyRobot writes everything that can be written, and tells of each write that
// was acknowledged, as acks hears it.
type busyRobot struct {
	name   string // of its own, so that no two say the same
	node   memoryNode
	rand   *rand.Rand
	tell   func(line string)
	merged int // memories that its sessions' ends have superseded

	said    int
	mine    []int64
	repeats []byte // a payload that is saved again now and then
}

func newBusyRobot(name string, node memoryNode, seed uint64, tell func(string)) *busyRobot {
	return &busyRobot{name: name, node: node, rand: rand.New(rand.NewPCG(seed, 7)), tell: tell}
}

var (
	subjects = strings.Fields("gripper wheel camera elbow wrist lidar battery conveyor door shelf cup bolt cable tray hinge magnet")
	verbs    = strings.Fields("slips holds turns stalls drifts overheats reaches misses grips presses bends lifts")
	manners  = strings.Fields("slowly often early late twice firmly badly gently fast smoothly sideways again")
	places   = strings.Fields("table dock ramp corridor kitchen bench cell hall stairs carpet rack window")
)

func (b *busyRobot) pick(words []string) string { return words[b.rand.IntN(len(words))] }

// text is a fact that nobody has said yet: a number is content.
func (b *busyRobot) text() string {
	b.said++
	return fmt.Sprintf("%s %d: the %s %s %s near the %s, %s of the %s", b.name, b.said,
		b.pick(subjects), b.pick(verbs), b.pick(manners), b.pick(places), b.pick(manners), b.pick(subjects))
}

// step does one thing. Its error is the node's.
func (b *busyRobot) step(ctx context.Context) error {
	switch n := b.rand.IntN(100); {
	case n < 50:
		return b.learn(ctx, b.text(), "")
	case n < 60:
		return b.batch(ctx)
	case n < 70:
		return b.update(ctx)
	case n < 76:
		return b.forget(ctx)
	case n < 84:
		return b.session(ctx)
	case n < 94:
		return b.perceive(ctx, 1+b.rand.IntN(40<<10))
	}
	return b.perceive(ctx, 256<<10+1+b.rand.IntN(256<<10))
}

func (b *busyRobot) learn(ctx context.Context, text, session string) error {
	res, err := b.node.Learn(ctx, &robotmem.LearnRequest{Insight: text, SessionID: session, Context: b.context()})
	if err != nil {
		return err
	}
	if res.Status != "created" {
		return fmt.Errorf("%q was taken for memory %d", text, res.MemoryID)
	}
	b.stored(res.MemoryID, text, nil)
	return nil
}

func (b *busyRobot) context() robotmem.Object {
	return robotmem.Object{
		"note":    fmt.Sprintf("of %s after %d", b.name, b.said),
		"params":  map[string]any{"force": b.rand.Float64() * 20},
		"spatial": map[string]any{"position": []any{b.rand.Float64() * 9, b.rand.Float64() * 9}},
	}
}

func (b *busyRobot) stored(id int64, text string, payload []byte) {
	line := fmt.Sprintf("stored %d %s", id, hashOf([]byte(text)))
	if payload != nil {
		line += " " + hashOf(payload)
	} else {
		b.mine = append(b.mine, id)
	}
	b.tell(line)
}

func (b *busyRobot) batch(ctx context.Context) error {
	node, ok := b.node.(interface {
		LearnBatch(context.Context, *robotmem.LearnBatchRequest) (*robotmem.LearnBatchResponse, error)
	})
	if !ok { // MCP has no batches
		return b.learn(ctx, b.text(), "")
	}
	var items []robotmem.LearnRequest
	for range 5 + b.rand.IntN(60) {
		items = append(items, robotmem.LearnRequest{Insight: b.text(), Context: b.context()})
	}
	res, err := node.LearnBatch(ctx, &robotmem.LearnBatchRequest{Items: items})
	if err != nil {
		return err
	}
	var failed error
	for i, r := range res.Results {
		switch {
		case r.Error != nil:
			failed = &robotmem.Error{Op: "learn_batch", Kind: r.Error.Kind, Err: errors.New(r.Error.Detail)}
		case r.Status == "created":
			b.stored(r.MemoryID, items[i].Insight, nil)
		}
	}
	return failed
}

// take removes one of the robot's facts from those it may still change.
func (b *busyRobot) take() (id int64, ok bool) {
	if len(b.mine) == 0 {
		return 0, false
	}
	at := b.rand.IntN(len(b.mine))
	id = b.mine[at]
	b.mine[at] = b.mine[len(b.mine)-1]
	b.mine = b.mine[:len(b.mine)-1]
	return id, true
}

func (b *busyRobot) update(ctx context.Context) error {
	id, ok := b.take()
	if !ok {
		return nil
	}
	text := b.text()
	b.tell(fmt.Sprintf("updating %d %s", id, hashOf([]byte(text))))
	if _, err := b.node.Update(ctx, &robotmem.UpdateRequest{MemoryID: id, NewContent: text}); err != nil {
		return err
	}
	b.tell(fmt.Sprintf("updated %d %s", id, hashOf([]byte(text))))
	return nil
}

func (b *busyRobot) forget(ctx context.Context) error {
	id, ok := b.take()
	if !ok {
		return nil
	}
	b.tell(fmt.Sprintf("forgetting %d", id))
	if _, err := b.node.Forget(ctx, &robotmem.ForgetRequest{MemoryID: id, Reason: "torture"}); err != nil {
		return err
	}
	b.tell(fmt.Sprintf("forgot %d", id))
	return nil
}

// session is an episode whose end merges what says the same.
func (b *busyRobot) session(ctx context.Context) error {
	s, err := b.node.StartSession(ctx, &robotmem.StartSessionRequest{Context: robotmem.Object{"task": map[string]any{"name": "lift the " + b.pick(subjects)}}})
	if err != nil {
		return err
	}
	b.said++
	place := b.pick(places)
	had := len(b.mine)
	for _, end := range []string{"on the wet", "on a wet", "over the wet", "at the wet"} {
		// Words alone: what differs in a number is never merged.
		text := fmt.Sprintf("the %s of %s holds the tall glass well %s %s", b.pick(subjects), b.name, end, place)
		res, err := b.node.Learn(ctx, &robotmem.LearnRequest{Insight: text, SessionID: s.SessionID, Context: robotmem.Object{"note": fmt.Sprintf("%s after %d, %s", b.name, b.said, end)}})
		if err != nil {
			return err
		}
		if res.Status == "created" {
			b.stored(res.MemoryID, text, nil)
		}
	}
	used := b.mine[had:]
	score := b.rand.Float64()
	res, err := b.node.EndSession(ctx, &robotmem.EndSessionRequest{SessionID: s.SessionID, OutcomeScore: &score, UsedMemoryIDs: used[:min(1, len(used))]})
	if err != nil {
		return err
	}
	b.merged += res.Consolidated.SupersededCount
	b.mine = b.mine[:had] // what was merged is not forgotten or changed any more
	return nil
}

// perceive saves bytes: streamed where the face can, some of them twice.
func (b *busyRobot) perceive(ctx context.Context, size int) error {
	data := b.repeats
	if data == nil || b.rand.IntN(4) > 0 {
		data = make([]byte, size)
		for i := 0; i+8 <= len(data); i += 8 {
			binary.LittleEndian.PutUint64(data[i:], b.rand.Uint64()&0x0f0f0f0f0f0f0f0f)
		}
		b.repeats = data
	}
	req := &robotmem.SavePerceptionRequest{Description: b.text(), PerceptionType: "tactile", MediaType: "application/octet-stream"}
	var res *robotmem.SavePerceptionResponse
	var err error
	if streams, ok := b.node.(robotmem.Streams); ok {
		res, err = streams.SavePerceptionFrom(ctx, req, bytes.NewReader(data))
	} else {
		req.DataBase64 = data
		res, err = b.node.SavePerception(ctx, req)
	}
	if err != nil {
		return err
	}
	b.stored(res.MemoryID, req.Description, data)
	return nil
}
