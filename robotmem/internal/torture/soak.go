package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/client"
	"github.com/robotmem/robotmem-go/robotmem/local"
	shapes "github.com/robotmem/robotmem-go/robotmem/robotmemtest/hostile"
)

// A robotmem web serves honest callers, while others send hostile bodies over REST and
// /mcp, and slow clients send a body byte by byte. No honest call fails or waits long,
// the memory of the process stays bounded, and afterwards its goroutines and
// descriptors are as many as before. A fault is a hostile request that was answered.

const (
	honestCallers, hostileCallers, slowClients = 8, 2, 40

	soakP99    = 200 * time.Millisecond
	busyFactor = 4         // times the p99 without hostile requests, on a machine that is busy anyway
	soakMemory = 400 << 20 // bytes that are resident
	largeBody  = 60 << 20
)

type soakRun struct {
	*rig
	url string

	mu       sync.Mutex  // guards the fields below
	took     durations   // of honest calls
	statuses map[int]int // of hostile requests
	learnt   map[int64]string
	peak     int // resident bytes
}

func soak(ctx context.Context, r *rig) error {
	path := filepath.Join(r.dir, memoryFile)
	p, err := r.start(ctx, path, "web", "--addr", "127.0.0.1:0")
	if err != nil {
		return err
	}

	defer p.kill()
	address, err := p.stdout.ReadString('\n')
	if err != nil {
		return fmt.Errorf("no address: %w: %s", err, &p.stderr)
	}

	s := &soakRun{rig: r, url: strings.TrimSpace(address), learnt: map[int64]string{}, statuses: map[int]int{}}
	// Opens and loads what the first calls need.
	if err := s.honest(ctx, newRobot("first", nil, 1, nil), 50); err != nil {
		return err
	}

	s.took = nil
	files, goroutines := s.atRest(ctx, p)
	s.run(ctx, r.time/5, "quiet", nil)
	quiet := s.took.quantile(0.99)
	r.note("honest calls before: %v", s.took)
	s.took = nil
	s.run(ctx, r.time, "honest", func(working context.Context, all *sync.WaitGroup) {
		for i := range hostileCallers {
			random := rand.New(rand.NewPCG(r.rand.Uint64(), uint64(i)))
			all.Go(func() { s.hostile(working, random) })
		}

		for range slowClients {
			all.Go(func() { s.trickle(working) })
		}
		all.Go(func() {
			for ; working.Err() == nil; sleep(working, 50*time.Millisecond) {
				s.peak = max(s.peak, p.resident())
			}
		})
	})
	r.note("honest calls: %v; %d MiB resident at most", s.took, s.peak>>20)
	r.note("hostile requests by status: %v", s.statuses)
	if most := max(soakP99, busyFactor*quiet); s.took.quantile(0.99) > most {
		r.broken("p99 of an honest call is %v, over %v", s.took.quantile(0.99), most)
	}
	if s.peak == 0 || s.peak > soakMemory {
		r.broken("%d MiB are resident, over %d, or it cannot be read", s.peak>>20, soakMemory>>20)
	}

	nowFiles, nowGoroutines := 0, 0
	// Connections end within their timeouts.
	for range 20 {
		if nowFiles, nowGoroutines = s.atRest(ctx, p); nowFiles <= files && nowGoroutines <= goroutines {
			break
		}
		sleep(ctx, 2*time.Second)
	}

	r.note("at rest: %d descriptors, then %d; %d goroutines, then %d", files, nowFiles, goroutines, nowGoroutines)
	if nowFiles > files || nowGoroutines > goroutines {
		r.broken("descriptors or goroutines are left over")
	}
	if err := errors.Join(ctx.Err(), p.cmd.Process.Signal(os.Interrupt), p.end()); err != nil {
		return err
	}

	r.acknowledge(len(s.learnt))

	return r.opened(ctx, path, local.Options{}, "at the end", func(e *local.Node) {
		found, err := listAll(ctx, e)
		for id, text := range s.learnt {
			if found[id].Text != text {
				r.lost("memory %d is %v, not %q: %v", id, found[id], text, err)
			}
		}
	})
}

