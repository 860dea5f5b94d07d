package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/variables"
)

// A setting that is given and not used would be believed to work: a tenant on a file, an identity provider
// that nobody asks. The tables below say where each setting is used; elsewhere it is an error at the start.
//
// A flag is meant for its command, so a flag that the command does not use is an error. A variable or the
// file of settings is shared by all commands, so one that belongs to other commands is none; it is an error
// if the command uses it on another kind of memory than the present one. If a flag has chosen that memory
// and the command serves nobody, the variables and the file may be about the usual one.

// target is the kind of memory that a command works on.
type target uint8

const (
	onFile   target = 1 << iota
	onSite          // a tenant on PostgreSQL
	onNode          // another node, over HTTP
	anywhere = onFile | onSite | onNode
)

var targetNames = map[target]string{onFile: "a memory in a file", onSite: "a site on PostgreSQL", onNode: "the node of --url or ROBOTMEM_URL"}

// useOf says where a setting is used.
type useOf struct {
	on    target
	by    []string // commands, by their first word; nil for all that open a memory
	needs string   // the setting without which it has no effect, "" for none
}

var (
	serving = []string{"web", "mcp"}
	onlyWeb = []string{"web"}
)

// usages has every setting of config.
var usages = map[string]useOf{
	"db":          {on: onFile | onSite},
	"collection":  {on: anywhere},
	"tenant":      {on: onSite},
	"payloads":    {on: onSite},
	"embedder":    {on: onFile | onSite},
	"reranker":    {on: onFile | onSite},
	"embed_cpu":   {on: onFile | onSite},
	"taxonomy":    {on: onFile | onSite},
	"entities":    {on: onFile | onSite},
	"durability":  {on: onFile},
	"secrets":     {on: onFile | onSite},
	"key_file":    {on: onFile},
	"key_command": {on: onFile},
	"key":         {on: onFile},
	"read_only":   {on: onFile},
	"allow_path":  {on: onFile | onSite},
	"log_level":   {on: anywhere},
	"memory":      {on: onFile | onSite},
	"url":         {on: onNode},
	"token":       {on: onFile, by: onlyWeb}, // others send it
	"addr":        {on: onFile | onSite, by: onlyWeb},
	"base_path":   {on: onFile | onSite, by: onlyWeb},

	"oidc_issuer":       {on: onFile | onSite, by: onlyWeb},
	"oidc_audience":     {on: onFile | onSite, by: onlyWeb, needs: "oidc_issuer"},
	"oidc_resource":     {on: onFile | onSite, by: onlyWeb, needs: "oidc_issuer"},
	"oidc_tenant_claim": {on: onSite, by: onlyWeb, needs: "oidc_issuer"},
	"oidc_role_claim":   {on: onFile | onSite, by: onlyWeb, needs: "oidc_issuer"},
	"oidc_scopes":       {on: onFile | onSite, by: onlyWeb, needs: "oidc_issuer"},

	"ollama_url":     {on: onFile | onSite}, // auto may find the memory bound to a model of Ollama
	"openai_url":     {on: onFile | onSite},
	"openai_key":     {on: onFile | onSite},
	"reranker_model": {on: onFile | onSite, needs: "reranker"},
	"reranker_key":   {on: onFile | onSite, needs: "reranker"},

	"tls_cert":     {on: onFile | onSite, by: onlyWeb, needs: "tls_key"},
	"tls_key":      {on: onFile | onSite, by: onlyWeb, needs: "tls_cert"},
	"allow_host":   {on: onFile | onSite, by: onlyWeb},
	"import_limit": {on: onFile, by: onlyWeb},
	"rate":         {on: onFile | onSite, by: onlyWeb},

	"retention":    {on: onFile | onSite, by: append(serving, "retain")},
	"min_free":     {on: onFile | onSite, by: append(serving, "retain")},
	"backup_to":    {on: onFile, by: append(serving, "backup")},
	"backup_every": {on: onFile, by: append(serving, "backup")},
	"backup_keep":  {on: onFile, by: append(serving, "backup")},
	"weights":      {on: onFile | onSite},
	"fusion":       {on: onFile | onSite},
}

// ownFlags are the settings that commands without a memory of the user take as flags. All others take those
// of every command.
var ownFlags = map[string][]string{
	"version":    {"log_level"},
	"help":       {"log_level"},
	"man":        {"log_level"},
	"completion": {"log_level"},
	"openapi":    {"log_level"},
	"model":      {"log_level", "embedder"},
	"token":      {"log_level", "db", "url", "read_only", "key_file", "key_command"},
	"demo":       {"log_level", "embedder", "reranker", "taxonomy", "durability", "memory"},
	"bench":      {"log_level", "db", "taxonomy", "durability", "memory"},
	"licences":   {"log_level"},
}

// target returns the kind of memory of the settings.
func (c *config) target() target {
	switch {
	case c.URL != "":
		return onNode
	case c.onServer():
		return onSite
	}

	return onFile
}

// layer is where a setting was given.
type layer int

const (
	inFile layer = iota + 1
	inEnvironment
	inFlags
)

// spelling is the name of a setting as it was given.
func (l layer) spelling(name string) string {
	switch l {
	case inFlags:
		return "--" + strings.ReplaceAll(name, "_", "-")
	case inEnvironment:
		return "ROBOTMEM_" + strings.ToUpper(name)
	}

	return name + " in the file of settings"
}

// checkUsed fails if a setting is given that the command does not use.
func (c *config) checkUsed(command string) error {
	first := first(command)
	// It shows what is given, also what no other command would take.
	if first == "config" {
		return nil
	}

	if name, meant := variables.Misspelt(os.Environ(), slices.Collect(maps.Keys(usages))); name != "" {
		return invalid("environment", "%s is no setting and would have no effect; did you mean %s?", name, meant)
	}

	own, special := ownFlags[first]
	at := c.target()

	chosen := (c.given["db"] == inFlags || c.given["url"] == inFlags) && !slices.Contains(serving, first)
	for _, name := range slices.Sorted(maps.Keys(c.given)) {
		from, use := c.given[name], usages[name]
		refuse := func(format string, args ...any) error {
			return invalid(name, "%s is given and would have no effect: %s; leave it out", from.spelling(name), fmt.Sprintf(format, args...))
		}
		if special {
			if from == inFlags && !slices.Contains(own, name) {
				return refuse("robotmem %s does not use it", first)
			}
			continue
		}
		if use.by != nil && !slices.Contains(use.by, first) || from != inFlags && (chosen || at == onNode) {
			continue
		}

		switch {
		case use.on&at == 0:
			return refuse("it is for %s, and robotmem %s works on %s", use.kinds(), first, targetNames[at])
		case use.needs != "" && c.given[use.needs] == 0 && slices.Contains(serving, first):
			// Other commands name it with a flag.
			return refuse("it needs %s", use.needs)
		}
	}

	return nil
}

// kinds names the kinds of memory that a setting is for.
func (u useOf) kinds() string {
	var out []string

	for _, t := range []target{onFile, onSite, onNode} {
		if u.on&t != 0 {
			out = append(out, targetNames[t])
		}
	}

	return strings.Join(out, " or ")
}
