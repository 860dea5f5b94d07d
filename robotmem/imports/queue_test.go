package imports_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/imports"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// drive is a recording of 8 seconds with ten topics.
const drive = "../../ui/browsertest/testdata/drive.mcap"

func driveBytes(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(drive)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

type queue struct {
	*imports.Queue
	node *local.Node
	o    imports.Options
}

// open opens a queue on a memory of its own. change may be nil.
func open(t *testing.T, change func(*imports.Options)) *queue {
	t.Helper()
	db := filepath.Join(t.TempDir(), "memory.db")
	m, err := local.Open(t.Context(), db, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	id, err := m.FileID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o := imports.Options{Node: m, Memory: m.Files().DB(), FileID: id}
	if change != nil {
		change(&o)
	}
	q := &queue{imports.Open(o), m, o}
	t.Cleanup(func() {
		if err := errors.Join(q.Close(), m.Close()); err != nil {
			t.Error(err)
		}
		q.nothingLeft(t)
	})
	return q
}

// nothingLeft checks that no received file is on the disk.
func (q *queue) nothingLeft(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(q.o.Memory + ".imports"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of received recordings is left: %v", err)
	}
}

// files sends files under their names, in the order of the names.
func files(name string, folder bool, all map[string]io.Reader) admin.ImportFiles {
	var names []string
	for n := range all {
		names = append(names, n)
	}
	slices.Sort(names)
	return admin.ImportFiles{Name: name, Folder: folder, Size: -1, Next: func() (string, io.Reader, error) {
		if len(names) == 0 {
			return "", nil, io.EOF
		}
		next := names[0]
		names = names[1:]
		return next, all[next], nil
	}}
}

func file(name string, data []byte) admin.ImportFiles {
	return files(name, false, map[string]io.Reader{name: bytes.NewReader(data)})
}

func (q *queue) send(t *testing.T, in admin.ImportFiles) *admin.Import {
	t.Helper()
	i, err := q.Receive(t.Context(), &admin.ImportRequest{Robot: "amr3"}, in)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// wait waits until an import is in a state or has ended.
func (q *queue) wait(t *testing.T, id string, state string) *admin.Import {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		i, err := q.Import(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if i.State == state {
			return i
		}
		if !i.EndedAt.IsZero() || ctx.Err() != nil {
			t.Fatalf("the import is %s, want %s: %+v", i.State, state, i.Error)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestARecordingIsImported(t *testing.T) {
	q := open(t, nil)
	i := q.wait(t, q.send(t, file("drive.mcap", driveBytes(t))).ID, admin.ImportDone)
	r := i.Result
	if r.Kind != "mcap" || r.Known || r.Messages == 0 || r.SessionID == "" || len(r.Topics) < 10 {
		t.Errorf("got %+v", r)
	}
	if r.StartedAt.UTC().Format(time.DateTime) != "2026-05-14 09:13:20" || r.EndedAt.Before(r.StartedAt) {
		t.Errorf("from %v to %v", r.StartedAt, r.EndedAt)
	}
	if r.FactCount == 0 || len(r.Facts) != r.FactCount {
		t.Errorf("%d facts, %d listed", r.FactCount, len(r.Facts))
	}
	s, err := q.node.Session(t.Context(), &robotmem.SessionRequest{SessionID: r.SessionID})
	if err != nil || s.Status != "ended" {
		t.Errorf("%+v, %v", s, err)
	}

	// The same file again names the same episode, and stores nothing.
	again := q.wait(t, q.send(t, file("drive.mcap", driveBytes(t))).ID, admin.ImportDone).Result
	if !again.Known || again.SessionID != r.SessionID || again.Stored != 0 || again.FactCount != r.FactCount {
		t.Errorf("again: %+v", again)
	}
}

func TestGoalsAreEpisodes(t *testing.T) {
	data, err := os.ReadFile("../../../shared/data/recordings/nav_failures.mcap")
	if err != nil {
		t.Skip("needs the shared recordings")
	}
	q := open(t, nil)
	r := q.wait(t, q.send(t, file("nav_failures.mcap", data)).ID, admin.ImportDone).Result
	if r.EpisodeCount != 3 || len(r.Episodes) != 3 || r.Episodes[1].Outcome != "failure" || !strings.Contains(r.Episodes[1].Title, "navigate_to_pose") {
		t.Errorf("%d episodes: %+v", r.EpisodeCount, r.Episodes)
	}
}

func TestAFolderIsOneRecording(t *testing.T) {
	q := open(t, nil)
	i := q.send(t, files("bag", true, map[string]io.Reader{
		"bag_0.mcap":    bytes.NewReader(driveBytes(t)),
		"metadata.yaml": strings.NewReader("rosbag2_bagfile_information:\n  version: 5\n  storage_identifier: mcap\n  relative_file_paths:\n    - bag_0.mcap\n"),
	}))
	if r := q.wait(t, i.ID, admin.ImportDone).Result; r.Messages == 0 || !strings.Contains(r.Kind, "rosbag2") && r.Kind != "mcap" {
		t.Errorf("got %+v", r)
	}
}

// What is wrong with a recording is said, and no file is left of it.
func TestBadRecordings(t *testing.T) {
	whole := driveBytes(t)
	for name, tt := range map[string]struct {
		data  []byte
		state string
		want  string
	}{
		"garbage.mcap":   {[]byte(strings.Repeat("no recording ", 100)), admin.ImportFailed, "is not a recording"},
		"head.mcap":      {whole[:8], admin.ImportFailed, "no message could be read"},
		"truncated.mcap": {whole[:len(whole)*3/4], admin.ImportDone, "the recording breaks"},
	} {
		t.Run(name, func(t *testing.T) {
			q := open(t, nil)
			i := q.wait(t, q.send(t, file(name, tt.data)).ID, tt.state)
			said := ""
			if i.Error != nil {
				said = i.Error.Detail
				if i.Error.Kind != string(robotmem.Invalid) {
					t.Errorf("kind %s", i.Error.Kind)
				}
			} else {
				said = i.Result.Broken
			}
			if !strings.Contains(said, tt.want) || strings.Contains(said, q.o.Memory) {
				t.Errorf("said %q, want %q and no path", said, tt.want)
			}
		})
	}
}

func TestRefusedFiles(t *testing.T) {
	q := open(t, func(o *imports.Options) { o.Limit = 1 << 20 })
	large := file("large.mcap", nil)
	large.Size = 1<<20 + 1
	unsaid := file("large.mcap", make([]byte, 1<<20+1))
	twice := files("bag", true, map[string]io.Reader{"a.mcap": strings.NewReader("a")})
	first := twice.Next
	twice.Next = func() (string, io.Reader, error) {
		name, r, err := first()
		if err == io.EOF {
			return "a.mcap", strings.NewReader("a"), nil
		}
		return name, r, err
	}
	for name, tt := range map[string]struct {
		in   admin.ImportFiles
		kind robotmem.Kind
	}{
		"a size over the limit":    {large, robotmem.TooLarge},
		"bytes over the limit":     {unsaid, robotmem.TooLarge},
		"nothing":                  {files("x.mcap", false, nil), robotmem.Invalid},
		"no bytes":                 {file("x.mcap", nil), robotmem.Invalid},
		"a path":                   {file("../x.mcap", []byte("x")), robotmem.Invalid},
		"a path below":             {files("bag", true, map[string]io.Reader{"../x.mcap": strings.NewReader("x")}), robotmem.Invalid},
		"an absolute path":         {files("bag", true, map[string]io.Reader{"/x.mcap": strings.NewReader("x")}), robotmem.Invalid},
		"two files of no folder":   {files("bag", false, map[string]io.Reader{"a": strings.NewReader("x"), "b": strings.NewReader("x")}), robotmem.Invalid},
		"a name twice":             {twice, robotmem.Invalid},
		"a body that breaks":       {files("x.mcap", false, map[string]io.Reader{"x.mcap": io.MultiReader(strings.NewReader("x"), broken{})}), robotmem.Invalid},
		"a folder of other things": {files("pictures", true, nil), robotmem.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := q.Receive(t.Context(), &admin.ImportRequest{}, tt.in); robotmem.KindOf(err) != tt.kind {
				t.Errorf("got %v, want %s", err, tt.kind)
			}
			all, err := q.Imports(t.Context())
			if err != nil || len(all.Imports) != 0 || all.HeldBytes != 0 {
				t.Errorf("left: %+v, %v", all, err)
			}
		})
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// gate is a node that stores perceptions while it is open.
type gate struct {
	robotmem.Node
	open  chan struct{}
	asked chan struct{}
}

func (g *gate) SavePerceptionFrom(ctx context.Context, r *robotmem.SavePerceptionRequest, data io.Reader) (*robotmem.SavePerceptionResponse, error) {
	select {
	case g.asked <- struct{}{}:
	default:
	}
	<-g.open
	return g.Node.SavePerceptionFrom(ctx, r, data)
}

func gated(g *gate) func(*imports.Options) {
	return func(o *imports.Options) {
		*g = gate{o.Node, make(chan struct{}), make(chan struct{}, 1)}
		o.Node = g
	}
}

func TestOneImportAtATime(t *testing.T) {
	g := &gate{}
	q := open(t, gated(g))
	first := q.send(t, file("first.mcap", driveBytes(t)))
	<-g.asked
	second, third := q.send(t, file("second.mcap", driveBytes(t)[:5000])), q.send(t, file("third.mcap", driveBytes(t)))
	all, err := q.Imports(t.Context())
	if err != nil || len(all.Imports) != 3 || all.Imports[0].Ahead != 2 || all.Imports[1].Ahead != 1 || all.Imports[2].State != admin.ImportRunning {
		t.Errorf("got %+v, %v", all, err)
	}

	// A waiting one is cancelled at once, and its files go.
	if i, err := q.Cancel(t.Context(), second.ID); err != nil || i.State != admin.ImportCancelled {
		t.Errorf("cancelled: %+v, %v", i, err)
	}
	close(g.open)
	q.wait(t, first.ID, admin.ImportDone)
	if r := q.wait(t, third.ID, admin.ImportDone).Result; !r.Known {
		t.Errorf("the same recording: %+v", r)
	}
	if all, _ := q.Imports(t.Context()); all.HeldBytes != 0 {
		t.Errorf("%d bytes are still held", all.HeldBytes)
	}
}

// A cancelled import keeps what it has stored, and the next one goes on.
func TestCancelledMidway(t *testing.T) {
	g := &gate{}
	q := open(t, gated(g))
	i := q.send(t, file("drive.mcap", driveBytes(t)))
	<-g.asked
	if _, err := q.Cancel(t.Context(), i.ID); err != nil {
		t.Fatal(err)
	}
	close(g.open)
	if got := q.wait(t, i.ID, admin.ImportCancelled); got.Result == nil || got.Error != nil {
		t.Errorf("got %+v", got)
	}
	r := q.wait(t, q.send(t, file("drive.mcap", driveBytes(t))).ID, admin.ImportDone).Result
	if r.Known || r.FactCount == 0 {
		t.Errorf("the second one: %+v", r)
	}
	if _, err := q.Cancel(t.Context(), "none"); !errors.Is(err, robotmem.NotFound) {
		t.Errorf("cancelling what is not there: %v", err)
	}
}

func TestARevokedTokenEndsItsImport(t *testing.T) {
	g := &gate{}
	q := open(t, gated(g))
	in := file("drive.mcap", driveBytes(t))
	in.Allowed = func() bool { return false }
	i := q.send(t, in)
	close(g.open)
	if got := q.wait(t, i.ID, admin.ImportFailed); got.Error.Kind != string(robotmem.Forbidden) {
		t.Errorf("got %+v", got.Error)
	}
}

func TestAReadOnlyNodeTakesNothing(t *testing.T) {
	q := open(t, func(o *imports.Options) { o.ReadOnly = "it was asked for" })
	if _, err := q.Receive(t.Context(), &admin.ImportRequest{}, file("x.mcap", []byte("x"))); !errors.Is(err, robotmem.Unavailable) {
		t.Error(err)
	}
}

// What a killed process has left goes at the next start; nothing else does.
func TestLeftovers(t *testing.T) {
	q := open(t, nil)
	base := q.o.Memory + ".imports"
	name := q.o.FileID + "-" + strings.Repeat("A", 26)
	for _, f := range []string{
		name + "/id/drive.mcap", name + ".lock",
		"mine/notes.txt",
		q.o.FileID + "-" + strings.Repeat("B", 26) + "/no-lock.mcap",
		strings.Repeat("0", len(q.o.FileID)) + "-" + strings.Repeat("C", 26) + "/other.mcap",
		strings.Repeat("0", len(q.o.FileID)) + "-" + strings.Repeat("C", 26) + ".lock",
	} {
		at := filepath.Join(base, f)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte("x"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}

	// A queue of a living process keeps its own.
	if _, err := q.Receive(t.Context(), &admin.ImportRequest{}, file("x.mcap", nil)); err == nil {
		t.Error("an empty file was taken")
	}
	entries := func() (names []string) {
		all, err := os.ReadDir(base)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			names = append(names, e.Name())
		}
		return names
	}
	if got := len(entries()); got != 8 {
		t.Fatalf("%d entries, want six and the two of the living queue: %q", got, entries())
	}
	other := imports.Open(q.o)
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	if got := entries(); len(got) != 6 || slices.Contains(got, name) || slices.Contains(got, name+".lock") {
		t.Errorf("left: %q", got)
	}
	if err := q.Close(); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(base); err != nil {
		t.Fatal(err)
	}
}
