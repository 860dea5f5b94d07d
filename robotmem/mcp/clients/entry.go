package clients

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

// setupName is the name of robotmem in every client.
const setupName = "robotmem"

// Entry is the entry of robotmem in the settings of a client, by its keys. Keys that setup never
// writes belong to the user and stay.
type Entry map[string]any

// entryKeys are the keys that setup writes.
var entryKeys = []string{"type", "command", "args", "env", "url", "httpUrl", "headers", "http_headers", "bearer_token_env_var"}

// TokenVariable is the environment variable with the token of a node.
const TokenVariable = "ROBOTMEM_TOKEN"

// Local is an entry that starts command with the arguments and variables.
func (c *Client) Local(command string, args []string, env map[string]any) Entry {
	e := Entry{"command": command, "args": args}
	if len(env) > 0 {
		e["env"] = env
	}
	if c.entry.typed {
		e["type"] = "stdio"
	}
	return e
}

// Remote is an entry that asks the MCP endpoint at address. In a project, whose file a team
// shares, it names the variable of the token instead of the token.
func (c *Client) Remote(address, token, scope string) (Entry, error) {
	s := c.entry
	if s.url == "" {
		return nil, invalid("http", "%s starts programs and asks no address; leave it out, and give --url %s: the program then asks that node", c.Title, strings.TrimSuffix(address, "/mcp"))
	}
	e := Entry{s.url: address}
	if s.typed {
		e["type"] = "http"
	}
	switch {
	case token == "":
	case scope == ScopeProject && s.bearerEnv != "":
		e[s.bearerEnv] = TokenVariable
	default:
		if scope == ScopeProject {
			token = fmt.Sprintf(s.variable, TokenVariable)
		}
		e[s.headers] = map[string]any{"Authorization": "Bearer " + token}
	}
	return e, nil
}

// Endpoint is the address of the MCP endpoint of a node: /mcp unless the address has a path.
func Endpoint(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return "", invalid("http", "must be an address such as http://127.0.0.1:7878, not %q", s)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/mcp"
	}
	return u.String(), nil
}

// merged is the entry with the keys, variables and headers of the present one that setup does not
// write.
func (e Entry) merged(present Entry) Entry {
	out := maps.Clone(e)
	for key, value := range present {
		if !slices.Contains(entryKeys, key) {
			out[key] = value
		}
	}
	groups := []string{"headers", "http_headers"}
	if e["command"] != nil {
		groups = []string{"env"}
	}
	for _, key := range groups {
		all := map[string]any{}
		old, _ := present[key].(map[string]any)
		own, _ := e[key].(map[string]any)
		maps.Copy(all, old)
		for _, name := range []string{"ROBOTMEM_HOME", TokenVariable, "Authorization"} {
			delete(all, name)
		}
		maps.Copy(all, own)
		if len(all) > 0 {
			out[key] = all
		}
	}
	return out
}

// equal compares entries whose values may be of different Go types.
func (e Entry) equal(other Entry) bool {
	a, aerr := json.Marshal(e)
	b, berr := json.Marshal(other)
	return aerr == nil && berr == nil && string(a) == string(b)
}

// String is the command line or the address, "" if the entry has neither.
func (e Entry) String() string {
	for _, key := range []string{"url", "httpUrl", "command"} {
		text, ok := e[key].(string)
		if !ok {
			continue
		}
		args, _ := e["args"].([]any)
		for _, arg := range args {
			text += " " + fmt.Sprint(arg)
		}
		return text
	}
	return ""
}

func invalid(field, format string, args ...any) error {
	return &robotmem.Error{Kind: robotmem.Invalid, Field: field, Err: fmt.Errorf(format, args...)}
}
