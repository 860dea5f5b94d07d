package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// image is a memory as it lies on a disk: its files by name.
type image map[string][]byte

// ofImage names the files of an image.
var ofImage = files.At(memoryFile)

var logFile = ofImage.Log()

const (
	pageSize  = sqlite.PageSize
	frameHead = 24 // bytes, before each page of a log
	logHead   = 32
	frameSize = frameHead + pageSize
)

// imageRules are few: opening with the real ones takes longer than all questions.
const imageRules = `
tags: [{tag: grip, display_name: Grip, match: [gripper]}]
categories: [{category: lesson, match: [again]}]
fallback: code
outcome: {paths: [task.success], success: [ok], failure: [failed], text: {failure: [slipped]}}
confidence: {base: 0.5, step: 0.1, cap: 0.9, context_over: 5, causal: [because]}
scope: [{name: snake, kind: entity, needs: "_", regex: '\w+_\w+'}]
`

func imageOptions() local.Options {
	now := func() time.Time { return time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC) }
	return local.Options{
		Taxonomy: []byte(imageRules), Embedder: &fakeEmbedder{}, Clock: now, Location: time.UTC,
		BusyTimeout: time.Second,
	}
}

func openImage(ctx context.Context, dir string, o local.Options) (*local.Node, error) {
	return local.Open(ctx, filepath.Join(dir, memoryFile), o)
}

func readImage(dir string) (image, error) {
	im := image{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && name != ofImage.LogIndex() {
			im[name], err = os.ReadFile(filepath.Join(dir, name))
		}
		return err
	})

	return im, err
}

// write replaces a folder.
func (im image) write(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}

	for name, data := range im {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
			return err
		}
	}

	return nil
}

// makeImage fills a memory in a new folder with everything that a file may
// hold: facts, contexts, places, sessions, changed, forgotten and evicted memories,
// payloads in the file and in the folder, raw and coded, vectors, snapshots of the
// indexes, and free pages. With a log it is the memory of a node that was killed.
func makeImage(ctx context.Context, dir string, log bool) (image, error) {
	// Of a child that has died.
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}

	e, err := openImage(ctx, dir, imageOptions())
	if err != nil {
		return nil, err
	}

	b := newRobot("image", e, 1, func(call) {})
	b.items = 12
	do := func(times int, mix string) {
		for range times {
			for action := range strings.FieldsSeq(mix) {
				err = errors.Join(err, actions[action](b, ctx))
			}
		}
	}
	do(2, "large small large retain")

	for _, rows := range []int{200, 16_000} {
		trace := []byte("t,fx,fy\n")
		for i := range rows {
			trace = fmt.Appendf(trace, "%.3f,%.2f,%d\n", float64(i)/100, b.rand.NormFloat64(), i%7)
		}
		_, serr := e.SavePerception(ctx,
			&robotmem.SavePerceptionRequest{
				Description: "a trace of force", PerceptionType: "tactile", MediaType: "text/csv", DataBase64: trace,
			})
		err = errors.Join(err, serr)
	}

	do(3, "batch learn learn session update update forget restore forget small")
	do(1, "repair") // which works out what is otherwise done in the background
	if err := errors.Join(err, untilIdle(ctx, e), e.Warm(ctx), e.Close()); err != nil || !log {
		im, rerr := readImage(dir)
		return im, errors.Join(err, rerr)
	}

	if e, err = openImage(ctx, dir, imageOptions()); err != nil {
		return nil, err
	}

	b.node = e
	do(4, "learn learn update forget small")
	// For the work in the background.
	time.Sleep(300 * time.Millisecond)
	im, rerr := readImage(dir)

	return im, errors.Join(err, rerr, e.Close())
}

// damage is a change of one file of an image.
type damage struct {
	file, what string
	data       []byte
	bit        bool // one bit is flipped, no more
}

