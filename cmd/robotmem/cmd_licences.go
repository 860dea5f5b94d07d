package main

import (
	"io"

	"github.com/robotmem/robotmem-go/robotmem/notices"
)

type noticesCmd struct{}

// Run prints the texts that a copy of the program must come with.
func (*noticesCmd) Run(a *app) error {
	_, err := io.WriteString(a.Stdout, notices.Text)
	return err
}
