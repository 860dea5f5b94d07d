package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// Guard is the memory of all tenants of a site: each call is for the tenant of its caller, within
// what the caller may do and the quotas of the tenant. What is in a collection that the caller has
// not is NotFound to it, and a request for such a collection Forbidden.
type Guard struct {
	site     *Site
	nodes    nodes
	sessions *lru.Cache[sessionKey, session]
}

var _ robotmem.Node = (*Guard)(nil)

// Guard returns the memory of all tenants. It is closed before the site.
func (s *Site) Guard() *Guard {
	sessions, _ := lru.New[sessionKey, session](knownSessions) // fails only for a size below 1
	return &Guard{site: s, nodes: nodes{site: s, idle: idleLife, open: map[string]*openNode{}}, sessions: sessions}
}

// Close closes the memories of all tenants.
func (g *Guard) Close() error { return g.nodes.close() }

// LocalNow implements robotmem.Zoned.
func (g *Guard) LocalNow() time.Time {
	if at := g.site.options.Location; at != nil {
		return time.Now().In(at)
	}
	return time.Now()
}

const knownSessions = 10_000

type sessionKey struct{ tenant, id string }

// session has what never changes of an episode.
type session struct{ collection, robot string }

// access is one call.
type access struct {
	guard *Guard
	robotmem.Caller
	op   *robotmem.Op
	open *openNode
	node *local.Node
}

// enter checks the caller and takes the memory of its tenant.
func (g *Guard) enter(ctx context.Context, op string) (a *access, leave func(), err error) {
	a = &access{guard: g, Caller: robotmem.CallerOf(ctx), op: robotmem.OpByName(op)}
	if a.Tenant == "" {
		return nil, nil, robotmem.Errorf(robotmem.Forbidden, "", "the call names no tenant; show a token of one")
	}
	if err := a.op.Allowed(ctx); err != nil {
		return nil, nil, err
	}
	switch a.Role {
	case robotmem.RoleAdmin, robotmem.RoleOperator:
		a.Collections = robotmem.AllCollections
	case robotmem.RoleReader, robotmem.RoleRobot:
		if a.Collections == "" || a.Role == robotmem.RoleRobot && a.Robot == "" || a.Role == robotmem.RoleReader && !a.ReadOnly {
			return nil, nil, robotmem.Errorf(robotmem.Forbidden, "", "the token names no collections or no robot; make another one")
		}
	default:
		return nil, nil, robotmem.Errorf(robotmem.Forbidden, "", "the token has no role; it must be admin, operator, robot or reader")
	}
	if a.open, leave, err = g.nodes.take(ctx, a.Tenant); err != nil {
		return nil, nil, err
	}
	a.node = a.open.node
	return a, leave, nil
}

// rights says what the token may do, for a refusal.
func (a *access) rights() string {
	of := "for reading"
	if a.Role == robotmem.RoleRobot {
		of = "of the robot " + a.Robot
	}
	if a.Collections == robotmem.AllCollections {
		return fmt.Sprintf("the token is %s, in all collections", of)
	}
	return fmt.Sprintf("the token is %s, in %s", of, strings.ReplaceAll(a.Collections, ",", ", "))
}

func (a *access) forbidden(field, format string, args ...any) error {
	return robotmem.Errorf(robotmem.Forbidden, field, "%s; %s", fmt.Sprintf(format, args...), a.rights())
}

// limited reports whether the caller has not everything of the tenant.
func (a *access) limited() bool {
	return a.Role == robotmem.RoleRobot || a.Collections != robotmem.AllCollections
}

// call runs an operation with the checks of its request.
func call[In, Out any](ctx context.Context, g *Guard, op string, r *In, method func(robotmem.Service, context.Context, *In) (*Out, error)) (*Out, error) {
	return serve(ctx, g, op, r, func(ctx context.Context, a *access, r *In) (*Out, error) { return method(a.node, ctx, r) })
}

