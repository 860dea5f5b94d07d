package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// roleHolder takes the file's write lock again and again, as a program in the
// middle of a long transaction has it: "holding" and "released" say when. Its
// arguments are the file, for how long, and with which pause.
const roleHolder = "holder"

func holder(args []string) error {
	if len(args) != 3 {
		return errors.New("takes a file, a time to hold and a pause")
	}
	hold, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	pause, err := time.ParseDuration(args[2])
	if err != nil {
		return err
	}
	ctx, stop := untilStdinEnds()
	defer stop()
	db, err := openFile(args[0])
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // of what was read
	if err := db.BusyTimeout(time.Minute); err != nil {
		return err
	}
	out := &say{out: os.Stdout}
	for ctx.Err() == nil {
		if err := db.Exec("BEGIN IMMEDIATE"); err != nil {
			return err
		}
		out.line("holding")
		sleep(ctx, hold)
		if err := db.Exec("ROLLBACK"); err != nil {
			return err
		}
		out.line("released")
		sleep(ctx, pause)
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// lockHeld reports whether somebody has the write lock of a file.
func lockHeld(path string) (bool, error) {
	db, err := openFile(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = db.Close() }() // of what was read
	err = db.Exec("BEGIN IMMEDIATE")
	if errors.Is(err, sqlite3.BUSY) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, db.Exec("ROLLBACK")
}

// roleLogger fills a log ("long"), and closes the file when its stdin ends
// ("closing"). It takes what childArgs are.
const roleLogger = "logger"

func logger(args []string) error {
	path, name, seed, err := childArgs(args)
	if err != nil {
		return err
	}
	ctx, stop := untilStdinEnds()
	defer stop()
	out := &say{out: os.Stdout}
	m, err := local.Open(context.Background(), local.Options{Path: path})
	if err != nil {
		return err
	}
	b := newBusyRobot(name, m, seed, out.line)
	for range logPayloads {
		if err := b.perceive(context.Background(), 250<<10); err != nil {
			return err
		}
	}
	out.line("long")
	<-ctx.Done()
	out.line("closing")
	return m.Close()
}

// logPayloads of a quarter of a MiB stay below the size at which a log is
// written back.
const logPayloads = 40
