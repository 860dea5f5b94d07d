package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/perception/folder"
	"github.com/robotmem/robotmem-go/perception/importing"
	"github.com/robotmem/robotmem-go/perception/lerobot"
	"github.com/robotmem/robotmem-go/perception/recording"
	"github.com/robotmem/robotmem-go/robotmem"
)

// perceptionFlags choose what is imported of a recording, a dataset or a folder.
type perceptionFlags struct {
	Topic     []string           `name:"topic" sep:"none" placeholder:"GLOB" help:"Recordings: only these topics, such as /camera/*; repeatable."`
	Exclude   []string           `name:"exclude" sep:"none" placeholder:"GLOB" help:"Recordings: not these topics; folders: not these files; repeatable."`
	Rate      map[string]float64 `name:"rate" placeholder:"GLOB=HZ" help:"Recordings: at most so many messages a second of a topic; repeatable."`
	Keyframes map[string]float64 `name:"keyframes" placeholder:"GLOB=CHANGE" help:"Recordings: only messages that differ by this from the last kept one: of images the mean grey (0 to 1), of scans metres, of poses metres or radians; repeatable."`
	Segment   float64            `name:"segment" placeholder:"SECONDS" help:"Recordings: how much of a topic is one perception (default 10)."`
	Robot     string             `name:"robot" placeholder:"NAME" help:"Recordings: the robot, for the context."`
	MapID     string             `name:"map-id" placeholder:"NAME" help:"Recordings: the map that poses in the frame map are of."`
	Episodes  []string           `name:"episodes" sep:"," placeholder:"N,A-B" help:"LeRobot: only these episodes, such as 0,5-9."`
	ImageRate float64            `name:"image-rate" placeholder:"HZ" help:"LeRobot: images a second that are kept of those in the dataset (default 1)."`
	NoVideos  bool               `name:"no-videos" help:"LeRobot: leave the video files out."`
	Include   []string           `name:"include" sep:"none" placeholder:"GLOB" help:"Folders: only these files, such as *.png; repeatable."`
	Type      string             `name:"type" placeholder:"TYPE" help:"Folders: visual, tactile, auditory, proprioceptive, procedural or spatial, for files that do not show it."`
	Name      string             `name:"name" placeholder:"NAME" help:"LeRobot and folders: what the source is called; the folder's name unless given. The same name is stored once."`
}

// importSource is a kind of thing that import reads.
type importSource int

const (
	sourceFacts importSource = iota // JSON lines
	sourceRecording
	sourceLeRobot
	sourceFolder
	sourceArchive
	sourcePython
	sourceMarkdown
)

// sourceOf looks at what a path holds.
func sourceOf(path string) (importSource, error) {
	if path == "-" {
		return sourceFacts, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, invalid("file", "%v", err)
	}
	if info.IsDir() {
		for name, kind := range map[string]importSource{"metadata.yaml": sourceRecording, filepath.Join("meta", "info.json"): sourceLeRobot} {
			if i, err := os.Stat(filepath.Join(path, name)); err == nil && i.Mode().IsRegular() {
				return kind, nil
			}
		}
		return sourceFolder, nil
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for its writer
		return 0, invalid("file", "%s is not a regular file; pass - and redirect it to stdin", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, invalid("file", "%v", err)
	}
	defer f.Close()
	head := make([]byte, 16)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return 0, invalid("file", "%v", err)
	}
	if recording.Recognizes(head[:n]) {
		return sourceRecording, nil
	}
	if bytes.IndexByte(head[:n], 0) >= 0 {
		return 0, invalid("file", "%s is neither a recording nor a file of learn requests; save one file with robotmem save-perception --file, a folder of them with robotmem import FOLDER", path)
	}
	return sourceFacts, nil
}

