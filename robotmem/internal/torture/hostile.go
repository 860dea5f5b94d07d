package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A robotmem mcp gets hostile lines over stdio, and facts between them.
// (.ci/schemathesis makes hostile HTTP requests.) Each message that can be answered
// is answered, no answer reports a fault of the node, and the descriptors and the
// memory of the process at rest do not grow. A fault is a message that was refused.

const (
	// How much more a process may need at rest than after the first third.
	moreFiles, moreMemory = 5, 64 << 20 // descriptors, bytes
	linesAFact            = 20
)

func hostile(ctx context.Context, r *rig) error {
	path := filepath.Join(r.dir, memoryFile)
	p, err := r.start(ctx, path, "mcp")
	if err != nil {
		return err
	}

	defer p.kill()
	facts := newRobot("hostile", nil, 1, nil)
	learnt := map[int64]string{}

	var files, memory int

	start := time.Now()
	for n := 0; time.Since(start) < r.time && ctx.Err() == nil; n++ {
		id, fact := fmt.Sprint(n), ""
		text, answered := message(r.rand, id)
		if n%linesAFact == 0 {
			fact, answered = facts.text(), true
			text = fmt.Appendf(nil,
				`{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":"learn","arguments":{"insight":%q}}}`,
				id, fact)
		}
		if memory == 0 && time.Since(start) > r.time/3 {
			files, memory = p.needs()
		}
		if _, err := p.stdin.Write(append(text, '\n')); err != nil {
			return fmt.Errorf("%.200q: %w", text, err)
		}
		hang := time.AfterFunc(endsWithin, func() { _ = p.cmd.Process.Kill() })

		for answered {
			answer, err := p.stdout.ReadBytes('\n')
			if err != nil {
				return fmt.Errorf("no answer to %.200q: %w", text, err)
			}

			a, wrong := readAnswer(answer)
			switch {
			case wrong:
				r.broken("%.200q was answered %.300q", text, answer)
			case a.refused():
				r.fault()
			case a.ID == id && fact != "":
				learnt[a.Result.StructuredContent.MemoryID] = fact
			}
			answered = a.ID != id
		}
		hang.Stop()
	}

	nowFiles, nowMemory := p.needs()
	r.note("at rest: %d descriptors, then %d; %d MiB, then %d MiB", files, nowFiles, memory>>20, nowMemory>>20)
	if memory == 0 || nowFiles > files+moreFiles || nowMemory > memory+moreMemory {
		r.broken("what the process needs at rest has grown, or cannot be read")
	}
	if err := errors.Join(ctx.Err(), p.end()); err != nil {
		return err
	}

	r.acknowledge(len(learnt))
	// Hostile messages may have stored facts too.
	return r.opened(ctx, path, local.Options{}, "at the end", func(e *local.Node) {
		found, err := listAll(ctx, e)
		for id, text := range learnt {
			if found[id].Text != text {
				r.lost("memory %d is %v, not %q: %v", id, found[id], text, err)
			}
		}
	})
}

// needs returns how many descriptors and how many bytes a process has at rest: the
// least of some moments, and 0 where that cannot be read.
func (p *process) needs() (files, memory int) {
	for i := range 5 {
		time.Sleep(200 * time.Millisecond)
		open, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
		resident := p.resident()
		if i == 0 {
			files, memory = len(open), resident
		}
		files, memory = min(files, len(open)), min(memory, resident)
	}

	return files, memory
}

// resident returns how many bytes of a process are in memory, 0 where that cannot be read.
func (p *process) resident() int {
	pages, resident := 0, 0
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid))
	_, _ = fmt.Sscan(string(text), &pages, &resident)
	return resident * os.Getpagesize()
}

var oddValues = []any{
	nil, true, -1, 1_000_000_007, "", " ", "x", []any{nil}, map[string]any{"$or": []any{}}, json.RawMessage("1e400"), json.RawMessage("9223372036854775808"),
	json.RawMessage(strings.Repeat(`{"a":`, 3000) + "1" + strings.Repeat("}", 3000)), strings.Repeat("汉", 30_000), "\x00", "👩🏽‍🚀", "'; DROP TABLE memories; --",
	"../../etc/passwd", "NEAR(a b)", "* OR \"", "yesterday 昨天 25:61", "2026-13-41T99:99:99Z", "default", "the gripper slips",
}

// message makes a JSON-RPC message. It is answered if it is one and has an id.
func message(r *rand.Rand, id string) (text []byte, answered bool) {
	m := map[string]any{"jsonrpc": "2.0", "id": id, "params": oneOf(r, oddValues...)}
	m["method"] = oneOf(r, "ping", "tools/list", "resources/list", "resources/read", "prompts/get", "nowhere",
		"completion/complete", "logging/setLevel", "")
	if op := oneOf(r, robotmem.Ops()...); r.IntN(3) > 0 && op.Hints.Tool {
		arguments := map[string]any{oneOf(r, "unknown", op.Fields()[0]): oneOf(r, oddValues...)}
		for _, field := range op.Fields() {
			if r.IntN(2) == 0 {
				arguments[field] = oneOf(r, oddValues...)
			}
		}
		m["method"], m["params"] = "tools/call", map[string]any{"name": op.Name, "arguments": arguments}
	}

	odd := r.IntN(10)
	if odd == 0 {
		m["id"] = oneOf[any](r, nil, 1.5, []any{}, true, strings.Repeat("i", 10_000))
	}

	// Of values that can be.
	text, _ = json.Marshal(m)

	switch odd {
	case 1:
		text = text[:r.IntN(len(text))]
	case 2:
		text = append(text, '}')
	case 3:
		text = []byte(oneOf(r, "null", "[]", "{}", "\xff\xfe", strings.Repeat("[", 100_000), `{"id":1}`, "["+string(text)+"]"))
	}

	return text, odd > 3
}

// rpcAnswer is an answer of JSON-RPC.
type rpcAnswer struct {
	ID    any
	Error *struct {
		Code    int
		Message string
	}
	Result struct {
		IsError bool
		Meta    struct {
			Error struct{ Kind robotmem.Kind } `json:"robotmem/error"`
		} `json:"_meta"`
		StructuredContent struct {
			MemoryID int64 `json:"memory_id"`
		}
	}
}

func (a *rpcAnswer) refused() bool { return a.Error != nil || a.Result.IsError }

// readAnswer reads an answer. It is wrong if it is no JSON or reports a fault of the node.
func readAnswer(text []byte) (a rpcAnswer, wrong bool) {
	const internalError = -32603
	err := json.Unmarshal(text, &a)
	kind := a.Result.Meta.Error.Kind
	return a, err != nil || a.Error != nil && a.Error.Code == internalError &&
		!strings.Contains(a.Error.Message, "not found") ||
		a.Result.IsError && (kind == "" || kind == robotmem.Internal || kind == robotmem.Corrupt)
}
