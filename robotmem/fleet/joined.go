package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// Joined is a robot's memory that asks its site too, if a request names it in scope.
type Joined struct {
	*local.Node
	Site robotmem.Service

	mu     sync.Mutex // guards what follows
	failed int        // requests of the site in a row
	until  time.Time  // when it is asked again
}

var _ robotmem.Node = (*Joined)(nil)

const (
	siteShare   = 0.7             // of deadline_ms, for the site
	siteTime    = 2 * time.Second // for the site, without a deadline
	readTime    = time.Minute     // for one memory that the site keeps
	maxFailures = 3               // requests in a row that fail before the site is left alone
	retryPause  = 10 * time.Second
	siteFailed  = "fleet: %s; this memory alone has answered"
)

// askSite calls f with the share of the deadline that the site gets. After several failures it fails at once for
// retryPause.
func askSite[Response any](
	j *Joined, ctx context.Context, deadlineMS int, f func(context.Context) (*Response, error),
) (*Response, error) {
	limit := siteTime
	if deadlineMS > 0 {
		limit = time.Duration(siteShare * float64(deadlineMS) * float64(time.Millisecond))
	}

	// The lock is not held while the site is asked, because other calls would wait for the site too.
	j.mu.Lock()
	wait := time.Until(j.until)
	j.mu.Unlock()
	if wait > 0 {
		return nil, robotmem.Errorf(robotmem.Unavailable, "scope",
			"the site did not answer %d times and is asked again in %v", maxFailures, wait.Round(time.Second))
	}

	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	res, err := f(ctx)
	kind := robotmem.KindOf(err)
	j.mu.Lock()
	defer j.mu.Unlock()

	// A refusal is an answer too: the site works.
	if err == nil || kind != robotmem.Unavailable && kind != robotmem.Internal {
		j.failed = 0
		return res, err
	}

	if j.failed++; j.failed >= maxFailures {
		j.failed, j.until = 0, time.Now().Add(retryPause)
	}
	if ctx.Err() != nil {
		err = robotmem.Errorf(robotmem.Unavailable, "scope", "the site did not answer in %v",
			limit.Round(time.Millisecond))
	}

	return nil, err
}

// Recall implements robotmem.Service.
func (j *Joined) Recall(ctx context.Context, req *robotmem.RecallRequest) (*robotmem.RecallResponse, error) {
	if req.Scope != robotmem.ScopeFleet && req.Scope != robotmem.ScopeBoth {
		return j.Node.Recall(ctx, req)
	}

	// Both are asked in full: in the short forms memories have no uid to be told apart by, and each
	// side would fit its own answer into max_tokens. The answer is presented once.
	here := *req
	if err := robotmem.Validate("recall", &here); err != nil {
		return nil, err
	}

	here.Scope, here.Detail, here.MaxTokens = "", robotmem.DetailFull, 0
	atSite := here
	atSite.ForSession = "" // of this memory

	var (
		far    *robotmem.RecallResponse
		away   error
		asking sync.WaitGroup
	)
	asking.Go(func() {
		far, away = askSite(j, ctx, req.DeadlineMS,
			func(ctx context.Context) (*robotmem.RecallResponse, error) { return j.Site.Recall(ctx, &atSite) })
	})
	if req.Scope == robotmem.ScopeFleet {
		asking.Wait()
		if away != nil {
			return nil, robotmem.Wrap("recall", away)
		}
		ofSite(far.Memories)
		recall.Present(req, far, j.Now())

		return far, nil
	}

	near, err := j.Node.Recall(ctx, &here)
	asking.Wait()
	if err != nil {
		return nil, err
	}

	if away != nil {
		near.Degraded = append(near.Degraded, fmt.Sprintf(siteFailed, robotmem.Explain(away).Detail()))
		recall.Present(req, near, j.Now())
		return near, nil
	}

	ofSite(far.Memories)

	for _, d := range far.Degraded {
		near.Degraded = append(near.Degraded, "fleet: "+d)
	}

	// What is unknown here may be known at the site, and the other way round.
	near.Notes = slices.DeleteFunc(near.Notes, func(note string) bool { return !slices.Contains(far.Notes, note) })
	// A memory may be in both answers, so the counts cannot be added.
	near.Matching, near.Counts = 0, nil
	near.Memories = fused(near.Memories, far.Memories, here.N)
	near.Total = len(near.Memories)
	recall.Present(req, near, j.Now())

	return near, nil
}

