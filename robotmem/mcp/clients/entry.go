package clients

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/robotmem/robotmem-go/robotmem"
)

// setupName is the name of robotmem in every client.
const setupName = "robotmem"

// Entry is the entry of robotmem in the settings of a client, by its keys. Keys that setup never
// writes belong to the user and stay.
type Entry map[string]any

// entryKeys are the keys that setup writes, or replaces: an entry has either a command or an address.
var entryKeys = []string{
	"type", "command", "args", "env", "url", "httpUrl", "headers", "http_headers", "bearer_token_env_var",
}

// TokenVariable is the environment variable with the token of a node.
const TokenVariable = "ROBOTMEM_TOKEN"

// Local is an entry that starts command with the arguments and variables.
func (c *Client) Local(command string, args []string, env map[string]any) Entry {
	e := Entry{"command": command, "args": args}
	if len(env) > 0 {
		e["env"] = env
	}
	if c.typed {
		e["type"] = "stdio"
	}

	return e
}

// merged is the entry with the keys and variables of the present one that setup does not write.
func (e Entry) merged(present Entry) Entry {
	out := maps.Clone(e)

	for key, value := range present {
		if !slices.Contains(entryKeys, key) {
			out[key] = value
		}
	}

	env := map[string]any{}
	old, _ := present["env"].(map[string]any)
	own, _ := e["env"].(map[string]any)
	maps.Copy(env, old)

	for _, name := range []string{"ROBOTMEM_HOME", TokenVariable} {
		delete(env, name)
	}

	maps.Copy(env, own)
	if len(env) > 0 {
		out["env"] = env
	}

	return out
}

// equal compares entries whose values may be of different Go types.
func (e Entry) equal(other Entry) bool {
	a, aerr := json.Marshal(e)
	b, berr := json.Marshal(other)
	return aerr == nil && berr == nil && string(a) == string(b)
}

func invalid(field, format string, args ...any) error {
	return &robotmem.Error{Kind: robotmem.Invalid, Field: field, Err: fmt.Errorf(format, args...)}
}
