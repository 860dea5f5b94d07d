package engine_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// secretWords occur in no other memory: a text in Latin and Han letters, its number, the
// keys and names of a context, and the bytes of a payload.
const (
	secretText  = "zqxsecret grip of 7319.25 N 瑕疵檢 broke the vaseqz"
	earlierText = "wvearlier grip of 5527.75 N broke the bowlvw"
)

// traces are the forms in which a purged memory could be found in a file.
func traces() map[string][]byte {
	out := map[string][]byte{}
	for _, s := range []string{
		"zqxsecret", "vaseqz", "7319.25", "瑕疵檢", "瑕 疵", "瑕疵", "wvearlier", "bowlvw", "5527.75",
		"kqkeyqk", "hqframeqh", "jqtagqj", "sqsourceqs", "oqoriginqo", "mqmetaqm", "pqpayloadqp",
	} {
		out[s] = []byte(s)
		var wide []byte
		for _, u := range utf16.Encode([]rune(s)) {
			wide = append(wide, byte(u), byte(u>>8))
		}
		out[s+" in UTF-16"] = wide
		out[s+" in base64"] = []byte(strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(s)), "=")[:len(s)])
	}
	return out
}

// leftIn lists the traces that occur in the content or name of any file of a folder.
func leftIn(t *testing.T, dir string) (found []string) {
	t.Helper()
	marks := traces()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for name, mark := range marks {
			if bytes.Contains(data, mark) {
				found = append(found, name+" in "+filepath.Base(path))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func crowd(t *testing.T, e *local.Node, n int) {
	t.Helper()
	for start := 0; start < n; start += 500 {
		batch := &robotmem.LearnBatchRequest{}
		for i := start; i < min(n, start+500); i++ {
			batch.Items = append(batch.Items, robotmem.LearnRequest{
				Insight: fmt.Sprintf("shelf %d holds a jar of weight %d g and the label says lot %d", i, 100+i, 7*i),
				Context: robotmem.Object{"i": i, "spatial": map[string]any{"position": []any{float64(i), 2.0, 0.0}, "frame_id": "map"}},
			})
		}
		if _, err := e.LearnBatch(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
}

// secrets stores the memories to purge: a fact that was updated, forgotten and restored,
// in its own session, and a perception with a large payload.
func secrets(t *testing.T, e *local.Node) (fact, perception int64) {
	t.Helper()
	session := must(e.StartSession(t.Context(), &robotmem.StartSessionRequest{}))(t)
	secretContext := robotmem.Object{
		"kqkeyqk": "zqxsecret", "params": map[string]any{"force": 7319.25},
		"spatial": map[string]any{"position": []any{1.0, 2.0, 3.0}, "frame_id": "hqframeqh"},
	}
	fact = must(e.Learn(t.Context(), &robotmem.LearnRequest{
		Insight: earlierText, Context: secretContext, Tags: []string{"jqtagqj"}, Source: "sqsourceqs", SessionID: session.SessionID,
	}))(t).MemoryID
	must(e.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: fact, NewContent: secretText}))(t)
	must(e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: fact, Reason: "zqxsecret is wrong"}))(t)
	must(e.Restore(t.Context(), &robotmem.MemoryRequest{MemoryID: fact}))(t)
	must(e.Recall(t.Context(), &robotmem.RecallRequest{Query: "vaseqz", ForSession: session.SessionID}))(t)
	must(e.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: session.SessionID, UsedMemoryIDs: []int64{fact}}))(t)
	perception = must(e.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{
		Description: secretText + " as seen", Data: payloadText(), MediaType: "text/plain", Origin: "oqoriginqo",
		Metadata: robotmem.Object{"mqmetaqm": "zqxsecret"}, PerceptionType: "procedural",
	}))(t).MemoryID
	return fact, perception
}

// payloadText is larger than an inline payload.
func payloadText() string { return strings.Repeat("pqpayloadqp and then some, ", 20_000) }

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// everything returns every memory but some, with its history.
func everything(t *testing.T, e *local.Node, but ...int64) map[int64]string {
	t.Helper()
	out := map[int64]string{}
	for cursor := ""; ; {
		page := must(e.List(t.Context(), &robotmem.ListRequest{Status: "all", Limit: 1000, Cursor: cursor}))(t)
		for _, m := range page.Memories {
			m.Confidence, m.ReturnCount = 0, 0 // fade, and are counted late
			h := must(e.History(t.Context(), &robotmem.MemoryRequest{MemoryID: m.MemoryID}))(t)
			data, err := json.Marshal([]any{m, h})
			if err != nil {
				t.Fatal(err)
			}
			out[m.MemoryID] = string(data)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	for _, id := range but {
		delete(out, id)
	}
	return out
}

// purge purges a memory. A reader may delay the rewriting of the file, also one of this node on a
// busy machine; it is waited for.
func purge(t *testing.T, e *local.Node, id int64) *robotmem.Purged {
	t.Helper()
	res := must(e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: id, Reason: "a customer asked for it", Purge: true}))(t)
	p := res.Purged
	if res.Status != "purged" || res.Content != "" || p == nil || len(p.NotReached) == 0 || p.OldPages != "rewritten" && !strings.HasPrefix(p.OldPages, "pending: another program reads") {
		t.Fatalf("purging %d answers %+v %+v", id, res, p)
	}
	for left, end := int64(1), time.Now().Add(2*time.Minute); left != 0; time.Sleep(20 * time.Millisecond) {
		if err := engine.Of(e).Store.Read(t.Context(), func(c *store.Conn) (err error) { left, err = c.ToScrub(); return err }); err != nil || time.Now().After(end) {
			t.Fatalf("the purge is not finished: %v", err)
		}
		if left != 0 && p.OldPages == "rewritten" {
			t.Fatalf("purging %d says it is finished, and it is not", id)
		}
	}
	return p
}

