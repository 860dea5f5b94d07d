package site

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// Guard is the memory of all tenants of a site. Each call is for the tenant of its caller. The rights of the caller and
// the quotas of the tenant limit it. A memory in a collection without a right is NotFound, and a request that names
// such a collection is Forbidden.
type Guard struct {
	site     *Site
	nodes    nodes
	sessions *lru.Cache[sessionKey, session]
}

var _ robotmem.Node = (*Guard)(nil)

// Guard returns the memory of all tenants. It is closed before the site.
func (s *Site) Guard() *Guard {
	// Fails only for a size below 1.
	sessions, _ := lru.New[sessionKey, session](knownSessions)
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

	// The role limits what a token may reach. A token without a known role, or without the fields that its role needs,
	// gets nothing rather than everything.
	switch a.Role {
	case robotmem.RoleAdmin, robotmem.RoleOperator:
		a.Collections = robotmem.AllCollections
	case robotmem.RoleReader, robotmem.RoleRobot:
		if a.Collections == "" || a.Role == robotmem.RoleRobot && a.Robot == "" ||
			a.Role == robotmem.RoleReader && !a.ReadOnly {
			return nil, nil, robotmem.Errorf(robotmem.Forbidden, "",
				"the token names no collections or no robot; make another one")
		}
	default:
		return nil, nil, robotmem.Errorf(robotmem.Forbidden, "",
			"the token has no role; it must be admin, operator, robot or reader")
	}

	if a.open, leave, err = g.nodes.take(ctx, a.Tenant); err != nil {
		return nil, nil, err
	}

	a.node = a.open.node

	return a, leave, nil
}

// Robots returns the memory of a robot that syncs. It fails with TooLarge if the quotas of its tenant
// have no room.
func (g *Guard) Robots(ctx context.Context, memories, bytes int64) (*local.Node, func(), error) {
	a, leave, err := g.enter(ctx, "learn_batch")
	if err != nil {
		return nil, nil, err
	}

	// A request that stores nothing is admitted even if a quota is used up.
	if memories+bytes > 0 {
		err = a.admit(ctx, memories, bytes)
	}
	if err != nil {
		leave()
		return nil, nil, err
	}

	return a.node, leave, nil
}

// rights describes the rights of the token, for a refusal.
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

// limited reports whether the caller has less than all rights in the tenant.
func (a *access) limited() bool {
	return a.Role == robotmem.RoleRobot || a.Collections != robotmem.AllCollections
}

// call runs an operation with the checks of its request.
func call[In, Out any](
	ctx context.Context, g *Guard, op string, r *In, method func(robotmem.Service, context.Context, *In) (*Out, error),
) (*Out, error) {
	return serve(ctx, g, op, r,
		func(ctx context.Context, a *access, r *In) (*Out, error) { return method(a.node, ctx, r) })
}

func serve[In, Out any](
	ctx context.Context, g *Guard, op string, r *In, run func(context.Context, *access, *In) (*Out, error),
) (*Out, error) {
	res, err := func() (*Out, error) {
		a, leave, err := g.enter(ctx, op)
		if err != nil {
			return nil, err
		}
		defer leave()
		// The request is narrowed below, and that of the caller must stay as it is.
		q := *r
		c := a.Caller

		// Empty stands for all collections in the nodes, which then need no filter.
		if c.Collections == robotmem.AllCollections {
			c.Collections = ""
		}
		ctx := robotmem.WithCaller(ctx, c)

		// The check needs the number. What it refuses must look like a memory that is not there.
		uid, err := robotmem.ByUID(&q)
		if err != nil {
			return nil, err
		}
		if err := engine.Of(a.node).Number(ctx, &q); err != nil {
			return nil, err
		}
		if err := a.check(ctx, &q); err != nil {
			if uid != "" && errors.Is(err, robotmem.NotFound) {
				return nil, engine.NoMemory(uid)
			}
			return nil, err
		}

		return run(ctx, a, &q)
	}()

	// The node names its own operation in an error. An error of the checks has none yet.
	if e := (*robotmem.Error)(nil); errors.As(err, &e) && e.Op == "" {
		named := *e
		named.Op, err = op, &named
	}

	return res, err
}

// tenantWide lists the operations whose requests name no collection, memory or session. They leave out themselves what
// the caller may not see.
var tenantWide = map[string]bool{"stats": true, "collections": true, "changes": true}