func oneOf[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// flipBit flips one bit between two bytes of a file.
func (im image) flipBit(r *rand.Rand, file, where string, from, to int) damage {
	data := bytes.Clone(im[file])
	at, bit := from+r.IntN(to-from), r.IntN(8)
	data[at] ^= 1 << bit
	return damage{file, fmt.Sprintf("bit %d of byte %d of %s (%s)", bit, at, file, where), data, true}
}

func (im image) cutFile(r *rand.Rand, file string) damage {
	at := r.IntN(len(im[file]))
	return damage{file: file, what: fmt.Sprintf("%s cut to %d bytes", file, at), data: im[file][:at]}
}

// drawLog damages the log.
func (im image) drawLog(r *rand.Rand) damage {
	frames := (len(im[logFile]) - logHead) / frameSize

	at := logHead + r.IntN(frames)*frameSize
	switch r.IntN(8) {
	case 0:
		return im.flipBit(r, logFile, "its header", 0, logHead)
	case 1, 2:
		return im.flipBit(r, logFile, "header of a frame", at, at+frameHead)
	case 3:
		return im.cutFile(r, logFile)
	case 4:
		data := bytes.Clone(im[logFile])
		clear(data[at+frameHead : at+frameSize])
		return damage{file: logFile, what: fmt.Sprintf("a frame of zeros at %d", at), data: data}
	}

	return im.flipBit(r, logFile, "page of a frame", at+frameHead, at+frameSize)
}

// draw damages the database or a payload: most times it flips a bit.
func (im image) draw(r *rand.Rand) damage {
	var payloads []string

	for name := range im {
		if strings.HasPrefix(name, ofImage.Payloads()+"/") {
			payloads = append(payloads, name)
		}
	}

	slices.Sort(payloads)
	file := oneOf(r, payloads...)
	end := len(im[file])

	switch n := r.IntN(20); {
	case n == 0:
		return im.flipBit(r, file, "head of a payload", 0, min(64, end))
	case n == 1:
		return im.flipBit(r, file, "end of a payload", end-min(64, end), end)
	case n == 2:
		return im.flipBit(r, file, "payload", 0, end)
	case n == 3:
		return im.cutFile(r, file)
	case n == 4:
		return im.flipBit(r, memoryFile, "header", 0, 100)
	case n < 17:
		// A b-tree page above the leaves is one in a hundred: the head of a page is
		// as likely as its rows.
		page := r.IntN(len(im[memoryFile])/pageSize) * pageSize
		return im.flipBit(r, memoryFile, "page", page, page+oneOf(r, 100, pageSize, pageSize))
	case n == 17:
		return im.cutFile(r, memoryFile)
	}

	db := bytes.Clone(im[memoryFile])
	a, b := r.IntN(len(db)/pageSize), r.IntN(len(db)/pageSize)
	pageA, pageB := db[a*pageSize:][:pageSize], db[b*pageSize:][:pageSize]
	what := ""

	switch r.IntN(6) {
	case 0:
		what = fmt.Sprintf("page %d of zeros", a+1)
		clear(pageA)
	case 1:
		what = fmt.Sprintf("a sector of zeros in page %d", a+1)
		clear(pageA[r.IntN(pageSize/512)*512:][:512])
	case 2:
		what = fmt.Sprintf("page %d of noise", a+1)

		for i := range pageA {
			pageA[i] = byte(r.Uint32())
		}
	case 3:
		what = fmt.Sprintf("pages %d and %d swapped", a+1, b+1)
		was := bytes.Clone(pageA)
		copy(pageA, pageB)
		copy(pageB, was)
	case 4:
		what = fmt.Sprintf("page %d over page %d", b+1, a+1)
		copy(pageA, pageB)
	case 5:
		what = "another program's bytes"
		db = bytes.Repeat([]byte("PK\x03\x04 not a memory\n"), 1+r.IntN(1000))
	}

	return damage{file: memoryFile, what: what, data: db}
}
