// Package local opens a memory in a file.
package local

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/budget"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/keys"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
)

// Durability is the kind of failure that an acknowledged write survives.
type Durability string

// CheckEntities fails with Invalid if a file of entities, as Options.Entities takes it, is faulty.
func CheckEntities(data []byte) error { return engine.CheckEntities(data) }

const (
	// DurabilityFull: a power loss. Every commit is synced to the disk.
	DurabilityFull Durability = "full"
	// DurabilityNormal: a crash of the process. A power loss may lose the last commits
	// but does not damage the file.
	DurabilityNormal Durability = "normal"
)

// DefaultBusyTimeout is how long a node waits for another process's lock.
const DefaultBusyTimeout = 5 * time.Second

// Options configure a Node. The zero value works.
type Options struct {
	ReadOnly    bool              // nothing is written, and what would write fails with Unavailable
	Create      bool              // begin a memory in a file of no bytes, which is refused otherwise
	Taxonomy    []byte            // rules as YAML; the embedded ones if nil
	Entities    []byte            // robots, objects, places, parts and people with their other names, as TOML; none if empty
	Secrets     string            // what is done about keys and tokens in texts: warn (if empty), mask, refuse or off
	Durability  Durability        // DurabilityFull if empty
	BusyTimeout time.Duration     // how long to wait for another process's lock; DefaultBusyTimeout if zero
	MaxPayload  int64             // bytes of one payload within a request; 32 MiB if zero
	MaxStream   int64             // bytes of one payload that is streamed or read from a path; 4 GiB if zero
	AllowPaths  []string          // folders that save_perception may read files from; none if empty
	ClientType  string            // stored with sessions; "library" if empty
	Embedder    robotmem.Embedder // for recall by meaning; none if nil. The node does not close it
	Reranker    robotmem.Reranker // orders the first hits of a recall; none if nil. The node does not close it
	// Weights are the weights of the ranked lists in the fusion: "bm25", "vector",
	// "place" and "likeness", of "evidence" and of "neighbours", each 0 or more. The default
	// is 1, for neighbours 0.1, and with Fusion "rrf" for vector 0.1 to 1 depending on the
	// similarity of the nearest memory.
	Weights map[string]float64
	// Fusion "rrf" fuses words and vectors as lists of ranks; "score" or "" combines their scores.
	Fusion string
	// Memory bounds what the node keeps in memory: its indexes with the caches, and the page
	// caches of SQLite. The indexes take what they need; the caches become smaller and recall
	// slower. At least 16 MiB; what suits the machine if zero.
	Memory Memory
	// RealWeight is the factor for memories observed in the real world (env.sim_or_real
	// = "real"); 1.5 if zero.
	RealWeight float64
	Retention  admin.Retention  // budgets that the node enforces; none if zero
	Clock      func() time.Time // time.Now if nil
	Location   *time.Location   // time zone of "yesterday" in a query; time.Local if nil
	Logger     *slog.Logger     // silent if nil
	// ModelUse returns what language models have taken on this machine, for Stats; nil if none is used.
	ModelUse func() (*admin.LanguageModelUse, error)
	// Key opens an encrypted memory, and encrypts a file that does not exist yet: the line that begins with
	// AGE-SECRET-KEY-, as age-keygen writes it. It is that of [WithKey] if empty.
	Key string
	// Escrow are public keys, which begin with age1, that open a file with Key that does not exist yet, too.
	Escrow []string

	onDisk //nolint:unused // for disk.Choose
}

// onDisk lets tests of this module replace the disk of the computer.
type onDisk = disk.Choice //nolint:unused // see Options

// Memory is a budget of memory in bytes.
type Memory int64

// Part returns the size, in any unit, of a cache that has the size full in a large budget.
func (m Memory) Part(full int64) int64 { return budget.Memory(m).Part(full) }

// PageCaches returns how many bytes the page caches of a file take.
func (m Memory) PageCaches() int64 { return budget.Memory(m).PageCaches() }

// AddressSpace returns the limit of the address space in bytes, 0 without one, and how much
// a node needs.
func AddressSpace() (limit, need int64) { return budget.AddressSpace() }

// OSUser is the name of the user that runs this program.
func OSUser() string { return store.OSUser() }

// Open opens the memory file at path. It creates the file and its folder if they are absent. It
// fails with Corrupt if the file is damaged, empty or another program's, Conflict if a newer
// robotmem wrote it, Unavailable if it cannot be opened, Invalid if an option is wrong.
func Open(ctx context.Context, path string, o Options) (*Node, error) {
	filled, err := o.filled()
	if err != nil {
		return nil, robotmem.Wrap("open", err)
	}

	file := sqlite.Options{
		ReadOnly: o.ReadOnly, Create: o.Create, Normal: o.Durability == DurabilityNormal, BusyTimeout: o.BusyTimeout,
		Memory: filled.Memory, Disk: filled.Disk, Log: filled.Logger, Escrow: o.Escrow,
	}
	if ctx, err = WithKey(ctx, o.Key); err != nil {
		return nil, robotmem.Wrap("open", err)
	}

	e, err := engine.Open(ctx, *filled, func(s *store.Store, _ *engine.Options, records func() *record.Builder) (store.Database, error) {
		return sqlite.OpenStore(ctx, path, file, s, records)
	})
	if err != nil {
		return nil, err
	}

	return engine.Hold(new(Node), e), nil
}

// WithKey carries the key of encrypted memories to the calls of this module that open a file, such as a backup. Without a
// text it returns ctx. It fails with Invalid if the text is not a key.
func WithKey(ctx context.Context, text string) (context.Context, error) {
	if text == "" {
		return ctx, nil
	}

	id, err := keys.Parse(text)
	if err != nil {
		return nil, err
	}

	return keys.With(ctx, id), nil
}

// NewKey returns a random key for an encrypted memory, and the public key of it.
func NewKey() (text, public string, err error) { return keys.New() }

// PublicKey returns the public key of a key. It fails with Invalid if the text is not a key.
func PublicKey(text string) (string, error) {
	id, err := keys.Parse(text)
	if err != nil {
		return "", err
	}
	return id.Public(), nil
}

// IsSealed reports whether a file with these first bytes was encrypted by [Node.Seal], or another program of age.
func IsSealed(head []byte) bool { return keys.Encrypted(head) }

// Unseal decrypts a stream with the key of ctx. It fails with Invalid if there is none or another is needed. Changed
// bytes fail the read that reaches them.
func Unseal(ctx context.Context, r io.Reader) (io.Reader, error) { return keys.Open(ctx, r) }

// Check fails with Invalid if an option is wrong.
func (o Options) Check() error {
	_, err := o.filled()
	return robotmem.Wrap("open", err)
}

// filled checks the options, fills in the defaults of the file, and returns the options of the engine with theirs.
func (o *Options) filled() (*engine.Options, error) {
	o.BusyTimeout, o.Durability = cmp.Or(o.BusyTimeout, DefaultBusyTimeout), cmp.Or(o.Durability, DurabilityFull)
	if o.Durability != DurabilityFull && o.Durability != DurabilityNormal {
		return nil, robotmem.Errorf(robotmem.Invalid, "durability", "must be full or normal, not %q",
			string(o.Durability))
	}

	e := engine.OptionsOf(o)

	return &e, e.Complete()
}
