package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// Kind is what happened, whatever the client calls it.
type Kind string

// Kinds of events.
const (
	Start  Kind = "start"  // a conversation begins, or goes on
	Prompt Kind = "prompt" // the user has said something
	Tool   Kind = "tool"   // the agent has used a tool
	Said   Kind = "said"   // the agent has said something, and may go on
	Stop   Kind = "stop"   // the agent has ended its turn
	End    Kind = "end"    // the conversation ends
	Other  Kind = ""       // nothing that is remembered
)

// Clients whose hooks are understood.
const (
	ClaudeCode = "claude-code"
	Codex      = "codex"
	Cursor     = "cursor"
	Gemini     = "gemini"
	VSCode     = "vscode"
)

// Event is what a client tells of its agent.
type Event struct {
	Kind    Kind
	Name    string // of the event, as the client calls it
	Client  string
	Session string // the client's id of the conversation
	Agent   string // the id of a sub-agent, empty for the main one
	Folder  string // in which the agent works
	Source  string // of Start: startup, resume, clear or compact
	Prompt  string
	Tool    *ToolUse // of Tool
	Message string   // of Said and Stop: the agent's last words
	Asked   bool     // of Stop: the turn went on because a hook had asked for it
	Aborted bool     // of Stop: the user or an error has ended the turn
}

// ToolUse is one use of a tool.
type ToolUse struct {
	Name     string   `json:"tool"`
	Command  string   `json:"command,omitempty"` // of a shell
	Files    []string `json:"files,omitempty"`   // that were written
	Exit     *int     `json:"exit,omitempty"`    // status of the command, if the client says it
	Failed   bool     `json:"failed,omitempty"`
	Stopped  bool     `json:"stopped,omitempty"` // the user has interrupted it
	Seconds  float64  `json:"seconds,omitempty"`
	Output   string   `json:"output,omitempty"`    // its head and tail
	ReadOnly bool     `json:"read_only,omitempty"` // it changed nothing
}

// MaxPayload is the size in bytes of the largest payload that is read.
const MaxPayload = 64 << 20

// payload has the fields of all clients. The ones of a client are a subset of the others' but for spelling, which
// encoding/json ignores in letters and not in underscores.
type payload struct {
	Event       string `json:"hook_event_name"`
	EventCamel  string `json:"hookEventName"`
	Session     string `json:"session_id"`
	SessionID   string `json:"sessionId"`
	Cursor      string `json:"conversation_id"`
	CursorIs    string `json:"cursor_version"`
	Turn        string `json:"turn_id"`
	AgentID     string `json:"agent_id"`
	Folder      string `json:"cwd"`
	Source      string
	Prompt      string
	ToolName    string          `json:"tool_name"`
	ToolInput   json.RawMessage `json:"tool_input"`
	Response    json.RawMessage `json:"tool_response"`
	ToolOutput  json.RawMessage `json:"tool_output"`
	ResultJSON  json.RawMessage `json:"result_json"`
	Error       json.RawMessage // a text or an object
	Interrupt   bool            `json:"is_interrupt"`
	Duration    float64         // ms, of Cursor
	DurationMS  float64         `json:"duration_ms"`
	Command     string
	Output      string
	FilePath    string `json:"file_path"`
	Last        string `json:"last_assistant_message"`
	Answer      string `json:"prompt_response"`
	Text        string
	Active      bool   `json:"stop_hook_active"`
	Loops       int    `json:"loop_count"`
	Status      string // of Cursor's stop: completed, aborted or error
	Transcript  string `json:"transcript_path"`
	Timestamp   any
	WorkspaceAt []string `json:"workspace_roots"`
}

