package clients

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

// setupName is the name of robotmem in every client.
const setupName = "robotmem"

// Entry is the entry of robotmem in the settings of a client.
type Entry []field

// field is one key of an entry with its value: a string, a list of strings or a map of strings.
type field struct {
	key   string
	value any
}

// entryKeys are all keys that this package writes, in order. Other keys of an entry belong to the
// user and stay.
var entryKeys = []string{"type", "command", "args", "env", "url", "httpUrl", "headers", "http_headers", "bearer_token_env_var"}

// TokenVariable is the environment variable with the token of a node.
const TokenVariable = "ROBOTMEM_TOKEN"

// Local is an entry that starts command with the arguments and variables.
func (c *Client) Local(command string, args []string, env map[string]string) Entry {
	var out Entry
	if c.entry.typed {
		out = append(out, field{"type", "stdio"})
	}
	out = append(out, field{"command", command}, field{"args", args})
	if len(env) > 0 {
		out = append(out, field{"env", env})
	}
	return out
}

// Remote is an entry that asks the MCP endpoint at address. In a project, whose file a team
// shares, it names the variable of the token instead of the token.
func (c *Client) Remote(address, token, scope string) (Entry, error) {
	s := c.entry
	if s.url == "" {
		return nil, invalid("http", "%s starts programs and asks no address; leave it out, and give --url %s: the program then asks that node", c.Title, strings.TrimSuffix(address, "/mcp"))
	}
	var out Entry
	if s.typed {
		out = append(out, field{"type", "http"})
	}
	out = append(out, field{s.url, address})
	if token == "" {
		return out, nil
	}
	if scope == ScopeProject {
		if s.bearerEnv != "" {
			return append(out, field{s.bearerEnv, TokenVariable}), nil
		}
		token = fmt.Sprintf(s.variable, TokenVariable)
	}
	return append(out, field{s.headers, map[string]string{"Authorization": "Bearer " + token}}), nil
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

// writtenBySetup divides an entry into the fields that setup writes and the names of the
// others. A field with a value that setup never writes is one of the others.
func writtenBySetup(entry map[string]any) (fields Entry, others []string) {
	for _, key := range entryKeys {
		if value := writtenValue(entry[key]); value != nil {
			fields = append(fields, field{key, value})
		} else if _, ok := entry[key]; ok {
			others = append(others, key)
		}
	}
	for key := range entry {
		if !slices.Contains(entryKeys, key) {
			others = append(others, key)
		}
	}
	slices.Sort(others)
	return fields, others
}

// writtenValue is a decoded value as a string, a list of strings or a map of strings, nil if it
// is none of them.
func writtenValue(value any) any {
	switch v := value.(type) {
	case string:
		return v
	case []any:
		list := make([]string, len(v))
		for i, item := range v {
			var ok bool
			if list[i], ok = item.(string); !ok {
				return nil
			}
		}
		return list
	case map[string]any:
		m := map[string]string{}
		for k, item := range v {
			var ok bool
			if m[k], ok = item.(string); !ok {
				return nil
			}
		}
		return m
	}
	return nil
}

// keepForeign adds the variables and headers of the present entry that setup does not write.
func keepForeign(fields, present Entry) Entry {
	own := map[string]bool{"ROBOTMEM_HOME": true, TokenVariable: true, "Authorization": true}
	local := slices.ContainsFunc(fields, func(f field) bool { return f.key == "command" })
	for _, p := range present {
		old, ok := p.value.(map[string]string)
		if !ok || (p.key == "env") != local {
			continue
		}
		merged := maps.Clone(old)
		maps.DeleteFunc(merged, func(k, _ string) bool { return own[k] })
		if i := slices.IndexFunc(fields, func(f field) bool { return f.key == p.key }); i >= 0 {
			maps.Copy(merged, fields[i].value.(map[string]string))
			fields[i].value = merged
		} else if len(merged) > 0 {
			fields = append(fields, field{p.key, merged})
		}
	}
	return fields
}

func invalid(field, format string, args ...any) error {
	return &robotmem.Error{Kind: robotmem.Invalid, Field: field, Err: fmt.Errorf(format, args...)}
}
