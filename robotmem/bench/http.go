package bench

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/site"
)

// Robots over HTTP: a node of the site runs as a process of its own, and each simulated robot says hello, pushes a
// lesson each minute, reads what the others learnt as a replicator does, and asks now and then.

// HTTPReport has the figures of robots that sync over HTTP.
type HTTPReport struct {
	Lessons     int     `json:"lessons"`       // pushed
	Pulls       int     `json:"pulls"`         //
	Changes     int64   `json:"changes"`       // that all robots together have received
	NodeCores   float64 `json:"node_cores"`    // processors that the node took
	ServerCores float64 `json:"server_cores"`  // processors that PostgreSQL took; 0 if it is not of this bench
	MSPerChange float64 `json:"ms_per_change"` // time of both processors for each lesson, in ms
	SentPerDay  int64   `json:"bytes_sent_per_robot_and_day"`
	GotPerDay   int64   `json:"bytes_received_per_robot_and_day"`
	IdlePerMin  float64 `json:"idle_bytes_per_minute"` // both ways, of a robot that nothing concerns
}

const (
	lessonEvery = time.Minute
	pullEvery   = 30 * time.Second // as a replicator while there is news
	idleEvery   = time.Minute      // and without
	recallEvery = 10 * time.Minute
	nodeStarts  = time.Minute
	quiet       = "quiet" // a collection in which nothing happens
	lessons     = "lessons"
)

// overHTTP lets robots sync with a node of the program for some time.
func (b *fleetBench) overHTTP(ctx context.Context, s *site.Site, url, tenant string) (err error) {
	secret, err := s.CreateToken(ctx, tenant, site.TokenSpec{Name: "bench", Role: robotmem.RoleOperator})
	if err != nil {
		return err
	}
	address, node, stop, err := b.startNode(ctx, url, tenant)
	if err != nil {
		return err
	}
	defer func() {
		if said := stop(); err != nil {
			err = fmt.Errorf("%w; the node says: %s", err, robotmem.Clip(said, 500))
		}
	}()

	f := &httpFleet{url: "http://" + address, secret: secret, bench: b}
	if err := f.meet(ctx, b.Robots); err != nil {
		return err
	}

	out := &HTTPReport{}
	nodeBefore, serverBefore, began := cpuOf(node), b.serverCPU(), time.Now()
	f.start()
	if err := f.work(ctx, time.Duration(b.Seconds)*time.Second); err != nil {
		return err
	}

	took := time.Since(began).Seconds()
	nodeCPU, serverCPU := (cpuOf(node) - nodeBefore).Seconds(), (b.serverCPU() - serverBefore).Seconds()
	out.Lessons, out.Pulls, out.Changes = int(f.lessons.Load()), int(f.pulls.Load()), f.changes.Load()
	out.NodeCores, out.ServerCores = nodeCPU/took, serverCPU/took
	out.MSPerChange = 1000 * (nodeCPU + serverCPU) / float64(max(1, out.Lessons))
	day := 86_400 / took / float64(b.Robots)
	out.SentPerDay, out.GotPerDay = int64(float64(f.busy.sent.Load())*day), int64(float64(f.busy.got.Load())*day)
	out.IdlePerMin = float64(f.idle.sent.Load()+f.idle.got.Load()) / float64(max(1, f.idlePulls.Load())) / idleEvery.Minutes()
	b.HTTP = out

	return nil
}

// startNode starts the program as a node of the tenant, and waits until it answers.
func (b *fleetBench) startNode(ctx context.Context, url, tenant string) (address string, pid int, stop func() string, err error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", 0, nil, err
	}
	address = l.Addr().String()
	if err := l.Close(); err != nil {
		return "", 0, nil, err
	}

	home, err := os.MkdirTemp("", "robotmem-")
	if err != nil {
		return "", 0, nil, err
	}
	cmd := exec.CommandContext(ctx, b.program, "web", "--db", url, "--addr", address, "--embedder", "none", "--quiet")
	cmd.Env = append(os.Environ(), "ROBOTMEM_HOME="+home, "ROBOTMEM_TENANT="+tenant, "ROBOTMEM_RATE=0")
	said := &bytes.Buffer{}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		return "", 0, nil, err
	}
	stop = func() string {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		_ = os.RemoveAll(home)
		return said.String()
	}

	for until := time.Now().Add(nodeStarts); ; time.Sleep(50 * time.Millisecond) {
		res, err := http.Get("http://" + address + "/readyz") //nolint:noctx // a probe of this machine
		if err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return address, cmd.Process.Pid, stop, nil
			}
		}
		if time.Now().After(until) || ctx.Err() != nil {
			return "", 0, nil, robotmem.Errorf(robotmem.Unavailable, "bench", "a node of the site does not start: %s", robotmem.Clip(stop(), 500))
		}
	}
}

