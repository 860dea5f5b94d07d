package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"

	"github.com/robotmem/robotmem-go/robotmem/local"
)

// The engine in a process of its own, until its stdin ends. It prints where it
// is (opening, open, closing, closed), what acks hears, and what failed (failed
// TEXT). Nothing is buffered: what was printed was acknowledged before.

const (
	roleDiary   = "diary"   // opens once and writes
	roleVisitor = "visitor" // opens, writes a little, closes, again and again
)

// say prints a line in one write.
type say struct {
	mu  sync.Mutex
	out io.Writer
}

func (s *say) line(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = io.WriteString(s.out, text+"\n") // nobody listens any more: the end is near
}

// childArgs are the file, a name that no other child has, and a seed.
func childArgs(args []string) (path, name string, seed uint64, err error) {
	if len(args) != 3 {
		return "", "", 0, errors.New("takes a file, a name and a seed")
	}
	seed, err = strconv.ParseUint(args[2], 10, 64)
	return args[0], args[1], seed, err
}

// untilStdinEnds returns a context that ends with stdin.
func untilStdinEnds() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, bufio.NewReader(os.Stdin))
		cancel()
	}()
	return ctx, cancel
}

func diary(args []string) error { return visits(args, 1, 3, 1<<30) }

func visitor(args []string) error { return visits(args, 1<<30, 1, 4) }

// visits opens the file so often, and lets so many robots take so many steps
// each time.
func visits(args []string, times, robots, steps int) error {
	path, name, seed, err := childArgs(args)
	if err != nil {
		return err
	}
	ctx, stop := untilStdinEnds()
	defer stop()
	out := &say{out: os.Stdout}
	for visit := 0; visit < times && ctx.Err() == nil; visit++ {
		out.line("opening")
		m, err := local.Open(context.Background(), local.Options{Path: path})
		if err != nil {
			out.line("failed to open: " + err.Error())
			return err
		}
		out.line("open")
		var working sync.WaitGroup
		for i := range robots {
			b := newBusyRobot(fmt.Sprintf("%s-%d-%d", name, visit, i), m, seed+uint64(visit*robots+i), out.line)
			working.Go(func() {
				for range steps {
					// What was begun is finished: its answer is an acknowledgement.
					if err := b.step(context.Background()); err != nil {
						out.line("failed " + err.Error())
					}
					if ctx.Err() != nil {
						return
					}
				}
			})
		}
		working.Wait()
		out.line("closing")
		if err := m.Close(); err != nil {
			out.line("failed to close: " + err.Error())
			return err
		}
		out.line("closed")
	}
	return nil
}
