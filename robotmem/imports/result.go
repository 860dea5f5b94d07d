package imports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/perception/events"
	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/importers/recording"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/archive/sensors"
)

// What a result lists at most. The counts are of all.
const (
	maxTopics   = 500
	maxEpisodes = 100
	maxFacts    = 100
	// importSavers is how many perceptions an import describes at a time: fewer than the command does, because the
	// node answers others meanwhile.
	importSavers = 2
)

// noted is a source that keeps what it said of itself.
type noted struct {
	recording.Source
	info *recording.Info
}

func (n *noted) Info(ctx context.Context) (*recording.Info, error) {
	info, err := n.Source.Info(ctx)
	n.info = info

	return info, err
}

// importSource imports what a job has received. The result is nil if nothing was read.
func importSource(ctx context.Context, to robotmem.Node, j *job, progress func(importers.Progress)) (*admin.ImportResult, error) {
	if info, err := os.Stat(j.source); err == nil && info.IsDir() && !recording.RecognizesFolder(j.source) {
		return nil, robotmem.Errorf(robotmem.Invalid, "file", "%s holds no recording that is read here: a rosbag2 folder has a metadata.yaml and .mcap or .db3 files; run robotmem import for datasets and notes", j.Name)
	}

	opened, err := recording.Open(ctx, j.source)
	if err != nil {
		return nil, sourceError(err)
	}

	src := &noted{Source: opened}
	defer src.Close()
	r := &j.request
	o := recording.Options{Topics: r.Topics, Exclude: r.Exclude, Robot: r.Robot, MapID: r.MapID, Namespace: r.Namespace}
	if !r.NoEvents {
		o.Events = events.Builtin()
	}

	sink := &sensors.Sink{Node: to, Collection: r.Collection, Savers: importSavers}
	report, err := recording.Import(ctx, src, o, sink, progress)
	if report == nil {
		return nil, sourceError(err)
	}

	known := errors.Is(err, importers.ErrEnded)
	if known {
		err = nil
	}
	result := resultOf(report, src.info)
	result.Known = known
	// What is stored is told also of an import that was cancelled.
	if err := describe(context.WithoutCancel(ctx), to, result, report.Recording); err != nil {
		result.Warnings = append(result.Warnings, "what was stored could not be read: "+robotmem.Detail(robotmem.Explain(err)))
	}
	if err == nil && !known && report.Messages == 0 && report.Broken != "" {
		err = robotmem.Errorf(robotmem.Invalid, "file", "no message could be read: %s; copy the file again from the robot, or repair it with mcap recover or rosbag reindex", report.Broken)
	}

	return result, sourceError(err)
}

// sourceError says which file is wrong, without the path of the node's copy. An importer mostly fails because of its
// source; an error of the memory has its own kind.
func sourceError(err error) error {
	switch {
	case err == nil, errors.As(err, new(*robotmem.Error)), errors.Is(err, context.Canceled):
		return err
	case errors.As(err, new(*fs.PathError)):
		return robotmem.Errorf(robotmem.Invalid, "file", "cannot be read: %s", robotmem.Reason(err))
	}

	return &robotmem.Error{Kind: robotmem.Invalid, Field: "file", Err: err}
}

func resultOf(report *recording.Report, info *recording.Info) *admin.ImportResult {
	out := &admin.ImportResult{
		SessionID: report.Session, Messages: report.Messages, Perceptions: report.Perceptions, Stored: report.Stored,
		Robots: report.Robots, EpisodeCount: report.Episodes, FactCount: report.Facts, ClockResets: report.ClockResets,
		Broken: report.Broken, Lost: report.Lost, Undecoded: report.Undecoded, Mistimed: report.Mistimed,
		Warnings: slices.Clone(report.Unmatched),
	}
	if info != nil {
		out.Kind = info.Format
	}

	for i := range report.Topics {
		if i == maxTopics {
			out.MoreTopics = len(report.Topics) - maxTopics
			break
		}
		t := &report.Topics[i]
		out.Topics = append(out.Topics, admin.ImportTopic{
			Topic: t.Topic, Type: t.SchemaName, Read: t.Read, Kept: t.Kept, Perceptions: t.Perceptions, Skipped: t.Skipped, Notes: t.Notes,
		})
	}

	for _, rule := range slices.Sorted(maps.Keys(report.EventsLimited)) {
		out.Warnings = append(out.Warnings, fmt.Sprintf("the rule %q found too many different things: %d were left out", rule, report.EventsLimited[rule]))
	}
	if report.AttachmentsSkipped > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%d attachments are not imported", report.AttachmentsSkipped))
	}
	if report.UnknownSkipped > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%d records of unknown kinds are not imported: "+
			"a newer logger wrote them, or the file is damaged", report.UnknownSkipped))
	}

	return out
}

