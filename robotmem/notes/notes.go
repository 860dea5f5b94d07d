// Package notes keeps the facts of a collection as Markdown files that a person edits, both ways.
//
// A file is the truth of its memory: what a person writes is learnt, an edited text updates its memory, and a deleted
// file forgets it. What changes in the memory otherwise is written to its file. If both have changed, the file wins, and
// the text of the memory stays in its history.
//
// Each file says in its front matter with which state of the memory it was last equal. The list of files that were
// written is a file in the folder itself, so a folder that is not there forgets nothing. A kill at any moment is safe:
// each step is found done or not done by the next pass.
package notes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/folder"
)

const (
	stateFile = ".robotmem-notes.json"
	// maxNote is the largest file: a text of 16 KiB and a context of 64 KiB.
	maxNote  = 256 << 10
	listPage = 500
)

// Options are those of a Sync. A zero field stands for its default.
type Options struct {
	Collection string
	Settle     time.Duration // a file is read when it has not changed for so long: 1 s; below 0 at once
	Rescan     time.Duration // how often all is looked at without an event: 1 minute
	Report     func(Change)  // called for each change
}

// Change is what was done.
type Change struct {
	Name string // of the file
	What string // learnt, updated, forgotten, restored, written, removed; "" with Err
	Err  error
}

// Sync keeps the facts of a collection and the files of a folder equal.
type Sync struct {
	svc     robotmem.Service
	folder  *folder.Folder
	options Options
	state   map[string]string // the name of the file of each uid
	dirty   bool
	parsed  map[string]cached // by name
	refused map[string]string
	step    func() error // tests let it fail, as a kill would
}

type cached struct {
	size     int64
	modified time.Time
	note     *note
}

// Open opens a folder.
func Open(svc robotmem.Service, dir string, o Options) (*Sync, error) {
	f, err := folder.Open(dir, folder.Options{Settle: o.Settle, Rescan: o.Rescan})
	if err != nil {
		return nil, &robotmem.Error{Op: "watch", Kind: robotmem.Invalid, Field: "folder", Err: err}
	}
	if o.Collection == "" {
		o.Collection = robotmem.DefaultCollection
	}
	if o.Report == nil {
		o.Report = func(Change) {}
	}

	s := &Sync{
		svc: svc, folder: f, options: o, state: map[string]string{}, parsed: map[string]cached{}, refused: map[string]string{},
		step: func() error { return nil },
	}

	data, err := f.Private(stateFile)
	if err == nil && data != nil {
		if err = json.Unmarshal(data, &s.state); err != nil {
			err = fmt.Errorf("%s is damaged: %w; remove it: every file is then looked at as new, and none is forgotten", stateFile, err)
		}
	}
	if err != nil {
		return nil, errors.Join(&robotmem.Error{Op: "watch", Kind: robotmem.Invalid, Field: "folder", Err: err}, f.Close())
	}

	return s, nil
}

// Close ends the following.
func (s *Sync) Close() error { return s.folder.Close() }

// Run keeps both equal until the context ends.
func (s *Sync) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	changed := make(chan struct{}, 1)

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.follow(ctx, changed)
	}()
	defer func() {
		cancel()
		<-ended
	}()

	for {
		if err := s.Pass(ctx); err != nil && ctx.Err() == nil {
			// A node that is away for a while does not end it.
			if robotmem.KindOf(err) != robotmem.Unavailable {
				return err
			}
			s.options.Report(Change{Err: err})
		}
		if s.folder.Wait(ctx, changed) != nil {
			return nil
		}
	}
}

// follow says when the memory changes.
func (s *Sync) follow(ctx context.Context, changed chan<- struct{}) {
	const wait, pause = 30_000, 5 * time.Second

	var since *int64

	for ctx.Err() == nil {
		res, err := s.svc.Changes(ctx, &admin.ChangesRequest{Since: since, WaitMS: wait})
		if err != nil {
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
			continue
		}

		// The first answer says what holds now. What changed before it, and after the first pass, is looked at as well.
		if since == nil || res.Changed {
			select {
			case changed <- struct{}{}:
			default:
			}
		}
		since = &res.Change
	}
}

