package engine

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/tries"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// Attempt begins or continues an attempt at a goal, stores a try of it, and ends it with a verdict.
func (n *Engine) Attempt(ctx context.Context, req *robotmem.AttemptRequest) (*robotmem.AttemptResponse, error) {
	return serve("attempt", req, func(r *robotmem.AttemptRequest) (*robotmem.AttemptResponse, error) {
		object, _, err := r.Context.Normalize("context", maxSessionContext)
		if err != nil {
			return nil, err
		}
		r.Context = object

		// Recalls of the episode are counted with its end, as in EndSession.
		recalls := n.counters.take()
		res := &robotmem.AttemptResponse{}

		err = n.Store.WriteInTime(ctx, func(tx *store.Tx) error {
			*res = robotmem.AttemptResponse{}
			return n.attempt(ctx, tx, r, recalls, res)
		})
		n.counters.done(recalls, err)
		if err != nil {
			return nil, err
		}

		// The attempt has begun; a failure of the briefing must not fail the call.
		if res.Status == "started" {
			var briefed robotmem.StartSessionResponse
			briefed.SessionID, briefed.Collection = res.SessionID, res.Collection

			if err := n.brief(ctx, &briefed, tries.ContextOf(r)); err != nil {
				n.Log.Warn("no briefing", "session", res.SessionID, "err", err)
			} else if len(briefed.Briefing.MemoryIDs) > 0 {
				res.Briefing = &briefed.Briefing
			}
		}

		return res, nil
	})
}

func (n *Engine) attempt(
	ctx context.Context, tx *store.Tx, r *robotmem.AttemptRequest, recalls *batch, res *robotmem.AttemptResponse,
) error {
	if err := recalls.store(tx); err != nil {
		return err
	}

	s, err := n.findAttempt(tx, r)
	if err != nil {
		return err
	}

	res.Status = "continued"
	if s == nil {
		res.Status = "started"
		if s, err = n.beginAttempt(tx, r); err != nil {
			return err
		}
	}

	res.SessionID, res.Collection = s.SessionID, s.Collection
	goal, criteria := tries.GoalOf(s.Context)
	if len(r.Criteria) > 0 && !slices.Equal(r.Criteria, criteria) {
		res.Interpreted = append(res.Interpreted, "criteria: the attempt keeps those that it began with")
	}

	planned := r.Changed

	if r.Tried() {
		if err := n.try(tx, r, s, res); err != nil {
			return err
		}
		planned = ""
	}

	verdict := r.Verdict
	stored, err := tx.TriesOf(s.SessionID, s.Collection, tries.Section)
	if err != nil {
		return err
	}

	// Only the try of this call ends the attempt: one that was corrected to a success later does not.
	if last := len(stored) - 1; verdict == "" && res.MemoryID != 0 && stored[last].Outcome == robotmem.OutcomeSuccess {
		verdict = robotmem.OutcomeSuccess
	}
	if verdict != "" {
		if err := n.endAttempt(ctx, tx, s.SessionID, verdict); err != nil {
			return err
		}
		res.Status = "ended"
	}

	res.Attempt = tries.Of(goal, criteria, verdict, stored, planned)

	return nil
}

// findAttempt returns the episode that a request continues; nil if a new one must begin. With a goal it is the newest
// open attempt at it, of the same robot if the request names one.
func (n *Engine) findAttempt(tx *store.Tx, r *robotmem.AttemptRequest) (*store.SessionRow, error) {
	if r.SessionID != "" {
		s, err := tx.OpenSession(r.SessionID)
		if err != nil {
			return nil, err
		}
		goal, _ := tries.GoalOf(s.Context)

		switch {
		case goal == "":
			return nil, robotmem.Errorf(robotmem.Invalid, "session_id",
				"is an episode without a goal; leave session_id out to begin an attempt")
		case r.Goal != "" && !tries.SameGoal(goal, r.Goal):
			return nil, robotmem.Errorf(robotmem.Conflict, "goal",
				"is not the goal of this attempt, which is %.200q; leave one of goal and session_id out", goal)
		}

		return s, nil
	}

	id, err := n.openAttempt(tx.Conn, r.Collection, r.Goal, record.RobotOf(r.Context))
	if err != nil || id == "" {
		return nil, err
	}

	return tx.OpenSession(id)
}

