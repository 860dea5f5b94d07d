package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/perception/importing"
	"github.com/robotmem/robotmem-go/perception/lerobot"
	"github.com/robotmem/robotmem-go/perception/recording"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive/sensors"
)

// perceptionFlags choose what is imported of a recording or a dataset.
type perceptionFlags struct {
	Topic     []string           `name:"topic" sep:"none" placeholder:"GLOB" help:"Recordings: only these topics, such as /camera/*; repeatable."`
	Exclude   []string           `name:"exclude" sep:"none" placeholder:"GLOB" help:"Recordings: not these topics; repeatable."`
	Rate      map[string]float64 `name:"rate" placeholder:"GLOB=HZ" help:"Recordings: at most so many messages a second of a topic; repeatable."`
	Segment   float64            `name:"segment" placeholder:"SECONDS" help:"Recordings: how much of a topic is one perception (default 10)."`
	Robot     string             `name:"robot" placeholder:"NAME" help:"Recordings: the robot, for the context."`
	MapID     string             `name:"map-id" placeholder:"NAME" help:"Recordings: the map that poses in the frame map are of."`
	Episodes  []string           `name:"episodes" sep:"," placeholder:"N,A-B" help:"LeRobot: only these episodes, such as 0,5-9."`
	ImageRate float64            `name:"image-rate" placeholder:"HZ" help:"LeRobot: images a second that are kept of those in the dataset (default 1)."`
	NoVideos  bool               `name:"no-videos" help:"LeRobot: leave the video files out."`
	Name      string             `name:"name" placeholder:"NAME" help:"LeRobot: what the dataset is called; the folder's name unless given. The same name is stored once."`
}

// run imports perceptions and prints the account.
func (p *perceptionFlags) run(ctx context.Context, a *app, kind importSource, path string, asJSON bool) error {
	return a.Use(ctx, func(m robotmem.Node) error {
		bar := a.newProgress("import", 0)
		defer bar.Done()
		res, err := p.read(ctx, kind, path, &sensors.Sink{Node: m, Collection: a.Config.Collection}, bar)
		bar.Done()
		if errors.Is(err, importing.ErrEnded) {
			res, err = &importAccount{Known: true}, nil
		}
		if res != nil {
			if perr := a.show(asJSON, res, func(w *lines) {
				if res.Known {
					w.line("it was imported before, to its end; nothing was read")
				} else {
					w.fields(reflect.ValueOf(*res), "")
				}
			}); perr != nil {
				return errors.Join(err, perr)
			}
		}
		switch {
		case errors.Is(err, context.Canceled):
			return &exitError{code: exitCodes[robotmem.Unavailable], err: errors.New("import: stopped; run the same command again to go on")}
		case errors.As(err, new(*robotmem.Error)):
			return fmt.Errorf("import: %w; run the same command again to go on", err)
		case err != nil: // an importer mostly fails because of its source
			return &robotmem.Error{Op: "import", Kind: robotmem.Invalid, Field: "file", Err: err}
		case res.Broken != "":
			return &exitError{code: exitCodes[robotmem.Invalid]}
		case res.Perceptions == 0 && !res.Known && res.Sessions+res.Ended == 0:
			return invalid("file", "nothing in %s can be imported", path)
		}
		return nil
	})
}

func (p *perceptionFlags) read(ctx context.Context, kind importSource, path string, sink importing.Sink, bar *progressBar) (*importAccount, error) {
	if kind == sourceRecording {
		return p.recording(ctx, path, sink, bar)
	}
	ranges, err := parseRanges(p.Episodes)
	if err != nil {
		return nil, err
	}
	report, err := lerobot.Import(ctx, path, sink, lerobot.Options{
		Name: p.Name, Episodes: ranges, ImageRate: p.ImageRate, Videos: !p.NoVideos,
		Progress: func(at importing.Progress) { bar.Set(at.Done, at.Total) },
	})
	return accountOf(report), err
}

func (p *perceptionFlags) recording(ctx context.Context, path string, sink importing.Sink, bar *progressBar) (*importAccount, error) {
	src, err := recording.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	report, err := recording.Import(ctx, src, recording.Options{
		Topics: p.Topic, Exclude: p.Exclude, RateHz: p.Rate,
		SegmentSeconds: p.Segment, Robot: p.Robot, MapID: p.MapID,
	}, sink, func(at importing.Progress) { bar.Set(at.Done, at.Total) })
	if report == nil {
		return nil, err
	}
	res := &importAccount{Sessions: 1, Session: report.Session, Messages: int64(report.Messages), Perceptions: report.Perceptions, Stored: report.Stored}
	for _, t := range report.Topics {
		res.Parts = append(res.Parts, accountRow{
			Name: t.Topic, Type: t.SchemaName, Read: int64(t.Read), Kept: int64(t.Kept), Perceptions: t.Perceptions,
			Skipped: reasons(t.Skipped), Notes: reasons(t.Notes),
		})
	}
	for _, b := range report.Broken {
		res.Broken = strings.TrimPrefix(res.Broken+"; "+b.Error(), "; ")
	}
	return res, err
}

func reasons(of map[string]uint64) map[string]int64 {
	out := map[string]int64{}
	for reason, n := range of {
		out[reason] = int64(n)
	}
	return out
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

// importAccount counts what was read of a source, stored and left out.
type importAccount struct {
	Known       bool         `json:"known,omitempty"` // an earlier import imported all of it
	Sessions    int          `json:"sessions"`
	Ended       int          `json:"sessions_known,omitempty"` // imported completely before
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