// check narrows a request to what the caller has, and refuses what it has not.
func (a *access) check(ctx context.Context, r any) error {
	if err := a.within(ctx, r); err != nil || !a.limited() {
		return err
	}

	if batch, ok := r.(*robotmem.LearnBatchRequest); ok {
		// The items are narrowed below, and the slice is shared with the request of the caller.
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
			// A context names no collection, so it does not make the request scoped.
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
	// An operation that names nothing would answer from the whole tenant, so it is refused unless it respects the
	// collections itself.
	case !f.scoped && !tenantWide[a.op.Name]:
		return a.forbidden("", "%s is about the whole tenant, and for operators", a.op.Name)
	case f.collection != nil && f.reads != "":
		if err := a.narrow(&f, r); err != nil {
			return err
		}

		// An episode of another collection must look like an absent one, and not like one without memories.
		if f.session != "" {
			if _, err := a.checkSession(ctx, "session_id", f.session, false); err != nil {
				return err
			}
		}

	// A memory or an episode decides by its stored collection. What the request says about it proves nothing.
	case f.memory != 0:
		if err := a.checkMemory(ctx, "memory_id", f.memory, !a.op.Hints.ReadOnly); err != nil {
			return err
		}
	case f.session != "":
		known, err := a.checkSession(ctx, "session_id", f.session, !a.op.Hints.ReadOnly)

		// An unknown id may be chosen for a new episode. An id that is taken elsewhere is refused without saying by
		// whom.
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
	case *robotmem.SaveDocumentRequest:
		if err := a.checkDocument(ctx, r.Collection, r.Name); err != nil {
			return err
		}
	case *robotmem.RemoveDocumentRequest:
		return a.checkDocument(ctx, r.Collection, r.Name)
	case *robotmem.LearnRequest:
		if r.Supersedes != 0 {
			if err := a.checkMemory(ctx, "supersedes", r.Supersedes, true); err != nil {
				return err
			}
		}
	case *robotmem.UpdateRequest:
		if r.Context == nil {
			return nil
		}
	}

	// A robot must not store facts in the name of another one.
	if f.context != nil && a.Role == robotmem.RoleRobot {
		return a.sign(f.context)
	}

	return nil
}

// narrow replaces the collections of a request that reads by those of them that the caller has.
func (a *access) narrow(f *fields, r any) error {
	if *f.collection == "" {
		// An episode is in one collection that the request need not know, so all readable ones are searched.
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

// checkMemory fails with NotFound if the caller has no right to the collection of the memory. With own it fails with
// Forbidden if the memory is another robot's.
func (a *access) checkMemory(ctx context.Context, field string, id int64, own bool) error {
	m, err := a.node.Get(ctx, &robotmem.MemoryRequest{MemoryID: id})
	switch {
	case err != nil && !errors.Is(err, robotmem.NotFound):
		return err

	// A memory in another collection is reported like an absent one, so that ids do not reveal what exists.
	case err != nil || !robotmem.InCollections(a.Collections, m.Collection):
		return robotmem.Errorf(robotmem.NotFound, field, "there is no memory %d; ids come from learn, recall and list",
			id)
	case own && a.Role == robotmem.RoleRobot && (m.Provenance == nil || m.Provenance.Robot != a.Robot):
		return a.forbidden(field, "memory %d is not of this robot; learn a fact of your own instead", id)
	}

	return nil
}

// checkDocument fails with Forbidden if a passage of the document is another robot's, or an operator's.
func (a *access) checkDocument(ctx context.Context, collection, name string) error {
	if a.Role != robotmem.RoleRobot {
		return nil
	}

	const page = 1000

	for next := int64(0); ; {
		res, err := a.node.List(ctx, &robotmem.ListRequest{
			Collection: collection, Type: robotmem.TypeDocument, Limit: page, BeforeID: next,
			ContextFilter: robotmem.Object{"document.name": name},
		})
		if err != nil {
			return err
		}

		for _, m := range res.Memories {
			if m.Provenance == nil || m.Provenance.Robot != a.Robot {
				return a.forbidden("name", "the document %.100q is not of this robot; save yours under another name", name)
			}
			next = m.MemoryID
		}
		if len(res.Memories) < page {
			return nil
		}
	}
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

		// Collection and robot of an episode never change, so the entry needs no expiry.
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
	return robotmem.Errorf(robotmem.NotFound, field,
		"there is no session %q; start_session returns an id, or takes one of yours", id)
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

	// The context belongs to the request of the caller, so a copy is signed.
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