// A purged memory is in no byte of the file, its log, the payloads or their names, while
// the file is open and after it is closed; all other memories are unchanged.
func TestPurgeLeavesNothing(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	for _, n := range []int{0, rounds.Of(800, 5000)} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "memory.db")
			e := openAt(t, path, local.Options{Embedder: hashEmbedder{}})
			crowd(t, e, n/2)
			fact, perception := secrets(t, e)
			crowd(t, e, n)
			if err := e.Warm(t.Context()); err != nil {
				t.Fatal(err)
			}
			if len(leftIn(t, dir)) < 10 {
				t.Fatal("the search for traces finds none where they must be")
			}
			before := everything(t, e, fact, perception)
			if got := purge(t, e, fact); got.Versions != 3 || n == 0 && got.OldPages != "rewritten" {
				t.Errorf("%d past states went, want 3; old pages: %s", got.Versions, got.OldPages)
			}
			if got := purge(t, e, perception); got.Payload != "removed" || got.Bytes != int64(len(payloadText())) {
				t.Errorf("of the payload: %+v", got)
			}
			if left := leftIn(t, dir); len(left) > 0 {
				t.Errorf("while it is open: %s", strings.Join(left, "; "))
			}
			if diff := cmp.Diff(before, everything(t, e), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("other memories (-before +after):\n%.2000s", diff)
			}
			if d := must(e.Doctor(t.Context(), &admin.DoctorRequest{}))(t); !d.Healthy {
				t.Errorf("doctor: %+v", d.Checks)
			}
			crowd(t, e, 3000) // enough for new snapshots
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			if left := leftIn(t, dir); len(left) > 0 {
				t.Errorf("when it is closed: %s", strings.Join(left, "; "))
			}
		})
	}
}

// hashEmbedder derives a vector from a text's bytes.
type hashEmbedder struct{}

func (hashEmbedder) State() robotmem.EmbedderState { return robotmem.EmbedderState{Model: "test"} }

func (hashEmbedder) Embed(_ context.Context, _ robotmem.Purpose, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, s := range texts {
		out[i] = make([]float32, 16)
		for j := range len(s) {
			out[i][j%16] += float32(s[j]) - 90
		}
	}
	return out, nil
}

