// Package used knows where each setting is used, and refuses one that would have no effect.
package used

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/variables"
	"github.com/robotmem/robotmem-go/robotmem"
)

// A setting that is given and not used would be believed to work: a tenant on a file, an identity provider
// that nobody asks. The tables below say where each setting is used; elsewhere it is an error at the start.
//
// A flag is meant for its command, so a flag that the command does not use is an error. A variable or the
// file of settings is shared by all commands, so one that belongs to other commands is none; it is an error
// if the command uses it on another kind of memory than the present one. If a flag has chosen that memory
// and the command serves nobody, the variables and the file may be about the usual one.

// Target is the kind of memory that a command works on.
type Target uint8

const (
	OnFile   Target = 1 << iota
	OnSite          // a tenant on PostgreSQL
	OnNode          // another node, over HTTP
	Anywhere = OnFile | OnSite | OnNode
)

var targetNames = map[Target]string{OnFile: "a memory in a file", OnSite: "a site on PostgreSQL", OnNode: "the node of --url or ROBOTMEM_URL"}

// Use says where a setting is used.
type Use struct {
	On    Target
	By    []string // commands, by their first word; nil for all that open a memory
	Needs string   // the setting without which it has no effect, "" for none
}

var (
	serving = []string{"web", "mcp"}
	onlyWeb = []string{"web"}
	// thinking ask a language model.
	thinking = []string{"web", "proxy", "dream"}
)

// Usages has every setting of config.
var Usages = map[string]Use{
	"db":          {On: OnFile | OnSite},
	"collection":  {On: Anywhere},
	"tenant":      {On: OnSite},
	"payloads":    {On: OnSite},
	"embedder":    {On: OnFile | OnSite},
	"reranker":    {On: OnFile | OnSite},
	"embed_cpu":   {On: OnFile | OnSite},
	"taxonomy":    {On: OnFile | OnSite},
	"entities":    {On: OnFile | OnSite},
	"durability":  {On: OnFile},
	"secrets":     {On: OnFile | OnSite},
	"key_file":    {On: OnFile},
	"key_command": {On: OnFile},
	"key":         {On: OnFile},
	"read_only":   {On: OnFile},
	"allow_path":  {On: OnFile | OnSite},
	"log_level":   {On: Anywhere},
	"memory":      {On: OnFile | OnSite},
	"url":         {On: OnNode},
	"token":       {On: OnFile, By: onlyWeb}, // others send it
	"addr":        {On: OnFile | OnSite, By: onlyWeb},
	"base_path":   {On: OnFile | OnSite, By: onlyWeb},

	"oauth": {On: OnFile, By: onlyWeb},
	"open":  {On: OnSite, By: onlyWeb},

	"oidc_issuer":       {On: OnFile | OnSite, By: onlyWeb},
	"oidc_audience":     {On: OnFile | OnSite, By: onlyWeb, Needs: "oidc_issuer"},
	"oidc_resource":     {On: OnFile | OnSite, By: onlyWeb, Needs: "oidc_issuer"},
	"oidc_tenant_claim": {On: OnSite, By: onlyWeb, Needs: "oidc_issuer"},
	"oidc_role_claim":   {On: OnFile | OnSite, By: onlyWeb, Needs: "oidc_issuer"},
	"oidc_scopes":       {On: OnFile | OnSite, By: onlyWeb, Needs: "oidc_issuer"},

	"ollama_url":     {On: OnFile | OnSite}, // auto may find the memory bound to a model of Ollama
	"openai_url":     {On: OnFile | OnSite},
	"openai_key":     {On: OnFile | OnSite},
	"llm":            {On: Anywhere, By: thinking},
	"llm_calls":      {On: Anywhere, By: thinking},
	"llm_tokens":     {On: Anywhere, By: thinking},
	"llm_seconds":    {On: Anywhere, By: thinking},
	"dream":          {On: OnFile, By: onlyWeb},
	"proxy_token":    {On: Anywhere, By: []string{"proxy"}},
	"reranker_model": {On: OnFile | OnSite, Needs: "reranker"},
	"reranker_key":   {On: OnFile | OnSite, Needs: "reranker"},

	"tls_cert":     {On: OnFile | OnSite, By: onlyWeb, Needs: "tls_key"},
	"tls_key":      {On: OnFile | OnSite, By: onlyWeb, Needs: "tls_cert"},
	"allow_host":   {On: OnFile | OnSite, By: onlyWeb},
	"import_limit": {On: OnFile, By: onlyWeb},
	"rate":         {On: OnFile | OnSite, By: onlyWeb},

	"retention":    {On: OnFile | OnSite, By: append(serving, "retain")},
	"min_free":     {On: OnFile | OnSite, By: append(serving, "retain")},
	"backup_to":    {On: OnFile, By: append(serving, "backup")},
	"backup_every": {On: OnFile, By: append(serving, "backup")},
	"backup_keep":  {On: OnFile, By: append(serving, "backup")},
	"weights":      {On: OnFile | OnSite},
	"fusion":       {On: OnFile | OnSite},
}

// OwnFlags are the settings that commands without a memory of the user take as flags. All others take those
// of every command.
var OwnFlags = map[string][]string{
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

// Layer is where a setting was given.
type Layer int

const (
	InFile Layer = iota + 1
	InEnvironment
	InFlags
)

// spelling is the name of a setting as it was given.
func (l Layer) Spelling(name string) string {
	switch l {
	case InFlags:
		return "--" + strings.ReplaceAll(name, "_", "-")
	case InEnvironment:
		return "ROBOTMEM_" + strings.ToUpper(name)
	}

	return name + " in the file of settings"
}

// Check fails if a setting is given that the command, its first word, does not use on this kind of memory. given says where
// each was given.
func Check(command string, given map[string]Layer, at Target) error {
	// config shows every setting that is given, including those that no other command uses.
	if command == "config" {
		return nil
	}

	if name, meant := variables.Misspelt(os.Environ(), slices.Collect(maps.Keys(Usages))); name != "" {
		return robotmem.Errorf(robotmem.Invalid, "environment",
			"%s is no setting and would have no effect; did you mean %s?", name, meant)
	}

	own, special := OwnFlags[command]
	serves := slices.Contains(serving, command)

	chosen := (given["db"] == InFlags || given["url"] == InFlags) && !serves
	for _, name := range slices.Sorted(maps.Keys(given)) {
		from, use := given[name], Usages[name]
		refuse := func(format string, args ...any) error {
			return robotmem.Errorf(robotmem.Invalid, name, "%s is given and would have no effect: %s; leave it out",
				from.Spelling(name), fmt.Sprintf(format, args...))
		}
		if special {
			if from == InFlags && !slices.Contains(own, name) {
				return refuse("robotmem %s does not use it", command)
			}
			continue
		}
		if use.By != nil && !slices.Contains(use.By, command) || from != InFlags && (chosen || at == OnNode) {
			continue
		}

		switch {
		case use.On&at == 0:
			return refuse("it is for %s, and robotmem %s works on %s", use.kinds(), command, targetNames[at])
		case use.Needs != "" && given[use.Needs] == 0 && serves:
			// Other commands name it with a flag.
			return refuse("it needs %s", use.Needs)
		}
	}

	return nil
}

// kinds names the kinds of memory that a setting is for.
func (u Use) kinds() string {
	var out []string

	for _, t := range []Target{OnFile, OnSite, OnNode} {
		if u.On&t != 0 {
			out = append(out, targetNames[t])
		}
	}

	return strings.Join(out, " or ")
}
