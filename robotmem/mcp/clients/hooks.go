package clients

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/tailscale/hujson"
)

// hookFormat is how a client is told of hooks, according to its documentation: {"hooks": {EVENT: [entry, …]}}.
type hookFormat struct {
	variable, folder, file string // as of Client
	events                 []string
	// grouped entries are {"hooks": [{"type": "command", "command": …}]}, the others are a command each.
	grouped bool
	timeout int // in the unit of the client
	version int // of the file, 0 for none
}

// hookFormats are the clients that have hooks.
var hookFormats = map[string]*hookFormat{
	"claude-code": {
		variable: "CLAUDE_CONFIG_DIR", folder: "~/.claude", file: "settings.json", grouped: true, timeout: 10,
		events: []string{"SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd"},
	},
	"codex": {
		variable: "CODEX_HOME", folder: "~/.codex", file: "hooks.json", grouped: true, timeout: 10,
		events: []string{"SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"},
	},
	"gemini": {
		variable: "GEMINI_CLI_HOME", folder: "~", file: ".gemini/settings.json", grouped: true, timeout: 10_000,
		events: []string{"SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "SessionEnd"},
	},
	"cursor": {
		folder: "~/.cursor", file: "hooks.json", timeout: 10, version: 1,
		events: []string{"sessionStart", "beforeSubmitPrompt", "postToolUse", "postToolUseFailure", "afterAgentResponse", "stop", "sessionEnd"},
	},
	"vscode": {
		folder: "~/.copilot", file: "hooks/robotmem.json", timeout: 10,
		events: []string{"SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"},
	},
}

// HookFile is the file in which the user tells the client of hooks.
func (c *Client) HookFile(env func(string) (string, bool)) (string, error) {
	f, ok := hookFormats[c.Name]
	if !ok {
		return "", invalid("hooks", "%s has no hooks; claude-code, codex, cursor, gemini and vscode have", c.Name)
	}
	return (&Client{variable: f.variable, folder: f.folder, file: f.file}).File(env)
}

// ownHook matches the command of a hook that setup has written.
var ownHook = regexp.MustCompile(`(?i)robotmem(?:\.exe)?['"]?\s+hook\s+--client\s`)

// SetHooks is the change that lets the client run a command for each of its events, in the file at path. An empty
// command removes the hooks of this program, and no others. What the file was before setup is restored byte by byte
// if nothing else has changed it.
func (c *Client) SetHooks(path, command string) (*Change, error) {
	f := hookFormats[c.Name]
	if f == nil {
		return nil, invalid("hooks", "%s has no hooks", c.Name)
	}
	change, err := readSettings(path)
	if err != nil {
		return nil, err
	}

	present, others, err := f.parts(change.before)
	if err != nil {
		return nil, unparsed(path, err)
	}

	if command == "" {
		if present == "" {
			change.Action = "unchanged"
			return change, nil
		}
		return f.remove(path, change, present)
	}
	if present == command {
		change.Action = "unchanged"
		return change, nil
	}

	from := path
	if change.before == nil {
		change.Action, from = "created", os.DevNull
	}
	base := change.before
	if present != "" {
		if base, err = f.without(base); err != nil {
			return nil, unparsed(path, err)
		}
	}
	if change.after, err = f.with(base, command); err != nil {
		return nil, unparsed(path, err)
	}
	if got, rest, err := f.parts(change.after); err != nil || got != command || !reflect.DeepEqual(rest, others) {
		return nil, unparsed(path, fmt.Errorf("hooks is written in a form that cannot be edited safely"))
	}
	change.Diff = string(diff.Diff(from, change.before, path, change.after))

	return change, nil
}

// remove is the change that takes the hooks out.
func (f *hookFormat) remove(path string, change *Change, command string) (*Change, error) {
	var err error
	change.Action = "removed"
	change.after, err = change.undone(
		func(data []byte) ([]byte, error) { return f.with(data, command) },
		func(data []byte) bool { own, _, err := f.parts(data); return err == nil && own == "" },
		func() ([]byte, error) { return f.without(change.before) },
	)
	if err != nil {
		return nil, unparsed(path, err)
	}
	change.Diff = string(diff.Diff(path, change.before, path, change.after))

	return change, nil
}

// parts are the command of our hooks, empty without them, and everything else in the file.
func (f *hookFormat) parts(data []byte) (command string, others map[string]any, err error) {
	if blank(data) {
		return "", map[string]any{}, nil
	}
	if others, err = decodeJSON(data); err != nil {
		return "", nil, err
	}

	events, _ := others["hooks"].(map[string]any)
	for event, value := range events {
		entries, ok := value.([]any)
		if !ok {
			continue
		}
		kept := slices.DeleteFunc(slices.Clone(entries), func(entry any) bool {
			own := f.own(entry)
			command = cmp.Or(own, command)
			return own != ""
		})
		if len(kept) < len(entries) {
			events[event] = kept
		}
		if len(kept) == 0 {
			delete(events, event)
		}
	}
	if len(events) == 0 {
		delete(others, "hooks")
	}
	// The version of the format is no setting of the user.
	if f.version > 0 {
		delete(others, "version")
	}

	return command, others, nil
}

// own returns the command of an entry that setup has written, empty for those of others.
func (f *hookFormat) own(entry any) string {
	m, _ := entry.(map[string]any)
	if f.grouped {
		list, _ := m["hooks"].([]any)
		if len(list) != 1 {
			return ""
		}
		m, _ = list[0].(map[string]any)
	}
	if command, _ := m["command"].(string); ownHook.MatchString(command) {
		return command
	}

	return ""
}

// entry is what setup writes for an event.
func (f *hookFormat) entry(command string) any {
	type hook struct {
		Type    string `json:"type,omitempty"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	}
	h := hook{"command", command, f.timeout}
	if f.version > 0 {
		h.Type = "" // Cursor knows commands alone
	}
	if f.grouped {
		return struct {
			Hooks []hook `json:"hooks"`
		}{[]hook{h}}
	}

	return h
}

// with adds the hooks to a file that has none of ours.
func (f *hookFormat) with(data []byte, command string) ([]byte, error) {
	if blank(data) {
		data = []byte("{}\n")
	}
	root, file, err := parseJSON(bytes.Clone(data))
	if err != nil {
		return nil, err
	}

	if f.version > 0 {
		if v := member(root, "version", ""); v.Value == nil {
			v.Value = hujson.Int(int64(f.version))
		}
	}
	hooks := member(root, "hooks", "")
	if hooks.Value == nil {
		hooks.Value = &hujson.Object{}
	}
	events, ok := hooks.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("%q must be an object in braces", "hooks")
	}

	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(f.entry(command)); err != nil {
		return nil, err
	}

	for _, event := range f.events {
		entry, err := hujson.Parse(bytes.TrimSpace(text.Bytes()))
		if err != nil {
			return nil, err
		}
		list := member(events, event, unit)
		if list.Value == nil {
			list.Value = &hujson.Array{}
		}
		array, ok := list.Value.(*hujson.Array)
		if !ok {
			return nil, fmt.Errorf("%q of hooks must be a list in brackets", event)
		}
		entry.BeforeExtra = hujson.Extra("\n" + strings.Repeat(unit, 3))
		array.Elements = append(array.Elements, entry)
		array.AfterExtra = hujson.Extra("\n" + strings.Repeat(unit, 2))
	}

	return file.Pack(), nil
}

// without takes our hooks out, and lists and sections that have nothing else.
func (f *hookFormat) without(data []byte) ([]byte, error) {
	_, file, err := parseJSON(bytes.Clone(data))
	if err != nil {
		return nil, err
	}
	all, err := decodeJSON(data)
	if err != nil {
		return nil, err
	}

	var steps []string
	events, _ := all["hooks"].(map[string]any)

	left := len(events)
	for event, value := range events {
		entries, _ := value.([]any)

		var own []int
		for i, entry := range entries {
			if f.own(entry) != "" {
				own = append(own, i)
			}
		}
		path := "/hooks/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(event)
		if len(own) > 0 && len(own) == len(entries) {
			steps, left = append(steps, path), left-1
			continue
		}

		for _, i := range slices.Backward(own) {
			steps = append(steps, fmt.Sprintf("%s/%d", path, i))
		}
	}
	if left == 0 && len(events) > 0 {
		steps = []string{"/hooks"}
	}

	for _, path := range steps {
		patch, err := json.Marshal([]map[string]string{{"op": "remove", "path": path}})
		if err != nil {
			return nil, err
		}
		if err := file.Patch(patch); err != nil {
			return nil, err
		}
	}

	return file.Pack(), nil
}
