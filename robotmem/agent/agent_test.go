package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/agent"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

var update = flag.Bool("update", false, "write the answers into testdata")

func open(t *testing.T) *local.Node {
	t.Helper()
	n, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})

	return n
}

// changing are the parts of an answer that differ each time.
var changing = regexp.MustCompile(`\d{4}-\d{2}-\d{2}|\d+(\.\d+)?m?s\b|from [a-z-]+@\S+`)

// The payloads of each client, as it writes them, and the answers byte by byte.
func TestClients(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}

	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			n := open(t)
			folder := filepath.Join(t.TempDir(), "agents")
			h := &agent.Hooks{Node: n, Folder: folder, Exclude: []string{"*.env"}}

			var got txtar.Archive
			got.Comment = a.Comment
			for _, f := range a.Files {
				if !strings.HasSuffix(f.Name, ".json") {
					continue
				}
				got.Files = append(got.Files, f)
				// setup names the client; the payload tells it but for the beginning of Codex.
				client := name
				if name == "odd" {
					client = ""
				}
				e, err := agent.Read(bytes.NewReader(f.Data), client, "")
				if err != nil {
					if name != "odd" {
						t.Errorf("%s: %v", f.Name, err)
					}
					continue
				}
				told, err := agent.Read(bytes.NewReader(f.Data), "", "")
				if name != "odd" && (err != nil || told.Client != name && told.Kind != agent.Start) {
					t.Errorf("%s is taken for one of %s, %v", f.Name, told.Client, err)
				}
				answer, err := h.Handle(t.Context(), e)
				if err != nil {
					t.Errorf("%s: %v", f.Name, err)
				}
				text, err := answer.JSON(e)
				if err != nil {
					t.Error(err)
				}
				if len(text) > 0 {
					text = changing.ReplaceAll(text, []byte("…"))
					got.Files = append(got.Files, txtar.File{Name: strings.TrimSuffix(f.Name, ".json") + ".answer", Data: text})
				}
			}
			got.Files = append(got.Files, txtar.File{Name: "memories", Data: memories(t, n)})

			if *update {
				if err := os.WriteFile(file, txtar.Format(&got), 0o644); err != nil { //nolint:gosec // a file of the repository
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(string(txtar.Format(a)), string(txtar.Format(&got))); diff != "" {
				t.Errorf("run with -update if this is meant: %s", diff)
			}
		})
	}
}

// memories lists what is stored, a line each.
func memories(t *testing.T, n *local.Node) []byte {
	t.Helper()
	all, err := n.List(t.Context(), &robotmem.ListRequest{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for i := len(all.Memories) - 1; i >= 0; i-- {
		m := all.Memories[i]
		context, err := json.Marshal(m.Context)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "#%d %s %s %s %q %s\n", m.MemoryID, m.Type, m.Outcome, m.Source, m.Content, context)
	}
	sessions, err := n.Sessions(t.Context(), &robotmem.SessionsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions.Sessions {
		score := "unknown"
		if s.OutcomeScore != nil {
			score = fmt.Sprint(*s.OutcomeScore)
		}
		fmt.Fprintf(&out, "episode %s: %s\n", s.SessionID, score)
	}

	return []byte(out.String())
}

// payloadOf are the bytes of a perception.
func payloadOf(t *testing.T, n *local.Node, id int64) string {
	t.Helper()
	r, err := n.OpenData(t.Context(), &robotmem.MemoryRequest{MemoryID: id})
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// handle gives an event to the hooks.
func handle(t *testing.T, h *agent.Hooks, payload map[string]any) agent.Answer {
	t.Helper()
	data, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	e, err := agent.Read(bytes.NewReader(data), "", "")
	if err != nil {
		t.Fatal(err)
	}
	answer, err := h.Handle(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}

	return answer
}

// unwell is a node that fails.
type unwell struct{ robotmem.Service }

var errUnwell = &robotmem.Error{Kind: robotmem.Unavailable, Err: context.DeadlineExceeded}

func (unwell) StartSession(context.Context, *robotmem.StartSessionRequest) (*robotmem.StartSessionResponse, error) {
	return nil, errUnwell
}

func (unwell) Recall(context.Context, *robotmem.RecallRequest) (*robotmem.RecallResponse, error) {
	return nil, errUnwell
}

func (unwell) Learn(context.Context, *robotmem.LearnRequest) (*robotmem.LearnResponse, error) {
	return nil, errUnwell
}
