// Package record prepares memories for storage: it classifies a text, encodes its
// context, and computes signatures, features and index terms.
package record

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"regexp"
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

// Row is a row of the memories table.
type Row struct {
	robotmem.Memory                     // Confidence is the stored value, without decay
	By              robotmem.Provenance // Memory.Provenance points to it if it is not empty
	RawContext      string              // JSON, as stored
	RawMetadata     string
	ValidFrom       time.Time // start of the current version
	Revision        int64     // of the last change
	Hash            []byte    // see Record.ContentHash
	AutoTags        []string  // those of the rules
	Used            consolidate.Record
}

// Record is a memory with everything that is computed before its transaction, so
// that the transaction only writes. Collection is empty until the session is read.
// A zero ObservedAt means now.
type Record struct {
	Row
	Canonical  string // canonical JSON of the context, for comparison
	PinAsked   bool   // the caller set pinned; otherwise the category determines it
	Statement  consolidate.Statement
	Signature  Signature         // only of a fact
	Unread     []string          // values at paths of outcomes that cannot be read
	Remarks    []string          // parameters that are texts and look like quantities
	Perception *PerceptionRecord // nil for a fact
	Call       Call              // that stores it
	Supersedes int64             // the memory that it replaces, 0 for none

	contradiction error // two paths of the context state opposite outcomes
}

const maxSummary = 300 // characters

// Builder prepares records with the rules of a taxonomy.
type Builder struct {
	Rules *classify.Rules
	// Secrets is what is done about keys, tokens and passwords in a new text: SecretsWarn and so on; warn if empty.
	Secrets string
}

// Prepare is RecordFor for a new memory. It also refuses an invalid pose and a context
// that contradicts itself, which RecordFor accepts in stored memories.
func (b *Builder) Prepare(kind, content string, context robotmem.Object) (*Record, error) {
	content, context, remarks, err := b.guard(kind, content, context)
	if err != nil {
		return nil, err
	}
	r, err := b.RecordFor(kind, content, context)
	if err != nil {
		return nil, err
	}
	if r.contradiction != nil {
		return nil, r.contradiction
	}

	r.Remarks = append(remarks, misspelt(r.Context)...)

	return r, checkPose(r.Context)
}

// PrepareText is Prepare for a new text of a memory whose context is stored already.
func (b *Builder) PrepareText(kind, content string, context robotmem.Object) (*Record, error) {
	content, _, remarks, err := b.guard(kind, content, nil)
	if err != nil {
		return nil, err
	}
	r, err := b.RecordFor(kind, content, context)
	if err == nil {
		r.Remarks = remarks
	}

	return r, err
}

// thousands is a comma between groups of three digits, which means no decimal.
var thousands = regexp.MustCompile(`,\d{3}(\D|$)`)

// misspelt names the parameters whose text is a quantity with a decimal comma. It is stored as it is, a text, and no
// filter by quantities finds it.
func misspelt(context robotmem.Object) (out []string) {
	params, ok := context["params"].(map[string]any)
	if !ok {
		return nil
	}

	filter.Walk(params, func(path string, v any, _, _ string) {
		text, isText := v.(string)
		if !isText || len(text) > maxUnread || !strings.Contains(text, ",") || thousands.MatchString(text) {
			return
		}
		if meant := filter.MeantBy(text); meant != "" {
			out = append(out, fmt.Sprintf("params.%s: %q is a text and no quantity%s", path, text, meant))
		}
	})
	slices.Sort(out)

	return out
}

// documentConfidence is that of a passage of a document: it says what the document says.
const documentConfidence = 0.9

// RecordFor classifies and segments a text and encodes its context.
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

	// What a manual demands is no rule that the robot has learnt, and what it tells of is no attempt.
	if kind == robotmem.TypeDocument {
		r.Category, r.Confidence = robotmem.TypeDocument, documentConfidence
		return r, nil
	}

	r.Pinned = consolidate.Protected(r.Category)
	b.setOutcome(r, statedIn(inferred))
	if kind == "fact" {
		r.Statement = StatementOf(content)
		r.Signature = SignatureOf(r.Statement)
	}

	return r, nil
}

// RecordOf prepares a stored memory again, for its index entries.
func (b *Builder) RecordOf(m *robotmem.Memory) (*Record, error) {
	rec, err := b.RecordFor(m.Type, m.Content, m.Context)
	if err != nil {
		return nil, err
	}
	rec.Collection, rec.SessionID, rec.Pinned, rec.UserTags = m.Collection, m.SessionID, m.Pinned, m.UserTags
	if HasOwnSummary(m) {
		rec.Summary = m.Summary
	}

	return rec, nil
}

// HasOwnSummary reports whether the summary was made from the payload, or from the headings of a document, and not from
// the text.
func HasOwnSummary(m *robotmem.Memory) bool { return ownSummary(m.Type, m.Content, m.Summary) }

func ownSummary(kind, content, summary string) bool {
	return kind != "fact" && summary != Summarize(content)
}

// Words returns the search terms of a memory: of its text, its own summary, the files
// and the entities that it names.
func Words(kind, content, summary string, files, entities []string) (words [4][]string) {
	words[0] = text.Terms(content)
	if ownSummary(kind, content, summary) {
		words[1] = text.Terms(summary)
	}
	words[2], words[3] = text.Terms(strings.Join(files, " ")), text.Terms(strings.Join(entities, " "))
	return words
}

// Summarize returns the first 300 characters on one line.
func Summarize(s string) string {
	line := strings.Join(strings.FieldsFunc(s, unicode.IsSpace), " ")
	return robotmem.Clip(line, maxSummary-1)
}

// ContentHash is equal for two records if type, collection, context and text are equal.
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

// GroupKey is equal for records of the same collection and context. Only these can be
// duplicates or contradict each other.
func (r *Record) GroupKey() int64 { return Hash64(r.Collection, r.Canonical) }

// GroupKey is the GroupKey of the record that the row was made from.
func (r *Row) GroupKey() (int64, error) {
	canonical, err := robotmem.ParseObject(r.RawContext).Canonical(r.RawContext)
	return Hash64(r.Collection, canonical), err
}

// Hash64 returns the FNV-1a hash of texts, with separators between them.
func Hash64(parts ...string) int64 {
	h := fnv.New64a()
	for _, p := range parts {
		// A hash accepts every write.
		_, _ = h.Write([]byte(p))
		_, _ = h.Write([]byte{0})
	}

	return int64(h.Sum64())
}

// Distinct sorts a list in place and removes repetitions.
func Distinct[T cmp.Ordered](s []T) []T {
	slices.Sort(s)
	return slices.Compact(s)
}

// Inferred returns the results of the classification, for the response.
func (r *Record) Inferred() robotmem.Inferred {
	return robotmem.Inferred{
		Category: r.Category, Outcome: cmp.Or(r.Outcome, robotmem.OutcomeUnknown), Confidence: r.Confidence, Tags: r.AllTags(),
		ScopeFiles: OrEmpty(r.ScopeFiles), ScopeEntities: OrEmpty(r.ScopeEntity),
	}
}

// AllTags returns the tags of the rules and of the caller, sorted; never nil.
func (r *Row) AllTags() []string { return OrEmpty(Distinct(slices.Concat(r.AutoTags, r.UserTags))) }

// OrEmpty returns an empty list for nil, because JSON encodes nil as null.
func OrEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