// What the site keeps alone is read there, by its uid. The answer has none of the numbers of the site.

// Get implements robotmem.Service.
func (j *Joined) Get(ctx context.Context, req *robotmem.MemoryRequest) (*robotmem.Memory, error) {
	return elsewhere(ctx, j, "get", req, j.Node.Get, j.Site.Get, func(m *robotmem.Memory, _ string) {
		one := []robotmem.Memory{*m}
		ofSite(one)
		*m = one[0]
	})
}

// History implements robotmem.Service.
func (j *Joined) History(ctx context.Context, req *robotmem.MemoryRequest) (*robotmem.HistoryResponse, error) {
	return elsewhere(ctx, j, "history", req, j.Node.History, j.Site.History, func(res *robotmem.HistoryResponse, _ string) {
		res.MemoryID = 0
		for i := range res.Versions {
			res.Versions[i].SupersededBy = 0
		}
	})
}

// Data implements robotmem.Service.
func (j *Joined) Data(ctx context.Context, req *robotmem.MemoryRequest) (*robotmem.DataResponse, error) {
	return elsewhere(ctx, j, "data", req, j.Node.Data, j.Site.Data, func(res *robotmem.DataResponse, uid string) {
		res.MemoryID, res.UID = 0, uid
	})
}

// Preview implements robotmem.Service.
func (j *Joined) Preview(ctx context.Context, req *admin.PreviewRequest) (*admin.PreviewResponse, error) {
	return elsewhere(ctx, j, "preview", req, j.Node.Preview, j.Site.Preview, func(res *admin.PreviewResponse, uid string) {
		res.MemoryID, res.UID = 0, uid
	})
}

// Samples implements robotmem.Service.
func (j *Joined) Samples(ctx context.Context, req *robotmem.SamplesRequest) (*robotmem.SamplesResponse, error) {
	return elsewhere(ctx, j, "samples", req, j.Node.Samples, j.Site.Samples, func(res *robotmem.SamplesResponse, uid string) {
		res.MemoryID, res.UID = 0, uid
	})
}

// OpenData implements robotmem.Streams. A payload takes as long as the caller waits.
func (j *Joined) OpenData(ctx context.Context, req *robotmem.MemoryRequest) (*robotmem.DataReader, error) {
	streams, ok := j.Site.(robotmem.Streams)
	if !ok {
		return j.Node.OpenData(ctx, req)
	}

	return readWhereItIs(ctx, j, "data", req, j.Node.OpenData, streams.OpenData)
}

// elsewhere answers from this memory, and for what the site keeps alone from the site. withoutNumbers removes the
// numbers of the site from its answer.
func elsewhere[Request, Response any](
	ctx context.Context, j *Joined, op string, req *Request,
	here, there func(context.Context, *Request) (*Response, error), withoutNumbers func(res *Response, uid string),
) (*Response, error) {
	return readWhereItIs(ctx, j, op, req, here, func(ctx context.Context, req *Request) (*Response, error) {
		ctx, cancel := context.WithTimeout(ctx, readTime)
		defer cancel()

		res, err := there(ctx, req)
		if err != nil {
			return nil, err
		}
		uid, _ := robotmem.ByUID(req) // readWhereItIs has checked it
		withoutNumbers(res, uid)

		return res, nil
	})
}

// readWhereItIs calls there for a uid that this memory has never had, otherwise here. What was purged here is read
// nowhere.
func readWhereItIs[Request, Response any](
	ctx context.Context, j *Joined, op string, req *Request, here, there func(context.Context, *Request) (*Response, error),
) (*Response, error) {
	uid, err := robotmem.ByUID(req)
	if err != nil || uid == "" {
		return here(ctx, req)
	}

	// here gets the number that was found, and need not look for it again.
	known := *req
	e := engine.Of(j.Node)
	if err := e.Number(ctx, &known); !errors.Is(err, robotmem.NotFound) {
		return here(ctx, &known)
	}
	if purged, err := e.Purged(ctx, uid); err != nil || purged {
		return here(ctx, req)
	}

	res, err := there(ctx, req)
	if err != nil {
		return nil, robotmem.Wrap(op, refusedBySite(op, uid, err))
	}

	return res, nil
}