// Once makes both equal, and waits for files that are being written.
func (s *Sync) Once(ctx context.Context) error {
	for {
		if err := s.Pass(ctx); err != nil || !s.folder.Waiting() {
			return err
		}
		if err := s.folder.Wait(ctx, nil); err != nil {
			return err
		}
	}
}

// Pass compares all files with all facts once.
func (s *Sync) Pass(ctx context.Context) (err error) {
	files, skipped, err := s.folder.Files(func(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".md") })
	if err != nil {
		return &robotmem.Error{Op: "watch", Kind: robotmem.Unavailable, Field: "folder", Err: err}
	}

	for _, name := range skipped {
		s.refuse(name, errors.New("it is a link or a device, which is not followed"))
	}

	facts, err := s.facts(ctx)
	if err != nil {
		return err
	}

	defer func() { err = errors.Join(err, s.save()) }()

	busy := map[string]bool{} // files that cannot be read now: their memories stay as they are
	byUID := map[string]*note{}

	var fresh []*note

	for _, f := range files {
		n := s.read(f)
		switch {
		case n == nil:
			busy[f.Name] = true
		case n.fresh:
			fresh = append(fresh, n)
		case byUID[n.UID] == nil:
			byUID[n.UID] = n
		case s.state[n.UID] == f.Name: // the other one is the copy
			fresh = append(fresh, byUID[n.UID])
			byUID[n.UID] = n
		default:
			fresh = append(fresh, n)
		}
	}

	for _, n := range fresh {
		if err := s.learn(ctx, n, facts); err != nil {
			return err
		}
		s.claim(n.UID, n.name)
	}

	for uid, n := range byUID {
		s.claim(uid, n.name)
		if err := s.compare(ctx, n, facts[uid]); err != nil {
			return err
		}
	}

	return s.withoutFile(ctx, facts, busy)
}

// withoutFile handles the facts that have no file, and the files that are gone.
func (s *Sync) withoutFile(ctx context.Context, facts map[string]*robotmem.Memory, busy map[string]bool) error {
	there := map[string]bool{}
	for name := range s.parsed {
		there[name] = true
	}

	for uid, name := range s.state {
		if there[name] || busy[name] || !s.folder.Gone(name) {
			continue
		}

		if m := facts[uid]; m != nil {
			if err := s.step(); err != nil {
				return err
			}
			_, err := s.svc.Forget(ctx, &robotmem.ForgetRequest{MemoryID: m.MemoryID, Reason: "its note " + robotmem.Clip(name, 200) + " was deleted"})
			if err != nil && robotmem.KindOf(err) != robotmem.Conflict {
				return err
			}
			delete(facts, uid)
			s.options.Report(Change{Name: name, What: "forgotten"})
		}
		delete(s.state, uid)
		s.dirty = true
	}

	// In the order in which they were learnt.
	var missing []*robotmem.Memory

	for uid, m := range facts {
		if _, known := s.state[uid]; !known {
			missing = append(missing, m)
		}
	}
	slices.SortFunc(missing, func(a, b *robotmem.Memory) int { return int(a.MemoryID - b.MemoryID) })

	for _, m := range missing {
		data, err := render(m)
		if err != nil {
			return err
		}
		if err := s.write(nameOf(m), data, nil); err != nil {
			return err
		}
		s.claim(m.UID, nameOf(m))
	}

	return nil
}

// facts returns the active facts by uid.
func (s *Sync) facts(ctx context.Context) (map[string]*robotmem.Memory, error) {
	out := map[string]*robotmem.Memory{}

	page := robotmem.ListRequest{Limit: listPage, Collection: s.options.Collection, Type: "fact"}
	for {
		res, err := s.svc.List(ctx, &page)
		if err != nil {
			return nil, err
		}

		for i := range res.Memories {
			out[res.Memories[i].UID] = &res.Memories[i]
		}

		// A damaged memory is no forgotten one.
		if len(res.Degraded) > 0 {
			return nil, robotmem.Errorf(robotmem.Corrupt, "", "%s; run robotmem doctor --repair first", res.Degraded[0])
		}
		if res.Next == "" {
			return out, nil
		}
		page = robotmem.ListRequest{Limit: listPage, Collection: s.options.Collection, Type: "fact", Cursor: res.Next}
	}
}

