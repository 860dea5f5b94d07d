package main

import (
	"os"

	"github.com/robotmem/robotmem-go/perception/events"
	"github.com/robotmem/robotmem-go/robotmem"
)

// eventRules chooses the rules by which messages say what happened.
type eventRules struct {
	Events   string `name:"events" placeholder:"FILE" help:"Recordings: more rules by which messages become facts; one with the name of a built-in rule replaces it."`
	NoEvents bool   `name:"no-events" help:"Recordings: store the messages alone, without facts, goals and outcomes."`
}

// Rules are the built-in rules with those of the file; nil without any.
func (e *eventRules) Rules() (*events.Rules, error) {
	switch {
	case e.NoEvents:
		return nil, nil
	case e.Events == "":
		return events.Builtin(), nil
	}

	data, err := os.ReadFile(e.Events)
	if err != nil {
		return nil, invalid("events", "%s cannot be read: %s", e.Events, robotmem.Reason(err))
	}
	more, err := events.Parse(e.Events, data)
	if err != nil {
		return nil, invalid("events", "%v", err)
	}

	return events.Builtin().Extend(more), nil
}
