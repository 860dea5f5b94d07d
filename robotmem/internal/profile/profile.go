// Package profile writes what is known of a subject: it finds the memories that name it, by any of its names, and sorts
// them into a page.
package profile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/classify"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/subjects"
)

const (
	maxSubjectAliases = 8   // names that stand beside an id in contexts
	maxRelated        = 10  // subjects that are named beside one
	maxNear           = 3   // names that are suggested for one that no memory has
	maxAlikeIDs       = 20  // of the memories that a line stands for
	maxCurrent        = 100 // facts of which each is compared with each
	aboutLine         = 60  // tokens
)

// Finder finds subjects in one snapshot.
type Finder struct {
	Index      *index.Index
	Catalog    *subjects.Catalog
	Conn       *store.Conn
	Words      *lexical.Index // in step with Conn; nil if they are not loaded
	Missing    error          // why they are not
	Collection string
	Base       *bitset.BitSet // the memories that are compared
	Now        time.Time
}

// Subject is a subject with its names and the memories that name it.
type Subject struct {
	*index.Mentions
	Name    string
	Kind    string
	Aliases []string
	names   []subjects.Name
	several []string // the ids that the name stands beside, if it is that of several subjects
	cut     int      // current facts that were not compared
}

// Find returns the subject that has a name. field is the field of the request that has the name. It fails with Invalid
// if the name has neither letters nor digits.
func (f *Finder) Find(field, name string) (*Subject, error) {
	if f.Words == nil {
		return nil, cmp.Or(f.Missing, index.ErrPostingsDropped)
	}

	asked := subjects.ParseName(name)
	if asked.Empty() {
		return nil, robotmem.Errorf(robotmem.Invalid, field, "%q has neither letters nor digits; give a name", name)
	}
	if asked.Vague() && f.Catalog.Of(&asked) == nil {
		return nil, robotmem.Errorf(robotmem.Invalid, field,
			"%q names nothing alone; say what it is, such as gripper %[1]s, or list it in the file of entities", name)
	}

	s := &Subject{Name: asked.Text, names: []subjects.Name{asked}}
	if e := f.Catalog.Of(&asked); e != nil {
		s.Name, s.Kind, s.names = e.Name, e.Kind, nil
		for _, listed := range append([]string{e.Name}, e.Aliases...) {
			s.names = append(s.names, subjects.ParseName(listed))
		}
		s.Aliases = slices.Clone(e.Aliases)
	}

	var err error
	if s.Mentions, err = f.mentions(s.names); err != nil {
		return nil, err
	}

	beside, several := s.readContexts()
	s.several = several
	added := false

	for _, other := range beside {
		alias := subjects.ParseName(other)
		own, err := f.belongsTo(&alias, s)
		if err != nil {
			return nil, err
		}
		if own {
			s.names, s.Aliases, added = append(s.names, alias), append(s.Aliases, other), true
		}
	}

	if added {
		s.Mentions, err = f.mentions(s.names)
	}

	return s, err
}

func (f *Finder) mentions(names []subjects.Name) (*index.Mentions, error) {
	return f.Index.About(f.Conn, f.Words, f.Collection, f.Base, names, f.Now)
}

// readContexts finds the kind of a subject in the contexts that name it, and returns the names that stand beside it
// there.
//
// A name that stands beside two names of one key is that of two subjects, and has no other names: several are those.
func (s *Subject) readContexts() (beside, several []string) {
	kinds, others := map[string]int{}, map[string]int{}
	byKey := map[string][]string{} // names that differ, by their path and key

	for i := range s.Memories {
		for k := range s.names {
			for _, place := range s.names[k].InContext(s.Memories[i].Context) {
				kinds[place.Kind]++
				for key, other := range place.Others {
					others[other]++

					// A robot keeps its id when it is renamed, so two names beside an id say nothing.
					if place.ByID() {
						continue
					}
					at := place.Path + " " + key
					if own := subjects.ParseName(other); !slices.ContainsFunc(byKey[at], func(known string) bool {
						n := subjects.ParseName(known)
						return n.Same(&own)
					}) {
						byKey[at] = append(byKey[at], other)
					}
				}
			}
		}
	}

	delete(kinds, "")
	if s.Kind == "" && len(kinds) > 0 {
		s.Kind = mostFrequent(kinds)[0]
	}

	for _, names := range byKey {
		if len(names) > 1 {
			return nil, mostFrequent(others)
		}
	}

	beside = mostFrequent(others)

	return beside[:min(len(beside), maxSubjectAliases)], nil
}

func mostFrequent(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
}