// traffic counts bytes of connections, headers and all.
type traffic struct{ sent, got atomic.Int64 }

type counted struct {
	net.Conn
	*traffic
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.got.Add(int64(n))
	return n, err
}

func (c counted) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

func (t *traffic) client() *http.Client {
	dial := (&net.Dialer{}).DialContext

	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		MaxIdleConnsPerHost: 1,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dial(ctx, network, address)
			return counted{c, t}, err
		},
	}}
}

// httpFleet is the robots of a bench.
type httpFleet struct {
	url, secret string
	bench       *fleetBench
	robots      []*httpRobot
	quiet       *httpRobot

	busy, idle                         traffic
	lessons, pulls, changes, idlePulls atomic.Int64
}

// httpRobot is a robot as its site sees it.
type httpRobot struct {
	fleet   *httpFleet
	name    string
	replica string
	feed    string
	client  *http.Client
	link    fleet.Link
	counter int64
	at      fleet.Cursor
}

func (f *httpFleet) robot(name, feed string, t *traffic) *httpRobot {
	return &httpRobot{fleet: f, name: name, replica: uuid.NewString(), feed: feed, client: t.client()}
}

// meet introduces all robots.
func (f *httpFleet) meet(ctx context.Context, robots int) error {
	f.quiet = f.robot("quiet", quiet, &f.idle)

	all := []*httpRobot{f.quiet}
	for i := range robots {
		f.robots = append(f.robots, f.robot(fmt.Sprintf("bench-%d", i), lessons, &f.busy))
	}

	for _, r := range append(all, f.robots...) {
		hello := &fleet.HelloRequest{Protocol: fleet.Protocol, Replica: r.replica, Robot: r.name, Clock: time.Now()}
		if err := r.ask(ctx, "hello", hello, &fleet.HelloResponse{}); err != nil {
			return err
		}
	}

	return errors.Join(f.quiet.pull(ctx, false), f.robots[0].push(ctx))
}

// start begins to count.
func (f *httpFleet) start() {
	for _, n := range []*atomic.Int64{&f.busy.sent, &f.busy.got, &f.idle.sent, &f.idle.got, &f.lessons, &f.pulls, &f.changes} {
		n.Store(0)
	}
}

// work lets all robots push, pull and ask, each with a phase of its own.
func (f *httpFleet) work(ctx context.Context, length time.Duration) error {
	bar := f.bench.show.begin("robots over HTTP", "seconds", int64(length.Seconds()))
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)

	var wg sync.WaitGroup
	began := time.Now()
	repeat := func(every time.Duration, do func() error) {
		wg.Go(func() {
			for due := began.Add(rand.N(every)); due.Sub(began) < length; due = due.Add(every) { //nolint:gosec // a phase
				select {
				case <-ctx.Done():
					return
				case <-time.After(time.Until(due)):
				}
				if err := do(); err != nil {
					stop(fmt.Errorf("bench: %w", err))
					return
				}
			}
		})
	}

	for _, r := range f.robots {
		var mine sync.Mutex // a replicator does one thing after the other
		alone := func(do func(context.Context) error) func() error {
			return func() error { mine.Lock(); defer mine.Unlock(); return do(ctx) }
		}
		repeat(lessonEvery, alone(r.push))
		repeat(pullEvery, alone(func(ctx context.Context) error { return r.pull(ctx, true) }))
		repeat(recallEvery, func() error { return r.recall(ctx) })
	}
	repeat(min(idleEvery, length/3), func() error {
		f.idlePulls.Add(1)
		return f.quiet.pull(ctx, false)
	})
	wg.Go(func() { countSeconds(ctx, bar, began, length) })
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	return nil
}

// push sends a lesson.
func (r *httpRobot) push(ctx context.Context) error {
	r.counter++
	req := r.fleet.bench.fact(0)
	now := time.Now().UTC().Format(time.RFC3339Nano)
	given, err := json.Marshal(req.Context)
	if err != nil {
		return err
	}

	link := make(fleet.Link, 16)
	for i := range link {
		link[i] = byte(rand.Uint32()) //nolint:gosec // a name
	}
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}

	p := &fleet.PushRequest{
		Protocol: fleet.Protocol, Replica: r.replica, Robot: r.name, Prev: r.link, Link: link, Upto: r.counter,
		Memories: []fleet.NumberedMemory{{Counter: r.counter, Memory: archive.Memory{
			UID: id.String(), Type: "fact", Collection: lessons, Content: req.Insight, Context: given,
			Category: "observation", Confidence: 0.8, DecayRate: 0.01, Status: "active", Sightings: 1, Version: 1,
			ValidFrom: now, ObservedAt: now, CreatedAt: now, UpdatedAt: now,
		}}},
	}
	ack := &fleet.PushResponse{}
	if err := r.ask(ctx, "push", p, ack); err != nil {
		return err
	}
	if ack.State != "" || len(ack.Refused) > 0 {
		return fmt.Errorf("a push of %s is %s, refused %v", r.name, ack.State, ack.Refused)
	}
	r.link = link
	r.fleet.lessons.Add(1)

	return nil
}

