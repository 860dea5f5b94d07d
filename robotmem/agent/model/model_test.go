package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/agent/model"
)

// serve is a scripted server of both APIs. It answers with what reply returns for a request.
func serve(t *testing.T, reply func(path string, body map[string]any) (int, string)) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		var body map[string]any
		_ = json.Unmarshal(data, &body)
		status, text := reply(r.URL.Path, body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)

	return s
}

func open(t *testing.T, name, at string) model.Model {
	t.Helper()
	m, err := model.Open(name, model.Options{OllamaURL: at, OpenAIURL: at + "/v1", OpenAIKey: "sk-secret"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const chatAnswer = `{"choices":[{"message":{"content":"{\"ok\":true}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":11,"completion_tokens":7}}`
const ollamaAnswer = `{"message":{"role":"assistant","content":"{\"ok\":true}"},"done":true,"done_reason":"stop","prompt_eval_count":11,"eval_count":7}`

var question = &model.Question{Task: "extract", System: "be brief", Text: "hello", Schema: json.RawMessage(`{"type":"object"}`), MaxTokens: 50}

func TestBothAPIs(t *testing.T) {
	for name, answer := range map[string]string{"openai:m": chatAnswer, "ollama:m": ollamaAnswer} {
		var asked map[string]any
		s := serve(t, func(_ string, body map[string]any) (int, string) { asked = body; return 200, answer })
		a, err := open(t, name, s.URL).Ask(t.Context(), question)
		if err != nil || a.Prompt != 11 || a.Completion != 7 || a.Cut {
			t.Errorf("%s: %+v %v", name, a, err)
			continue
		}
		var v struct{ OK bool }
		if err := model.Decode(a, &v); err != nil || !v.OK {
			t.Errorf("%s: %v", name, err)
		}
		if asked["model"] != "m" || asked["format"] == nil && asked["response_format"] == nil {
			t.Errorf("%s was asked %v", name, asked)
		}
		if o, ok := asked["options"].(map[string]any); ok && o["num_ctx"].(float64) < 150 {
			t.Errorf("%s: the question does not fit: %v", name, o)
		}
	}
}

// A server that does not know the format of answers is asked without it, once.
func TestServersWithoutSchemas(t *testing.T) {
	asked := 0
	s := serve(t, func(_ string, body map[string]any) (int, string) {
		asked++
		if body["response_format"] != nil {
			return 400, `{"error":{"message":"response_format.type json_schema is not supported"}}`
		}
		return 200, chatAnswer
	})
	m := open(t, "openai:m", s.URL)
	for range 2 {
		if _, err := m.Ask(t.Context(), question); err != nil {
			t.Fatal(err)
		}
	}
	if asked != 3 {
		t.Errorf("asked %d times", asked)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		status     int
		kind       robotmem.Kind
		want       string
	}{
		{"ollama:m", `{"error":"model 'm' not found"}`, 404, robotmem.Unavailable, "ollama pull m"},
		{"openai:m", `{"error":{"message":"bad key sk-secret"}}`, 401, robotmem.Forbidden, "openai_key"},
		{"openai:m", `{"error":{"message":"slow down"}}`, 429, robotmem.Unavailable, "too often"},
		{"openai:m", `oops`, 500, robotmem.Unavailable, "oops"},
		{"openai:m", `<html>a page</html>`, 200, robotmem.Unavailable, "not the JSON of its API"},
		{"openai:m", `{"choices":[]}`, 200, robotmem.Unavailable, "no choices"},
		{"openai:m", `{"choices":[{"message":{"content":null,"refusal":"I may not"}}]}`, 200, robotmem.Unavailable, "refused"},
		{"ollama:m", strings.Repeat("x", 5<<20), 200, robotmem.Unavailable, "more than 4 MiB"},
	} {
		s := serve(t, func(string, map[string]any) (int, string) { return tt.status, tt.body })
		_, err := open(t, tt.name, s.URL).Ask(t.Context(), question)
		if robotmem.KindOf(err) != tt.kind || !strings.Contains(fmt.Sprint(err), tt.want) || strings.Contains(fmt.Sprint(err), "sk-secret") {
			t.Errorf("%d %.20s: %v", tt.status, tt.body, err)
		}
	}

	_, err := open(t, "ollama:m", "http://127.0.0.1:1").Ask(t.Context(), question)
	if !strings.Contains(fmt.Sprint(err), "ollama serve") {
		t.Error(err)
	}
	for _, name := range []string{"gpt-4", "ollama:", "mistral:m"} {
		if _, err := model.Open(name, model.Options{}); robotmem.KindOf(err) != robotmem.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if m, err := model.Open("none", model.Options{}); m != nil || err != nil {
		t.Error(m, err)
	}
}

func TestAnswersThatAreNotJSON(t *testing.T) {
	var v struct{ Facts []string }
	for _, text := range []string{"Sure! Here are the facts:", `{"facts":["a"`, "", "[1", `{"facts":"a"}`, "```json\n{\"facts\":[\"a\"]}"} {
		if err := model.Decode(&model.Answer{Text: text}, &v); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	if err := model.Decode(&model.Answer{Text: `{"facts":["a"]}`, Cut: true}, &v); err == nil || !strings.Contains(err.Error(), "in the middle") {
		t.Error(err)
	}
	if err := model.Decode(&model.Answer{Text: "```json\n{\"facts\":[\"a\"]}\n```"}, &v); err != nil || len(v.Facts) != 1 {
		t.Error(err)
	}
}

// fixed is a model with a fixed use of tokens.
type fixed struct {
	prompt, answer int64
	err            error
	wait           time.Duration
}

func (f *fixed) Name() string { return "fixed" }

func (f *fixed) Ask(ctx context.Context, _ *model.Question) (*model.Answer, error) {
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(f.wait):
	}
	return &model.Answer{Prompt: f.prompt, Completion: f.answer}, f.err
}

// Many processes and goroutines share a ledger; together they never pass a cap, whatever they ask.
func TestCapsHoldToTheToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "ledger.json")
	const cap = 20_000
	var spent, refused sync.Map

	var all sync.WaitGroup
	for process := range 4 {
		ledger := &model.Ledger{Path: path, Caps: model.Caps{Tokens: cap}}
		all.Go(func() {
			for i := range 40 {
				q := &model.Question{Task: "extract", Text: strings.Repeat("word ", 20+10*i%7), MaxTokens: 100 + i}
				// The model takes all that it may: each byte of the question is a token.
				m := &model.Metered{Model: &fixed{prompt: int64(len(q.Text) + 128), answer: int64(q.MaxTokens)}, Ledger: ledger}
				a, err := m.Ask(context.Background(), q)
				switch {
				case err == nil:
					spent.Store([2]int{process, i}, a.Prompt+a.Completion)
				case errors.Is(err, model.ErrSpent):
					refused.Store([2]int{process, i}, true)
				default:
					t.Error(err)
				}
			}
		})
	}
	all.Wait()

	sum, n := int64(0), 0
	spent.Range(func(_, v any) bool { sum += v.(int64); n++; return true })
	none := true
	refused.Range(func(any, any) bool { none = false; return false })
	use, err := (&model.Ledger{Path: path, Caps: model.Caps{Tokens: cap}}).Use()
	if err != nil || use.Today.PromptTokens+use.Today.CompletionTokens != sum || use.Today.Calls != int64(n) || use.Running != 0 {
		t.Errorf("%+v, %d tokens of %d calls, %v", use, sum, n, err)
	}
	if sum > cap || sum < cap-400 || none {
		t.Errorf("%d of %d tokens", sum, cap)
	}
}

func TestCapsOfCallsAndSeconds(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ledger := &model.Ledger{Path: filepath.Join(t.TempDir(), "l.json"), Caps: model.Caps{Calls: 2}, Now: func() time.Time { return now }}
	m := &model.Metered{Model: &fixed{prompt: 1, answer: 1}, Ledger: ledger}
	for i := range 3 {
		if _, err := m.Ask(t.Context(), question); (i == 2) != errors.Is(err, model.ErrSpent) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	now = now.Add(24 * time.Hour)
	if _, err := m.Ask(t.Context(), question); err != nil {
		t.Errorf("the next day: %v", err)
	}

	// A model that hangs is given what is left of the seconds, and what it took counts.
	ledger = &model.Ledger{Path: filepath.Join(t.TempDir(), "l.json"), Caps: model.Caps{Seconds: 1}}
	m = &model.Metered{Model: &fixed{wait: time.Minute}, Ledger: ledger}
	begun := time.Now()
	if _, err := m.Ask(t.Context(), question); err == nil || time.Since(begun) > 30*time.Second {
		t.Errorf("after %v: %v", time.Since(begun), err)
	}
	if _, err := m.Ask(t.Context(), question); !errors.Is(err, model.ErrSpent) {
		t.Error(err)
	}
	use, _ := ledger.Use()
	if use.Today.Failed != 1 || use.Today.Seconds < 1 {
		t.Errorf("%+v", use)
	}
}

func TestPauseAndResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l.json")
	ledger := &model.Ledger{Path: path}
	m := &model.Metered{Model: &fixed{}, Ledger: ledger}
	if err := ledger.Pause(true); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Ask(t.Context(), question); !errors.Is(err, model.ErrPaused) {
		t.Error(err)
	}
	// Another process resumes.
	if err := (&model.Ledger{Path: path}).Pause(false); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Ask(t.Context(), question); err != nil {
		t.Error(err)
	}
}

// A process that dies in a call has spent what the call could take.
func TestCallsOfDeadProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l.json")
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ledger := &model.Ledger{Path: path, Caps: model.Caps{Tokens: 1000}, Now: func() time.Time { return now }}
	dead := fmt.Sprintf(`{"version":1,"days":{},"open":[{"id":"x","at":%q,"day":"2026-03-01","model":"m","task":"extract","prompt_tokens":700,"completion_tokens":200,"seconds":60}]}`, now.Format(time.RFC3339))
	if err := os.WriteFile(path, []byte(dead), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &model.Metered{Model: &fixed{prompt: 10, answer: 10}, Ledger: ledger}
	for _, later := range []time.Duration{0, time.Hour} {
		now = now.Add(later)
		if _, err := m.Ask(t.Context(), question); !errors.Is(err, model.ErrSpent) {
			t.Errorf("%v later: %v", later, err)
		}
	}
	if err := ledger.Pause(false); err != nil { // any change tidies
		t.Fatal(err)
	}
	use, err := ledger.Use()
	if err != nil || use.Running != 0 || use.Today.Failed != 1 || use.Today.PromptTokens != 700 {
		t.Errorf("%+v %v", use, err)
	}
}

// A ledger that cannot be read is no reason to go on without caps.
func TestDamagedLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l.json")
	if err := os.WriteFile(path, []byte(`{"version":1,"days":{`), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &model.Metered{Model: &fixed{}, Ledger: &model.Ledger{Path: path}}
	if _, err := m.Ask(t.Context(), question); err == nil || !strings.Contains(err.Error(), "move it away") {
		t.Error(err)
	}
}

// A ledger that somebody has changed lifts no cap, and one that is no file holds nobody up.
func TestLedgersThatLie(t *testing.T) {
	for name, text := range map[string]string{
		"negative": `{"version":1,"days":{"2026-01-01":{"m":{"extract":{"calls":-99999}}}}}`,
		"null":     `{"version":1,"days":{"2026-01-01":{"m":{"extract":null}}}}`,
		"open":     `{"version":1,"days":{},"open":[{"id":"1","day":"2026-01-01","prompt_tokens":-5}]}`,
	} {
		l := &model.Ledger{Path: filepath.Join(t.TempDir(), "language-model.json")}
		if err := os.WriteFile(l.Path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Use(); !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), "below zero") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (&model.Ledger{Path: t.TempDir()}).Pause(true); err == nil || !strings.Contains(err.Error(), "is no file") {
		t.Error(err)
	}
}
