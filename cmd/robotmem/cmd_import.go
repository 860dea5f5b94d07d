package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/collected"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/live"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/printed"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/shell"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/stdin"
	manuals "github.com/robotmem/robotmem-go/perception/documents"
	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/importers/lerobot"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
	"github.com/robotmem/robotmem-go/perception/occupancy"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/archive/jsonl"
	"github.com/robotmem/robotmem-go/robotmem/archive/markdown"
	"github.com/robotmem/robotmem-go/robotmem/archive/python"
	"github.com/robotmem/robotmem-go/robotmem/archive/sensors"
	"github.com/robotmem/robotmem-go/robotmem/documents"
	"github.com/robotmem/robotmem-go/robotmem/imports"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

type importCmd struct {
	File           string `arg:"" help:"A file of learn requests, one a line or as a JSON array (- is stdin, also for an archive, a memory.db or an MCAP file); a recording (MCAP, rosbag2, ROS 1 bag, ULog); a map.yaml of map_server with its picture; a LeRobot dataset; an archive of export --archive; a memory.db of the Python robotmem; Markdown notes with front matter, exported or written by hand; or a document (txt, md, html, docx, pdf). The contents decide which it is."`
	DryRun         bool   `name:"dry-run" help:"Archives, memory.db, notes: check all of it and print what would be stored; store nothing."`
	ArchiveKey     string `name:"archive-key-file" placeholder:"FILE" help:"Archives: the key of an encrypted one, if it is not that of the memory."`
	KeepDuplicates bool   `name:"keep-duplicates" help:"Facts: store every line, also lines that repeat a known fact."`
	JSON           bool   `name:"json" help:"Print the counts as JSON."`
	TimeZone       string `name:"time-zone" placeholder:"ZONE" help:"memory.db: the zone of times that name none, such as Europe/Berlin or Local (default UTC)."`

	// The parts of a recording or a dataset.
	Topic    []string           `name:"topic" sep:"none" placeholder:"GLOB" help:"Recordings: only these topics, such as /camera/*; repeatable."`
	Exclude  []string           `name:"exclude" sep:"none" placeholder:"GLOB" help:"Recordings: not these topics; repeatable."`
	Rate     map[string]float64 `name:"rate" placeholder:"GLOB=HZ" help:"Recordings: at most so many messages a second of a topic; repeatable."`
	Segment  float64            `name:"segment" placeholder:"SECONDS" help:"Recordings: how much of a topic is one perception (default 10)."`
	Robot    string             `name:"robot" placeholder:"NAME" help:"Recordings: the robot, for the context."`
	MapID    string             `name:"map-id" placeholder:"NAME" help:"Recordings: the map that poses in the frame map are of. map.yaml: its name."`
	Events   live.Rules         `embed:""`
	Episodes []string           `name:"episodes" sep:"," placeholder:"N,A-B" help:"LeRobot: only these episodes, such as 0,5-9."`
	Name     string             `name:"name" placeholder:"NAME" help:"LeRobot: what the dataset is called; the folder's name unless given. The same name is stored once. Documents: the name; that of the file unless given. Another text under the same name replaces it."`
}

// importer imports one kind of thing.
type importer func(*importCmd, context.Context, *app) error

// Run detects what the file is and imports it.
func (c *importCmd) Run(ctx context.Context, a *app) error {
	ctx = robotmem.WithCaller(ctx, robotmem.Caller{Who: local.OSUser(), Tool: robotmem.ToolImport})
	a.embedTime = importEmbedTime
	read, err := c.source(ctx, a)
	if err != nil {
		return err
	}

	return read(c, ctx, a)
}

// spooled copies stdin to a temporary file, for what is read in more than one place, such as a recording. The file is
// removed when this run ends.
func (a *app) spooled(in io.Reader) (path string, err error) {
	dir, err := os.MkdirTemp("", "robotmem-")
	if err != nil {
		return "", &robotmem.Error{Kind: robotmem.Unavailable, Err: err}
	}

	a.closers = append(a.closers, removed(dir))
	// The same name each time: a recording that comes again is known by it.
	path = filepath.Join(dir, "stdin")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = io.Copy(f, in)
		err = errors.Join(err, f.Close())
	}

	return path, err
}

// removed is a folder that Close removes.
type removed string

func (r removed) Close() error { return os.RemoveAll(string(r)) }

// noDryRun refuses --dry-run: the items of this source are checked only when they are stored.
func (c *importCmd) noDryRun() error {
	if c.DryRun {
		return invalid("dry-run", "is for archives, memory.db files and notes; %s is none", c.File)
	}
	return nil
}

