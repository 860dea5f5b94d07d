package main

import (
	"errors"
	"os"
)

// wholeFile writes a file that appears whole or not at all: it is written under
// another name, which ends in .part, and synced before it takes its own. A
// name under which none can be made is refused by the caller, in its own words.
func wholeFile(name string, refuse func(error) error, write func(*os.File) error) error {
	temp := name + ".part"
	// What comes out of a memory is as private as the memory.
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return refuse(err)
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}
