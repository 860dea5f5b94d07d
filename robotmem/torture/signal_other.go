//go:build !unix

package main

import (
	"errors"
	"os"
)

var errNoSignal = errors.New("this system has no signal for it; run the part on a Unix")

func terminate(*os.Process) error { return errNoSignal }

func suspend(*os.Process) error { return errNoSignal }

func resume(*os.Process) error { return errNoSignal }
