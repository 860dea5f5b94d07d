package main

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/rows"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/spelling"
)

// emptyHints say what is missing where an answer lists nothing, and the next step, by operation.
var emptyHints = map[string]string{
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

// sayWhyEmpty says what is missing if an answer lists nothing: the collection, any memory, or one that matches.
func (c *opCommand) sayWhyEmpty(ctx context.Context, a *app, m robotmem.Node, request json.RawMessage, res any) {
	hint := emptyHints[c.op.Name]
	v := reflect.Indirect(reflect.ValueOf(res))
	f, isList := rows.ListOf(v.Type())
	if a.quiet || hint == "" || !isList || v.FieldByIndex(f.Index).Len() > 0 {
		return
	}

	all, err := m.Collections(ctx, &admin.CollectionsRequest{})
	if err != nil {
		return // the answer is there, and only the hint is missing
	}

	var asked struct {
		Collection string `json:"collection"`
	}
	_ = json.Unmarshal(request, &asked) // "" if it is no text

	episodes := int64(0)
	for _, one := range all.Collections {
		episodes += one.Sessions
	}

	switch {
	case len(all.Collections) == 0:
		hint = `the memory is empty; store a fact: robotmem learn "the gripper slips below 8 N"`
	case asked.Collection != "":
		hint = unknownCollection(asked.Collection, all.Collections, hint)
	case c.op.Name == "sessions" && episodes == 0:
		hint = "no episodes yet; robotmem session start begins one"
	}

	a.note("%s", hint)
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
