package main

import (
	"fmt"
	"os"
)

// childRole names, in the environment of this program started again, what the
// process is to do. Its arguments and what it prints belong to the role.
const childRole = "ROBOTMEM_TORTURE_CHILD"

// roles are what a process of its own does for a part.
var roles = map[string]func(args []string) error{
	flipRole:    flipChild,
	roleDiary:   diary,
	roleVisitor: visitor,
	roleGuest:   guest,
	roleHolder:  holder,
	roleLogger:  logger,
	roleStorer:  storer,
}

func runChild(role string) int {
	do := roles[role]
	if do == nil {
		fmt.Fprintf(os.Stderr, "no role %q\n", role)
		return 2
	}
	if err := do(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