// source is the importer of the file or folder; - is stdin.
func (c *importCmd) source(ctx context.Context, a *app) (importer, error) {
	if c.File != "-" {
		return sourceOf(ctx, c.File)
	}
	// stdin cannot be read twice, so the importer must get the reader that has peeked.
	in := bufio.NewReader(a.Stdin)
	a.Stdin = in
	head, err := in.Peek(archive.HeadBytes)
	if stdin.Interrupted(err) {
		return nil, err
	}
	if err != nil && err != io.EOF {
		return nil, invalid("file", "%v", err)
	}

	switch {
	case isArchive(head):
		return (*importCmd).archive, nil
	case bytes.IndexByte(head, 0) < 0 || jsonl.Recognizes(head):
		return (*importCmd).facts, nil
	}

	if c.File, err = a.spooled(in); err != nil {
		return nil, err
	}

	return sourceOf(ctx, c.File)
}

// isArchive reports whether a file begins like an archive, or like an encrypted one.
func isArchive(head []byte) bool { return archive.Recognizes(head) || local.IsSealed(head) }

const (
	sqliteMagic = "SQLite format 3\x00"
	// The application id of a memory, and its offset in the header of the file.
	memoryMagic  = "rbtm"
	memoryOffset = 68
)

func sourceOf(ctx context.Context, path string) (importer, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return sourceOfFolder(path)
	}

	f, err := openForeign(path)
	if err != nil {
		return nil, err
	}

	defer f.Close()
	head := make([]byte, archive.HeadBytes)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, invalid("file", "%v", err)
	}

	head = head[:n]
	kind := manuals.Accepts(path, head)
	if markdown.Recognizes(path) && (kind != manuals.Markdown || markdown.HasFrontMatter(head)) {
		return (*importCmd).markdown, nil
	}
	// Learn requests may have any name.
	if kind != "" && (kind != manuals.Text || !bytes.ContainsAny(bytes.TrimSpace(head)[:min(1, len(bytes.TrimSpace(head)))], "{[")) {
		return (*importCmd).document, nil
	}

	if bytes.HasPrefix(head, []byte(sqliteMagic)) {
		if len(head) >= memoryOffset && bytes.HasPrefix(head[memoryOffset:], []byte(memoryMagic)) {
			return nil, invalid("file", "%s is a memory of this program; run robotmem --db %s export --archive - | robotmem import - to add its memories to another", path, path)
		}
		if is, err := python.IsMemory(ctx, path); err == nil && is {
			return (*importCmd).python, nil
		}
	}

	switch {
	case (filepath.Ext(path) == ".yaml" || filepath.Ext(path) == ".yml") && occupancy.Recognizes(head):
		return (*importCmd).placeMap, nil
	case recording.Recognizes(path, f):
		// Recordings are tested before archives, because both may be compressed with zstd.
		return (*importCmd).recording, nil
	case isArchive(head):
		return (*importCmd).archive, nil
	case bytes.IndexByte(head, 0) >= 0 && !jsonl.Recognizes(head):
		return nil, invalid("file", "%s is neither a recording nor a file of learn requests; save a file of a sensor with robotmem save-perception --file", path)
	}

	return (*importCmd).facts, nil
}

// openForeign opens a file that another program wrote.
func openForeign(path string) (*os.File, error) {
	f, _, err := importers.Open(path)
	if errors.Is(err, importers.ErrNotRegular) {
		return nil, invalid("file", "%s is not a regular file; pass - and redirect it to stdin", path)
	}
	if err != nil {
		return nil, invalid("file", "%v", err)
	}

	return f, nil
}

func sourceOfFolder(path string) (importer, error) {
	switch {
	case exists(filepath.Join(path, "backup.json")):
		return nil, invalid("file", "%s is a backup of a memory of this program; run robotmem backup restore %s to put it back, or robotmem --db %s export --archive - | robotmem import - to add its memories to another", path, shell.Quote(path), shell.Quote(filepath.Join(path, "memory.db")))
	case exists(filepath.Join(path, "metadata.yaml")):
		return (*importCmd).recording, nil
	case exists(filepath.Join(path, "meta", "info.json")):
		return (*importCmd).dataset, nil
	case markdown.Recognizes(path):
		return (*importCmd).markdown, nil
	case recording.RecognizesFolder(path):
		// A recorder that was killed has not written its metadata.yaml.
		return (*importCmd).recording, nil
	}

	return nil, invalid("file", "%s is neither a rosbag2 recording, a LeRobot dataset nor notes; save each file with robotmem save-perception --file, and put a backup back with robotmem backup restore", path)
}