// run imports perceptions and prints the account.
func (p *perceptionFlags) run(ctx context.Context, a *app, kind importSource, path string, asJSON bool) error {
	return a.Use(ctx, func(m node) error {
		sink := &importSink{m: m, collection: a.Config.Collection}
		var res *importAccount
		var err error
		switch kind {
		case sourceRecording:
			res, err = p.recording(ctx, a, sink, path)
		case sourceLeRobot:
			res, err = p.dataset(ctx, a, sink, path)
		default:
			res, err = p.folder(ctx, a, sink, path)
		}
		if errors.Is(err, importing.ErrEnded) {
			res, err = &importAccount{Known: true}, nil
		}
		if res != nil {
			if perr := res.print(a, asJSON); perr != nil {
				return errors.Join(err, perr)
			}
		}
		switch {
		case errors.Is(err, context.Canceled):
			return &exitError{code: exitCodes[robotmem.Unavailable], err: errors.New("import: stopped; run the same command again to go on")}
		case err != nil:
			return importError(err)
		case res.Broken != "":
			return &exitError{code: exitCodes[robotmem.Invalid]}
		case res.Perceptions == 0 && !res.Known && res.Sessions+res.Ended == 0:
			return invalid("file", "nothing in %s can be imported", path)
		}
		return nil
	})
}

// importError gives an importer's error a kind: what is wrong is mostly the
// source.
func importError(err error) error {
	if errors.As(err, new(*robotmem.Error)) {
		return fmt.Errorf("import: %w; run the same command again to go on", err)
	}
	return &robotmem.Error{Op: "import", Kind: robotmem.Invalid, Field: "file", Err: err}
}

func (p *perceptionFlags) recording(ctx context.Context, a *app, sink *importSink, path string) (*importAccount, error) {
	src, err := recording.Open(path)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	bar := a.newProgress("import", 0)
	defer bar.Done()
	report, err := recording.Import(ctx, src, recording.Options{
		Topics: p.Topic, Exclude: p.Exclude, RateHz: p.Rate, Keyframes: p.Keyframes,
		SegmentSeconds: p.Segment, Robot: p.Robot, MapID: p.MapID,
	}, sink, func(at recording.Progress) { bar.Set(int64(at.Messages), int64(at.Total)) })
	bar.Done()
	if report == nil {
		return nil, err
	}
	res := &importAccount{Sessions: 1, Session: report.Session, Messages: int64(report.Messages), Perceptions: report.Perceptions, Stored: report.Stored}
	for _, t := range report.Topics {
		row := accountRow{Name: t.Topic, Type: t.SchemaName, Read: int64(t.Read), Kept: int64(t.Kept), Perceptions: t.Perceptions}
		for reason, n := range t.Skipped {
			row.skip(reason, int64(n))
		}
		for reason, n := range t.Notes {
			row.note(reason, int64(n))
		}
		res.Parts = append(res.Parts, row)
	}
	for _, b := range report.Broken {
		res.Broken = strings.TrimPrefix(res.Broken+"; "+b.Error(), "; ")
	}
	return res, err
}

func (p *perceptionFlags) dataset(ctx context.Context, a *app, sink *importSink, path string) (*importAccount, error) {
	ranges, err := parseRanges(p.Episodes)
	if err != nil {
		return nil, err
	}
	bar := a.newProgress("import", 0)
	defer bar.Done()
	report, err := lerobot.Import(ctx, path, sink, lerobot.Options{
		Name: p.Name, Episodes: ranges, ImageRate: p.ImageRate, Videos: !p.NoVideos,
		Progress: func(at importing.Progress) { bar.Set(at.Done, at.Total) },
	})
	bar.Done()
	return accountOf(report), err
}

func (p *perceptionFlags) folder(ctx context.Context, a *app, sink *importSink, path string) (*importAccount, error) {
	bar := a.newProgress("import", 0)
	defer bar.Done()
	report, err := folder.Import(ctx, path, sink, folder.Options{
		Name: p.Name, Include: p.Include, Exclude: p.Exclude, Other: p.Type,
		Progress: func(at importing.Progress) { bar.Set(at.Done, at.Total) },
	})
	bar.Done()
	return accountOf(report), err
}