// read returns the note in a file, nil if it cannot be read now.
func (s *Sync) read(f folder.File) *note {
	if known, ok := s.parsed[f.Name]; ok && known.size == f.Size && known.modified.Equal(f.Modified) {
		return known.note
	}
	delete(s.parsed, f.Name)
	if !f.Whole {
		return nil
	}

	data, err := s.folder.Read(f.Name, maxNote)
	if errors.Is(err, folder.ErrChanging) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	var n *note
	if err == nil {
		n, err = parse(f.Name, data)
	}
	if err != nil {
		s.refuse(f.Name, err)
		return nil
	}
	delete(s.refused, f.Name)
	s.parsed[f.Name] = cached{f.Size, f.Modified, n}

	return n
}

// learn stores a note that a person began, or a copy of a file.
func (s *Sync) learn(ctx context.Context, n *note, facts map[string]*robotmem.Memory) error {
	// The name of the call makes a repetition after a kill harmless. A file of the same name and text that is written
	// after the first was deleted is another one.
	call := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%d", s.folder.Path, n.name, n.data, s.parsed[n.name].modified.UnixNano()))

	if err := s.step(); err != nil {
		return err
	}
	res, err := s.svc.LearnBatch(ctx, &robotmem.LearnBatchRequest{KeepDuplicates: true, Items: []robotmem.LearnRequest{{
		Insight: n.text, Context: n.Context, Tags: n.tags, Collection: s.options.Collection, RequestID: "note-" + hex.EncodeToString(call[:]),
	}}})
	if err != nil {
		return err
	}
	if refused := res.Results[0].Error; refused != nil {
		s.refuse(n.name, &robotmem.Error{Kind: refused.Kind, Field: refused.Field, Err: errors.New(refused.Detail)})
		return nil
	}

	m, err := s.svc.Get(ctx, &robotmem.MemoryRequest{MemoryID: res.Results[0].MemoryID})
	if err != nil {
		return err
	}
	facts[m.UID] = m
	n.UID = m.UID
	s.options.Report(Change{Name: n.name, What: "learnt"})

	return s.rewrite(n, m)
}

// compare brings a file and its memory together. m is nil if no active fact has the uid.
func (s *Sync) compare(ctx context.Context, n *note, m *robotmem.Memory) error {
	if m == nil {
		return s.withoutMemory(ctx, n)
	}

	switch {
	case n.says(m):
		if n.Version == m.Version && !n.edited() {
			return nil
		}
		return s.rewrite(n, m) // only the front matter is old
	case !n.edited():
		return s.rewrite(n, m)
	}

	// A pass that was killed may have brought the edit to the memory, which has changed since.
	if m.Version > n.Version+1 {
		past, err := s.svc.History(ctx, &robotmem.MemoryRequest{MemoryID: m.MemoryID})
		if err != nil {
			return err
		}

		for _, v := range past.Versions {
			if v.Version > n.Version && v.Version < m.Version && v.Content == n.text {
				return s.rewrite(n, m)
			}
		}
	}

	return s.update(ctx, n, m)
}

