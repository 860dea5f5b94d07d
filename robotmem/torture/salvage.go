package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// The part salvage damages files at random, lets the program itself repair them,
// and looks for every memory and every payload that lay on pages which were not
// damaged. Where its rows lie is read from the whole file here, by following its
// tree: it is not asked of what is tested. Half of the files have a log that was
// not written back, as a node that died leaves them, and some damage lies there.
//
// A page may be in the file and in the log; a place is where its newest bytes
// are: n for page n of the file, -1-i for frame i of the log.

const (
	salvageFacts = 600
	salvagePage  = 4096
	salvageMost  = 12 // pages that are damaged at once
	// salvageAtOnce are the files that are repaired side by side.
	salvageAtOnce = 2
)

const (
	salvageLate  = 20 // batches that are only in the log
	walHead      = 32
	walFrameHead = 24
	walFrame     = walFrameHead + salvagePage
)

// salvageTruth is a whole file, perhaps with its log, and what each memory of it
// says.
type salvageTruth struct {
	data, log []byte
	*salvageSaid
	leaf    map[int64]int64   // the place of a memory's row
	more    map[int64][]int64 // further places of it
	bytesAt map[int64][]int64 // the places of its payload's row
	newest  map[uint32]int    // the frame that holds the newest bytes of a page
	begins  []int             // of each frame, the first one of its transaction
	safe    int               // frames before the last transaction
}

// salvageSaid is what was acknowledged, whichever file holds it.
type salvageSaid struct {
	payloads string                      // folder of the large payloads
	texts    map[int64]string            // of every memory
	former   map[int64]string            // before it was changed
	sums     map[int64][sha256.Size]byte // of its payload
	large    map[int64]bool              // its payload lies in the folder
}

// salvageHarm is what was done to a copy.
type salvageHarm struct {
	data, log []byte
	hit       map[int64]bool // places
	spoilt    map[int64]bool // frames whose commit can no longer be known
	first     int            // the first damaged frame, or -1
	file      string         // of the folder, that was damaged
}

func (h *salvageHarm) String() string {
	return fmt.Sprintf("places %v, payload %q", slices.Sorted(maps.Keys(h.hit)), h.file)
}

func (h *salvageHarm) touches(places ...int64) bool {
	return slices.ContainsFunc(places, func(n int64) bool { return h.hit[n] || h.spoilt[n] })
}

// behind reports whether one of the places is in the log after a damaged frame.
func (h *salvageHarm) behind(places ...int64) bool {
	return h.first >= 0 && slices.ContainsFunc(places, func(n int64) bool { return n < 0 && int(-1-n) > h.first })
}

// salvageCounts are what came of all files.
type salvageCounts struct {
	damaged, withLog, inLog, gone, former, compared, bytesGone atomic.Int64
}