// Read reads the JSON that a client gives to its hook. name is the event if the payload does not say it, and client the
// name of the client; empty means that the fields tell it.
func Read(in io.Reader, client, name string) (*Event, error) {
	data, err := io.ReadAll(io.LimitReader(in, MaxPayload+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxPayload {
		return nil, fmt.Errorf("the payload of the hook is over %d MiB", MaxPayload>>20)
	}

	var p payload
	if err := json.Unmarshal(bytes.TrimPrefix(bytes.TrimSpace(data), []byte("\xef\xbb\xbf")), &p); err != nil {
		return nil, fmt.Errorf("the payload of the hook is no JSON object of a client: %w", err)
	}

	e := &Event{
		Name: cmp.Or(p.Event, p.EventCamel, name), Client: client, Session: cmp.Or(p.Session, p.SessionID, p.Cursor),
		Agent: p.AgentID, Folder: p.Folder, Source: p.Source, Prompt: p.Prompt, Message: cmp.Or(p.Last, p.Answer, p.Text),
		Asked: p.Active || p.Loops > 0, Aborted: p.Status == "aborted" || p.Status == "error",
	}
	e.Kind = kinds[strings.ToLower(e.Name)]
	if e.Client == "" {
		e.Client = p.client()
	}
	if e.Folder == "" && len(p.WorkspaceAt) > 0 {
		e.Folder = p.WorkspaceAt[0]
	}
	if e.Kind == Tool {
		e.Tool = p.tool(e)
	}
	if e.Kind == Stop && e.Message == "" {
		e.Message = lastWords(p.Transcript)
	}

	return e, nil
}

// kinds has the events of all clients, in lower case.
var kinds = map[string]Kind{
	"sessionstart":     Start,
	"userpromptsubmit": Prompt, "userpromptsubmitted": Prompt, "beforesubmitprompt": Prompt, "beforeagent": Prompt,
	"posttooluse": Tool, "posttoolusefailure": Tool, "aftertool": Tool,
	"aftershellexecution": Tool, "afterfileedit": Tool, "aftermcpexecution": Tool,
	"afteragentresponse": Said,
	"stop":               Stop, "agentstop": Stop, "afteragent": Stop, "stopfailure": Stop,
	"sessionend": End,
}

// client tells the client by the fields that only it has.
func (p *payload) client() string {
	switch {
	case p.CursorIs != "" || p.Cursor != "":
		return Cursor
	case p.EventCamel != "" || p.SessionID != "":
		return VSCode
	case p.Turn != "":
		return Codex
	case p.Timestamp != nil:
		return Gemini
	}

	return ClaudeCode
}

// toolInput has the arguments of the tools that run commands and write files.
type toolInput struct {
	Command  any    // a text, or a list of words
	FilePath string `json:"file_path"`
	Notebook string `json:"notebook_path"`
	CamelAt  string `json:"filePath"`
	Path     string
	Files    []string
	Input    string // a patch of Codex
}

// toolResponse has what tools answer. Shells differ most.
type toolResponse struct {
	Stdout      string
	Stderr      string
	Output      string
	Content     any
	Interrupted bool
	Success     *bool
	Error       any
	LLMContent  any `json:"llmContent"`
	ExitCode    *int
	ExitSnake   *int `json:"exit_code"`
	IsError     bool `json:"isError"`
	Metadata    struct {
		ExitCode *int    `json:"exit_code"`
		Seconds  float64 `json:"duration_seconds"`
	}
}

// tool describes the use of a tool.
func (p *payload) tool(e *Event) *ToolUse {
	t := &ToolUse{Name: p.ToolName, Stopped: p.Interrupt, Seconds: cmp.Or(p.DurationMS, p.Duration) / 1e3}

	var in toolInput
	unquoted(p.ToolInput, &in)

	t.Command = words(in.Command)
	for _, file := range append(in.Files, in.FilePath, in.Notebook, in.CamelAt) {
		if file != "" {
			t.Files = append(t.Files, file)
		}
	}

	switch strings.ToLower(e.Name) {
	case "aftershellexecution":
		t.Name, t.Command, t.Output = "Shell", p.Command, p.Output
	case "afterfileedit":
		t.Name, t.Files = "Write", []string{p.FilePath}
	}
	if patch := cmp.Or(in.Input, t.Command); strings.Contains(patch, "*** Begin Patch") {
		t.Name, t.Command, t.Files = "apply_patch", "", patched(patch)
	}

	t.result(given(p.Response, p.ToolOutput, p.ResultJSON))
	if failure := words(decoded(p.Error)); failure != "" || strings.HasSuffix(strings.ToLower(e.Name), "failure") {
		t.Failed, t.Output = true, cmp.Or(failure, t.Output)
	}
	if t.Exit == nil {
		t.Exit = exitIn(t.Output)
	}
	t.Failed = t.Failed || t.Exit != nil && *t.Exit != 0
	t.ReadOnly = readOnly(t)
	if t.ReadOnly {
		t.Files = nil
	}

	return t
}

// result reads what a tool has answered.
func (t *ToolUse) result(raw json.RawMessage) {
	var r toolResponse
	if !unquoted(raw, &r) {
		t.Output = cmp.Or(t.Output, words(decoded(raw)))
		return
	}

	output := strings.TrimSpace(r.Stdout + "\n" + r.Stderr)
	t.Output = cmp.Or(t.Output, output, r.Output, words(r.LLMContent), words(r.Content))

	t.Stopped = t.Stopped || r.Interrupted
	for _, status := range []*int{r.ExitCode, r.ExitSnake, r.Metadata.ExitCode} {
		if status != nil {
			t.Exit = status
		}
	}
	t.Seconds = cmp.Or(t.Seconds, r.Metadata.Seconds)
	failure := words(r.Error)
	t.Failed = t.Failed || r.IsError || failure != "" || r.Success != nil && !*r.Success
	t.Output = cmp.Or(t.Output, failure)
}

// unquoted decodes an object, or one in a text, and reports whether it was one.
func unquoted(raw json.RawMessage, into any) bool {
	raw = bytes.TrimSpace(raw)

	var text string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		raw = []byte(strings.TrimSpace(text))
	}
	if len(raw) == 0 || raw[0] != '{' {
		return false
	}
	// A field of another type than expected leaves the others.
	_ = json.Unmarshal(raw, into)

	return true
}

func decoded(raw json.RawMessage) (v any) {
	_ = json.Unmarshal(raw, &v) // nothing is nil
	return v
}

// words returns the text of a value: a text, a list of texts, or the texts of an object.
func words(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var all []string

		for _, item := range v {
			if text := words(item); text != "" {
				all = append(all, text)
			}
		}

		return strings.Join(all, " ")
	case map[string]any:
		return cmp.Or(words(v["text"]), words(v["message"]), words(v["content"]))
	}

	return ""
}

// given returns the first value that is there.
func given(values ...json.RawMessage) json.RawMessage {
	for _, v := range values {
		if len(v) > 0 && string(v) != "null" {
			return v
		}
	}

	return nil
}

// now is replaced in tests of the journal.
var now = time.Now
