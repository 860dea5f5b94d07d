// Package hints says what is missing where an answer lists nothing, which collection a misspelt one may mean, and what
// flags of other programs are called here.
package hints

import (
	"fmt"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/spelling"
)

// ofOperations say what is missing where an answer lists nothing, and the next step, by operation.
var ofOperations = map[string]string{
	"recall":           "no memory matches; robotmem list shows what there is, robotmem paths what a filter can ask for",
	"search":           "no memory has these words; robotmem list shows what there is",
	"advise":           "no attempt with a known outcome matches; learn attempts with --outcome, or with task.success in their context",
	"aggregate":        "no memory matches; robotmem paths lists what can be grouped",
	"list":             "no memory matches; --status all lists forgotten ones too",
	"sessions":         "there is no such episode; robotmem session start begins one",
	"session_memories": "the episode has no memories; give its id to learn and save-perception as --session-id",
	"paths":            "no active memory has a context; learn with --context",
	"places":           "no memory has coordinates; learn with a context such as {\"spatial\":{\"position\":[1,2,0]}}",
	"recent_failures":  "nothing has failed; --days looks further back",
	"incidents":        "nothing has failed, or all is resolved; --no-resolved and --resolved choose",
	"audit":            "no change is logged that matches",
	"categories":       "there is no active memory",
	"collections":      "there is no collection yet; the first fact makes one",
}

// Known reports whether there is a hint for an operation that lists nothing.
func Known(op string) bool { return ofOperations[op] != "" }

// Begins reports whether an operation makes its collection if there is none of the name.
func Begins(op string) bool { return op == "learn" || op == "save_perception" || op == "start_session" }

// Empty says what is missing if an operation lists nothing: the collection, any memory, or one that matches. asked is
// the collection of the request, "" for none.
func Empty(op, asked string, all []admin.CollectionCount) string {
	episodes := int64(0)
	for i := range all {
		episodes += all[i].Sessions
	}

	switch {
	case len(all) == 0:
		return `the memory is empty; store a fact: robotmem learn "the gripper slips below 8 N"`
	case asked != "":
		return unknownCollection(asked, all, ofOperations[op])
	case op == "sessions" && episodes == 0:
		return "no episodes yet; robotmem session start begins one"
	}

	return ofOperations[op]
}

// NewCollection says that a name near those that exist has begun a collection, "" for any other. The collection has what
// was stored last and nothing else.
func NewCollection(asked string, all []admin.CollectionCount) string {
	var others []string

	isNew := false

	for i := range all {
		c := &all[i]
		if c.Collection != asked {
			others = append(others, c.Collection)
		} else {
			isNew = c.Total+c.Sessions == 1
		}
	}

	// arm-7 and arm-8 are names of a series, and neither is misspelt.
	near := slices.DeleteFunc(spelling.Nearest(asked, others), func(name string) bool {
		return withoutDigits(name) == withoutDigits(asked)
	})
	if !isNew || len(near) == 0 || asked == robotmem.DefaultCollection {
		return ""
	}

	return fmt.Sprintf("started a new collection %s; there is %s", asked, strings.Join(near, " and "))
}

func withoutDigits(name string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, name)
}

// mostNamed is how many collections a hint names.
const mostNamed = 5

// unknownCollection names those that are spelt like one that does not exist, or else what there is.
func unknownCollection(asked string, all []admin.CollectionCount, known string) string {
	var names []string

	for _, one := range all {
		names = append(names, one.Collection)
	}
	if asked == "*" || asked == "all" || slices.Contains(names, asked) {
		return known
	}

	if near := spelling.Nearest(asked, names); len(near) > 0 {
		return fmt.Sprintf("there is no collection %q; did you mean %s?", asked, strings.Join(near, " or "))
	}

	slices.Sort(names)
	more := ""
	if len(names) > mostNamed {
		names, more = names[:mostNamed], ", …"
	}

	return fmt.Sprintf("there is no collection %q; there are %s%s", asked, strings.Join(names, ", "), more)
}

// meant says what is called otherwise here than in many other programs, by the command and the problem that the parser
// names.
var meant = map[string]string{
	"doctor: unknown flag --fix":           "it is called --repair",
	"web: unknown flag --port":             "it is a part of --addr, such as --addr 127.0.0.1:8080",
	"web: unknown flag --host":             "it is a part of --addr, such as --addr 127.0.0.1:8080",
	"session start: unknown flag --task":   `it is a part of --context, such as --context '{"task":{"name":"dock"}}'`,
	"session start: unknown flag --robot":  `it is a part of --context, such as --context '{"robot":{"id":"cart-3"}}'`,
	"recall: unknown flag --limit":         "it is called -n",
	"recall: unknown flag --near":          `it is --spatial-sort '{"field":"spatial.position","target":[1,2,0]}'`,
	"learn: unknown flag --params":         `it is a part of --context, such as --context '{"params":{"grip_force":"12.5 N"}}'`,
	"export: unexpected argument":          "facts go to standard output: robotmem export > FILE; --archive FILE, --markdown FOLDER and --mcap FILE take a name",
	"attach: unexpected argument":          "one attach follows one robot; start another for another",
	"import: unknown flag --topics":        "it is called --topic, once for each glob",
	"attach: unknown flag --topics":        "it is called --topic, once for each glob",
	"session end: unknown flag --success":  "it is --outcome success",
	"session end: unknown flag --failure":  "it is --outcome failure",
	"save-perception: unknown flag --type": "it is called --perception-type",
}

// Meant returns what a mistake in a command line means, with a semicolon before it; "" for others.
func Meant(command, problem string) string {
	for _, end := range []int{len(problem), strings.Index(problem, ",")} {
		if end < 0 {
			continue
		}

		words := strings.Fields(problem[:end])
		for n := len(words); n >= 2; n-- {
			if hint := meant[command+": "+strings.Join(words[:n], " ")]; hint != "" {
				return "; " + hint
			}
		}
	}

	return ""
}