// open opens the file, or for - stdin, whose size is 0.
func (c *importCmd) open(a *app) (in io.ReadCloser, size int64, err error) {
	if c.File == "-" {
		return io.NopCloser(a.Stdin), 0, nil
	}
	f, err := openForeign(c.File)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(invalid("file", "%v", err), f.Close())
	}

	return f, info.Size(), nil
}

// facts imports a file of learn requests. A signal ends the import after the batch under way.
func (c *importCmd) facts(ctx context.Context, a *app) error {
	if err := c.noDryRun(); err != nil {
		return err
	}

	in, size, err := c.open(a)
	if err != nil {
		return err
	}

	defer in.Close()
	o := jsonl.Options{KeepDuplicates: c.KeepDuplicates}
	if f, ok := in.(*os.File); ok {
		// The state is kept beside the memory, or in the home of the program if the memory is that of a node elsewhere.
		base := filepath.Join(a.Config.Home, "node")
		if a.Config.URL == "" && !a.Config.onServer() {
			if base, err = a.Config.dbPath(); err != nil {
				return err
			}
		}
		// The state records how far the file was read, for these settings and this memory. Other settings start
		// from the beginning.
		if o.State, err = jsonl.OpenState(f, base, fmt.Sprintf("%t\n%s\n%s", c.KeepDuplicates, a.Config.Collection, a.Config.URL)); err != nil {
			return err
		}
	}

	return a.Use(ctx, func(m robotmem.Node) error {
		bar := a.newProgress("import", "bytes", size)
		o.Progress = bar.Add
		o.Refused = func(unit string, n int64, reason string) {
			a.refused(fmt.Sprintf("%s %d", unit, n), errors.New(reason))
		}
		o.Note = func(text string) { a.note("import: %s", text) }

		counts, err := jsonl.Import(ctx, collected.In(m, a.Config.Collection), in, o)
		if errors.Is(err, jsonl.ErrNoRequests) {
			return err
		}

		if err != nil {
			next := goOn
			// stdin has no state, and without the check for duplicates the same command would store the first lines
			// twice.
			if c.File == "-" && c.KeepDuplicates {
				next = "go on with the lines after it"
			}

			return importFailed(fmt.Sprintf(" after line %d", counts.Lines), next, err)
		}

		err = a.show(c.JSON, counts, func(w *printed.Lines) {
			w.Line("imported %d lines: %d created, %d duplicates, %d bad", counts.Lines, counts.Created, counts.Duplicates, counts.Bad)
		})
		// The state goes after the answer: without an answer the user runs the import again.
		if o.State != nil {
			err = errors.Join(err, o.State.Remove())
		}
		if err == nil && counts.Bad > 0 {
			err = exitCodes[robotmem.Invalid]
		}

		return err
	})
}

const goOn = "run the same command again to go on"

// importFailed is the error of an import that ended before its source did, with what to do next.
func importFailed(after, next string, err error) error {
	if errors.Is(err, context.Canceled) {
		return robotmem.Errorf(robotmem.Unavailable, "", "import: stopped%s; %s", after, next)
	}
	prefix := "import: "
	if e := (*robotmem.Error)(nil); errors.As(err, &e) && e.Op == "import" {
		prefix = "" // it has one
	}

	return fmt.Errorf("%s%w%s; what came before is stored; %s", prefix, err, after, next)
}

// refused reports something that was not imported.
func (a *app) refused(where string, err error) {
	a.bar.Clear()
	fmt.Fprintf(a.Stderr, "robotmem: import: %s: %s\n", printed.OneLine(where), printed.OneLine(err.Error()))
}

// payloadMissing names a payload that the archive does not have.
func (a *app) payloadMissing(uid, sha256 string) {
	a.refused("payload "+sha256, fmt.Errorf("is missing in the archive, and memory %s has lost it; import a whole archive to bring it back", uid))
}

// useFile calls f with the memory in the file, as UseFile does. A dry run makes no memory where there is none: f gets
// an empty one in a temporary folder instead.
func (c *importCmd) useFile(ctx context.Context, a *app, f func(*local.Node) error) error {
	if c.DryRun && errors.Is(a.existing(), robotmem.NotFound) {
		return a.inTempMemory(ctx, func(m *local.Node, _ string) error { return f(m) })
	}
	return a.UseFile(ctx, "file", f)
}

