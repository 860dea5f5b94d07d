package main

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// setupName is what robotmem is called in every client.
const setupName = "robotmem"

// field is one key of an entry with its value: a string, a list of strings or
// a map of strings.
type field struct {
	key   string
	value any
}

// entryKeys are all that setup ever writes, in their order. Other keys of an
// entry are the user's and stay.
var entryKeys = []string{"type", "command", "args", "env", "url", "httpUrl", "headers", "http_headers", "bearer_token_env_var"}

// tokenVariable is where the node's token is read from.
const tokenVariable = "ROBOTMEM_TOKEN"

// localEntry starts this program. The settings are part of it: the client has another
// environment and another folder than this shell.
func (c *setupClient) localEntry(command string, args []string, env map[string]string) []field {
	var out []field
	if c.entry.typed {
		out = append(out, field{"type", "stdio"})
	}
	out = append(out, field{"command", command}, field{"args", append([]string{"mcp"}, args...)})
	if len(env) > 0 {
		out = append(out, field{"env", env})
	}
	return out
}

// remoteEntry asks the node at address. In a file that a team shares, it names the variable of
// the token instead of the token.
func (c *setupClient) remoteEntry(address, token, scope string) ([]field, error) {
	s := c.entry
	if s.url == "" {
		return nil, invalid("http", "%s starts programs and asks no address; leave it out, and give --url %s: the program then asks that node", c.title, strings.TrimSuffix(address, "/mcp"))
	}
	var out []field
	if s.typed {
		out = append(out, field{"type", "http"})
	}
	out = append(out, field{s.url, address})
	if token == "" {
		return out, nil
	}
	if scope == scopeProject {
		if s.bearerEnv != "" {
			return append(out, field{s.bearerEnv, tokenVariable}), nil
		}
		token = fmt.Sprintf(s.variable, tokenVariable)
	}
	return append(out, field{s.headers, map[string]string{"Authorization": "Bearer " + token}}), nil
}

// nodeAddress is the address of a node's MCP endpoint: /mcp of the node, unless
// a path is given.
func nodeAddress(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return "", invalid("http", "must be an address such as http://127.0.0.1:7878, not %q", s)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/mcp"
	}
	return u.String(), nil
}

// carried are the settings of this command line and environment as arguments of robotmem mcp.
// Paths are absolute: the client starts the program in another folder.
func (g *globals) carried(env func(string) (string, bool)) ([]string, error) {
	given := g.given()
	if g.Config != nil {
		given["config"] = *g.Config
	}
	var args []string
	for _, flag := range []string{"config", "db", "collection", "embedder", "taxonomy", "durability", "url", "log-level"} {
		key := strings.ReplaceAll(flag, "-", "_")
		value, ok := given[key].(string)
		if !ok {
			value, _ = env("ROBOTMEM_" + strings.ToUpper(key))
		}
		if value == "" {
			continue
		}
		path, isModel := strings.CutPrefix(value, "model2vec:")
		if flag == "config" || flag == "db" || flag == "taxonomy" || flag == "embedder" && isModel {
			absolute, err := filepath.Abs(path)
			if err != nil {
				return nil, invalid(flag, "has no absolute path: %v", err)
			}
			value = strings.TrimSuffix(value, path) + absolute
		}
		args = append(args, "--"+flag, value)
	}
	if v, ok := env("ROBOTMEM_READ_ONLY"); g.ReadOnly || ok && v != "" && v != "false" && v != "0" {
		args = append(args, "--read-only")
	}
	folders := g.AllowPath
	if v, ok := env("ROBOTMEM_ALLOW_PATH"); ok && len(folders) == 0 {
		folders = filepath.SplitList(v)
	}
	for _, dir := range folders {
		absolute, err := filepath.Abs(dir)
		if err != nil {
			return nil, invalid("allow-path", "has no absolute path: %v", err)
		}
		args = append(args, "--allow-path", absolute)
	}
	return args, nil
}

// thisProgram is the absolute path of the running program. A temporary program is refused.
func thisProgram() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", invalid("command", "this program's own path is unknown (%v); give it", err)
	}
	if slices.ContainsFunc(strings.Split(filepath.ToSlash(path), "/"), func(s string) bool { return strings.HasPrefix(s, "go-build") }) {
		return "", invalid("command", "this program is a temporary one of go run; go install ./cmd/robotmem and run setup with that, or name a program with --command")
	}
	return path, nil
}

// writtenBySetup divides an entry into the fields that setup writes and the names of the
// others. A field with a value that setup never writes is one of the others.
func writtenBySetup(entry map[string]any) (fields []field, others []string) {
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
func keepForeign(fields, present []field) []field {
	own := map[string]bool{"ROBOTMEM_HOME": true, tokenVariable: true, "Authorization": true}
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
