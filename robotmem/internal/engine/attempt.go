package engine

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
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

		// The indexes follow what is committed, so they are asked before the transaction begins.
		earlier, err := n.earlierTries(ctx, r)
		if err != nil {
			return nil, err
		}

		// Recalls of the episode are counted with its end, as in EndSession.
		recalls := n.counters.take()
		res := &robotmem.AttemptResponse{}

		err = n.Store.WriteInTime(ctx, func(tx *store.Tx) error {
			*res = robotmem.AttemptResponse{}
			return n.attempt(ctx, tx, r, recalls, earlier, res)
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
	ctx context.Context, tx *store.Tx, r *robotmem.AttemptRequest, recalls *batch, earlier []robotmem.Try,
	res *robotmem.AttemptResponse,
) error {
	if err := recalls.store(tx); err != nil {
		return err
	}

	s, err := n.findAttempt(tx, r)
	if err != nil {
		return err
	}

	// A question about a goal that nobody tries to reach begins nothing.
	if s == nil && r.Changed != "" && !r.Tried() && len(r.Criteria) == 0 {
		res.Status, res.Collection = "none", r.Collection
		res.Attempt = tries.Of(r.Goal, nil, "", nil, r.Changed, earlier)

		return nil
	}

	res.Status = "continued"
	if s == nil {
		res.Status = "started"
		if s, err = n.beginAttempt(tx, r); err != nil {
			return err
		}
	}

	res.SessionID, res.Collection, res.Robot = s.SessionID, s.Collection, record.RobotOf(s.Context)
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

	res.Attempt = tries.Of(goal, criteria, verdict, stored, planned, earlier)

	return nil
}

// maxEarlierTries limits the tries of earlier attempts that a plan is compared with, the newest ones.
const maxEarlierTries = 200

// earlierTries returns the tries of all attempts at the goal of a request, if it asks for a change.
func (n *Engine) earlierTries(ctx context.Context, r *robotmem.AttemptRequest) (out []robotmem.Try, err error) {
	if r.Changed == "" || r.Tried() {
		return nil, nil
	}

	err = n.Store.Read(ctx, func(c *store.Conn) error {
		set, err := n.matching(c, index.Selection{Scope: index.Scope{Collection: r.Collection, Kind: "fact"}},
			robotmem.Object{"attempt.goal": map[string]any{"$exists": true}})
		if err != nil {
			return err
		}

		rows := n.index.Columns.ObservedTimes(set)
		slices.SortFunc(rows, store.TimedID.Compare)
		found, _, err := c.FindAll(store.IDsOf(rows[max(0, len(rows)-maxEarlierTries):]), n.Now())

		facts := make([]store.StoredTry, len(found))
		for i, m := range found {
			facts[i] = store.StoredTry{
				ID: m.MemoryID, Content: m.Content, Context: m.Context, Outcome: m.Outcome, At: store.FormatTime(m.ObservedAt),
			}
		}
		out = tries.Earlier(r.Goal, facts)

		return err
	})

	return out, err
}

// findAttempt returns the episode that a request continues; nil if a new one must begin.
func (n *Engine) findAttempt(tx *store.Tx, r *robotmem.AttemptRequest) (*store.SessionRow, error) {
	id, err := n.openAttempt(tx.Conn, r.Collection, r.Goal, record.RobotOf(r.Context))
	if err != nil || id == "" {
		return nil, err
	}

	return tx.OpenSession(id)
}

// openAttempt returns the newest open attempt of a robot at a goal, "" if there is none. Without a robot it is an attempt
// that names none, else that of the only robot that tries. It fails with Conflict if several robots do.
func (n *Engine) openAttempt(c *store.Conn, collection, goal, robot string) (string, error) {
	open, err := c.OpenSessionsWith(collection, tries.Section)
	if err != nil {
		return "", err
	}

	newest := map[string]string{} // by robot, in lower case

	for _, s := range open {
		its, _ := tries.GoalOf(s.Context)
		own := strings.ToLower(record.RobotOf(s.Context))
		if tries.SameGoal(its, goal) && newest[own] == "" {
			newest[own] = s.ID
		}
	}

	if id := newest[strings.ToLower(robot)]; id != "" || robot != "" {
		return id, nil
	}
	if len(newest) > 1 {
		return "", robotmem.Errorf(robotmem.Conflict, "context",
			"names no robot, and %s try to reach this goal; name one in context.robot",
			strings.Join(slices.Sorted(maps.Keys(newest)), " and "))
	}

	for _, id := range newest {
		return id, nil
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
	if fact.Outcome == robotmem.OutcomeUnknown && r.Outcome == "" {
		res.Interpreted = append(res.Interpreted,
			"outcome: not stated, so it is unknown and the attempt stays open; give outcome, exit_status or checks")
	}
	res.Interpreted = append(res.Interpreted, learnt.Interpreted...)

	// What the tries say of each other is worth more than the advice for a plan.
	if same := tries.Find(tries.Earlier(goal, before), r.Changed); same != nil {
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

	a := tries.Of(goal, criteria, verdict, stored, "", nil)
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

		a := tries.Of(goal, criteria, "", stored, "", nil)
		if s.ID == session {
			return "Tried so far", tries.TryLines(&a), nil
		}
		lines = append(lines, tries.Line(&a))
	}

	return "Open attempts", lines, nil
}