// openAttempt returns the newest open attempt at a goal, "" if there is none.
func (n *Engine) openAttempt(c *store.Conn, collection, goal, robot string) (string, error) {
	open, err := c.OpenSessionsWith(collection, tries.Section)
	if err != nil {
		return "", err
	}

	for _, s := range open {
		its, _ := tries.GoalOf(s.Context)
		if tries.SameGoal(its, goal) && (robot == "" || robot == record.RobotOf(s.Context)) {
			return s.ID, nil
		}
	}

	return "", nil
}

func (n *Engine) beginAttempt(tx *store.Tx, r *robotmem.AttemptRequest) (*store.SessionRow, error) {
	context, _, err := tries.ContextOf(r).Normalize("context", maxSessionContext)
	if err != nil {
		return nil, err
	}

	s := robotmem.Session{
		SessionID: uuid.Must(uuid.NewV7()).String(), Collection: r.Collection, Context: context,
		ClientType: n.options.ClientType, CreatedAt: tx.Now,
	}
	if err := tx.InsertSession(s); err != nil {
		return nil, err
	}

	return tx.OpenSession(s.SessionID)
}

// try stores the try that a request reports.
func (n *Engine) try(tx *store.Tx, r *robotmem.AttemptRequest, s *store.SessionRow, res *robotmem.AttemptResponse) error {
	goal, criteria := tries.GoalOf(s.Context)
	before, err := tx.TriesOf(s.SessionID, s.Collection, tries.Section)
	if err != nil {
		return err
	}

	// A try that was forgotten leaves its number to no other one.
	number := tries.Last(before) + 1
	fact, err := tries.FactOf(r, goal, criteria, number)
	if err != nil {
		return err
	}
	fact.SessionID = s.SessionID

	rec, err := n.learnRecord(fact)
	if err != nil {
		return err
	}

	var learnt robotmem.LearnResponse

	const keepDuplicates = true
	if err := n.learn(tx, rec, keepDuplicates, &learnt); err != nil {
		return err
	}

	res.Number, res.MemoryID = number, learnt.MemoryID
	res.Interpreted = append(res.Interpreted, learnt.Interpreted...)

	// What the tries say of each other is worth more than the advice for a plan.
	if same := tries.Find(tries.Of(goal, criteria, "", before, "").Tries, r.Changed); same != nil {
		res.Interpreted = append(res.Interpreted, tries.Repeated(same))
	}

	return nil
}

func (n *Engine) endAttempt(ctx context.Context, tx *store.Tx, session, verdict string) error {
	end := &robotmem.EndSessionRequest{SessionID: session, Outcome: verdict}
	if err := robotmem.Validate("end_session", end); err != nil {
		return err
	}

	_, err := n.endSession(tx, progress.Of(ctx), end, nil, &robotmem.EndSessionResponse{})

	return err
}

// readAttempt fills in the attempt that an episode is; nothing for another episode.
func readAttempt(c *store.Conn, s *store.SessionRow, res *robotmem.SessionResponse) error {
	goal, criteria := tries.GoalOf(s.Context)
	if goal == "" {
		return nil
	}

	stored, err := c.TriesOf(s.SessionID, s.Collection, tries.Section)
	if err != nil {
		return err
	}

	verdict := ""
	if s.Status == "ended" {
		verdict = robotmem.OutcomeUnknown
		if s.OutcomeScore != nil {
			verdict = record.OutcomeOfScore(*s.OutcomeScore)
		}
	}

	a := tries.Of(goal, criteria, verdict, stored, "")
	res.Attempt = &a

	return nil
}

// attemptLines returns what a briefing says of attempts: the last tries of the episode itself if it is one, else the
// open attempts of the collection that the robot could continue, the newest first.
func attemptLines(c *store.Conn, session, collection, robot string) (title string, lines []string, err error) {
	const most = 3 // open attempts

	open, err := c.OpenSessionsWith(collection, tries.Section)
	if err != nil {
		return "", nil, err
	}

	for _, s := range open {
		goal, criteria := tries.GoalOf(s.Context)
		of := record.RobotOf(s.Context)

		switch {
		case goal == "":
			continue
		case s.ID != session && (len(lines) == most || robot != "" && of != "" && robot != of):
			continue
		}

		stored, err := c.TriesOf(s.ID, collection, tries.Section)
		if err != nil {
			return "", nil, err
		}

		a := tries.Of(goal, criteria, "", stored, "")
		if s.ID == session {
			return "Tried so far", tries.TryLines(&a), nil
		}
		lines = append(lines, tries.Line(&a))
	}

	return "Open attempts", lines, nil
}