func runSalvage(ctx context.Context, r *rig) error {
	truths, err := makeSalvage(ctx, r)
	if err != nil {
		return err
	}
	var counts salvageCounts
	var group sync.WaitGroup
	free := make(chan struct{}, salvageAtOnce)
	errs := make([]error, r.times)
	for i := range r.times {
		truth := truths[i%len(truths)]
		harm, err := truth.damage(r)
		if err != nil {
			return err
		}
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			if errs[i] = ctx.Err(); errs[i] == nil {
				errs[i] = salvageOne(ctx, r, truth, filepath.Join(r.dir, fmt.Sprint(i)), harm, &counts)
			}
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	gone := counts.gone.Load()
	r.note("%d pages damaged in %d files, %d of them with a log of %d frames, which was itself damaged in %d", counts.damaged.Load(), r.times, counts.withLog.Load(), len(truths[1].begins), counts.inLog.Load())
	r.note("%d memories came back, %d lay on damaged pages; %d were changed behind a damaged frame and came back as they were before", int64(r.times*len(truths[0].texts))-gone, gone, counts.former.Load())
	r.note("%d payloads were compared, %d lay on damaged pages or in a damaged file", counts.compared.Load(), counts.bytesGone.Load())
	return nil
}

// makeSalvage writes the whole file, with texts that fill more than a page and
// payloads in the file and beside it. It returns it as a node that was closed
// leaves it, and as one that died: with all that it last wrote in the log.
func makeSalvage(ctx context.Context, r *rig) ([]*salvageTruth, error) {
	path := filepath.Join(r.dir, "whole", "memory.db")
	said := &salvageSaid{payloads: path + ".payloads", texts: map[int64]string{}, former: map[int64]string{}, sums: map[int64][sha256.Size]byte{}, large: map[int64]bool{}}
	e, err := robotmem.Open(ctx, robotmem.Options{Path: path})
	if err != nil {
		return nil, err
	}
	most := salvageFacts * 2 / 3
	err = errors.Join(said.learn(ctx, r, e, 0, most), said.perceive(ctx, r, e, "early"), e.Close())
	if err != nil {
		return nil, err
	}
	if e, err = robotmem.Open(ctx, robotmem.Options{Path: path}); err != nil {
		return nil, err
	}
	each := (salvageFacts - most) / salvageLate
	for i := range salvageLate {
		err = errors.Join(err, said.learn(ctx, r, e, most+i*each, each), said.change(ctx, e, int64(1+i*7)))
		if i == salvageLate/2 {
			err = errors.Join(err, said.perceive(ctx, r, e, "late"))
		}
	}
	r.acknowledged(len(said.texts) + len(said.former))
	time.Sleep(300 * time.Millisecond) // what works in the background comes to its end
	live, closed := &salvageTruth{salvageSaid: said}, &salvageTruth{salvageSaid: said}
	var derr, lerr error
	live.data, derr = os.ReadFile(path)
	live.log, lerr = os.ReadFile(path + "-wal")
	if err = errors.Join(err, derr, lerr, e.Close()); err != nil {
		return nil, err
	}
	if closed.data, err = os.ReadFile(path); err != nil {
		return nil, err
	}
	if err := errors.Join(live.readLog(), closed.locate(), live.locate()); err != nil {
		return nil, err
	}
	return []*salvageTruth{closed, live}, nil
}

// learn has some facts learnt in one transaction.
func (t *salvageSaid) learn(ctx context.Context, r *rig, e *robotmem.Engine, from, n int) error {
	req := &robotmem.LearnBatchRequest{KeepDuplicates: true}
	for i := from; i < from+n; i++ {
		text := fmt.Sprintf("grasp %d of the wet glass held at %d.%d N. %s", i, 3+r.rand.IntN(20), i, strings.Repeat("The pad was worn. ", r.rand.IntN(6)))
		if i%200 == 7 || i%67 == 1 && i > salvageFacts/2 {
			text += strings.Repeat(fmt.Sprintf("And the story of grasp %d goes on. ", i), 250)
		}
		req.Items = append(req.Items, robotmem.LearnRequest{Insight: text, Tags: []string{"grasp"}, Context: robotmem.Object{"params": map[string]any{"i": i}}})
	}
	res, err := e.LearnBatch(ctx, req)
	if err != nil {
		return err
	}
	for i, item := range res.Results {
		if item.LearnResponse == nil {
			return fmt.Errorf("fact %d was refused: %+v", from+i, item)
		}
		t.texts[item.MemoryID] = strings.TrimSpace(req.Items[i].Insight)
	}
	return nil
}

// change gives an older memory another text.
func (t *salvageSaid) change(ctx context.Context, e *robotmem.Engine, id int64) error {
	text := fmt.Sprintf("the glass of memory %d was dry after all", id)
	_, err := e.Update(ctx, &robotmem.UpdateRequest{MemoryID: id, NewContent: text})
	t.former[id], t.texts[id] = t.texts[id], text
	return err
}

// perceive saves payloads of every size, some of which can be packed.
func (t *salvageSaid) perceive(ctx context.Context, r *rig, e *robotmem.Engine, when string) error {
	for i, size := range []int{100, 5_000, 30_000, 100_000, 300_000, 300_001} {
		text := fmt.Sprintf("%s perception %d of %d bytes", when, i, size)
		data := bytes.Repeat([]byte{byte(i + 1), when[0]}, size)[:size]
		if i != 2 && i != 5 {
			for j := range data {
				data[j] = byte(r.rand.Uint32())
			}
		}
		p, err := e.SavePerception(ctx, &robotmem.SavePerceptionRequest{Description: text, DataBase64: data})
		if err != nil {
			return err
		}
		t.texts[p.MemoryID], t.sums[p.MemoryID], t.large[p.MemoryID] = text, sha256.Sum256(data), size >= 300_000
	}
	return nil
}

// readLog finds which frame of the whole log holds the newest bytes of a page,
// and where the transactions begin (section 4 of the file format).
func (t *salvageTruth) readLog() error {
	t.newest = map[uint32]int{}
	begin := 0
	for i := 0; walHead+(i+1)*walFrame <= len(t.log); i++ {
		frame := t.log[walHead+i*walFrame:]
		if !bytes.Equal(frame[8:16], t.log[16:24]) {
			break // of an earlier round of the log
		}
		t.begins = append(t.begins, begin)
		if binary.BigEndian.Uint32(frame[4:]) != 0 { // it commits
			for j := begin; j <= i; j++ {
				t.newest[binary.BigEndian.Uint32(t.log[walHead+j*walFrame:])] = j
			}
			t.safe, begin = begin, i+1
		}
	}
	if begin != len(t.begins) || t.safe == 0 {
		return fmt.Errorf("the log has %d frames, and %d that were committed", len(t.begins), begin)
	}
	return nil
}

// place is where the newest bytes of a page are.
func (t *salvageTruth) place(n uint32) int64 {
	if i, ok := t.newest[n]; ok {
		return int64(-1 - i)
	}
	return int64(n)
}

func (t *salvageTruth) places(id int64) []int64 { return append([]int64{t.leaf[id]}, t.more[id]...) }

// locate finds the places of each memory and of its payload.
func (t *salvageTruth) locate() error {
	t.leaf, t.more, t.bytesAt = map[int64]int64{}, map[int64][]int64{}, map[int64][]int64{}
	memories, payloads := t.root(1, "memories"), t.root(1, "payloads")
	if memories == 0 || payloads == 0 {
		return errors.New("the tables of memories and payloads are not found in the schema")
	}
	t.follow(memories, func(page uint32, id int64, size int, cell []byte) {
		t.leaf[id], t.more[id] = t.place(page), t.overflow(size, cell)
	})
	t.follow(payloads, func(page uint32, _ int64, size int, cell []byte) {
		for id, sum := range t.sums {
			if bytes.Contains(cell[:min(size, 100, len(cell))], sum[:]) { // the first column
				t.bytesAt[id] = append([]int64{t.place(page)}, t.overflow(size, cell)...)
			}
		}
	})
	for id := range t.texts {
		if t.leaf[id] == 0 {
			return fmt.Errorf("memory %d is not found in its file", id)
		}
	}
	for id := range t.sums {
		if t.bytesAt[id] == nil {
			return fmt.Errorf("the payload of memory %d is not found in its file", id)
		}
	}
	return nil
}

// overflow returns the places of what a leaf's cell does not hold of a record
// (section 1.6 of the file format).
func (t *salvageTruth) overflow(size int, cell []byte) (places []int64) {
	usable := salvagePage - int(t.page(1)[20])
	local, least := usable-35, (usable-12)*32/255-23
	if size <= local {
		return nil
	}
	if k := least + (size-least)%(usable-4); k <= local {
		local = k
	} else {
		local = least
	}
	for n := binary.BigEndian.Uint32(cell[local:]); n != 0; n = binary.BigEndian.Uint32(t.page(n)) {
		places = append(places, t.place(n))
	}
	return places
}

// page is the newest bytes of a page.
func (t *salvageTruth) page(n uint32) []byte { return placeOf(t.data, t.log, t.place(n)) }

// placeOf is the bytes of a page at a place.
func placeOf(data, log []byte, n int64) []byte {
	if n < 0 {
		at := walHead + (-1-n)*walFrame + walFrameHead
		return log[at : at+salvagePage]
	}
	return data[(n-1)*salvagePage : n*salvagePage]
}

// root finds the root page of a table in the schema, whose rows end with the
// page's number and the statement.
func (t *salvageTruth) root(schema uint32, table string) (root uint32) {
	t.follow(schema, func(_ uint32, _ int64, size int, cell []byte) {
		row := "table" + table + table
		cell = cell[:min(size, len(cell))] // others follow it on the page
		if at := bytes.Index(cell, []byte(row)); at >= 0 && root == 0 {
			end := bytes.Index(cell, []byte("CREATE TABLE"))
			for _, b := range cell[at+len(row) : end] {
				root = root<<8 | uint32(b)
			}
		}
	})
	return root
}

// follow calls f for each row below a page of a table's tree.
func (t *salvageTruth) follow(n uint32, f func(page uint32, id int64, size int, cell []byte)) {
	p := t.page(n)
	at := 0
	if n == 1 {
		at = 100
	}
	cells := int(binary.BigEndian.Uint16(p[at+3:]))
	for i := range cells {
		if p[at] == 13 {
			cell := p[binary.BigEndian.Uint16(p[at+8+2*i:]):]
			size, a := sqliteNumber(cell)
			id, b := sqliteNumber(cell[a:])
			f(n, id, int(size), cell[a+b:])
			continue
		}
		t.follow(binary.BigEndian.Uint32(p[binary.BigEndian.Uint16(p[at+12+2*i:]):]), f)
	}
	if p[at] == 5 {
		t.follow(binary.BigEndian.Uint32(p[at+8:]), f)
	}
}

func sqliteNumber(p []byte) (v int64, n int) {
	for n < 9 {
		v, n = v<<7|int64(p[n]&0x7f), n+1
		if p[n-1] < 0x80 {
			break
		}
	}
	return v, n
}

// salvageOne has one damaged copy repaired.
func salvageOne(ctx context.Context, r *rig, t *salvageTruth, dir string, h *salvageHarm, counts *salvageCounts) error {
	path := filepath.Join(dir, "memory.db")
	err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(path, h.data, 0o600), os.CopyFS(path+".payloads", os.DirFS(t.payloads)))
	if t.log != nil {
		err = errors.Join(err, os.WriteFile(path+"-wal", h.log, 0o600))
		counts.withLog.Add(1)
	}
	if h.file != "" {
		err = errors.Join(err, damageFile(filepath.Join(path+".payloads", h.file)))
	}
	if err != nil {
		return err
	}
	if h.first >= 0 {
		counts.inLog.Add(1)
	}
	counts.damaged.Add(int64(len(h.hit)))
	out, code, err := salvageCLI(ctx, r, path, "doctor", "--repair", "--json")
	if err != nil {
		return err
	}
	// So it was found to be damaged, and not to be mended in its place.
	if strings.Contains(out, `"damaged_pages"`) {
		r.fault()
	}
	if code != 0 && code != 4 {
		r.broken("repair ended with %d: %s (%s)", code, out, h)
		return nil
	}
	m, err := robotmem.Open(ctx, robotmem.Options{Path: path})
	if err != nil {
		r.broken("the repaired file does not open: %v (%s)", err, h)
		return nil
	}
	missing := 0
	for _, id := range slices.Sorted(maps.Keys(t.texts)) {
		missing += t.compare(ctx, r, m, id, h, counts)
	}
	for _, id := range slices.Sorted(maps.Keys(t.sums)) {
		t.compareBytes(ctx, r, m, id, h, counts)
	}
	d, err := m.Doctor(ctx, &robotmem.DoctorRequest{Deep: true})
	if err != nil || !d.Healthy && h.file == "" { // else it names the payload
		r.broken("not healthy after the repair: %v %+v (%s)", err, d, h)
	}
	if missing > 0 && code == 0 {
		r.broken("%d memories are gone, and repair says that nothing is lost (%s)", missing, h)
	}
	if err := m.Close(); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// compare looks for a memory after the repair and returns 1 if it is gone.
func (t *salvageTruth) compare(ctx context.Context, r *rig, m *robotmem.Engine, id int64, h *salvageHarm, counts *salvageCounts) (missing int) {
	got, err := m.Get(ctx, &robotmem.GetRequest{MemoryID: id})
	active := err == nil && got.Status == "active"
	touched := h.touches(t.places(id)...)
	if touched {
		counts.gone.Add(1)
	}
	switch {
	case active && got.Content == t.texts[id]:
		return 0
	case active && got.Content == t.former[id] && (touched || h.behind(t.places(id)...)):
		// SQLite itself ends at a damaged frame. What follows may have been
		// committed or not: it adds to what is there and replaces nothing.
		counts.former.Add(1)
		return 0
	case !touched:
		status := ""
		if err == nil {
			status = fmt.Sprintf("%s %.60q", got.Status, got.Content)
		}
		r.lost("memory %d at %v, which was not damaged: %v %s (log %t, %s)", id, t.places(id), err, status, t.log != nil, h)
	case active:
		r.broken("memory %d is recalled with another text (%s)", id, h)
	}
	return 1
}

// compareBytes reads a payload back after the repair.
func (t *salvageTruth) compareBytes(ctx context.Context, r *rig, m *robotmem.Engine, id int64, h *salvageHarm, counts *salvageCounts) {
	file := hex.EncodeToString(sumSlice(t.sums[id]))
	touched := h.touches(t.places(id)...) || h.touches(t.bytesAt[id]...) || t.large[id] && strings.Contains(h.file, file)
	res, err := m.Data(ctx, &robotmem.DataRequest{MemoryID: id})
	right := err == nil && sha256.Sum256(res.DataBase64) == t.sums[id]
	switch {
	case touched:
		counts.bytesGone.Add(1)
		if err == nil && !right {
			r.broken("the payload of memory %d is given with other bytes (%s)", id, h)
		}
	case !right:
		r.lost("the payload of memory %d at %v, which was not damaged: %v (log %t, %s)", id, t.bytesAt[id], err, t.log != nil, h)
	default:
		counts.compared.Add(1)
	}
}

func sumSlice(sum [sha256.Size]byte) []byte { return sum[:] }

// damageFile flips a bit in the middle of a file.
func damageFile(name string) error {
	data, err := os.ReadFile(name)
	if err == nil {
		data[len(data)/2] ^= 4
		err = os.WriteFile(name, data, 0o600)
	}
	return err
}

// damage returns a copy of the file and its log with some places damaged.
func (t *salvageTruth) damage(r *rig) (*salvageHarm, error) {
	h := &salvageHarm{data: bytes.Clone(t.data), log: bytes.Clone(t.log), hit: map[int64]bool{}, spoilt: map[int64]bool{}, first: -1}
	all := int64(len(h.data) / salvagePage)
	if r.rand.IntN(6) == 0 {
		files, err := filepath.Glob(filepath.Join(t.payloads, "??", "*"))
		if err != nil || len(files) == 0 {
			return nil, fmt.Errorf("the folder of payloads: %d files, %w", len(files), err)
		}
		if h.file, err = filepath.Rel(t.payloads, files[r.rand.IntN(len(files))]); err != nil {
			return nil, err
		}
	}
	if r.rand.IntN(12) == 0 { // the end is cut off
		keep := all/2 + r.rand.Int64N(all/2)
		for n := keep; n <= all; n++ {
			h.hit[n] = true
		}
		h.data = h.data[:keep*salvagePage-r.rand.Int64N(2)*1000]
		return h, nil
	}
	// In half of those with a log it is damaged itself.
	inLog := t.log != nil && r.rand.IntN(2) == 0
	for i := range 1 + r.rand.IntN(salvageMost) {
		n, how := 1+r.rand.Int64N(all), r.rand.IntN(5)
		switch {
		case i == 0: // rows are lost for certain
			n, how = t.rowPlace(r, inLog), r.rand.IntN(2)
		case inLog && r.rand.IntN(3) == 0:
			n = -1 - r.rand.Int64N(int64(t.safe))
		case r.rand.IntN(10) == 0:
			n = 1 + r.rand.Int64N(40) // the head, the schema, the roots
		}
		h.hit[n] = true
		t.damagePlace(r, h, n, how)
	}
	return h, nil
}

// rowPlace is the place of a memory's row, in the log or in the file. One of the
// last transaction is not taken: nobody can tell it from a commit that a power
// cut has torn.
func (t *salvageTruth) rowPlace(r *rig, inLog bool) int64 {
	ids := slices.Sorted(maps.Keys(t.texts))
	for {
		n := t.leaf[ids[r.rand.IntN(len(ids))]]
		if n < 0 == inLog && -1-n < int64(max(t.safe, 1)) {
			return n
		}
	}
}

func (t *salvageTruth) damagePlace(r *rig, h *salvageHarm, n int64, how int) {
	p := placeOf(h.data, h.log, n)
	switch how {
	case 0:
		clear(p)
	case 1:
		for i := range p {
			p[i] = byte(r.rand.Uint32())
		}
	case 2: // a sector that was not written
		at := r.rand.IntN(8) * 512
		clear(p[at : at+512])
	case 3: // of another page
		copy(p, placeOf(t.data, t.log, 1+r.rand.Int64N(int64(len(t.data)/salvagePage))))
	default:
		for range 1 + r.rand.IntN(4) {
			p[r.rand.IntN(len(p))] ^= 1 << r.rand.IntN(8)
		}
	}
	if n > 0 {
		return
	}
	i := int(-1 - n)
	if h.first < 0 || i < h.first {
		h.first = i
	}
	// The frames before it of the same transaction are not known to have been
	// committed.
	for j := t.begins[i]; j < i; j++ {
		h.spoilt[int64(-1-j)] = true
	}
	if how == 4 && r.rand.IntN(2) == 0 { // its head; the sum of the next follows from it
		at := walHead + i*walFrame
		h.log[at+r.rand.IntN(walFrameHead)] ^= 1 << r.rand.IntN(8)
		for j := t.begins[i+1]; j <= i+1; j++ {
			h.spoilt[int64(-1-j)] = true
		}
	}
}

// salvageCLI runs the program on a file and returns what it said and its exit
// code.
func salvageCLI(ctx context.Context, r *rig, path string, args ...string) (out string, code int, err error) {
	cmd := exec.CommandContext(ctx, r.program, append([]string{"--db", path, "--embedder", "none"}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = nil
	}
	if stdout.Len() > 0 && !json.Valid(stdout.Bytes()) {
		r.broken("%v printed what is no JSON: %.200s", args, stdout.String())
	}
	if bytes.Contains(stderr.Bytes(), []byte("panic:")) {
		r.broken("%v panicked: %.2000s", args, stderr.String())
	}
	return stdout.String() + stderr.String(), cmd.ProcessState.ExitCode(), err
}
