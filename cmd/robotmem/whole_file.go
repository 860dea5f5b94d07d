package main

import (
	"errors"
	"os"
)

// wholeFile writes a file that appears complete or not at all: it is written to NAME.part,
// synced and renamed. refuse makes the error for a name under which no file can be made.
func wholeFile(name string, refuse func(error) error, write func(*os.File) error) error {
	temp := name + ".part"
	// The contents of a memory are private.
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