func serve[In, Out any](ctx context.Context, g *Guard, op string, r *In, run func(context.Context, *access, *In) (*Out, error)) (*Out, error) {
	res, err := func() (*Out, error) {
		a, leave, err := g.enter(ctx, op)
		if err != nil {
			return nil, err
		}
		defer leave()
		q := *r // the caller's own is not changed
		c := a.Caller
		if c.Collections == robotmem.AllCollections {
			c.Collections = ""
		}
		ctx := robotmem.WithCaller(ctx, c)
		if err := a.check(ctx, &q); err != nil {
			return nil, err
		}
		return run(ctx, a, &q)
	}()
	if e := (*robotmem.Error)(nil); errors.As(err, &e) && e.Op == "" {
		named := *e
		named.Op, err = op, &named
	}
	return res, err
}

// tenantWide are the operations whose requests name nothing, and that have their own way to respect
// the collections.
var tenantWide = map[string]bool{"stats": true, "collections": true, "changes": true}

// check narrows a request to what the caller has, and refuses what it has not.
func (a *access) check(ctx context.Context, r any) error {
	if err := a.within(ctx, r); err != nil || !a.limited() {
		return err
	}
	if batch, ok := r.(*robotmem.LearnBatchRequest); ok {
		batch.Items = slices.Clone(batch.Items)
		for i := range batch.Items {
			if batch.ItemError(i) != nil {
				continue // it is refused
			}
			if err := a.checkFields(ctx, &batch.Items[i]); err != nil {
				return inItem(i, err)
			}
		}
		return nil
	}
	return a.checkFields(ctx, r)
}

func inItem(i int, err error) error {
	if e := (*robotmem.Error)(nil); errors.As(err, &e) {
		named := *e
		named.Field = strings.TrimSuffix(fmt.Sprintf("items[%d].%s", i, e.Field), ".")
		return &named
	}
	return err
}

// fields has pointers to what a request names; nil for a field that it does not have.
type fields struct {
	collection *string
	reads      string // the default of a collection that is only read, "" if it is written
	memory     int64
	session    string
	context    *robotmem.Object
	scoped     bool // it has one of the fields
}

func fieldsOf(r any) (f fields) {
	v := reflect.ValueOf(r).Elem()
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		at := v.Field(i)
		switch name := v.Type().Field(i).Name; name {
		case "Collection":
			f.collection = at.Addr().Interface().(*string)
			if strings.Contains(tag.Get("validate"), "collections") {
				f.reads = tag.Get("default")
			}
		case "MemoryID":
			f.memory = at.Int()
		case "SessionID":
			f.session = at.String()
		case "Context":
			f.context = at.Addr().Interface().(*robotmem.Object)
			continue
		default:
			continue
		}
		f.scoped = true
	}
	return f
}

func (a *access) checkFields(ctx context.Context, r any) error {
	f := fieldsOf(r)
	switch {
	case !f.scoped && !tenantWide[a.op.Name]:
		return a.forbidden("", "%s is about the whole tenant, and for operators", a.op.Name)
	case f.collection != nil && f.reads != "":
		if err := a.narrow(&f, r); err != nil {
			return err
		}
	case f.memory != 0:
		if err := a.checkMemory(ctx, "memory_id", f.memory, !a.op.Hints.ReadOnly); err != nil {
			return err
		}
	case f.session != "":
		known, err := a.checkSession(ctx, "session_id", f.session, !a.op.Hints.ReadOnly)
		_, starts := r.(*robotmem.StartSessionRequest)
		switch {
		case starts && errors.Is(err, robotmem.NotFound) && known:
			return a.forbidden("session_id", "an episode that is not yours has this id; choose another one")
		case starts && errors.Is(err, robotmem.NotFound):
			err = a.mayWrite(f.collection)
		case err == nil && f.collection != nil && *f.collection != "":
			err = a.mayWrite(f.collection)
		}
		if err != nil {
			return err
		}
	case f.collection != nil:
		if err := a.mayWrite(f.collection); err != nil {
			return err
		}
	}
	switch r := r.(type) {
	case *robotmem.RecallRequest:
		if r.ForSession != "" {
			if _, err := a.checkSession(ctx, "for_session", r.ForSession, !a.ReadOnly); err != nil {
				return err
			}
		}
		if r.Like != nil && r.Like.MemoryID != 0 {
			return a.checkMemory(ctx, "like.memory_id", r.Like.MemoryID, false)
		}
	case *robotmem.EndSessionRequest:
		return a.checkUsed(ctx, r)
	case *robotmem.UpdateRequest:
		if r.Context == nil {
			return nil
		}
	}
	if f.context != nil && a.Role == robotmem.RoleRobot {
		return a.sign(f.context)
	}
	return nil
}