// pull reads what is new as a replicator does.
func (r *httpRobot) pull(ctx context.Context, busy bool) error {
	req := &fleet.PullRequest{Protocol: fleet.Protocol, Replica: r.replica, Robot: r.name, Subscribe: []string{r.feed}, Newest: 100, Cursors: map[string]fleet.Cursor{}}
	if r.at.Number > 0 {
		req.Cursors[r.feed] = r.at
	}
	w := &fleet.PullResponse{}
	if err := r.ask(ctx, "pull", req, w); err != nil {
		return err
	}
	if busy {
		r.fleet.pulls.Add(1)
	}

	for _, news := range w.Feeds {
		for _, chunk := range news.Chunks {
			body, err := r.read(ctx, http.MethodGet, chunk.Path(news.Feed, news.Generation), nil)
			if err != nil {
				return err
			}
			if news.Feed == r.feed {
				r.fleet.changes.Add(max(0, chunk.Last-max(r.at.Number, chunk.First-1)))
				r.at = fleet.Cursor{Number: chunk.Last, Mark: chunk.Mark}
			}
			if !bytes.HasSuffix(bytes.TrimSpace(body), []byte(`"uid":"`+fleet.EndOfChunk+`","change":""}`)) {
				return fmt.Errorf("a chunk ends with %q", body[max(0, len(body)-60):])
			}
		}
	}

	return nil
}

// recall asks the site by words.
func (r *httpRobot) recall(ctx context.Context) error {
	r.fleet.bench.mu.Lock()
	query := r.fleet.bench.facts.Query()
	r.fleet.bench.mu.Unlock()
	body, err := json.Marshal(&robotmem.RecallRequest{Query: query, N: top})
	if err != nil {
		return err
	}
	_, err = r.read(ctx, http.MethodPost, "/api/recall", body)

	return err
}

func (r *httpRobot) ask(ctx context.Context, what string, request, answer any) error {
	data, err := json.Marshal(request)
	if err != nil {
		return err
	}
	res, err := r.read(ctx, http.MethodPost, "/api/fleet/"+what, data)
	if err != nil {
		return err
	}

	return json.Unmarshal(res, answer)
}

// read sends a request, compressed as a replicator does, and returns the body of its answer.
func (r *httpRobot) read(ctx context.Context, method, path string, data []byte) ([]byte, error) {
	var body bytes.Buffer
	if data != nil {
		z := gzip.NewWriter(&body)
		_, err := z.Write(data)
		if err = errors.Join(err, z.Close()); err != nil {
			return nil, err
		}
	}
	packed := strings.HasPrefix(path, "/api/fleet/")
	if !packed {
		body = *bytes.NewBuffer(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, r.fleet.url+path, &body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+r.fleet.secret)
	if data != nil {
		req.Header.Set("Content-Type", "application/json")
		if packed {
			req.Header.Set("Content-Encoding", "gzip")
		}
	}

	res, err := r.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", path, res.Status, robotmem.Clip(string(answer), 300))
	}

	return answer, err
}

// ticks is how many units of time /proc counts in a second.
const ticks = 100

// cpuOf returns the processor time of a process and of the children that it has waited for, 0 where there is no /proc.
func cpuOf(pid int) (t time.Duration) {
	data, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	// The name in parentheses may hold spaces.
	fields := strings.Fields(string(data[max(0, bytes.LastIndexByte(data, ')')):]))
	if len(fields) < 16 {
		return 0
	}

	for _, field := range fields[12:14] {
		n, _ := strconv.ParseInt(field, 10, 64)
		t += time.Duration(n) * time.Second / ticks
	}

	for _, field := range fields[14:16] {
		n, _ := strconv.ParseInt(field, 10, 64)
		t += time.Duration(n) * time.Second / ticks
	}

	return t
}

// serverCPU returns the processor time of the server of the bench with its processes.
func (b *fleetBench) serverCPU() (t time.Duration) {
	if b.serverPID == 0 {
		return 0
	}
	t = cpuOf(b.serverPID)
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	parent := strconv.Itoa(b.serverPID)

	for _, path := range stats {
		data, _ := os.ReadFile(path)
		fields := strings.Fields(string(data[max(0, bytes.LastIndexByte(data, ')')):]))
		if slices.Contains(fields[:min(3, len(fields))], parent) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			t += cpuOf(pid)
		}
	}

	return t
}
