package eval_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// robotQA holds the calls of three robots and questions that their memories answer.
const robotQA = "testdata/robot-qa/"

// The halves of the questions: one to choose by, one that is set aside.
const (
	halfDev  = "dev"
	halfHeld = "held"
)

// answers counts the questions whose answer came first, and among the first five.
type answers struct {
	Questions int
	Hit1      float64
	Hit5      float64
	Kinds     []answersKind
	Missed    []string // ids of the questions whose answer did not come first
	Refused   []string
}

// answersKind counts the questions of one kind.
type answersKind struct {
	Kind      string
	Questions int
	First     int
	Five      int
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

// openAt opens an empty memory whose clock shows what now returns. stop closes it.
type openAt func(now func() time.Time) (s robotmem.Service, stop func() error, err error)

// askRobots makes the calls of three robots and asks their questions, those of one half
// or, for "", all.
func askRobots(ctx context.Context, half string, open openAt) (*answers, error) {
	res := &answers{}
	byDeployment := map[string][]question{}
	err := lines("questions.jsonl", func(q question) error {
		if half == "" || q.Half == half {
			byDeployment[q.Deployment] = append(byDeployment[q.Deployment], q)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	kinds := map[string]*answersKind{}
	for _, name := range slices.Sorted(maps.Keys(byDeployment)) {
		if err := askRobot(ctx, name, byDeployment[name], open, kinds, res); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		k := kinds[kind]
		res.Kinds = append(res.Kinds, *k)
		res.Questions += k.Questions
		res.Hit1 += float64(k.First)
		res.Hit5 += float64(k.Five)
	}
	res.Hit1 /= float64(max(1, res.Questions))
	res.Hit5 /= float64(max(1, res.Questions))
	return res, nil
}

func askRobot(ctx context.Context, name string, questions []question, open openAt, kinds map[string]*answersKind, res *answers) (err error) {
	var now time.Time
	s, stop, err := open(func() time.Time { return now })
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, stop()) }()
	ids, keys, sessions := map[string]int64{}, map[int64]string{}, map[string]string{}
	err = lines(name+".calls.jsonl", func(c call) error {
		now = c.At
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
		if kinds[q.Kind] == nil {
			kinds[q.Kind] = &answersKind{Kind: q.Kind}
		}
		k := kinds[q.Kind]
		k.Questions++
		within := slices.ContainsFunc(got, func(key string) bool { return slices.Contains(q.Answers, key) })
		if within {
			k.Five++
		}
		if len(got) > 0 && slices.Contains(q.Answers, got[0]) {
			k.First++
		} else {
			res.Missed = append(res.Missed, q.ID)
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
	data, err := os.ReadFile(robotQA + name)
	if err != nil {
		return err
	}
	for text := range bytes.Lines(data) {
		var line T
		if err := json.Unmarshal(text, &line); err != nil {
			return err
		}
		if err := each(line); err != nil {
			return err
		}
	}
	return nil
}