// parseRanges reads "0", "5-9".
func parseRanges(texts []string) ([]lerobot.Range, error) {
	var out []lerobot.Range
	for _, text := range texts {
		first, last, isRange := strings.Cut(strings.TrimSpace(text), "-")
		if !isRange {
			last = first
		}
		a, err1 := strconv.ParseInt(first, 10, 64)
		b, err2 := strconv.ParseInt(last, 10, 64)
		if err1 != nil || err2 != nil || a < 0 || b < a {
			return nil, invalid("episodes", "takes numbers and ranges such as 0,5-9, not %q", text)
		}
		out = append(out, lerobot.Range{First: a, Last: b})
	}
	return out, nil
}

// importAccount is what became of a source, all of it.
type importAccount struct {
	Known       bool         `json:"known,omitempty"` // it was imported before, whole
	Sessions    int          `json:"sessions"`
	Ended       int          `json:"sessions_known,omitempty"` // imported before, whole
	Session     string       `json:"session_id,omitempty"`
	Messages    int64        `json:"messages"`
	Perceptions int          `json:"perceptions"`
	Stored      int          `json:"stored"`
	Parts       []accountRow `json:"parts,omitempty"`
	Broken      string       `json:"broken,omitempty"`
}

// accountRow is the account of one topic, file, episode or feature.
type accountRow struct {
	Name        string           `json:"name"`
	Type        string           `json:"type,omitempty"`
	Read        int64            `json:"read,omitempty"`
	Kept        int64            `json:"kept,omitempty"`
	Perceptions int              `json:"perceptions,omitempty"`
	Skipped     map[string]int64 `json:"skipped,omitempty"`
	Notes       map[string]int64 `json:"notes,omitempty"`
}

func (r *accountRow) skip(reason string, n int64) {
	if r.Skipped == nil {
		r.Skipped = map[string]int64{}
	}
	r.Skipped[reason] += n
}

func (r *accountRow) note(reason string, n int64) {
	if r.Notes == nil {
		r.Notes = map[string]int64{}
	}
	r.Notes[reason] += n
}

func accountOf(r *importing.Report) *importAccount {
	if r == nil {
		return nil
	}
	res := &importAccount{Sessions: r.Sessions, Ended: r.Ended, Messages: r.Messages, Perceptions: r.Perceptions, Stored: r.Stored, Broken: r.Broken}
	for _, what := range slices.Sorted(maps.Keys(r.Skipped)) {
		res.Parts = append(res.Parts, accountRow{Name: what, Skipped: r.Skipped[what]})
	}
	return res
}

// count is "1 message", "2 messages".
func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// shownParts bounds the table of an account; --json has all.
const shownParts = 200

func (r *importAccount) print(a *app, asJSON bool) error {
	if asJSON {
		return a.PrintJSON(r)
	}
	w := &lines{w: a.Stdout}
	if r.Known {
		w.line("it was imported before, to its end; nothing was read")
		return w.err
	}
	for i, part := range r.Parts {
		if i == shownParts {
			w.line("… and %d more; --json lists all", len(r.Parts)-i)
			break
		}
		text := oneLine(part.Name)
		if part.Type != "" {
			text += " (" + oneLine(part.Type) + ")"
		}
		if part.Type != "" || part.Read > 0 { // a topic: its schema may have no name
			text += fmt.Sprintf(": %d of %s in %s", part.Kept, count(part.Read, "message"), count(int64(part.Perceptions), "perception"))
		}
		for _, reason := range slices.Sorted(maps.Keys(part.Skipped)) {
			text += fmt.Sprintf("; %d skipped: %s", part.Skipped[reason], oneLine(reason))
		}
		for _, reason := range slices.Sorted(maps.Keys(part.Notes)) {
			text += fmt.Sprintf("; %d kept as they are: %s", part.Notes[reason], oneLine(reason))
		}
		w.line("%s", text)
	}
	w.line("imported %s of %d messages, frames or files: %d new, %d known before", count(int64(r.Perceptions), "perception"), r.Messages, r.Stored, r.Perceptions-r.Stored)
	if r.Session != "" {
		w.line("session %s", r.Session)
	}
	if r.Broken != "" {
		w.line("broken: %s; what is whole was kept", oneLine(r.Broken))
	}
	return w.err
}
