package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/robotmem/robotmem-go/robotmem"
)

// mcpNode asks a robotmem mcp over its stdin and stdout, as a model's program
// does. It may be used from many goroutines.
type mcpNode struct {
	*spawned
	sending sync.Mutex // a line is written whole

	mu      sync.Mutex // guards what follows
	last    int
	waiting map[int]chan mcpAnswer // nil once the process has ended
}

type mcpAnswer struct {
	ID     int             `json:"id"`
	Error  json.RawMessage `json:"error"`
	Result struct {
		IsError bool `json:"isError"`
		Meta    struct {
			Error struct {
				Op, Field, Detail string
				Kind              robotmem.Kind
			} `json:"robotmem/error"`
		} `json:"_meta"`
		Structured json.RawMessage `json:"structuredContent"`
	} `json:"result"`
}

// errEnded is the answer of a process that is there no more.
var errEnded = errors.New("the process has ended")

// startMCP starts a robotmem mcp on a file and shakes hands with it.
func (r *rig) startMCP(ctx context.Context, db string) (*mcpNode, error) {
	s, err := r.startProgram(ctx, db, "mcp")
	if err != nil {
		return nil, err
	}
	n := &mcpNode{spawned: s, waiting: map[int]chan mcpAnswer{}}
	go n.listen()
	return n, nil
}

// shakeHands is answered once the file is open.
func (n *mcpNode) shakeHands(ctx context.Context) error {
	_, err := n.request(ctx, "initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": struct{}{}, "clientInfo": map[string]string{"name": "torture", "version": "1"}})
	if err != nil {
		return err
	}
	_, err = io.WriteString(n.stdin, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return err
}

func (n *mcpNode) listen() {
	lines := bufio.NewReader(n.stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var a mcpAnswer
		if json.Unmarshal(line, &a) != nil || a.ID == 0 {
			continue
		}
		n.mu.Lock()
		if to := n.waiting[a.ID]; to != nil {
			to <- a
			delete(n.waiting, a.ID)
		}
		n.mu.Unlock()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, to := range n.waiting {
		close(to)
	}
	n.waiting = nil
}

func (n *mcpNode) request(ctx context.Context, method string, params any) (mcpAnswer, error) {
	n.mu.Lock()
	if n.waiting == nil {
		n.mu.Unlock()
		return mcpAnswer{}, errEnded
	}
	n.last++
	id, to := n.last, make(chan mcpAnswer, 1)
	n.waiting[id] = to
	n.mu.Unlock()
	data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		return mcpAnswer{}, err
	}
	n.sending.Lock()
	_, err = n.stdin.Write(append(data, '\n'))
	n.sending.Unlock()
	if err != nil {
		return mcpAnswer{}, errEnded
	}
	select {
	case a, ok := <-to:
		if !ok {
			return a, errEnded
		}
		if a.Error != nil {
			return a, fmt.Errorf("%s: %s", method, a.Error)
		}
		return a, nil
	case <-ctx.Done():
		return mcpAnswer{}, ctx.Err()
	}
}

func askMCP[Out any](ctx context.Context, n *mcpNode, op string, in any) (*Out, error) {
	a, err := n.request(ctx, "tools/call", map[string]any{"name": op, "arguments": in})
	if err != nil {
		return nil, err
	}
	if e := a.Result.Meta.Error; a.Result.IsError {
		return nil, &robotmem.Error{Op: e.Op, Kind: e.Kind, Field: e.Field, Err: errors.New(e.Detail)}
	}
	out := new(Out)
	return out, json.Unmarshal(a.Result.Structured, out)
}

func (n *mcpNode) Learn(ctx context.Context, r *robotmem.LearnRequest) (*robotmem.LearnResponse, error) {
	return askMCP[robotmem.LearnResponse](ctx, n, "learn", r)
}

func (n *mcpNode) Recall(ctx context.Context, r *robotmem.RecallRequest) (*robotmem.RecallResponse, error) {
	return askMCP[robotmem.RecallResponse](ctx, n, "recall", r)
}

func (n *mcpNode) SavePerception(ctx context.Context, r *robotmem.SavePerceptionRequest) (*robotmem.SavePerceptionResponse, error) {
	return askMCP[robotmem.SavePerceptionResponse](ctx, n, "save_perception", r)
}

func (n *mcpNode) Update(ctx context.Context, r *robotmem.UpdateRequest) (*robotmem.UpdateResponse, error) {
	return askMCP[robotmem.UpdateResponse](ctx, n, "update", r)
}

func (n *mcpNode) Forget(ctx context.Context, r *robotmem.ForgetRequest) (*robotmem.ForgetResponse, error) {
	return askMCP[robotmem.ForgetResponse](ctx, n, "forget", r)
}

func (n *mcpNode) StartSession(ctx context.Context, r *robotmem.StartSessionRequest) (*robotmem.StartSessionResponse, error) {
	return askMCP[robotmem.StartSessionResponse](ctx, n, "start_session", r)
}

func (n *mcpNode) EndSession(ctx context.Context, r *robotmem.EndSessionRequest) (*robotmem.EndSessionResponse, error) {
	return askMCP[robotmem.EndSessionResponse](ctx, n, "end_session", r)
}

func (n *mcpNode) Get(ctx context.Context, r *robotmem.GetRequest) (*robotmem.Memory, error) {
	return askMCP[robotmem.Memory](ctx, n, "get", r)
}