// run lets honest callers work for a while, and others beside them.
func (s *soakRun) run(
	ctx context.Context, d time.Duration, name string, beside func(context.Context, *sync.WaitGroup),
) {
	working, stop := context.WithTimeout(ctx, d)
	defer stop()

	var all sync.WaitGroup
	for i := range honestCallers {
		all.Go(func() {
			if err := s.honest(working, newRobot(fmt.Sprint(name, i), nil, uint64(i), nil), 0); err != nil {
				s.broken("an honest call: %v", err)
			}
		})
	}
	if beside != nil {
		beside(working, &all)
	}
	all.Wait()
}

// honest learns and recalls facts, so many or until ctx ends.
func (s *soakRun) honest(ctx context.Context, facts *robot, calls int) error {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	c := client.New(s.url, client.Options{HTTP: &http.Client{Transport: transport}})

	for n := 0; ctx.Err() == nil && (calls == 0 || n < calls); n++ {
		text := facts.text()
		began := time.Now()
		// A call that was begun is finished.
		learnt, err := c.Learn(context.WithoutCancel(ctx),
			&robotmem.LearnRequest{
				Insight: text,
				Context: robotmem.Object{
					"params": map[string]any{"force": n}, "task": map[string]any{"success": n%3 > 0},
				},
			})
		if err != nil {
			return err
		}
		between := time.Now()
		if _, err := c.Recall(context.WithoutCancel(ctx),
			&robotmem.RecallRequest{Query: text, ContextFilter: robotmem.Object{"task.success": true}}); err != nil {
			return err
		}
		s.mu.Lock()
		s.took = append(s.took, between.Sub(began), time.Since(between))
		if learnt.Status == "created" {
			s.learnt[learnt.MemoryID] = text
		}
		s.mu.Unlock()
		sleep(ctx, 50*time.Millisecond)
	}

	return nil
}

// hostile sends one shape after the other, small and large.
func (s *soakRun) hostile(ctx context.Context, r *rand.Rand) {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()

	for ctx.Err() == nil {
		shape := oneOf(r, shapes.Shapes()...)
		size := oneOf(r, 30<<10, 1<<20, 1<<20, largeBody)
		path, body := "/mcp", shape.Message(size)
		if shape.Op != "" && r.IntN(2) == 0 {
			path, body = robotmem.OpByName(shape.Op).Path(), shape.Body(size)
		}

		in, out := io.Pipe() // whose reader the transport closes
		go func() {
			_, err := body.WriteTo(out)
			out.CloseWithError(err)
		}()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, in)
		if err != nil {
			return
		}
		req.ContentLength, _ = body.WriteTo(io.Discard)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		res, err := transport.RoundTrip(req)
		// A body that is too large may be cut off.
		if err != nil {
			continue
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		s.fault()
		s.mu.Lock()
		s.statuses[res.StatusCode]++
		s.mu.Unlock()
		if res.StatusCode == http.StatusInternalServerError {
			s.broken("%s, %d bytes: %s", shape.Name, size, res.Status)
		}
		sleep(ctx, 100*time.Millisecond)
	}
}

// trickle sends large bodies slowly, one after the other.
func (s *soakRun) trickle(ctx context.Context) {
	for ; ctx.Err() == nil; sleep(ctx, 100*time.Millisecond) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			continue
		}
		fmt.Fprintf(conn,
			"POST /api/learn HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n{\"insight\":\"%0100000d", 0)

		for ctx.Err() == nil {
			if _, err := conn.Write([]byte("x")); err != nil {
				break
			}
			sleep(ctx, time.Second)
		}
		_ = conn.Close()
	}
}

// atRest returns how many descriptors and goroutines the process has.
func (s *soakRun) atRest(ctx context.Context, p *process) (files, goroutines int) {
	files, _ = p.needs()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/metrics", nil)
	if err != nil {
		return files, 0
	}
	transport := &http.Transport{DisableKeepAlives: true}
	res, err := transport.RoundTrip(req)
	if err != nil {
		return files, 0
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	if _, after, found := strings.Cut(string(text), "\ngo_goroutines "); found {
		line, _, _ := strings.Cut(after, "\n")
		goroutines, _ = strconv.Atoi(line)
	}

	return files, goroutines
}