// belongsTo reports whether a name that stands beside one of the names never stands beside another one: the model of a
// robot is the name of none.
func (f *Finder) belongsTo(alias *subjects.Name, s *Subject) (bool, error) {
	found, err := f.mentions([]subjects.Name{*alias})
	if err != nil {
		return false, err
	}

	for i := range found.Memories {
		for _, place := range alias.InContext(found.Memories[i].Context) {
			for _, other := range place.Others {
				if !s.has(other) {
					return false, nil
				}
			}
		}
	}

	return true, nil
}

// has reports whether the subject has a name.
func (s *Subject) has(name string) bool {
	n := subjects.ParseName(name)
	return slices.ContainsFunc(s.names, func(own subjects.Name) bool { return own.Same(&n) })
}

// Notes are the remarks on an answer about a subject.
func (s *Subject) Notes() (notes []string) {
	if s.Set.None() {
		notes = append(notes, fmt.Sprintf("no memory names %q; about lists the subjects", s.Name))
	}
	if len(s.several) > 1 {
		notes = append(notes, fmt.Sprintf("%s is a name of %s; ask for one of these", s.Name, strings.Join(s.several, " and ")))
	}
	if s.cut > 0 {
		notes = append(notes, fmt.Sprintf("%d older facts without an outcome are not on this page", s.cut))
	}
	if s.Unread > 0 {
		notes = append(notes, fmt.Sprintf(
			"%d older memories that have these words were not compared with the name", s.Unread))
	}

	return notes
}

// NamedBy reports whether a memory names the subject.
func (s *Subject) NamedBy(m *robotmem.Memory) bool {
	return slices.ContainsFunc(s.names, func(n subjects.Name) bool { return n.Mentions(m.Content, m.Context) })
}

// Write sorts the memories of a subject into the parts of its page, each of so many lines.
func (s *Subject) Write(lines int, now time.Time, res *robotmem.AboutResponse) {
	res.Subject, res.Kind, res.Aliases = s.Name, s.Kind, s.Aliases
	if res.Memories = len(s.Memories); res.Memories == 0 {
		res.Notes = s.Notes()
		return
	}

	all := slices.Clone(s.Memories)
	slices.SortStableFunc(all, func(a, b robotmem.Memory) int { return b.ObservedAt.Compare(a.ObservedAt) })
	res.Last, res.First = &all[0].ObservedAt, &all[len(all)-1].ObservedAt
	res.Counts = map[string]int{}

	var rules, worked, failed, current []robotmem.Memory

	for i := range all {
		m := all[i]
		res.Counts[m.Outcome]++

		// What speaks to the model that reads the page is no rule.
		rule := (m.Category == "constraint" || m.Pinned) && !classify.AddressesReader(m.Content) && !record.Proposed(&m)

		switch {
		case rule:
			rules = append(rules, m)
		case m.Outcome == robotmem.OutcomeSuccess:
			worked = append(worked, m)
		case m.Outcome == robotmem.OutcomeFailure, m.Outcome == robotmem.OutcomePartial:
			failed = append(failed, m)
		case record.Derived(&m): // no value of its own
		case m.Type == "fact" && len(current) < maxCurrent:
			current = append(current, m)
		case m.Type == "fact":
			s.cut++
		}
	}

	// A fact that a later one replaces comes last and says so. It is not left out: the judgement may be wrong.
	outdated := recall.Outdated(current)
	for i := range current {
		if newer := outdated[current[i].MemoryID]; newer != 0 {
			current[i].Conflicts = []robotmem.ConflictWith{{MemoryID: newer, Reason: "a later value of the same", Newer: true}}
		}
	}
	slices.SortStableFunc(current, func(a, b robotmem.Memory) int {
		return cmp.Compare(len(a.Conflicts), len(b.Conflicts))
	})

	w := recall.NewWriter(all, now)
	res.Rules, res.Worked = pageLines(w, rules, lines), pageLines(w, worked, lines)
	res.Failed, res.Current = pageLines(w, failed, lines), pageLines(w, current, lines)
	res.LastSeen = s.lastSeen(all)
	res.Related = s.related()
	res.Notes = s.Notes()
}

// Suggest names the subjects whose names differ from one without memories only a little: WT-1 and WT-01.
func (f *Finder) Suggest(s *Subject, res *robotmem.AboutResponse) error {
	all, err := f.List()
	if err != nil {
		return err
	}

	var near []string
	for _, other := range all {
		if len(near) < maxNear && s.names[0].Near(other.Name) {
			near = append(near, other.Name)
		}
	}
	if len(near) > 0 {
		res.Notes = append(res.Notes, "did you mean "+strings.Join(near, ", ")+"?")
	}

	return nil
}