// describe adds the episodes and the facts of a recording, as they are stored.
func describe(ctx context.Context, from robotmem.Node, out *admin.ImportResult, recordingID string) error {
	sessions, err := from.Sessions(ctx, &robotmem.SessionsRequest{Words: recordingID, Limit: maxEpisodes + 1})
	if err != nil {
		return err
	}

	// A recording that was imported before is the newest episode that is of all of it: no goal within another.
	for i := range sessions.Sessions {
		s := &sessions.Sessions[i]
		if parentOf(s) == "" && out.SessionID == "" && out.Known {
			out.SessionID = s.SessionID
		}
	}

	for i := range sessions.Sessions {
		s := &sessions.Sessions[i]
		switch {
		case s.SessionID == out.SessionID:
			out.StartedAt = s.CreatedAt
			if s.EndedAt != nil {
				out.EndedAt = *s.EndedAt
			}
		case parentOf(s) == out.SessionID && len(out.Episodes) < maxEpisodes:
			out.Episodes = append(out.Episodes, admin.ImportEpisode{SessionID: s.SessionID, Title: titleOf(s), Outcome: outcomeOf(s), StartedAt: s.CreatedAt})
		}
	}
	slices.SortFunc(out.Episodes, func(a, b admin.ImportEpisode) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), strings.Compare(a.SessionID, b.SessionID))
	})

	facts, err := from.List(ctx, &robotmem.ListRequest{
		Type: "fact", Limit: maxFacts, ContextFilter: robotmem.Object{"source.session_id": out.SessionID},
	})
	if err != nil {
		return err
	}

	for _, m := range facts.Memories {
		out.Facts = append(out.Facts, admin.ImportFact{MemoryID: m.MemoryID, Text: m.Summary, Outcome: m.Outcome, ObservedAt: m.ObservedAt})
	}
	slices.SortFunc(out.Facts, func(a, b admin.ImportFact) int {
		return cmp.Or(a.ObservedAt.Compare(b.ObservedAt), cmp.Compare(a.MemoryID, b.MemoryID))
	})
	if out.Known {
		out.EpisodeCount, out.FactCount = len(out.Episodes), max(int(facts.Total), len(out.Facts))
	}

	return nil
}

// parentOf is the episode of the recording that a goal was found in.
func parentOf(s *robotmem.Session) string {
	source, _ := s.Context["source"].(map[string]any)
	id, _ := source["session_id"].(string)

	return id
}

// titleOf is the name of the task of an episode, with its goal.
func titleOf(s *robotmem.Session) string {
	task, _ := s.Context["task"].(map[string]any)
	name, _ := task["name"].(string)
	goal, _ := task["goal"].(map[string]any)

	var at []string

	for _, axis := range []string{"x", "y"} {
		if v, ok := goal[axis]; ok {
			at = append(at, fmt.Sprintf("%s=%v", axis, v))
		}
	}
	if len(at) > 0 {
		name += " to " + strings.Join(at, " ")
	}

	return cmp.Or(strings.TrimSpace(name), s.SessionID)
}

func outcomeOf(s *robotmem.Session) string {
	switch {
	case s.OutcomeScore == nil:
		return ""
	case *s.OutcomeScore >= 1:
		return "success"
	case *s.OutcomeScore <= 0:
		return "failure"
	}

	return "partial"
}