// narrow replaces the collections of a request that reads by those of them that the caller has.
func (a *access) narrow(f *fields, r any) error {
	if *f.collection == "" {
		if _, recalls := r.(*robotmem.RecallRequest); f.reads == robotmem.AllCollections || recalls && f.session != "" {
			*f.collection = robotmem.AllCollections
		} else {
			*f.collection = f.reads
		}
	}
	if *f.collection == robotmem.AllCollections {
		*f.collection = a.Collections
		return nil
	}
	for name := range strings.SplitSeq(*f.collection, ",") {
		if !robotmem.InCollections(a.Collections, name) {
			return a.forbidden("collection", "%.100q is not yours to read; name one of yours", name)
		}
	}
	return nil
}

func (a *access) mayWrite(collection *string) error {
	name := *collection
	if name == "" {
		name = robotmem.DefaultCollection
	}
	if !robotmem.InCollections(a.Collections, name) {
		return a.forbidden("collection", "%.100q is not yours to write; name one of yours", name)
	}
	return nil
}

// checkMemory fails with NotFound if the memory is in a collection that the caller has not, and with
// Forbidden if the caller is to own it and does not.
func (a *access) checkMemory(ctx context.Context, field string, id int64, own bool) error {
	m, err := a.node.Get(ctx, &robotmem.MemoryRequest{MemoryID: id})
	switch {
	case err != nil && !errors.Is(err, robotmem.NotFound):
		return err
	case err != nil || !robotmem.InCollections(a.Collections, m.Collection):
		return robotmem.Errorf(robotmem.NotFound, field, "there is no memory %d; ids come from learn, recall and list", id)
	case own && a.Role == robotmem.RoleRobot && (m.Provenance == nil || m.Provenance.Robot != a.Robot):
		return a.forbidden(field, "memory %d is not of this robot; learn a fact of your own instead", id)
	}
	return nil
}

// checkSession is checkMemory for an episode. known reports whether there is one with that id.
func (a *access) checkSession(ctx context.Context, field, id string, own bool) (known bool, err error) {
	key := sessionKey{a.Tenant, id}
	s, have := a.guard.sessions.Get(key)
	if !have {
		res, err := a.node.Session(ctx, &robotmem.SessionRequest{SessionID: id})
		switch {
		case errors.Is(err, robotmem.NotFound):
			return false, noSession(field, id)
		case err != nil:
			return false, err
		}
		s = session{res.Collection, record.RobotOf(res.Context)}
		a.guard.sessions.Add(key, s)
	}
	switch {
	case !robotmem.InCollections(a.Collections, s.collection):
		return true, noSession(field, id)
	case own && a.Role == robotmem.RoleRobot && s.robot != a.Robot:
		return true, a.forbidden(field, "the episode is of another robot; start one of your own")
	}
	return true, nil
}

func noSession(field, id string) error {
	return robotmem.Errorf(robotmem.NotFound, field, "there is no session %q; start_session returns an id, or takes one of yours", id)
}

