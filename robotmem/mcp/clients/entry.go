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

// Entry is the entry of robotmem in the settings of a client. It has the keys of all clients, in
// the order in which they are written. Other keys of an entry belong to the user and stay.
type Entry struct {
	Type        string            `json:"type,omitzero"`
	Command     string            `json:"command,omitzero"`
	Args        []string          `json:"args,omitzero"`
	Env         map[string]string `json:"env,omitzero"`
	URL         string            `json:"url,omitzero"`
	HTTPURL     string            `json:"httpUrl,omitzero"`
	Headers     map[string]string `json:"headers,omitzero"`
	HTTPHeaders map[string]string `json:"http_headers,omitzero"`
	BearerEnv   string            `json:"bearer_token_env_var,omitzero"`
}

// entryKeys are the keys of an Entry.
var entryKeys = []string{"type", "command", "args", "env", "url", "httpUrl", "headers", "http_headers", "bearer_token_env_var"}

// TokenVariable is the environment variable with the token of a node.
const TokenVariable = "ROBOTMEM_TOKEN"

// Local is an entry that starts command with the arguments and variables.
func (c *Client) Local(command string, args []string, env map[string]string) *Entry {
	e := &Entry{Command: command, Args: args}
	if len(env) > 0 {
		e.Env = env
	}
	if c.entry.typed {
		e.Type = "stdio"
	}
	return e
}

// Remote is an entry that asks the MCP endpoint at address. In a project, whose file a team
// shares, it names the variable of the token instead of the token.
func (c *Client) Remote(address, token, scope string) (*Entry, error) {
	s := c.entry
	if s.url == "" {
		return nil, invalid("http", "%s starts programs and asks no address; leave it out, and give --url %s: the program then asks that node", c.Title, strings.TrimSuffix(address, "/mcp"))
	}
	keys := map[string]any{s.url: address}
	if s.typed {
		keys["type"] = "http"
	}
	switch {
	case token == "":
	case scope == ScopeProject && s.bearerEnv != "":
		keys[s.bearerEnv] = TokenVariable
	default:
		if scope == ScopeProject {
			token = fmt.Sprintf(s.variable, TokenVariable)
		}
		keys[s.headers] = map[string]string{"Authorization": "Bearer " + token}
	}
	e, _ := parseEntry(keys)
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

// parseEntry divides a decoded entry into the keys that setup writes and the names of the others. A
// key with a value that setup never writes is one of the others.
func parseEntry(keys map[string]any) (e *Entry, others []string) {
	e = &Entry{}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		text, err := json.Marshal(map[string]any{key: keys[key]})
		if err != nil || !slices.Contains(entryKeys, key) || json.Unmarshal(text, &Entry{}) != nil {
			others = append(others, key)
			continue
		}
		_ = json.Unmarshal(text, e) // which succeeded into an empty one
	}
	return e, others
}

// keepForeign adds the variables and headers of the present entry that setup does not write.
func (e *Entry) keepForeign(present *Entry) {
	merge := func(own *map[string]string, old map[string]string) {
		merged := map[string]string{}
		maps.Copy(merged, old)
		for _, name := range []string{"ROBOTMEM_HOME", TokenVariable, "Authorization"} {
			delete(merged, name)
		}
		maps.Copy(merged, *own)
		if len(merged) > 0 {
			*own = merged
		}
	}
	if e.Command != "" {
		merge(&e.Env, present.Env)
		return
	}
	merge(&e.Headers, present.Headers)
	merge(&e.HTTPHeaders, present.HTTPHeaders)
}

func invalid(field, format string, args ...any) error {
	return &robotmem.Error{Kind: robotmem.Invalid, Field: field, Err: fmt.Errorf(format, args...)}
}