// refusedBySite is the error of the site without its text, if that names a memory by its number there.
func refusedBySite(op, uid string, err error) error {
	var e *robotmem.Error
	if errors.As(err, &e) && e.Kind == robotmem.Invalid && e.Field != "memory_id" {
		return err // of another field of the request
	}

	// A perception is found by get even if nothing can be drawn or read of it.
	missing := op == "get" || op == "history"
	switch kind := robotmem.KindOf(err); {
	case kind == robotmem.NotFound && !missing:
		return robotmem.Errorf(kind, "memory_id", "%s is not in this memory, and the site has no %s of it", uid, op)
	case kind == robotmem.NotFound, kind == robotmem.Invalid: // a site of an older version takes no uid
		return engine.NoMemory(uid)
	case kind == robotmem.TooLarge:
		return robotmem.Errorf(kind, "memory_id",
			"the payload of %s, which the site keeps, is too large for one answer; read it as a stream: robotmem data %[1]s --output FILE", uid)
	case kind == robotmem.Unavailable:
		return robotmem.Errorf(kind, "memory_id", "%s is not in this memory, and the site does not answer", uid)
	default:
		return robotmem.Errorf(kind, "memory_id", "%s is not in this memory, and the site does not give it (%s)", uid,
			kind)
	}
}

// ofSite marks memories of the site and removes what its ids name: here they name other memories. The uid stays.
func ofSite(memories []robotmem.Memory) {
	for i := range memories {
		m := &memories[i]
		m.Scope = robotmem.ScopeFleet
		m.MemoryID, m.SupersededBy = 0, 0
		m.Conflicts, m.DataURI = nil, ""

		for _, near := range [][]robotmem.Neighbour{m.Before, m.After} {
			for j := range near {
				near[j].MemoryID = 0
			}
		}
	}
}

// adviceOfSite removes the ids of memories from the advice of the site.
func adviceOfSite(res *robotmem.AdviseResponse) {
	for i := range res.Parameters {
		p := &res.Parameters[i]
		for j := range p.Values {
			p.Values[j].MemoryIDs = nil
		}
		if p.Best != nil {
			p.Best.MemoryIDs = nil
		}
	}
	if res.Suggestion != nil {
		res.Suggestion.MemoryIDs = []int64{}
	}
	if res.Combination != nil {
		res.Combination.MemoryIDs = []int64{}
	}
	res.Notes = append(res.Notes,
		"the site advises, from the attempts of all its robots; its memories have no memory_id here")
}

// fused is the reciprocal rank fusion of two answers. A memory that both have is this memory's.
func fused(near, far []robotmem.Memory, n int) []robotmem.Memory {
	score := map[string]float64{}

	var all []robotmem.Memory

	for _, list := range [][]robotmem.Memory{near, far} {
		for rank, m := range list {
			if _, there := score[m.UID]; !there {
				all = append(all, m)
			}
			score[m.UID] += 1 / float64(recall.RRFK+rank+1)
		}
	}

	// The sort is stable: of equal scores the memory of this robot comes first.
	slices.SortStableFunc(all, func(x, y robotmem.Memory) int { return cmp.Compare(score[y.UID], score[x.UID]) })

	all = all[:min(n, len(all))]
	for i := range all {
		// A sum of reciprocal ranks has no scale, so the best memory gets 1.
		s := score[all[i].UID] / score[all[0].UID]
		all[i].Score = &s
	}

	return all
}

// Advise implements robotmem.Service. Attempts are not counted twice: the site has this robot's too,
// so its answer wins if it comes.
func (j *Joined) Advise(ctx context.Context, req *robotmem.AdviseRequest) (*robotmem.AdviseResponse, error) {
	if req.Scope != robotmem.ScopeFleet && req.Scope != robotmem.ScopeBoth {
		return j.Node.Advise(ctx, req)
	}
	here := *req
	here.Scope = ""
	res, away := askSite(j, ctx, 0,
		func(ctx context.Context) (*robotmem.AdviseResponse, error) { return j.Site.Advise(ctx, &here) })
	if away == nil {
		adviceOfSite(res)
		return res, nil
	}
	if req.Scope == robotmem.ScopeFleet {
		return nil, robotmem.Wrap("advise", away)
	}
	res, err := j.Node.Advise(ctx, &here)
	if err == nil {
		res.Notes = append(res.Notes, fmt.Sprintf(siteFailed, robotmem.Explain(away).Detail()))
	}

	return res, err
}
