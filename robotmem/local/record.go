package local

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"hash/fnv"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/robotmem/robotmem-go/classify"
	"github.com/robotmem/robotmem-go/consolidate"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// record is a memory on its way into the file: everything that can be worked
// out before the transaction, so that the writer only writes.
type record struct {
	kind       string // "fact" or "perception"
	content    string
	summary    string
	context    robotmem.Object
	contextRaw string // as stored
	canonical  string // for comparing
	collection string // "" until the session is known
	session    string
	source     string
	robot      string // that the context names, else the session's
	observed   *time.Time
	inferred   classify.Result
	userTags   []string
	pinned     bool
	pinAsked   bool // pinned is the caller's wish, not the category's
	statement  consolidate.Statement
	signature  signature // of a fact
	attrs      []filter.Attribute
	places     []filter.Place

	ftsContent, ftsSummary, ftsFiles, ftsEntities string

	perception *perceptionRecord // nil for a fact
}

const (
	maxSummary   = 300 // characters
	defaultDecay = 0.01
)

// builder prepares records by the rules of a taxonomy.
type builder struct{ rules *classify.Rules }

// prepare is recordFor what a caller gives: a context that cannot be right is
// refused. What is stored already is past that.
func (b *builder) prepare(kind, content string, context robotmem.Object) (*record, error) {
	r, err := b.recordFor(kind, content, context)
	if err != nil {
		return nil, err
	}
	return r, checkPose(r.context)
}

// recordFor classifies and segments a text and flattens its context.
func (b *builder) recordFor(kind, content string, context robotmem.Object) (*record, error) {
	r := &record{kind: kind, content: content}
	var err error
	if r.context, r.contextRaw, err = context.Normalize("context", robotmem.MaxContext); err != nil {
		return nil, err
	}
	if r.canonical, err = r.context.Canonical(r.contextRaw); err != nil {
		return nil, err
	}
	contextLen := len(r.contextRaw)
	r.inferred = b.rules.Classify(content, contextLen)
	r.summary = summarize(content)
	r.pinned = consolidate.Protected(r.inferred.Category)
	terms := text.Terms(content)
	if kind == "fact" {
		r.statement = statementOf(content)
		r.signature = signatureOf(r.statement)
	}
	r.attrs, r.places = filter.Flatten(r.context)
	r.ftsContent = strings.Join(terms, " ")
	r.ftsFiles = text.Index(strings.Join(r.inferred.ScopeFiles, " "))
	r.ftsEntities = text.Index(strings.Join(r.inferred.ScopeEntities, " "))
	return r, nil
}

// recordOf prepares a stored memory again, as its indexes hold it.
func (b *builder) recordOf(m *robotmem.Memory) (*record, error) {
	rec, err := b.recordFor(m.Type, m.Content, m.Context)
	if err != nil {
		return nil, err
	}
	rec.collection, rec.session, rec.pinned, rec.userTags = m.Collection, m.SessionID, m.Pinned, m.UserTags
	if hasOwnSummary(m) {
		rec.summary = m.Summary
		rec.ftsSummary = text.Index(m.Summary)
	}
	return rec, nil
}

// hasOwnSummary reports whether a summary was made from a payload, and not
// from the text.
func hasOwnSummary(m *robotmem.Memory) bool {
	return m.Type == "perception" && m.Summary != summarize(m.Content)
}

// summarize is the first 300 characters on one line.
func summarize(s string) string {
	line := strings.Join(strings.FieldsFunc(s, unicode.IsSpace), " ")
	return text.Clip(line, maxSummary-1)
}

func (r *record) decayRate() float64 { return decayOf(r.inferred.Category, r.pinned) }

// decayOf is how much of its confidence a memory loses in a day.
func decayOf(category string, pinned bool) float64 {
	if pinned || !consolidate.Fades(category) {
		return 0
	}
	return defaultDecay
}

// hash is equal for records of one collection with the same text and context.
func (r *record) hash() []byte {
	h := sha256.New()
	for _, s := range []string{r.kind, r.collection, r.canonical, r.content} {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	return h.Sum(nil)[:16]
}

// groupKey is equal for records that may be duplicates or contradictions.
func (r *record) groupKey() int64 { return hash64(r.collection, r.canonical) }

func hash64(parts ...string) int64 {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = h.Write([]byte(p)) // never fails
		_, _ = h.Write([]byte{0})
	}
	return int64(h.Sum64())
}

// statementOf prepares a text for comparison. Numbers with units are compared in
// the canonical unit.
func statementOf(s string) consolidate.Statement {
	st := consolidate.Statement{Negated: text.Negations(s) > 0, Quantities: marks(s)}
	units := map[string]bool{}
	for _, q := range text.Quantities(s) {
		q = q.Base()
		st.Quantities = append(st.Quantities, consolidate.Quantity{Name: q.Name, Value: q.Value, Unit: q.Unit})
		if q.Unit != "" {
			units[strings.ToLower(q.Unit)] = true
		}
	}
	for _, t := range text.BaseTerms(s) {
		if text.Stop(t) {
			continue
		}
		st.Negated = st.Negated || failing[t]
		stem := text.Stem(t)
		st.Terms = append(st.Terms, stem)
		if !units[t] && !strings.ContainsAny(t, "0123456789") && text.Negations(t) == 0 {
			st.Words = append(st.Words, stem)
		}
	}
	st.Terms, st.Words = distinct(st.Terms), distinct(st.Words)
	return st
}

// distinct sorts a list and drops repetitions, in place.
func distinct[T cmp.Ordered](s []T) []T {
	slices.Sort(s)
	return slices.Compact(s)
}

// outcomeOf is task.success as text: "true", "false", or "" if it is neither.
func outcomeOf(context robotmem.Object) string {
	v, _ := context.At("task.success")
	switch v {
	case true:
		return "true"
	case false:
		return "false"
	}
	return ""
}

func (r *record) infer() robotmem.Inferred {
	return robotmem.Inferred{
		Category: r.inferred.Category, Confidence: r.inferred.Confidence, Tags: orEmpty(r.tags()),
		ScopeFiles: orEmpty(r.inferred.ScopeFiles), ScopeEntities: orEmpty(r.inferred.ScopeEntities),
	}
}

func (r *record) tags() []string {
	return distinct(slices.Concat(r.inferred.Tags, r.userTags))
}

// orEmpty makes a missing list an empty one, which JSON writes as [].
func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
