package torture

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/client"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/site"
)

// ledger is what a holder must have: texts that were acknowledged, and purges. A robot's file holds what it has told,
// the site what the robots have sent and operators did. A restore takes a holder back to what its backup held.
type ledger struct {
	texts  map[string]string // uid by text
	purged map[string]bool   // uids
}

func newLedger() ledger { return ledger{map[string]string{}, map[string]bool{}} }

func (l ledger) clone() ledger { return ledger{maps.Clone(l.texts), maps.Clone(l.purged)} }

// robot is a memory of a robot with its backup.
type robot struct {
	name, path string // of the robot, and of its memory
	clock      time.Duration
	told       []line // since the file began, or its backup
	backup     string
	backedUp   []line
	refused    map[string]bool
	synced     int   // rounds
	moved      int64 // by the last sync
}

// world is a fleet.
type world struct {
	t      *testing.T
	rng    *rand.Rand
	dir    string
	server *postgrestest.Server
	nodes  []*exec.Cmd
	at     []string // addresses of the nodes
	wire   *wire
	admin  string // the token of the operator
	robots []*robot
	faults map[string]int

	mu       sync.Mutex // guards what follows
	site     ledger
	snapshot *ledger
	uids     []string
}

const database = "fleet"

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	postgrestest.Need(t)
	w := &world{t: t, rng: rand.New(rand.NewPCG(seed, 0)), faults: map[string]int{}, site: newLedger()}

	var err error
	if w.dir, err = os.MkdirTemp("", "torture"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(w.dir) })
	if err := os.Chmod(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(w.dir, "server")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if w.server, err = postgrestest.Start(folder, postgrestest.Programs(), "fsync=off"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.server.Kill(syscall.SIGQUIT) })
	w.sql("postgres", "CREATE DATABASE "+database)

	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		w.at = append(w.at, l.Addr().String())
		_ = l.Close()
		w.nodes = append(w.nodes, nil)
	}
	w.wire = newWire(t, w.at)
	t.Cleanup(w.stop)

	s := w.connect()
	if w.admin, err = s.CreateToken(t.Context(), site.DefaultTenant, site.TokenSpec{Name: "operator", Role: robotmem.RoleOperator}); err != nil {
		// The tenant is made by the first node.
		t.Fatal(err)
	}
	s.Close()

	for i := range 3 {
		w.join(fmt.Sprint("arm-", i), time.Duration(i-1)*365*24*time.Hour)
	}

	return w
}

// connect opens the site for the test itself.
func (w *world) connect() *site.Site {
	w.t.Helper()
	s, err := site.Connect(w.t.Context(), w.server.URL(database), site.Options{Payloads: filepath.Join(w.dir, "payloads")})
	if err != nil {
		w.t.Fatal(err, errors.Unwrap(err))
	}
	if err := s.CreateTenant(w.t.Context(), site.DefaultTenant); err != nil && !errors.Is(err, robotmem.Conflict) {
		w.t.Fatal(err)
	}

	return s
}

// sql runs a statement on a database of the server.
func (w *world) sql(database, statement string) string {
	w.t.Helper()
	out, err := w.server.Command("psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-d", w.server.URL(database), "-c", statement).CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s: %v: %s", statement, err, out)
	}

	return strings.TrimSpace(string(out))
}

