package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/robotmem/robotmem-go/robotmem"
)

// The part salvage damages files at random, lets the program itself repair them,
// and looks for every memory that lay on pages which were not damaged. Where its
// rows lie is read from the whole file here, by following its tree: it is not
// asked of what is tested.

const (
	salvageFacts = 600
	salvagePage  = 4096
	salvageMost  = 12 // pages that are damaged at once
	// salvageAtOnce are the files that are repaired side by side.
	salvageAtOnce = 2
)

// salvageTruth is a whole file, and what each memory of it says.
type salvageTruth struct {
	data     []byte
	payloads string            // folder of the large payloads
	texts    map[int64]string  // of every memory
	leaf     map[int64]uint32  // the page of its row
	more     map[int64][]int64 // further pages of it
}

func runSalvage(ctx context.Context, r *rig) error {
	truth, err := makeSalvage(ctx, r)
	if err != nil {
		return err
	}
	var damaged, gone atomic.Int64
	var group sync.WaitGroup
	free := make(chan struct{}, salvageAtOnce)
	errs := make([]error, r.times)
	for i := range r.times {
		data, hit := truth.damage(r)
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			var n int
			if errs[i] = ctx.Err(); errs[i] == nil {
				n, errs[i] = salvageOne(ctx, r, truth, filepath.Join(r.dir, fmt.Sprint(i)), data, hit)
			}
			damaged.Add(int64(len(hit)))
			gone.Add(int64(n))
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	lost, rescued := gone.Load(), int64(r.times*len(truth.texts))-gone.Load()
	r.note("%d pages damaged in %d files; %d memories came back, %d lay on damaged pages", damaged.Load(), r.times, rescued, lost)
	return nil
}

// makeSalvage writes the whole file, with texts that fill more than a page and
// payloads in the file and beside it, and a log that was not written back.
func makeSalvage(ctx context.Context, r *rig) (*salvageTruth, error) {
	path := filepath.Join(r.dir, "whole", "memory.db")
	e, err := robotmem.Open(ctx, robotmem.Options{Path: path})
	if err != nil {
		return nil, err
	}
	t := &salvageTruth{payloads: path + ".payloads", texts: map[int64]string{}, leaf: map[int64]uint32{}}
	req := &robotmem.LearnBatchRequest{KeepDuplicates: true}
	for i := range salvageFacts {
		text := fmt.Sprintf("grasp %d of the wet glass held at %d.%d N. %s", i, 3+r.rand.IntN(20), i, strings.Repeat("The pad was worn. ", r.rand.IntN(6)))
		if i%200 == 7 {
			text += strings.Repeat(fmt.Sprintf("And the story of grasp %d goes on. ", i), 250)
		}
		req.Items = append(req.Items, robotmem.LearnRequest{Insight: text, Tags: []string{"grasp"}, Context: robotmem.Object{"params": map[string]any{"i": i}}})
	}
	res, err := e.LearnBatch(ctx, req)
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	for i, item := range res.Results {
		if item.LearnResponse == nil {
			return nil, errors.Join(fmt.Errorf("fact %d was refused: %+v", i, item), e.Close())
		}
		t.texts[item.MemoryID] = strings.TrimSpace(req.Items[i].Insight)
	}
	for i, size := range []int{100, 30_000, 300_000} {
		text := fmt.Sprintf("perception %d of %d bytes", i, size)
		p, err := e.SavePerception(ctx, &robotmem.SavePerceptionRequest{Description: text, DataBase64: bytes.Repeat([]byte{byte(i + 1)}, size)})
		if err != nil {
			return nil, errors.Join(err, e.Close())
		}
		t.texts[p.MemoryID] = text
	}
	r.acknowledged(len(t.texts))
	if err := e.Close(); err != nil {
		return nil, err
	}
	if t.data, err = os.ReadFile(path); err != nil {
		return nil, err
	}
	return t, t.locate()
}

// locate finds the page of each memory, and those that its text overflows to.
func (t *salvageTruth) locate() error {
	t.more = map[int64][]int64{}
	root := t.root(1)
	if root == 0 {
		return errors.New("the table of memories is not found in its schema")
	}
	t.follow(root, func(page uint32, id int64, size int, cell []byte) {
		t.leaf[id] = page
		// Section 1.6 of the file format: what a cell of a leaf holds of a record.
		usable := salvagePage - int(t.data[20])
		local, least := usable-35, (usable-12)*32/255-23
		if size > local {
			if k := least + (size-least)%(usable-4); k <= local {
				local = k
			} else {
				local = least
			}
			for n := binary.BigEndian.Uint32(cell[local:]); n != 0; n = binary.BigEndian.Uint32(t.page(n)) {
				t.more[id] = append(t.more[id], int64(n))
			}
		}
	})
	for id := range t.texts {
		if t.leaf[id] == 0 {
			return fmt.Errorf("memory %d is not found in its file", id)
		}
	}
	return nil
}

func (t *salvageTruth) page(n uint32) []byte { return t.data[(n-1)*salvagePage : n*salvagePage] }

// root finds the root page of memories in the schema, whose rows end with the
// page's number and the statement.
func (t *salvageTruth) root(schema uint32) (root uint32) {
	t.follow(schema, func(_ uint32, _ int64, _ int, cell []byte) {
		const row = "tablememoriesmemories"
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

// salvageOne has one damaged copy repaired. It returns how many memories lay on
// the pages that were hit.
func salvageOne(ctx context.Context, r *rig, t *salvageTruth, dir string, data []byte, hit map[int64]bool) (gone int, err error) {
	path := filepath.Join(dir, "memory.db")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(path, data, 0o600), os.CopyFS(path+".payloads", os.DirFS(t.payloads))); err != nil {
		return 0, err
	}
	touched := func(id int64) bool {
		at := hit[int64(t.leaf[id])]
		for _, n := range t.more[id] {
			at = at || hit[n]
		}
		return at
	}
	out, code, err := salvageCLI(ctx, r, path, "doctor", "--repair", "--json")
	if err != nil {
		return 0, err
	}
	// So it was found to be damaged, and not to be mended in its place.
	if strings.Contains(out, `"damaged_pages"`) {
		r.fault()
	}
	if code != 0 && code != 4 {
		r.broken("repair ended with %d: %s (pages %v)", code, out, hit)
		return 0, nil
	}
	m, err := robotmem.Open(ctx, robotmem.Options{Path: path})
	if err != nil {
		r.broken("the repaired file does not open: %v (pages %v)", err, hit)
		return 0, nil
	}
	missing := 0
	for id, text := range t.texts {
		got, err := m.Get(ctx, &robotmem.GetRequest{MemoryID: id})
		there := err == nil && got.Content == text && got.Status == "active"
		if touched(id) {
			gone++
		}
		switch {
		case there:
		case !touched(id):
			r.lost("memory %d of page %d, which was not damaged: %v (pages %v)", id, t.leaf[id], err, hit)
		default:
			missing++
			if err == nil && got.Status == "active" {
				r.broken("memory %d is recalled with another text (pages %v)", id, hit)
			}
		}
	}
	d, err := m.Doctor(ctx, &robotmem.DoctorRequest{Deep: true})
	if err != nil || !d.Healthy {
		r.broken("not healthy after the repair: %v (pages %v)", err, hit)
	}
	if missing > 0 && code == 0 {
		r.broken("%d memories are gone, and repair says that nothing is lost (pages %v)", missing, hit)
	}
	if err := m.Close(); err != nil {
		return gone, err
	}
	return gone, os.RemoveAll(dir)
}

// damage returns a copy of the file with some pages damaged, and which.
func (t *salvageTruth) damage(r *rig) (data []byte, hit map[int64]bool) {
	data, hit = bytes.Clone(t.data), map[int64]bool{}
	all := int64(len(data) / salvagePage)
	if r.rand.IntN(12) == 0 { // the end is cut off
		keep := all/2 + r.rand.Int64N(all/2)
		for n := keep + 1; n <= all; n++ {
			hit[n] = true
		}
		return data[:keep*salvagePage-r.rand.Int64N(2)*1000], addPage(hit, keep)
	}
	for i := range 1 + r.rand.IntN(salvageMost) {
		n, how := 1+r.rand.Int64N(all), r.rand.IntN(5)
		switch {
		case i == 0: // rows are lost for certain
			n, how = int64(t.leaf[1+r.rand.Int64N(salvageFacts)]), r.rand.IntN(2)
		case r.rand.IntN(10) == 0:
			n = 1 + r.rand.Int64N(40) // the head, the schema, the roots
		}
		hit[n] = true
		p := data[(n-1)*salvagePage : n*salvagePage]
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
			other := r.rand.Int64N(all)
			copy(p, t.data[other*salvagePage:(other+1)*salvagePage])
		default:
			for range 1 + r.rand.IntN(4) {
				p[r.rand.IntN(len(p))] ^= 1 << r.rand.IntN(8)
			}
		}
	}
	return data, hit
}

func addPage(hit map[int64]bool, n int64) map[int64]bool {
	hit[n] = true
	return hit
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
