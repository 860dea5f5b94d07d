package robotmem

import (
	"strconv"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// AttemptRequest adds a try at a goal, or only asks what was tried. An attempt is an episode: its tries are facts of
// the episode, so that recall, advise, archives and the fleet know them.
type AttemptRequest struct {
	Goal       string   `json:"goal" validate:"required,utf8,maxbytes=1024" cli:"arg" doc:"What is to be reached, up to 1,024 bytes. The open attempt at this goal is continued, else one begins."`
	Collection string   `json:"collection,omitempty" validate:"omitempty,collection" default:"default" doc:"Namespace of the attempt and of its tries."`
	Criteria   []string `json:"criteria,omitempty" cli:"whole" validate:"max=16,dive,min=1,maxbytes=1024" doc:"When the goal is reached, each in words or as a command that you run. They are set when the attempt begins."`
	Changed    string   `json:"changed,omitempty" validate:"utf8,maxbytes=4096" doc:"What this try changes. Alone it stores nothing and begins nothing: the answer says whether it was tried before."`
	Result     string   `json:"result,omitempty" validate:"utf8,maxbytes=8192" doc:"What came out of the try."`
	ExitStatus *int     `json:"exit_status,omitempty" doc:"Exit status of the command that checks the goal: 0 is a success. The node runs no commands."`
	Checks     Object   `json:"checks,omitempty" doc:"Instead of exit_status, for several criteria: the exit status of each, or true or false, by its text or its number from 1: {\"1\":0,\"2\":1}."`
	Outcome    string   `json:"outcome,omitempty" validate:"omitempty,oneof=success failure partial unknown" doc:"How the try went. Default: by exit_status, checks or the context (task.success), else unknown. It is not read from result."`
	Progress   *float64 `json:"progress,omitempty" validate:"omitempty,finite,min=0,max=1" doc:"How much of the goal the try reached, 0 to 1. Default: the share of checks that are met."`
	Context    Object   `json:"context,omitempty" doc:"Parameters, place and robot of the try, as in learn."`
	Verdict    string   `json:"verdict,omitempty" validate:"omitempty,oneof=success failure partial unknown" doc:"Ends the attempt with this outcome. A try that is stated to succeed ends it by itself."`
}

// Tried reports whether the request says how a try went, which is then stored. A change with a verdict is the last try.
func (r *AttemptRequest) Tried() bool {
	return r.Result != "" || r.ExitStatus != nil || r.Checks != nil || r.Outcome != "" || r.Progress != nil ||
		r.StatedInContext() || r.Changed != "" && r.Verdict != ""
}

// StatedInContext reports whether the context says how the try went, as that of learn does.
func (r *AttemptRequest) StatedInContext() bool {
	for _, path := range []string{"task.success", "task.outcome", "task.result", "success", "outcome"} {
		if v, ok := r.Context.At(path); ok && v != nil {
			return true
		}
	}

	return false
}

// trim removes surrounding space that has no meaning.
func (r *AttemptRequest) trim() {
	r.Goal, r.Changed = strings.TrimSpace(r.Goal), strings.TrimSpace(r.Changed)
}

func (r *AttemptRequest) check() error {
	switch {
	case r.Tried() && r.Changed == "":
		return Errorf(Invalid, "changed", "is missing: say what this try changes; for the first one, what it begins with")
	case r.ExitStatus != nil && r.Checks != nil:
		return Errorf(Invalid, "exit_status", "stands beside checks; give one of them")
	case r.ExitStatus != nil && (*r.ExitStatus == 0 && r.Outcome == OutcomeFailure || *r.ExitStatus != 0 && r.Outcome == OutcomeSuccess):
		return Errorf(Invalid, "outcome", "is %s, but exit_status is %d; leave one out", r.Outcome, *r.ExitStatus)
	case r.Outcome == OutcomeSuccess && r.Verdict == OutcomeFailure, r.Outcome == OutcomeFailure && r.Verdict == OutcomeSuccess:
		return Errorf(Invalid, "verdict", "is %s, but the outcome of the try is %s; leave one out", r.Verdict, r.Outcome)
	}

	for key, value := range r.Checks {
		switch v := value.(type) {
		case bool, int, int64:
			continue
		case float64:
			if v == float64(int64(v)) {
				continue
			}
		case string:
			if _, err := strconv.ParseInt(v, 10, 64); err == nil || v == "true" || v == "false" {
				continue
			}
		case interface{ String() string }: // a number as it was written
			if _, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
				continue
			}
		}

		return Errorf(Invalid, "checks."+key, "must be an exit status (0 is a success), true or false")
	}

	return nil
}

// AttemptResponse says how far an attempt is.
type AttemptResponse struct {
	admin.Interpretation
	Status     string `json:"status" doc:"started, continued or ended; none if no attempt at this goal is open and the request only asks."`
	SessionID  string `json:"session_id,omitempty" doc:"The episode of the attempt."`
	Collection string `json:"collection"`
	Robot      string `json:"robot,omitempty" doc:"Whose attempt it is, if it names a robot."`
	Number     int    `json:"number,omitempty" doc:"The number of the try that was stored, from 1."`
	MemoryID   int64  `json:"memory_id,omitempty" doc:"The fact that the try is stored as."`
	Attempt
	Briefing *Briefing `json:"briefing,omitempty" doc:"When the attempt begins: what is known for it."`
}

// Attempt is a goal and what was tried to reach it.
type Attempt struct {
	Goal            string   `json:"goal"`
	Criteria        []string `json:"criteria,omitempty"`
	Verdict         string   `json:"verdict,omitempty" doc:"Its outcome, if it has ended: success, failure, partial or unknown."`
	Advice          string   `json:"advice,omitempty" doc:"Whether what is planned was tried, and after three tries without progress all that was."`
	WithoutProgress int      `json:"without_progress" doc:"Tries since the best one so far."`
	Tries           []Try    `json:"tries" doc:"The last 10, oldest first."`
	More            int      `json:"more,omitempty" doc:"Earlier tries, which are left out."`
}

// Try is one try of an attempt.
type Try struct {
	Number   int       `json:"number" doc:"From 1."`
	MemoryID int64     `json:"memory_id"`
	Changed  string    `json:"changed"`
	Result   string    `json:"result,omitempty" doc:"Its first 300 characters; get returns the whole text."`
	Outcome  string    `json:"outcome" doc:"success, failure, partial or unknown."`
	Progress *float64  `json:"progress,omitempty" doc:"0 to 1, if it is known."`
	At       time.Time `json:"at"`
}
