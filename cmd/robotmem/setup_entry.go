package main

import (
	"fmt"
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

// localEntry starts this program. The settings that were given go with it: the
// client's environment and folder are not those of this shell.
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

// remoteEntry asks the node at address. In a file that a team shares, the token
// is named and not written.
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

// carried are the settings of this command line as arguments of robotmem mcp,
// with paths that hold from any folder.
func (g *globals) carried(env func(string) (string, bool)) ([]string, error) {
	var args []string
	add := func(flag string, given *string, variable string, path bool) error {
		value := ""
		if v, ok := env(variable); ok {
			value = v
		}
		if given != nil {
			value = *given
		}
		if value == "" {
			return nil
		}
		if path {
			absolute, err := filepath.Abs(value)
			if err != nil {
				return invalid(flag, "has no absolute path: %v", err)
			}
			value = absolute
		}
		args = append(args, "--"+flag, value)
		return nil
	}
	// A model's folder is a path behind a prefix.
	embedder := g.Embedder
	if v, ok := env("ROBOTMEM_EMBEDDER"); ok && embedder == nil && v != "" {
		embedder = &v
	}
	if embedder != nil {
		if dir, ok := strings.CutPrefix(*embedder, "model2vec:"); ok {
			absolute, err := filepath.Abs(dir)
			if err != nil {
				return nil, invalid("embedder", "has no absolute path: %v", err)
			}
			named := "model2vec:" + absolute
			embedder = &named
		}
	}
	for _, s := range []struct {
		flag  string
		given *string
		path  bool
	}{
		{"config", g.Config, true}, {"db", g.DB, true}, {"collection", g.Collection, false}, {"embedder", embedder, false},
		{"taxonomy", g.Taxonomy, true}, {"durability", g.Durability, false}, {"url", g.URL, false}, {"log-level", g.LogLevel, false},
	} {
		variable := "ROBOTMEM_" + strings.ToUpper(strings.ReplaceAll(s.flag, "-", "_"))
		if err := add(s.flag, s.given, variable, s.path); err != nil {
			return nil, err
		}
	}
	if v, ok := env("ROBOTMEM_READ_ONLY"); g.ReadOnly || ok && v != "" && v != "false" && v != "0" {
		args = append(args, "--read-only")
	}
	folders := g.AllowPath
	if v, ok := env("ROBOTMEM_ALLOW_PATH"); ok && len(folders) == 0 {
		folders = filepath.SplitList(v)
	}
	for _, dir := range folders {
		if err := add("allow-path", &dir, "", true); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// carriedEnv is what has no flag.
func carriedEnv(home string, token string, env func(string) (string, bool)) map[string]string {
	out := map[string]string{}
	if v, ok := env("ROBOTMEM_HOME"); ok && v != "" {
		out["ROBOTMEM_HOME"] = home
	}
	if token != "" {
		out[tokenVariable] = token
	}
	return out
}

// thisProgram is the absolute path of the running program, which must be one
// that is there tomorrow.
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

// writtenBySetup sorts the keys of a decoded entry into what setup writes and
// the names of what it does not, or reports a value that it cannot have
// written.
func writtenBySetup(entry map[string]any) (ours []field, others []string) {
	for _, key := range entryKeys {
		switch v := entry[key].(type) {
		case string:
			ours = append(ours, field{key, v})
		case []any:
			list := make([]string, 0, len(v))
			for _, item := range v {
				if s, ok := item.(string); ok {
					list = append(list, s)
				}
			}
			if len(list) != len(v) {
				others = append(others, key)
				continue
			}
			ours = append(ours, field{key, list})
		case map[string]any:
			m := map[string]string{}
			for k, item := range v {
				if s, ok := item.(string); ok {
					m[k] = s
				}
			}
			if len(m) != len(v) {
				others = append(others, key)
				continue
			}
			ours = append(ours, field{key, m})
		default:
			if _, ok := entry[key]; ok {
				others = append(others, key)
			}
		}
	}
	for key := range entry {
		if !slices.Contains(entryKeys, key) {
			others = append(others, key)
		}
	}
	slices.Sort(others)
	return ours, others
}