func (w *world) join(name string, clock time.Duration) {
	w.t.Helper()
	r := &robot{name: name, path: filepath.Join(w.dir, name, "memory.db"), clock: clock, refused: map[string]bool{}}
	if err := os.MkdirAll(filepath.Dir(r.path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	w.robots = append(w.robots, r)
	w.token(r, "default", "extra")
}

// token gives a robot a new token for collections, and takes the old one away.
func (w *world) token(r *robot, collections ...string) {
	w.t.Helper()
	s := w.connect()
	defer s.Close()
	ctx := context.Background()
	if err := s.RevokeToken(ctx, site.DefaultTenant, r.name); err != nil && !errors.Is(err, robotmem.NotFound) {
		w.t.Fatal(err)
	}
	secret, err := s.CreateToken(ctx, site.DefaultTenant, site.TokenSpec{Name: r.name, Role: robotmem.RoleRobot, Robot: r.name, Collections: collections})
	if err != nil {
		w.t.Fatal(err)
	}

	for _, other := range w.robots {
		if other.name != r.name {
			continue
		}
		n, err := local.Open(ctx, other.path, local.Options{})
		if err != nil {
			w.t.Fatal(err)
		}
		p, err := fleet.PeerOf(n)
		if err != nil {
			w.t.Fatal(err)
		}
		if p == nil {
			p = &fleet.Peer{
				URL: "http://" + w.wire.Addr().String(), Robot: r.name, Replica: r.name + "-first",
				Subscribe: []fleet.Subscription{{Collection: "default"}, {Collection: "extra"}},
			}
		}
		p.Token = secret
		if err := errors.Join(p.Save(n), n.Close()); err != nil {
			w.t.Fatal(err)
		}
	}
}

// child starts a process of the test in a role.
func child(r role) *exec.Cmd {
	text, _ := json.Marshal(r) // texts and numbers
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+string(text))
	cmd.Stderr = os.Stderr

	return cmd
}

// startNodes starts the nodes that do not run, and waits until they answer.
func (w *world) startNodes() {
	w.t.Helper()
	for i := range w.nodes {
		if w.nodes[i] != nil {
			continue
		}
		cmd := child(role{Database: w.server.URL(database), Address: w.at[i], Payloads: filepath.Join(w.dir, "payloads")})
		if err := cmd.Start(); err != nil {
			w.t.Fatal(err)
		}
		w.nodes[i] = cmd
	}
	for _, at := range w.at {
		for until := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			c, err := net.DialTimeout("tcp", at, time.Second)
			if err == nil {
				_ = c.Close()
				break
			}
			if time.Now().After(until) {
				w.t.Fatalf("node %s: %v", at, err)
			}
		}
	}
}

func (w *world) killNode(i int) {
	if w.nodes[i] != nil {
		_ = w.nodes[i].Process.Kill()
		_ = w.nodes[i].Wait()
		w.nodes[i] = nil
	}
}

func (w *world) stop() {
	for i := range w.nodes {
		w.killNode(i)
	}
}

// live lets all robots run for a while, and kills some of them.
func (w *world) live(long time.Duration, writes, gently bool) {
	w.t.Helper()
	var all sync.WaitGroup
	for _, r := range w.robots {
		cmd := child(role{Path: r.path, Name: filepath.Base(filepath.Dir(r.path)), Clock: r.clock, Seed: w.rng.Uint64(), Writes: writes})
		out, err := cmd.StdoutPipe()
		if err != nil {
			w.t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			w.t.Fatal(err)
		}
		kill := !gently && w.rng.IntN(2) == 0
		lasts := long/2 + time.Duration(w.rng.Int64N(int64(long)))
		began := len(r.told)
		all.Go(func() {
			timer := time.AfterFunc(lasts, func() {
				if kill {
					_ = cmd.Process.Kill()
				} else {
					_ = cmd.Process.Signal(syscall.SIGTERM)
				}
			})
			defer timer.Stop()
			lines := bufio.NewScanner(out)
			lines.Buffer(nil, 8<<20)
			for lines.Scan() {
				l := line{}
				if json.Unmarshal(lines.Bytes(), &l) == nil {
					w.heard(r, began, l)
				}
			}
			_ = cmd.Wait()
		})
		w.faults[map[bool]string{true: "robots killed", false: "robots ended"}[kill]]++
	}
	all.Wait()
}

// heard notes what a robot has told.
func (w *world) heard(r *robot, began int, l line) {
	w.mu.Lock()
	defer w.mu.Unlock()

	if l.Op != "synced" {
		r.told = append(r.told, l)
		w.uids = append(w.uids, l.UID)
		return
	}

	r.synced++
	r.moved = l.Moved
	r.refused = map[string]bool{}
	for _, uid := range l.Refused {
		r.refused[uid] = true
	}
	// What was acknowledged before the sync began is at the site now, but for what it has refused.
	for _, l := range r.told[:began+l.Known] {
		switch {
		case r.refused[l.UID]:
		case l.Op == "wrote":
			w.site.texts[l.Text] = l.UID
		case l.Op == "purged":
			w.site.purged[l.UID] = true
		}
	}
}

// operate changes memories at the site as an operator does, until ctx ends.
func (w *world) operate(ctx context.Context, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 2))
	for i := 0; ctx.Err() == nil; i++ {
		c := client.New("http://"+w.at[rng.IntN(len(w.at))], client.Options{Token: w.admin})
		w.mu.Lock()
		uid := ""
		if len(w.uids) > 0 {
			uid = w.uids[rng.IntN(len(w.uids))]
		}
		w.mu.Unlock()
		w.operation(ctx, c, rng, uid, fmt.Sprintf("the operator wrote %d of %d", i, seed))
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(rng.IntN(60)) * time.Millisecond):
		}
	}
}

