package record

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

// Record is a memory on its way into the file: everything that can be worked
// out before the transaction, so that the writer only writes.
type Record struct {
	Kind       string // "fact" or "perception"
	Content    string
	Summary    string
	Context    robotmem.Object
	ContextRaw string // as stored
	Canonical  string // for comparing
	Collection string // "" until the session is known
	Session    string
	Source     string
	Robot      string // that the context names, else the session's
	Observed   *time.Time
	Inferred   classify.Result
	UserTags   []string
	Pinned     bool
	PinAsked   bool // pinned is the caller's wish, not the category's
	Statement  consolidate.Statement
	Signature  Signature // of a fact
	Attrs      []filter.Attribute
	Places     []filter.Place

	FtsContent, FtsSummary, FtsFiles, FtsEntities string

	Perception *PerceptionRecord // nil for a fact
}

const (
	maxSummary   = 300 // characters
	DefaultDecay = 0.01
)

// Builder prepares records by the rules of a taxonomy.
type Builder struct{ Rules *classify.Rules }

// Prepare is RecordFor what a caller gives: a context that cannot be right is
// refused. What is stored already is past that.
func (b *Builder) Prepare(kind, content string, context robotmem.Object) (*Record, error) {
	r, err := b.RecordFor(kind, content, context)
	if err != nil {
		return nil, err
	}
	return r, checkPose(r.Context)
}

// RecordFor classifies and segments a text and flattens its context.
func (b *Builder) RecordFor(kind, content string, context robotmem.Object) (*Record, error) {
	r := &Record{Kind: kind, Content: content}
	var err error
	if r.Context, r.ContextRaw, err = context.Normalize("context", robotmem.MaxContext); err != nil {
		return nil, err
	}
	if r.Canonical, err = r.Context.Canonical(r.ContextRaw); err != nil {
		return nil, err
	}
	contextLen := len(r.ContextRaw)
	r.Inferred = b.Rules.Classify(content, contextLen)
	r.Summary = Summarize(content)
	r.Pinned = consolidate.Protected(r.Inferred.Category)
	terms := text.Terms(content)
	if kind == "fact" {
		r.Statement = StatementOf(content)
		r.Signature = SignatureOf(r.Statement)
	}
	r.Attrs, r.Places = filter.Flatten(r.Context)
	r.FtsContent = strings.Join(terms, " ")
	r.FtsFiles = text.Index(strings.Join(r.Inferred.ScopeFiles, " "))
	r.FtsEntities = text.Index(strings.Join(r.Inferred.ScopeEntities, " "))
	return r, nil
}

// RecordOf prepares a stored memory again, as its indexes hold it.
func (b *Builder) RecordOf(m *robotmem.Memory) (*Record, error) {
	rec, err := b.RecordFor(m.Type, m.Content, m.Context)
	if err != nil {
		return nil, err
	}
	rec.Collection, rec.Session, rec.Pinned, rec.UserTags = m.Collection, m.SessionID, m.Pinned, m.UserTags
	if HasOwnSummary(m) {
		rec.Summary = m.Summary
		rec.FtsSummary = text.Index(m.Summary)
	}
	return rec, nil
}

// HasOwnSummary reports whether a summary was made from a payload, and not
// from the text.
func HasOwnSummary(m *robotmem.Memory) bool {
	return m.Type == "perception" && m.Summary != Summarize(m.Content)
}

// Summarize is the first 300 characters on one line.
func Summarize(s string) string {
	line := strings.Join(strings.FieldsFunc(s, unicode.IsSpace), " ")
	return text.Clip(line, maxSummary-1)
}

func (r *Record) DecayRate() float64 { return DecayOf(r.Inferred.Category, r.Pinned) }

// DecayOf is how much of its confidence a memory loses in a day.
func DecayOf(category string, pinned bool) float64 {
	if pinned || !consolidate.Fades(category) {
		return 0
	}
	return DefaultDecay
}

// Hash is equal for records of one collection with the same text and context.
func (r *Record) Hash() []byte {
	h := sha256.New()
	for _, s := range []string{r.Kind, r.Collection, r.Canonical, r.Content} {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	return h.Sum(nil)[:16]
}

// GroupKey is equal for records that may be duplicates or contradictions.
func (r *Record) GroupKey() int64 { return Hash64(r.Collection, r.Canonical) }

func Hash64(parts ...string) int64 {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = h.Write([]byte(p)) // never fails
		_, _ = h.Write([]byte{0})
	}
	return int64(h.Sum64())
}

// Distinct sorts a list and drops repetitions, in place.
func Distinct[T cmp.Ordered](s []T) []T {
	slices.Sort(s)
	return slices.Compact(s)
}

// OutcomeOf is task.success as text: "true", "false", or "" if it is neither.
func OutcomeOf(context robotmem.Object) string {
	v, _ := context.At("task.success")
	switch v {
	case true:
		return "true"
	case false:
		return "false"
	}
	return ""
}

func (r *Record) Infer() robotmem.Inferred {
	return robotmem.Inferred{
		Category: r.Inferred.Category, Confidence: r.Inferred.Confidence, Tags: OrEmpty(r.Tags()),
		ScopeFiles: OrEmpty(r.Inferred.ScopeFiles), ScopeEntities: OrEmpty(r.Inferred.ScopeEntities),
	}
}

func (r *Record) Tags() []string {
	return Distinct(slices.Concat(r.Inferred.Tags, r.UserTags))
}

// OrEmpty makes a missing list an empty one, which JSON writes as [].
func OrEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
