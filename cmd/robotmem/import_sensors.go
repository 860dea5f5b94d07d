package main

import (
	"context"
	"errors"
	"fmt"
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
	Name      string             `name:"name" placeholder:"NAME" help:"LeRobot: what the dataset is called; the folder's name unless given. The same name is stored once."`
}

// run imports perceptions and prints the account.
func (p *perceptionFlags) run(ctx context.Context, a *app, kind importSource, path string, asJSON bool) error {
	return a.Use(ctx, func(m robotmem.Node) error {
		bar := a.newProgress("import", 0)
		defer bar.Done()
		read := p.dataset
		if kind == sourceRecording {
			read = p.recording
		}
		account, broken, err := read(ctx, path, &sensors.Sink{Node: m, Collection: a.Config.Collection}, func(at importing.Progress) { bar.Set(at.Done, at.Total) })
		bar.Done()
		if errors.Is(err, importing.ErrEnded) {
			return a.show(asJSON, map[string]bool{"known": true}, func(w *lines) { w.line("it was imported before, to its end; nothing was read") })
		}
		if account != nil {
			if perr := a.show(asJSON, account, nil); perr != nil {
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
		case broken:
			return &exitError{code: exitCodes[robotmem.Invalid]}
		}
		return nil
	})
}

// dataset imports a LeRobot dataset. broken says that a part could not be read.
func (p *perceptionFlags) dataset(ctx context.Context, path string, sink importing.Sink, progress func(importing.Progress)) (account any, broken bool, err error) {
	ranges, err := parseRanges(p.Episodes)
	if err != nil {
		return nil, false, err
	}
	report, err := lerobot.Import(ctx, path, sink, lerobot.Options{Name: p.Name, Episodes: ranges, ImageRate: p.ImageRate, Progress: progress})
	if report == nil {
		return nil, false, err
	}
	if err == nil && report.Broken == "" && report.Perceptions+report.Sessions+report.Ended == 0 {
		err = invalid("file", "nothing in %s can be imported", path)
	}
	return report, report.Broken != "", err
}

// recording imports a recording.
func (p *perceptionFlags) recording(ctx context.Context, path string, sink importing.Sink, progress func(importing.Progress)) (account any, broken bool, err error) {
	src, err := recording.Open(ctx, path)
	if err != nil {
		return nil, false, err
	}
	defer src.Close()
	o := recording.Options{Topics: p.Topic, Exclude: p.Exclude, RateHz: p.Rate, SegmentSeconds: p.Segment, Robot: p.Robot, MapID: p.MapID}
	report, err := recording.Import(ctx, src, o, sink, progress)
	if report == nil {
		return nil, false, err
	}
	return report, len(report.Broken) > 0, err
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
