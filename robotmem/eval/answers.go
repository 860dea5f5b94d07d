package eval

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// robotQA holds the calls of three robots and questions that their memories answer.
//
//go:embed testdata/robot-qa
var robotQA embed.FS

// Answers counts the questions whose answer came first, and among the first five.
type Answers struct {
	Questions int         `json:"questions"`
	Hit1      float64     `json:"hit_at_1"`
	Hit5      float64     `json:"hit_at_5"`
	Missed    []MissedOne `json:"missed"` // questions whose answer did not come first
	Refused   []string    `json:"refused,omitempty"`
}

// MissedOne is a question whose answer did not come first.
type MissedOne struct {
	ID     string   `json:"id"`
	Kind   string   `json:"kind"`
	Ask    any      `json:"ask"`
	Want   []string `json:"want"`
	Got    []string `json:"got"`
	Within bool     `json:"within_five"`
}

// call is a line of the calls of a deployment.
type call struct {
	At      time.Time
	Op      string
	Key     string
	Session string
	Args    map[string]any
}

// question is a line of questions.jsonl.
type question struct {
	ID, Deployment, Half, Kind string
	Now                        time.Time
	Ask                        map[string]any
	Answers                    []string
}

// OpenAt opens an empty memory whose clock shows what now returns. stop closes it.
type OpenAt func(now func() time.Time) (s robotmem.Service, stop func() error, err error)

// AskRobots makes the calls of three robots and asks their questions: those of the half dev to
// choose by, those of held, which is set aside, or all.
func AskRobots(ctx context.Context, half string, open OpenAt) (*Answers, error) {
	res := &Answers{Missed: []MissedOne{}}
	byDeployment := map[string][]question{}
	err := lines("questions.jsonl", func(q question) error {
		if half == "all" || q.Half == half {
			byDeployment[q.Deployment] = append(byDeployment[q.Deployment], q)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}

	// Sorted, so that the list of missed questions is the same in each run.
	for _, name := range slices.Sorted(maps.Keys(byDeployment)) {
		if err := askRobot(ctx, name, byDeployment[name], open, res); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}

	res.Hit1 /= float64(max(1, res.Questions))
	res.Hit5 /= float64(max(1, res.Questions))

	return res, nil
}

func askRobot(ctx context.Context, name string, questions []question, open OpenAt, res *Answers) (err error) {
	var now time.Time
	s, stop, err := open(func() time.Time { return now })
	if err != nil {
		return err
	}

	defer func() { err = cmp.Or(err, stop()) }()

	// The files name memories and sessions by keys, because the node chooses their ids.
	ids := map[string]int64{}
	keys := map[int64]string{}
	sessions := map[string]string{}

	err = lines(name+".calls.jsonl", func(c call) error {
		now = c.At // the clock of the node

		if slices.Contains(robotmem.OpByName(c.Op).Fields(), "session_id") && sessions[c.Session] != "" {
			c.Args["session_id"] = sessions[c.Session]
		}
		if c.Op == "update" || c.Op == "forget" {
			c.Args["memory_id"] = ids[c.Key]
		}

		if used, ok := c.Args["used_memory_ids"].([]any); ok {
			for i := range used {
				used[i] = ids[fmt.Sprint(used[i])]
			}
		}

		// A refused call is reported and does not end the run: a robot would go on too.
		out, err := ask(ctx, s, c.Op, c.Args)
		if err != nil {
			res.Refused = append(res.Refused, fmt.Sprintf("%s %s: %v", name, c.Key, err))
		}

		switch r := out.(type) {
		case *robotmem.StartSessionResponse:
			sessions[c.Session] = r.SessionID
		case *robotmem.LearnResponse:
			ids[c.Key], keys[r.MemoryID] = r.MemoryID, c.Key
		case *robotmem.SavePerceptionResponse:
			ids[c.Key], keys[r.MemoryID] = r.MemoryID, c.Key
		}

		return nil
	})
	if err != nil {
		return err
	}

	for _, q := range questions {
		now = q.Now
		got := []string{}
		if out, err := ask(ctx, s, "recall", q.Ask); err != nil {
			res.Refused = append(res.Refused, fmt.Sprintf("%s: %v", q.ID, err))
		} else {
			memories := out.(*robotmem.RecallResponse).Memories
			for _, m := range memories[:min(5, len(memories))] {
				got = append(got, keys[m.MemoryID])
			}
		}

		res.Questions++
		within := slices.ContainsFunc(got, func(key string) bool { return slices.Contains(q.Answers, key) })
		if within {
			res.Hit5++
		}

		if len(got) > 0 && slices.Contains(q.Answers, got[0]) {
			res.Hit1++
		} else {
			res.Missed = append(res.Missed, MissedOne{q.ID, q.Kind, q.Ask, q.Answers, got, within})
		}
	}

	return nil
}

// ask makes a call as it comes from a client.
func ask(ctx context.Context, s robotmem.Service, op string, args map[string]any) (any, error) {
	request, _ := json.Marshal(args) // they were JSON
	return robotmem.OpByName(op).Call(ctx, s, request)
}

// lines decodes each line of a file of robotQA.
func lines[T any](name string, each func(T) error) error {
	return readLines(robotQA, "testdata/robot-qa/"+name, func(data []byte) error {
		var line T
		if err := json.Unmarshal(data, &line); err != nil {
			return err
		}
		return each(line)
	})
}
