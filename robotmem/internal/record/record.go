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

// Row is a row of the table of memories.
type Row struct {
	robotmem.Memory                     // Confidence is as stored, before any fading
	By              robotmem.Provenance // Memory.Provenance, before it is known to be there
	RawContext      string              // JSON, as stored
	RawMetadata     string
	ValidFrom       time.Time // when the present state began
	Revision        int64     // of the last change
	Hash            []byte    // see Record.ContentHash
}

// Record is a memory on its way into the file: everything that can be worked out
// before the transaction, so that the writer only writes. Its collection is empty
// until its session is known, ObservedAt is zero for now.
type Record struct {
	Row
	Canonical  string // the context, for comparing
	PinAsked   bool   // pinned is the caller's wish, not the category's
	AutoTags   []string
	Statement  consolidate.Statement
	Signature  Signature // of a fact
	Attrs      []filter.Attribute
	Places     []filter.Place
	Perception *PerceptionRecord // nil for a fact

	FtsContent, FtsSummary, FtsFiles, FtsEntities string
}

const maxSummary = 300 // characters

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
	r := &Record{}
	r.Type, r.Content, r.Summary = kind, content, Summarize(content)
	r.Status, r.Version, r.Sightings = "active", 1, 1
	var err error
	if r.Context, r.RawContext, err = context.Normalize("context", robotmem.MaxContext); err != nil {
		return nil, err
	}
	if r.Canonical, err = r.Context.Canonical(r.RawContext); err != nil {
		return nil, err
	}
	inferred := b.Rules.Classify(content, len(r.RawContext))
	r.Category, r.Confidence, r.AutoTags = inferred.Category, inferred.Confidence, inferred.Tags
	r.ScopeFiles, r.ScopeEntity = inferred.ScopeFiles, inferred.ScopeEntities
	r.Pinned = consolidate.Protected(r.Category)
	if kind == "fact" {
		r.Statement = StatementOf(content)
		r.Signature = SignatureOf(r.Statement)
	}
	r.Attrs, r.Places = filter.Flatten(r.Context)
	r.FtsContent = text.Index(content)
	r.FtsFiles = text.Index(strings.Join(r.ScopeFiles, " "))
	r.FtsEntities = text.Index(strings.Join(r.ScopeEntity, " "))
	return r, nil
}

// RecordOf prepares a stored memory again, as its indexes hold it.
func (b *Builder) RecordOf(m *robotmem.Memory) (*Record, error) {
	rec, err := b.RecordFor(m.Type, m.Content, m.Context)
	if err != nil {
		return nil, err
	}
	rec.Collection, rec.SessionID, rec.Pinned, rec.UserTags = m.Collection, m.SessionID, m.Pinned, m.UserTags
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

// ContentHash is equal for records of one collection with the same text and context.
func (r *Record) ContentHash() []byte {
	h := sha256.New()
	for _, s := range []string{r.Type, r.Collection, r.Canonical, r.Content} {
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

// Inferred is what the rules made of the text, for the answer to a caller.
func (r *Record) Inferred() robotmem.Inferred {
	return robotmem.Inferred{
		Category: r.Category, Confidence: r.Confidence, Tags: OrEmpty(r.AllTags()),
		ScopeFiles: OrEmpty(r.ScopeFiles), ScopeEntities: OrEmpty(r.ScopeEntity),
	}
}

// AllTags are those of the rules and of the caller, sorted.
func (r *Record) AllTags() []string { return Distinct(slices.Concat(r.AutoTags, r.UserTags)) }

// OrEmpty makes a missing list an empty one, which JSON writes as [].
func OrEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