func (w *world) operation(ctx context.Context, c robotmem.Service, rng *rand.Rand, uid, text string) {
	if uid == "" {
		return
	}
	m, err := c.Get(ctx, &robotmem.MemoryRequest{UID: uid})
	if err != nil {
		return
	}

	wrote, purged := false, false
	switch dice := rng.IntN(20); {
	case dice < 9:
		_, err = c.Update(ctx, &robotmem.UpdateRequest{MemoryID: m.MemoryID, NewContent: text})
		wrote = err == nil
	case dice < 13:
		_, _ = c.Forget(ctx, &robotmem.ForgetRequest{MemoryID: m.MemoryID, Reason: "the operator says so"})
	case dice < 17:
		_, _ = c.Restore(ctx, &robotmem.MemoryRequest{MemoryID: m.MemoryID})
	case dice < 19:
		res, err := c.Learn(ctx, &robotmem.LearnRequest{Insight: text})
		if wrote = err == nil && res.Status == "created"; wrote {
			uid = res.UID
		}
	default:
		_, err = c.Forget(ctx, &robotmem.ForgetRequest{MemoryID: m.MemoryID, Purge: true, Reason: "a person asked for it"})
		purged = err == nil
	}

	w.mu.Lock()
	defer w.mu.Unlock()
	if wrote {
		w.site.texts[text] = uid
	}
	if purged {
		w.site.purged[uid] = true
	}
}

// copyMemory copies the files of a memory, as a copy of the card does.
func copyMemory(t *testing.T, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}

	// On another card the file is at the same place of another machine: it is not recognised as a copy.
	c, err := sqlite.Open(t.Context(), filepath.Join(to, "memory.db"), sqlite.ConnOptions{})
	if err != nil {
		t.Fatal(err)
	}
	err = c.Exec("UPDATE identity SET place = ''")
	if err := errors.Join(err, c.Close()); err != nil {
		t.Fatal(err)
	}
}

const mostRobots = 6

// disturb does to the fleet what happens while nobody runs.
func (w *world) disturb() {
	w.t.Helper()
	for _, r := range slices.Clone(w.robots) {
		dir := filepath.Dir(r.path)
		switch dice := w.rng.IntN(40); {
		case dice < 6:
			w.faults["robots backed up"]++
			r.backup, r.backedUp = dir+".backup", slices.Clone(r.told)
			copyMemory(w.t, dir, r.backup)
		case dice < 9 && r.backup != "":
			w.faults["robots restored"]++
			copyMemory(w.t, r.backup, dir)
			r.told = slices.Clone(r.backedUp)
		case dice < 11 && len(w.robots) < mostRobots:
			w.faults["robots copied"]++
			twin := &robot{name: r.name, clock: -r.clock, told: slices.Clone(r.told), refused: maps.Clone(r.refused)}
			to := fmt.Sprintf("%s-copy%d", dir, w.faults["robots copied"])
			twin.path = filepath.Join(to, "memory.db")
			copyMemory(w.t, dir, to)
			w.robots = append(w.robots, twin)
		case dice < 13:
			w.faults["tokens narrowed"]++
			w.token(r, "default")
		case dice < 17:
			w.faults["tokens extended"]++
			w.token(r, "default", "extra")
		}
	}

	switch dice := w.rng.IntN(24); {
	case dice < 4:
		w.faults["sites backed up"]++
		w.stop()
		w.mu.Lock()
		held := w.site.clone()
		w.snapshot = &held
		w.mu.Unlock()
		w.sql("postgres", "DROP DATABASE IF EXISTS saved WITH (FORCE)")
		w.sql("postgres", "CREATE DATABASE saved TEMPLATE "+database)
	case dice < 6 && w.snapshot != nil:
		w.faults["sites restored"]++
		w.stop()
		w.sql("postgres", "DROP DATABASE "+database+" WITH (FORCE)")
		w.sql("postgres", "CREATE DATABASE "+database+" TEMPLATE saved")
		// A copied sequence takes numbers without logging them until the next checkpoint, and a crash gives them again.
		w.sql("postgres", "CHECKPOINT")
		// The folder of payloads is that of the database that was replaced.
		if err := os.Remove(filepath.Join(w.dir, "payloads", "database")); err != nil {
			w.t.Fatal(err)
		}
		w.mu.Lock()
		w.site = w.snapshot.clone()
		w.mu.Unlock()
		// The tokens of the backup are of that time.
		for _, r := range w.robots {
			w.token(r, "default", "extra")
		}
	case dice < 9:
		w.faults["servers killed"]++
		w.server.Kill(syscall.SIGQUIT)
		if err := w.server.Start("fsync=off"); err != nil {
			w.t.Fatal(err)
		}
	}
}