// archive imports the file of an export --archive.
func (c *importCmd) archive(ctx context.Context, a *app) error {
	in, size, err := c.open(a)
	if err != nil {
		return err
	}

	defer in.Close()

	// A wrong key must not leave a new memory.
	bar := a.newProgress("import", "bytes", size)
	plain, err := c.unseal(ctx, a, io.TeeReader(in, counter{bar}))
	if err != nil {
		return err
	}

	return c.useFile(ctx, a, func(m *local.Node) error {
		src, err := archive.NewReader(plain)
		if err != nil {
			return &robotmem.Error{Op: "import", Kind: robotmem.Invalid, Field: "file", Err: err}
		}

		defer func() { _ = src.Close() }() // it was only read
		lost := 0
		missing := func(uid, sha256 string) {
			// A dry run reads no payload, so it cannot tell which one is missing, unless the manifest says that the
			// archive has none at all.
			if !c.DryRun || src.Payloads() == 0 {
				lost++
				a.payloadMissing(uid, sha256)
			}
		}
		report, err := m.Import(ctx, src, archive.ImportOptions{Collection: a.Config.Collection, DryRun: c.DryRun, Missing: missing})
		err = c.showReport(a, importAnswer{ImportReport: report}, err)
		if err == nil && lost > 0 {
			err = exitCodes[robotmem.Invalid]
		}

		return err
	})
}

// unseal decrypts an encrypted archive, with its own key or that of the memory.
func (c *importCmd) unseal(ctx context.Context, a *app, r io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(r, 256<<10)
	head, err := in.Peek(archive.HeadBytes)
	if err != nil && err != io.EOF {
		return nil, invalid("file", "%v", err)
	}
	if !local.IsSealed(head) {
		return in, nil
	}

	if c.ArchiveKey != "" {
		text, err := a.readKey(c.ArchiveKey, "--archive-key-file: ")
		if err != nil {
			return nil, err
		}
		if ctx, err = local.WithKey(ctx, text); err != nil {
			return nil, err
		}
	}

	return local.Unseal(ctx, in)
}

// python imports a memory.db of the Python robotmem.
func (c *importCmd) python(ctx context.Context, a *app) error {
	zone, err := time.LoadLocation(c.TimeZone)
	if err != nil {
		return invalid("time-zone", "%q is no zone; one is UTC, Local or as in Europe/Berlin", c.TimeZone)
	}

	return c.useFile(ctx, a, func(m *local.Node) error {
		src, err := python.Open(ctx, c.File, zone)
		if err != nil {
			return err
		}
		defer func() { _ = src.Close() }() // it was only read
		ctx = a.watched(ctx)
		report, err := m.Import(ctx, src, archive.ImportOptions{
			Collection: a.Config.Collection, DryRun: c.DryRun,
			Refused: a.refused,
		})
		// The notes list what the reader had to assume, such as a time zone.
		notes := src.Report()

		return c.showReport(a, importAnswer{ImportReport: report, File: &notes}, err)
	})
}

// markdown imports Markdown files and learns the notes among them.
func (c *importCmd) markdown(ctx context.Context, a *app) error {
	return c.useFile(ctx, a, func(m *local.Node) error {
		ctx = a.watched(ctx)
		bad := int64(0)
		src, err := markdown.Open(c.File, func(where string, err error) {
			bad++
			a.refused(where, err)
		})
		if err != nil {
			return err
		}

		defer func() { _ = src.Close() }() // it was only read
		report, err := m.Import(ctx, src, archive.ImportOptions{Collection: a.Config.Collection, DryRun: c.DryRun, Refused: a.refused})
		learnt := markdown.Counts{Read: src.Facts()}
		if err == nil && !c.DryRun {
			learnt, err = src.Learn(ctx, collected.In(m, a.Config.Collection), a.refused)
		}
		if report != nil {
			report.Memories.Refused += bad
		}

		return c.showReport(a, importAnswer{ImportReport: report, Learnt: &learnt}, err)
	})
}

// document imports a text that people wrote for people.
func (c *importCmd) document(ctx context.Context, a *app) error {
	if err := c.noDryRun(); err != nil {
		return err
	}

	return a.Use(ctx, func(m robotmem.Node) error {
		r := manuals.NewReader(manuals.Limits{})
		defer func() { _ = r.Close() }() // it has only read

		name := cmp.Or(c.Name, filepath.Base(c.File))
		stored, err := documents.SaveFile(ctx, collected.In(m, a.Config.Collection), r, c.File, robotmem.SaveDocumentRequest{Name: name})
		if err != nil {
			return importFailed("", goOn, err)
		}

		return a.show(c.JSON, stored, func(w *printed.Lines) { w.Line("%s", stored) })
	})
}

// importAnswer is the report of an import, nil if it did not begin.
type importAnswer struct {
	*archive.ImportReport
	Learnt *markdown.Counts `json:"learnt,omitempty"` // of Markdown: the notes
	File   *python.Report   `json:"in_the_file,omitempty"`
}