// update brings the text of a file to its memory.
func (s *Sync) update(ctx context.Context, n *note, m *robotmem.Memory) error {
	if err := s.step(); err != nil {
		return err
	}

	req := &robotmem.UpdateRequest{MemoryID: m.MemoryID, NewContent: n.text}
	if hashOf("", n.Context) != hashOf("", m.Context) {
		if req.Context = n.Context; req.Context == nil {
			req.Context = robotmem.Object{}
		}
	}

	_, err := s.svc.Update(ctx, req)
	if kind := robotmem.KindOf(err); err != nil && (kind == robotmem.Invalid || kind == robotmem.TooLarge) {
		s.refuse(n.name, err)
		return nil
	}
	if err != nil {
		return err
	}

	now, err := s.svc.Get(ctx, &robotmem.MemoryRequest{MemoryID: m.MemoryID})
	if err != nil {
		return err
	}
	s.options.Report(Change{Name: n.name, What: "updated"})

	return s.rewrite(n, now)
}

// withoutMemory handles a file whose memory is not active: it was forgotten, and its file goes with it unless a person
// has changed it.
func (s *Sync) withoutMemory(ctx context.Context, n *note) error {
	m, err := s.svc.Get(ctx, &robotmem.MemoryRequest{UID: n.UID})
	if robotmem.KindOf(err) == robotmem.NotFound {
		s.refuse(n.name, errors.New("this memory does not know its uid: it was purged, or the folder belongs to another memory; "+
			"delete the file, or remove the line uid to store it as a new note"))
		return nil
	}
	if err != nil {
		return err
	}

	// Another collection has its own folder.
	if m.Collection != s.options.Collection {
		s.refuse(n.name, fmt.Errorf("its memory is in the collection %s; move it to the folder of that", m.Collection))
		return nil
	}

	if err := s.step(); err != nil {
		return err
	}
	if !n.edited() || m.Status == "active" {
		if m.Status == "active" {
			return nil // it was restored since the list was made
		}
		if err := s.folder.Remove(n.name, n.data); err != nil {
			return nilIfChanging(err)
		}
		delete(s.parsed, n.name)
		delete(s.state, n.UID)
		s.dirty = true
		s.options.Report(Change{Name: n.name, What: "removed"})

		return nil
	}

	if _, err := s.svc.Restore(ctx, &robotmem.MemoryRequest{MemoryID: m.MemoryID}); err != nil {
		return err
	}
	s.options.Report(Change{Name: n.name, What: "restored"})

	return s.update(ctx, n, m)
}

// rewrite writes the state of a memory to its file.
func (s *Sync) rewrite(n *note, m *robotmem.Memory) error {
	data, err := render(m)
	if err != nil {
		return err
	}
	if string(data) == string(n.data) {
		return nil
	}

	return s.write(n.name, data, n.data)
}

func (s *Sync) write(name string, data, was []byte) error {
	if err := s.step(); err != nil {
		return err
	}
	if err := s.folder.Write(name, data, was); err != nil {
		return nilIfChanging(err)
	}
	s.options.Report(Change{Name: name, What: "written"})

	// The pass counts it among the files.
	n, err := parse(name, data)
	if err != nil {
		return err
	}
	s.parsed[name] = cached{note: n}

	return nil
}

// nilIfChanging drops the error of a file that a person has changed in the meantime: the next pass sees it.
func nilIfChanging(err error) error {
	if errors.Is(err, folder.ErrChanging) {
		return nil
	}
	return &robotmem.Error{Op: "watch", Kind: robotmem.Unavailable, Field: "folder", Err: err}
}

// claim notes which file a memory has.
func (s *Sync) claim(uid, name string) {
	if uid != "" && s.state[uid] != name {
		s.state[uid] = name
		s.dirty = true
	}
}

// save stores the state.
func (s *Sync) save() error {
	if !s.dirty {
		return nil
	}
	if err := s.step(); err != nil {
		return err
	}

	data, err := json.Marshal(s.state)
	if err == nil {
		err = s.folder.SetPrivate(stateFile, data)
	}
	if err != nil {
		return &robotmem.Error{Op: "watch", Kind: robotmem.Unavailable, Field: "folder", Err: err}
	}
	s.dirty = false

	return nil
}

// refuse reports a file once for each reason.
func (s *Sync) refuse(name string, err error) {
	if s.refused[name] == err.Error() {
		return
	}
	s.refused[name] = err.Error()
	s.options.Report(Change{Name: name, Err: err})
}