// The error for a purged id says that it was purged, and the id is not used again. The
// audit log holds who stored the memory and who purged it, without its text.
func TestPurgedMemoriesAreOnRecord(t *testing.T) {
	t.Parallel()
	e := openAt(t, filepath.Join(t.TempDir(), "memory.db"), local.Options{})
	ann := robotmem.WithCaller(t.Context(), robotmem.Caller{Who: "ann", Tool: robotmem.ToolREST})
	bob := robotmem.WithCaller(t.Context(), robotmem.Caller{Who: "bob", Tool: robotmem.ToolCLI})
	id := must(e.Learn(ann, &robotmem.LearnRequest{Insight: secretText}))(t).MemoryID
	must(e.Update(ann, &robotmem.UpdateRequest{MemoryID: id, NewContent: secretText + " twice"}))(t)
	must(e.Forget(bob, &robotmem.ForgetRequest{MemoryID: id, Reason: "asked for", Purge: true}))(t)

	for name, err := range map[string]error{
		"get":     second(e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: id})),
		"again":   second(e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: id, Reason: "again", Purge: true})),
		"restore": second(e.Restore(t.Context(), &robotmem.MemoryRequest{MemoryID: id})),
	} {
		if robotmem.KindOf(err) != robotmem.NotFound || !strings.Contains(err.Error(), "was purged at") || !strings.Contains(err.Error(), "by bob") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if next := must(e.Learn(ann, &robotmem.LearnRequest{Insight: "another"}))(t).MemoryID; next <= id {
		t.Errorf("memory %d came after the purged %d", next, id)
	}
	log := must(e.Audit(t.Context(), &admin.AuditRequest{MemoryID: id}))(t)
	var got []string
	for _, a := range log.Entries {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s by %s through %s %s %s%s", a.Action, a.Who, a.Tool, a.Reason, a.Before, a.After)))
	}
	want := []string{"purged by bob through cli asked for", "created by ann through rest", "updated by ann through rest"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
}

func second[T any](_ T, err error) error { return err }

// Purge of superseded memories, of memories that others were merged into, and of
// perceptions that share a payload.
func TestPurgeBesideOthers(t *testing.T) {
	t.Parallel()
	e := openAt(t, filepath.Join(t.TempDir(), "memory.db"), local.Options{})
	session := must(e.StartSession(t.Context(), &robotmem.StartSessionRequest{}))(t).SessionID
	for i := range 4 {
		must(e.Learn(t.Context(), &robotmem.LearnRequest{
			Insight: "the door of the cupboard sticks when it is wet outside and humid" + strings.Repeat(" again", i), SessionID: session,
		}))(t)
	}
	must(e.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: session}))(t)
	var kept, superseded int64
	for _, m := range must(e.List(t.Context(), &robotmem.ListRequest{Status: "all"}))(t).Memories {
		if m.Status == "active" {
			kept = m.MemoryID
		} else {
			superseded = m.MemoryID
		}
	}
	if kept == 0 || superseded == 0 {
		t.Fatal("nothing was merged")
	}
	purge(t, e, superseded)
	if got := purge(t, e, kept); len(got.StoodFor) != 2 {
		t.Errorf("it stood for %v, want two", got.StoodFor)
	}
	if s := must(e.Session(t.Context(), &robotmem.SessionRequest{SessionID: session}))(t); s.MemoryCount != 2 {
		t.Errorf("the session has %d memories, want 2", s.MemoryCount)
	}

	var shared [2]int64
	for i := range shared {
		shared[i] = must(e.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{
			Description: fmt.Sprintf("the same bytes, time %d", i), Data: payloadText(), PerceptionType: "procedural",
		}))(t).MemoryID
	}
	if got := purge(t, e, shared[0]); !strings.HasPrefix(got.Payload, "kept") {
		t.Errorf("payload %q, want it kept", got.Payload)
	}
	data := must(e.Data(t.Context(), &robotmem.MemoryRequest{MemoryID: shared[1]}))(t)
	if string(data.DataBase64) != payloadText() {
		t.Error("the other perception lost its bytes")
	}
	if got := purge(t, e, shared[1]); got.Payload != "removed" {
		t.Errorf("payload %q, want it removed", got.Payload)
	}
	if d := must(e.Doctor(t.Context(), &admin.DoctorRequest{Deep: true}))(t); d.Status != "ok" {
		t.Errorf("doctor: %+v", d.Checks)
	}
}

// Another process with the file open and its indexes loaded neither returns a purged
// memory nor writes it back.
func TestPurgeReachesOtherProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "memory.db")
	e := openAt(t, path, local.Options{Embedder: hashEmbedder{}})
	crowd(t, e, rounds.Of(1200, 2500))
	fact, _ := secrets(t, e)
	other := openAt(t, path, local.Options{Embedder: hashEmbedder{}})
	if err := other.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	filter := &robotmem.RecallRequest{ContextFilter: robotmem.Object{"kqkeyqk": "zqxsecret"}}
	if got := must(other.Recall(t.Context(), filter))(t); got.Total != 1 {
		t.Fatalf("%d found before", got.Total)
	}
	must(other.Paths(t.Context(), &admin.PathsRequest{}))(t)
	purge(t, e, fact)
	crowd(t, other, rounds.Of(1700, 3000))
	for _, r := range []*robotmem.RecallRequest{filter, {Query: "wvearlier bowlvw"}} {
		for _, m := range must(other.Recall(t.Context(), r))(t).Memories {
			if m.MemoryID == fact {
				t.Errorf("%+v finds it", r)
			}
		}
	}
	for _, p := range must(other.Paths(t.Context(), &admin.PathsRequest{}))(t).Paths {
		if p.Path == "kqkeyqk" {
			t.Error("its path is still known")
		}
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	for _, left := range leftIn(t, dir) {
		if strings.HasPrefix(left, "kqkeyqk") || strings.HasPrefix(left, "hqframeqh") || strings.HasPrefix(left, "jqtagqj") || strings.HasPrefix(left, "wvearlier") {
			t.Error(left)
		}
	}
}

// A purge cannot be undone, so somebody must say why.
func TestAPurgeNeedsAReason(t *testing.T) {
	t.Parallel()
	e := openAt(t, filepath.Join(t.TempDir(), "memory.db"), local.Options{})
	id := must(e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the door sticks"}))(t).MemoryID
	_, err := e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: id, Purge: true})
	if refused := (*robotmem.Error)(nil); !errors.As(err, &refused) || refused.Field != "reason" {
		t.Errorf("got %v, want the reason asked for", err)
	}
}