// pageLines writes the first lines of a part, one for memories that differ in their numbers alone.
func pageLines(w *recall.Writer, memories []robotmem.Memory, most int) (out []robotmem.AboutLine) {
	kept, groups := recall.Gather(memories)

	for i := range kept[:min(len(kept), most)] {
		m := &kept[i]
		line := robotmem.AboutLine{MemoryID: m.MemoryID, Line: w.Line(m, aboutLine)}

		if g, several := groups[m.MemoryID]; several {
			line.Line = g.Text + ", the newest: " + line.Line

			line.Alike = len(g.Memories)
			for _, other := range g.Memories[1:min(len(g.Memories), maxAlikeIDs+1)] {
				line.MemoryIDs = append(line.MemoryIDs, other.MemoryID)
			}
		}
		out = append(out, line)
	}

	return out
}

// lastSeen returns the place of the newest memory that has one. An object has a position of its own, beside that of
// the robot.
func (s *Subject) lastSeen(newestFirst []robotmem.Memory) *robotmem.LastSeen {
	fields := []string{"spatial.position", "spatial.pose.position", "spatial.object_position", "spatial"}
	if s.Kind == subjects.Object {
		fields = []string{"spatial.object_position", "spatial.position", "spatial.pose.position", "spatial"}
	}

	for i := range newestFirst {
		m := &newestFirst[i]
		seen := &robotmem.LastSeen{MemoryID: m.MemoryID, MapID: record.MapOf(m.Context), ObservedAt: m.ObservedAt}

		for _, field := range fields {
			v, _ := m.Context.At(field)
			if at, _ := robotmem.Coordinates(v); at != nil {
				seen.Field, seen.Position = field, at
				break
			}
		}

		for _, named := range subjects.NamedIn(m.Context) {
			if named.Kind == subjects.Place && named.Name != seen.MapID && !s.has(named.Name) {
				seen.Place = named.Name
				break
			}
		}

		if seen.Position != nil || seen.Place != "" || seen.MapID != "" {
			return seen
		}
	}

	return nil
}

// related counts the other subjects that the contexts of the memories name.
func (s *Subject) related() (out []robotmem.SubjectCount) {
	counts := map[subjects.Named]int64{}

	for i := range s.Memories {
		for _, named := range subjects.NamedIn(s.Memories[i].Context) {
			if !s.has(named.Name) {
				counts[named]++
			}
		}
	}

	out = countsOf(counts)

	return out[:min(len(out), maxRelated)]
}

func countsOf(counts map[subjects.Named]int64) (out []robotmem.SubjectCount) {
	for named, memories := range counts {
		out = append(out, robotmem.SubjectCount{Name: named.Name, Kind: named.Kind, Memories: memories})
	}
	slices.SortFunc(out, func(a, b robotmem.SubjectCount) int {
		return cmp.Or(cmp.Compare(b.Memories, a.Memories), strings.Compare(a.Name, b.Name), strings.Compare(a.Kind, b.Kind))
	})

	return out
}

const (
	maxSubjects     = 200
	maxSubjectPaths = 200 // context paths whose values are listed
)

// List returns the subjects that contexts name, and those of the file of entities.
func (f *Finder) List() ([]robotmem.SubjectCount, error) {
	asked := index.PathsAsked{
		Wanted: func(path string) bool { return subjects.KindOfPath(path) != "" }, Limit: maxSubjectPaths,
	}
	paths, _, err := f.Index.Columns.ContextPaths(f.Conn, f.Base, asked)
	if err != nil {
		return nil, err
	}

	counts := map[subjects.Named]int64{}
	listed := map[string]bool{}

	for i := range paths {
		values, err := f.Index.Columns.PathValues(f.Conn, &paths[i], f.Base)
		if err != nil {
			return nil, err
		}

		for _, v := range values {
			named, ok := subjects.NameAt(paths[i].Path, v.Value)
			if !ok {
				continue
			}

			name := subjects.ParseName(named.Name)
			if e := f.Catalog.Of(&name); e != nil {
				named = subjects.Named{Name: e.Name, Kind: cmp.Or(e.Kind, named.Kind)}
				listed[e.Name] = true
			}
			counts[named] += v.Memories
		}
	}

	out := countsOf(counts)

	for _, e := range f.Catalog.Entities {
		if !listed[e.Name] {
			out = append(out, robotmem.SubjectCount{Name: e.Name, Kind: e.Kind})
		}
	}

	return out[:min(len(out), maxSubjects)], nil
}