// showReport prints the report of an import and returns the error of the command. It prints also the report of an
// import that failed, because what the report counts is stored.
func (c *importCmd) showReport(a *app, answer importAnswer, failed error) error {
	if answer.ImportReport == nil {
		return failed
	}

	refused := answer.Memories.Refused + answer.Sessions.Refused
	if answer.Learnt != nil {
		refused += answer.Learnt.Bad
	}

	err := a.show(c.JSON, answer, func(w *printed.Lines) {
		if c.DryRun {
			w.Line("would import:")
		} else {
			w.Line("imported:")
		}
		w.Fields(reflect.ValueOf(answer), "")
	})
	if failed != nil && !c.DryRun {
		next := goOn
		// Running the same command on a damaged file would fail again.
		if kind := robotmem.KindOf(failed); kind == robotmem.Corrupt || kind == robotmem.Invalid {
			next = "run it again with a whole file to go on"
		}
		failed = importFailed("", next, failed)
	} else if failed == nil && refused > 0 {
		failed = exitCodes[robotmem.Invalid]
	}

	return errors.Join(failed, err)
}

// perceptions calls read, which passes what it reads to a sink, and prints the report that read returns. broken says
// that a part of the source could not be read.
func (c *importCmd) perceptions(ctx context.Context, a *app, read func(to importers.Sink, progress func(importers.Progress)) (report any, broken bool, err error)) error {
	if err := c.noDryRun(); err != nil {
		return err
	}

	return a.Use(ctx, func(m robotmem.Node) error {
		show := a.newProgressOf("import", "")
		report, broken, err := read(&sensors.Sink{Node: m, Collection: a.Config.Collection}, func(at importers.Progress) { show(at.Done, at.Total) })
		if errors.Is(err, importers.ErrEnded) {
			return a.show(c.JSON, map[string]bool{"known": true}, func(w *printed.Lines) { w.Line("it was imported before, to its end; nothing was read") })
		}

		if report != nil {
			if showErr := a.show(c.JSON, report, nil); showErr != nil {
				return errors.Join(err, showErr)
			}
		}

		switch {
		case errors.Is(err, context.Canceled), errors.As(err, new(*robotmem.Error)):
			return importFailed("", goOn, err)
		case err != nil:
			// An importer mostly fails because of its source.
			return &robotmem.Error{Op: "import", Kind: robotmem.Invalid, Field: "file", Err: err}
		case broken:
			return exitCodes[robotmem.Invalid]
		}

		return nil
	})
}

// dataset imports a LeRobot dataset.
func (c *importCmd) dataset(ctx context.Context, a *app) error {
	return c.perceptions(ctx, a, func(to importers.Sink, progress func(importers.Progress)) (any, bool, error) {
		ranges, err := lerobot.ParseRanges(c.Episodes)
		if err != nil {
			return nil, false, invalid("episodes", "%v", err)
		}
		report, err := lerobot.Import(ctx, c.File, to, lerobot.Options{Name: c.Name, Episodes: ranges, Progress: progress})
		if report == nil {
			return nil, false, err
		}
		if err == nil && report.Broken == "" && report.Perceptions+report.Sessions+report.Ended == 0 {
			err = invalid("file", "nothing in %s can be imported", c.File)
		}

		return report, report.Broken != "", err
	})
}

// placeMap imports a map.yaml of map_server with its picture.
func (c *importCmd) placeMap(ctx context.Context, a *app) error {
	return c.perceptions(ctx, a, func(to importers.Sink, _ func(importers.Progress)) (any, bool, error) {
		return imports.Map(ctx, c.File, imports.MapOptions{MapID: c.MapID, Robot: c.Robot, To: to})
	})
}

// recording imports a recording.
func (c *importCmd) recording(ctx context.Context, a *app) error {
	return c.perceptions(ctx, a, func(to importers.Sink, progress func(importers.Progress)) (any, bool, error) {
		src, err := recording.Open(ctx, c.File)
		if err != nil {
			return nil, false, err
		}
		defer src.Close()
		rules, err := c.Events.Read()
		if err != nil {
			return nil, false, err
		}
		o := recording.Options{Topics: c.Topic, Exclude: c.Exclude, RateHz: c.Rate, SegmentSeconds: c.Segment, Robot: c.Robot, MapID: c.MapID, Events: rules, Namespace: c.Events.Namespace}
		report, err := recording.Import(ctx, src, o, to, progress)
		if report == nil {
			return nil, false, err
		}

		return report, report.Broken != "", err
	})
}