// checkUsed checks the memories that an episode is to credit, which may be of other robots.
func (a *access) checkUsed(ctx context.Context, r *robotmem.EndSessionRequest) error {
	for _, id := range r.UsedMemoryIDs {
		if err := a.checkMemory(ctx, "used_memory_ids", id, false); err != nil {
			return err
		}
	}
	for key := range r.MemoryScores {
		if id, err := strconv.ParseInt(key, 10, 64); err == nil { // else it is refused
			if err := a.checkMemory(ctx, "memory_scores", id, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// sign names the robot of the token in a context.
func (a *access) sign(context *robotmem.Object) error {
	signed := robotmem.Object{}
	for key, value := range *context {
		signed[key] = value
	}
	*context = signed
	switch robot := signed["robot"].(type) {
	case nil:
		signed["robot"] = map[string]any{"id": a.Robot}
		return nil
	case string:
		if robot == a.Robot {
			return nil
		}
	case map[string]any:
		switch record.RobotOf(signed) {
		case a.Robot:
			return nil
		case "":
			named := map[string]any{}
			for key, value := range robot {
				named[key] = value
			}
			named["id"] = a.Robot
			signed["robot"] = named
			return nil
		}
	}
	return a.forbidden("context.robot", "the context names another robot; leave robot out")
}

func (g *Guard) Recall(ctx context.Context, r *robotmem.RecallRequest) (*robotmem.RecallResponse, error) {
	return call(ctx, g, "recall", r, robotmem.Service.Recall)
}

func (g *Guard) Search(ctx context.Context, r *robotmem.SearchRequest) (*robotmem.RecallResponse, error) {
	return call(ctx, g, "search", r, robotmem.Service.Search)
}

func (g *Guard) Advise(ctx context.Context, r *robotmem.AdviseRequest) (*robotmem.AdviseResponse, error) {
	return call(ctx, g, "advise", r, robotmem.Service.Advise)
}

func (g *Guard) Aggregate(ctx context.Context, r *robotmem.AggregateRequest) (*robotmem.AggregateResponse, error) {
	return call(ctx, g, "aggregate", r, robotmem.Service.Aggregate)
}

func (g *Guard) Learn(ctx context.Context, r *robotmem.LearnRequest) (*robotmem.LearnResponse, error) {
	return call(ctx, g, "learn", r, robotmem.Service.Learn)
}

func (g *Guard) LearnBatch(ctx context.Context, r *robotmem.LearnBatchRequest) (*robotmem.LearnBatchResponse, error) {
	return call(ctx, g, "learn_batch", r, robotmem.Service.LearnBatch)
}

func (g *Guard) Forget(ctx context.Context, r *robotmem.ForgetRequest) (*robotmem.ForgetResponse, error) {
	return call(ctx, g, "forget", r, robotmem.Service.Forget)
}

func (g *Guard) Restore(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.RestoreResponse, error) {
	return call(ctx, g, "restore", r, robotmem.Service.Restore)
}

func (g *Guard) Update(ctx context.Context, r *robotmem.UpdateRequest) (*robotmem.UpdateResponse, error) {
	return call(ctx, g, "update", r, robotmem.Service.Update)
}

func (g *Guard) Pin(ctx context.Context, r *admin.PinRequest) (*admin.PinResponse, error) {
	return call(ctx, g, "pin", r, robotmem.Service.Pin)
}

func (g *Guard) StartSession(ctx context.Context, r *robotmem.StartSessionRequest) (*robotmem.StartSessionResponse, error) {
	return serve(ctx, g, "start_session", r, func(ctx context.Context, a *access, r *robotmem.StartSessionRequest) (*robotmem.StartSessionResponse, error) {
		res, err := a.node.StartSession(ctx, r)
		if err == nil && a.limited() && r.Origin != "" { // it may be of an episode of another robot
			if _, err := a.checkSession(ctx, "origin", res.SessionID, true); err != nil {
				return nil, err
			}
		}
		return res, err
	})
}

func (g *Guard) EndSession(ctx context.Context, r *robotmem.EndSessionRequest) (*robotmem.EndSessionResponse, error) {
	return call(ctx, g, "end_session", r, robotmem.Service.EndSession)
}

func (g *Guard) Get(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.Memory, error) {
	return call(ctx, g, "get", r, robotmem.Service.Get)
}

func (g *Guard) Timeline(ctx context.Context, r *robotmem.TimelineRequest) (*robotmem.TimelineResponse, error) {
	return call(ctx, g, "timeline", r, robotmem.Service.Timeline)
}

func (g *Guard) Data(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.DataResponse, error) {
	return call(ctx, g, "data", r, robotmem.Service.Data)
}

func (g *Guard) Preview(ctx context.Context, r *admin.PreviewRequest) (*admin.PreviewResponse, error) {
	return call(ctx, g, "preview", r, robotmem.Service.Preview)
}

func (g *Guard) Samples(ctx context.Context, r *robotmem.SamplesRequest) (*robotmem.SamplesResponse, error) {
	return call(ctx, g, "samples", r, robotmem.Service.Samples)
}

func (g *Guard) History(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.HistoryResponse, error) {
	return call(ctx, g, "history", r, robotmem.Service.History)
}

func (g *Guard) List(ctx context.Context, r *robotmem.ListRequest) (*robotmem.ListResponse, error) {
	return call(ctx, g, "list", r, robotmem.Service.List)
}

func (g *Guard) Sessions(ctx context.Context, r *robotmem.SessionsRequest) (*robotmem.SessionsResponse, error) {
	return call(ctx, g, "sessions", r, robotmem.Service.Sessions)
}

// Session leaves out the memories of other collections that were recalled for the episode.
func (g *Guard) Session(ctx context.Context, r *robotmem.SessionRequest) (*robotmem.SessionResponse, error) {
	return serve(ctx, g, "session", r, func(ctx context.Context, a *access, r *robotmem.SessionRequest) (*robotmem.SessionResponse, error) {
		res, err := a.node.Session(ctx, r)
		if err == nil {
			res.Recalled = slices.DeleteFunc(res.Recalled, func(m robotmem.RecalledMemory) bool { return !robotmem.InCollections(a.Collections, m.Collection) })
		}
		return res, err
	})
}

func (g *Guard) SessionMemories(ctx context.Context, r *admin.SessionMemoriesRequest) (*robotmem.ListResponse, error) {
	return call(ctx, g, "session_memories", r, robotmem.Service.SessionMemories)
}

func (g *Guard) Collections(ctx context.Context, r *admin.CollectionsRequest) (*admin.CollectionsResponse, error) {
	return serve(ctx, g, "collections", r, func(ctx context.Context, a *access, r *admin.CollectionsRequest) (*admin.CollectionsResponse, error) {
		res, err := a.node.Collections(ctx, r)
		if err == nil {
			res.Collections = slices.DeleteFunc(res.Collections, func(c admin.CollectionCount) bool { return !robotmem.InCollections(a.Collections, c.Collection) })
		}
		return res, err
	})
}

func (g *Guard) Categories(ctx context.Context, r *admin.CategoriesRequest) (*admin.CategoriesResponse, error) {
	return call(ctx, g, "categories", r, robotmem.Service.Categories)
}

func (g *Guard) Paths(ctx context.Context, r *admin.PathsRequest) (*admin.PathsResponse, error) {
	return call(ctx, g, "paths", r, robotmem.Service.Paths)
}

func (g *Guard) Places(ctx context.Context, r *robotmem.PlacesRequest) (*admin.PlacesResponse, error) {
	return call(ctx, g, "places", r, robotmem.Service.Places)
}

func (g *Guard) RecentFailures(ctx context.Context, r *admin.RecentFailuresRequest) (*robotmem.ListResponse, error) {
	return call(ctx, g, "recent_failures", r, robotmem.Service.RecentFailures)
}

func (g *Guard) Incidents(ctx context.Context, r *admin.IncidentsRequest) (*admin.IncidentsResponse, error) {
	return call(ctx, g, "incidents", r, robotmem.Service.Incidents)
}

// Stats counts what is in the caller's collections. What is of the whole tenant or of the node, such
// as bytes and workers, is left out then.
func (g *Guard) Stats(ctx context.Context, r *admin.StatsRequest) (*admin.StatsResponse, error) {
	return serve(ctx, g, "stats", r, func(ctx context.Context, a *access, r *admin.StatsRequest) (*admin.StatsResponse, error) {
		if !a.limited() || a.Collections == robotmem.AllCollections {
			return a.node.Stats(ctx, r)
		}
		return a.stats(ctx)
	})
}

func (a *access) stats(ctx context.Context) (*admin.StatsResponse, error) {
	res := &admin.StatsResponse{ByStatus: map[string]int64{}, ByType: map[string]int64{}, ByCategory: map[string]int64{}, Workers: []admin.Worker{}}
	res.Interpreted = []string{"counts of " + strings.ReplaceAll(a.Collections, ",", ", ") + "; what is of the whole tenant is left out"}
	all, err := a.node.Collections(ctx, &admin.CollectionsRequest{})
	if err != nil {
		return nil, err
	}
	for _, c := range all.Collections {
		if robotmem.InCollections(a.Collections, c.Collection) {
			res.Collections++
			res.Total += c.Active
			res.Sessions += c.Sessions
		}
	}
	categories, err := a.node.Categories(ctx, &admin.CategoriesRequest{Collection: a.Collections})
	if err != nil {
		return nil, err
	}
	for _, c := range categories.Categories {
		res.ByCategory[c.Category] = c.Count
	}
	count := func(into *int64, r robotmem.ListRequest) {
		if err == nil {
			var page *robotmem.ListResponse
			r.Collection, r.Limit = a.Collections, 1
			if page, err = a.node.List(ctx, &r); err == nil {
				*into = page.Total
			}
		}
	}
	for _, status := range []string{"active", "superseded", "invalidated"} {
		n := int64(0)
		count(&n, robotmem.ListRequest{Status: status})
		res.ByStatus[status] = n
	}
	for _, kind := range []string{"fact", "perception"} {
		n := int64(0)
		count(&n, robotmem.ListRequest{Type: kind})
		res.ByType[kind] = n
	}
	count(&res.LastDay, robotmem.ListRequest{Status: "all", Days: 1})
	return res, err
}

func (g *Guard) Activity(ctx context.Context, r *admin.ActivityRequest) (*admin.ActivityResponse, error) {
	return call(ctx, g, "activity", r, robotmem.Service.Activity)
}

func (g *Guard) Changes(ctx context.Context, r *admin.ChangesRequest) (*admin.ChangesResponse, error) {
	return call(ctx, g, "changes", r, robotmem.Service.Changes)
}

func (g *Guard) Doctor(ctx context.Context, r *admin.DoctorRequest) (*admin.DoctorResponse, error) {
	return call(ctx, g, "doctor", r, robotmem.Service.Doctor)
}

func (g *Guard) Retain(ctx context.Context, r *admin.RetainRequest) (*admin.RetainResponse, error) {
	return call(ctx, g, "retain", r, robotmem.Service.Retain)
}

func (g *Guard) Audit(ctx context.Context, r *admin.AuditRequest) (*admin.AuditResponse, error) {
	return call(ctx, g, "audit", r, robotmem.Service.Audit)
}

func (g *Guard) Repair(ctx context.Context, r *admin.RepairRequest) (*admin.RepairResponse, error) {
	return call(ctx, g, "repair", r, robotmem.Service.Repair)
}

func (g *Guard) SavePerception(ctx context.Context, r *robotmem.SavePerceptionRequest) (*robotmem.SavePerceptionResponse, error) {
	return call(ctx, g, "save_perception", r, robotmem.Service.SavePerception)
}

func (g *Guard) SavePerceptionFrom(ctx context.Context, r *robotmem.SavePerceptionRequest, data io.Reader) (*robotmem.SavePerceptionResponse, error) {
	return serve(ctx, g, "save_perception", r, func(ctx context.Context, a *access, r *robotmem.SavePerceptionRequest) (*robotmem.SavePerceptionResponse, error) {
		data, err := a.metered(ctx, data)
		if err != nil {
			return nil, err
		}
		res, err := a.node.SavePerceptionFrom(ctx, r, data)
		if m, ok := data.(*metered); ok && m.over != nil {
			return nil, m.over
		}
		return res, err
	})
}

// OpenData keeps the memory of the tenant open until the reader is closed.
func (g *Guard) OpenData(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.DataReader, error) {
	return serve(ctx, g, "data", r, func(ctx context.Context, a *access, r *robotmem.MemoryRequest) (*robotmem.DataReader, error) {
		_, leave, err := g.nodes.take(ctx, a.Tenant)
		if err != nil {
			return nil, err
		}
		data, err := a.node.OpenData(ctx, r)
		if err != nil {
			leave()
			return nil, err
		}
		data.ReadSeekCloser = &leaving{data.ReadSeekCloser, leave}
		return data, nil
	})
}

type leaving struct {
	io.ReadSeekCloser
	leave func()
}

func (l *leaving) Close() error {
	defer l.leave()
	return l.ReadSeekCloser.Close()
}
