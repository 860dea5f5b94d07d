package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/checked"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// Sync compares the records that another memory sends again and again.
type Sync interface {
	// Decide decides what becomes of a record. v is the decision by the times of the last change. known is the state
	// of the memory on the node, nil if the node does not have it.
	Decide(tx *store.Tx, a *store.ImportRecord, known *store.Archived, v store.Decision) (store.Decision, error)
	// Stored is called for each record that was decided, with the id of its memory, 0 if the node has none.
	Stored(tx *store.Tx, a *store.ImportRecord, id int64, v store.Decision) error
}

// Import stores the records of a source. Memories are identified by their uid. A memory that the
// node does not have is stored under its uid. For one that it has, the state that changed last
// becomes the present one and the other a past one. Importing the same source twice stores
// nothing twice. Each part is checked and then stored in one transaction with its payloads, so
// that what an interrupted or damaged import has stored is valid and another run continues it.
// Import fails with Corrupt when the source is damaged, with Invalid when it is not an archive or
// holds an invalid record, and with TooLarge and Conflict as the source does.
func (n *Engine) Import(
	ctx context.Context, src archive.Source, o archive.ImportOptions,
) (*archive.ImportReport, error) {
	return n.receive(ctx, src, o, nil)
}

// Receive is Import of what another memory sends again and again. sync decides instead of the times of the
// last change. A Receive is not logged, and cannot be a dry run.
func (n *Engine) Receive(
	ctx context.Context, src archive.Source, o archive.ImportOptions, sync Sync,
) (*archive.ImportReport, error) {
	return n.receive(ctx, src, o, sync)
}

// receive imports an archive if sync is nil, else what another memory sends.
func (n *Engine) receive(
	ctx context.Context, src archive.Source, o archive.ImportOptions, sync Sync,
) (*archive.ImportReport, error) {
	ctx = n.Store.As(ctx, robotmem.ToolImport)
	in := &importing{node: n, o: o, sync: sync, report: &archive.ImportReport{}}
	err := in.run(ctx, src)
	if !o.DryRun && sync == nil {
		err = errors.Join(err, in.audit(ctx, err != nil))
	}
	changed := in.report.Memories.Created + in.report.Memories.Updated
	if changed+in.report.Payloads.Stored > 0 && !o.DryRun {
		n.maintenance.NotifyFeatures()
	}
	if err != nil {
		return in.report, robotmem.Wrap("import", sourceError(err))
	}

	return in.report, nil
}

// audit logs what an import has stored, also for an interrupted one. An import that
// stored nothing is not logged.
func (in *importing) audit(ctx context.Context, interrupted bool) error {
	r := in.report
	if r.Memories.Created+r.Memories.Updated+r.Sessions.Created+r.Sessions.Updated+r.Payloads.Stored == 0 {
		return nil
	}
	reason := fmt.Sprintf("memories: %d new, %d brought up to date; episodes: %d new, %d brought up to date; payloads: %d",
		r.Memories.Created, r.Memories.Updated, r.Sessions.Created, r.Sessions.Updated, r.Payloads.Stored)
	if interrupted {
		reason += "; it did not come to its end"
	}
	// A canceled import keeps what it has stored, so the entry is written despite the cancellation.
	return in.node.Store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		return tx.Audit(admin.AuditEntry{Action: store.ActionImported, Collection: in.o.Collection, Reason: reason})
	})
}

// sourceKinds are the kinds of the errors of package archive, which have none of their own.
var sourceKinds = map[error]robotmem.Kind{
	archive.ErrDamaged: robotmem.Corrupt,
	archive.ErrFormat:  robotmem.Invalid,
	archive.ErrLimit:   robotmem.TooLarge,
	archive.ErrNewer:   robotmem.Conflict,
}

// sourceError gives an error of a source its kind. It returns any other error as it is.
func sourceError(err error) error {
	for class, kind := range sourceKinds {
		if errors.Is(err, class) {
			return &robotmem.Error{Kind: kind, Field: "file", Err: err}
		}
	}
	return err
}

// importing is the state of one Import call.
type importing struct {
	node   *Engine
	o      archive.ImportOptions
	sync   Sync // nil for an archive
	report *archive.ImportReport
	part   *importPart
}

// importPart is a group of memories that are stored in one transaction, with their payloads.
type importPart struct {
	records []*store.ImportRecord

	// The payloads of the part, by their SHA-256.
	wanted   map[string]*store.ImportRecord // those that the node needs, with a record that names each
	payloads map[string]*payload.Written    // those that the source had and that were written
	known    map[string]bool                // those that the node has already
	missing  map[string]bool                // those that neither the node nor the source has

	unnamed []*payload.Written // written, but of no stored memory
}

func (in *importing) run(ctx context.Context, src archive.Source) (err error) {
	defer func() {
		if err != nil {
			in.dropPart(ctx)
		}
	}()

	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		entry, err := src.Next()
		if err != nil && err != io.EOF {
			return err
		}

		// The payloads of a part follow its memories. Any other entry, or the end, shows that the part is complete.
		if err == io.EOF || entry.Payload == nil {
			if err := in.flush(ctx); err != nil {
				return err
			}
		}

		switch {
		case err == io.EOF:
			return nil
		case entry.Payload != nil:
			err = in.payload(ctx, entry.Payload)
		case entry.Manifest != nil:
			progress.Of(ctx).Stage("importing", "memories", entry.Manifest.Memories)
		case entry.Sessions != nil:
			err = in.sessions(ctx, entry.Sessions)
		case entry.Memories != nil:
			err = in.begin(ctx, entry.Memories)
		case entry.Links != nil:
			err = in.links(ctx, entry.Links)
		}
		if err != nil {
			return err
		}
	}
}

// refuse counts a record that cannot be stored, or returns the error that ends the import.
func (in *importing) refuse(where string, count *archive.ImportCount, err error) error {
	refusal := (*robotmem.Error)(nil)
	if !errors.As(err, &refusal) {
		return err
	}
	if in.o.Refused == nil {
		return &robotmem.Error{
			Kind: refusal.Kind, Field: "file",
			Err: fmt.Errorf("%s: %s: %w; nothing of this part was stored", where, refusal.Field, refusal.Err),
		}
	}
	count.Refused++
	in.o.Refused(where, err)

	return nil
}

// importedSource replaces a reserved source. It marks the source as imported, because anybody may have written the
// archive.
func importedSource(source string) string {
	for _, reserved := range []string{"operator", "verified"} {
		if strings.Contains(strings.ToLower(source), reserved) {
			return "imported/" + reserved
		}
	}
	// The reserved source was spelt with other characters in between.
	return "imported"
}

// begin checks the memories of a part, on all cores, and determines which of their
// payloads the node needs.
func (in *importing) begin(ctx context.Context, memories []archive.Memory) error {
	found := make([]*store.ImportRecord, len(memories))
	errs := make([]error, len(memories))
	parallel(len(memories), func(i int) {
		m := &memories[i]
		if in.o.Collection != "" {
			m.Collection = in.o.Collection
		}
		if in.sync == nil && robotmem.ReservedSource(m.Source) {
			m.Source = importedSource(m.Source)
		}
		found[i], errs[i] = in.node.checkRecord(m)
	})
	p := &importPart{
		wanted:   map[string]*store.ImportRecord{},
		payloads: map[string]*payload.Written{},
		known:    map[string]bool{},
		missing:  map[string]bool{},
	}
	uids := map[string]bool{}

	// A record that is refused must not take its uid: another record of the part may have the same one and be valid.
	for i, a := range found {
		err := errs[i]
		if err == nil && uids[memories[i].UID] {
			err = robotmem.Errorf(robotmem.Invalid, "uid", "is that of another memory of this part")
		}
		if err != nil {
			if err := in.refuse(memories[i].Where, &in.report.Memories, err); err != nil {
				return err
			}
			continue
		}
		uids[a.UID] = true
		p.records = append(p.records, a)
	}

	in.part = p

	return in.node.Store.Read(ctx, func(c *store.Conn) error { return in.want(c) })
}

// want determines for the payloads of a part which the node has and which it needs. An evicted
// payload is needed only with a newer state of its memory. The payload of a purged memory is never needed.
func (in *importing) want(c *store.Conn) error {
	p := in.part
	for _, a := range p.records {
		if a.Payload == nil || p.known[a.Payload.SHA256] || p.wanted[a.Payload.SHA256] != nil {
			continue
		}
		stored, err := c.Payload(a.Payload.SHA256)
		if err != nil {
			return err
		}
		// Who syncs proves with the bytes that it has them. That they are here proves nothing.
		if in.sync == nil && stored != nil && in.node.Store.HasPayload(stored) {
			p.known[a.Payload.SHA256] = true
			continue
		}
		wanted, err := c.WantsPayload(a)
		if err != nil {
			return err
		}
		if wanted {
			p.wanted[a.Payload.SHA256] = a
		}
	}

	return nil
}

// flush stores the part once all its payloads are read.
func (in *importing) flush(ctx context.Context) error {
	p := in.part
	if p == nil {
		return nil
	}
	if err := in.apply(ctx, in.storePart); err != nil {
		return err
	}

	in.part = nil
	in.node.dropUnused(ctx, p.unnamed...)

	// The payloads that came are taken out of wanted, so those that did not come remain.
	for sum, w := range p.payloads {
		delete(p.wanted, sum)
		if slices.Contains(p.unnamed, w) {
			continue
		}
		in.report.Payloads.Stored++
		in.report.Payloads.Bytes += w.Size
	}

	in.report.Payloads.Known += int64(len(p.known))
	for sum, a := range p.wanted {
		if a.Payload != nil && !a.Payload.Lost {
			p.missing[sum] = true
		}
	}

	in.report.Payloads.Missing += int64(len(p.missing))

	// The callback runs after the commit and not in storePart, which may run twice.
	for _, a := range p.records {
		if in.o.Missing != nil && a.Payload != nil && p.missing[a.Payload.SHA256] {
			in.o.Missing(a.UID, a.Payload.SHA256)
		}
	}

	progress.Of(ctx).Add(int64(len(p.records)))

	return nil
}

// apply runs f in a transaction. In a dry run it runs f in a snapshot, with a nil tx. f counts in a copy of
// the report, because it may run twice.
func (in *importing) apply(
	ctx context.Context, f func(c *store.Conn, tx *store.Tx, r *archive.ImportReport) error,
) (err error) {
	var r archive.ImportReport
	if in.o.DryRun {
		err = in.node.Store.Read(ctx, func(c *store.Conn) error { r = *in.report; return f(c, nil, &r) })
	} else {
		err = in.node.Store.Write(ctx, func(tx *store.Tx) error { r = *in.report; return f(tx.Conn, tx, &r) })
	}
	if err == nil {
		*in.report = r
	}

	return err
}

func (in *importing) sessions(ctx context.Context, sessions []archive.Session) error {
	var good []*archive.Session

	for i := range sessions {
		s := &sessions[i]
		if in.o.Collection != "" {
			s.Collection = in.o.Collection
		}
		if err := checked.Session(s); err != nil {
			if err := in.refuse(s.Where, &in.report.Sessions, err); err != nil {
				return err
			}
			continue
		}
		good = append(good, s)
	}

	return in.apply(ctx, func(c *store.Conn, tx *store.Tx, r *archive.ImportReport) error {
		for _, s := range good {
			// The session is compared within the transaction, because another process may have changed it since.
			v, known, err := c.DecideSession(s)
			v.Add(&r.Sessions)
			if err == nil && tx != nil {
				err = tx.StoreSession(s, v, known)
			}
			if err != nil {
				return err
			}
		}

		return nil
	})
}

func (in *importing) links(ctx context.Context, links []archive.Link) error {
	for i := range links {
		l := &links[i]
		if in.o.Collection != "" && l.Origin != "" {
			l.Collection = in.o.Collection
		}
		badCollection := l.Origin != "" && store.CheckNames(l.Collection) != nil
		if robotmem.Validate("", l) != nil || badCollection {
			return robotmem.Errorf(robotmem.Invalid, "links", "an origin is out of range")
		}
	}

	if in.o.DryRun {
		return nil
	}

	return in.apply(ctx, func(_ *store.Conn, tx *store.Tx, r *archive.ImportReport) error {
		for i := range links {
			if err := tx.StoreLink(&links[i], &r.Links); err != nil {
				return err
			}
		}
		return nil
	})
}

// storePart stores the memories of a part with their payloads and indexes, or counts what it would
// store if tx is nil.
func (in *importing) storePart(c *store.Conn, tx *store.Tx, r *archive.ImportReport) error {
	n, p := in.node, in.part
	stored := map[int64]*store.ImportRecord{}
	if tx != nil {
		// The import may replace the text of facts whose signatures are cached.
		n.Store.Groups.Reset()
	}

	for _, a := range p.records {
		v, known, err := c.Decide(a)
		if err == nil && in.sync != nil {
			v, err = in.sync.Decide(tx, a, known, v)
		}
		if err != nil {
			return err
		}
		v.Add(&r.Memories)

		var id int64 // of the memory if it is written, else 0

		switch {
		// A dry run writes no rows, so the part alone shows whether a payload would be missing.
		case tx == nil:
			written := v == store.ImportCreate || v == store.ImportReplace
			needsPayload := written && a.Payload != nil && len(a.Evictions) == 0
			if needsPayload && p.payloads[a.Payload.SHA256] == nil && !p.known[a.Payload.SHA256] {
				p.missing[a.Payload.SHA256] = true
			}

		case v == store.ImportCreate:
			id, err = tx.WriteImported(0, a)
		case v == store.ImportReplace:
			id = known.ID
			err = n.replaceImported(tx, a, known)
		case v == store.ImportSame:
			err = tx.MergeUses(a, known)
		}
		// The state is known, and the bytes follow it.
		if err == nil && a.Proven && (v == store.ImportSame || v == store.ImportKeep) && known.Payload == nil {
			err = tx.AttachPayload(known.ID, p.payloads[a.Payload.SHA256].Sum[:])
			id = known.ID
		}
		if err == nil && in.sync != nil {
			memoryID := id
			if known != nil {
				memoryID = known.ID
			}
			err = in.sync.Stored(tx, a, memoryID, v)
		}
		if err != nil {
			return err
		}
		if id != 0 {
			stored[id] = a
		}
	}

	if tx == nil {
		return nil
	}

	return n.storePayloads(tx, p, stored)
}

// broughtNewer is the reason of a past state that an import replaced.
const broughtNewer = "an import brought a newer state"

// replaceImported replaces the state of a known memory by that of the archive. The replaced state
// becomes a past one, unless it is damaged or the archive has it among its past states.
func (n *Engine) replaceImported(tx *store.Tx, a *store.ImportRecord, known *store.Archived) error {
	past := slices.Clone(known.Versions)
	newHash := store.TextHash(a.Content)

	var entry admin.AuditEntry
	if known.Damaged {
		if err := tx.UnindexDamaged(known.ID); err != nil {
			return err
		}
		entry = admin.AuditEntry{Action: store.ActionUpdated, MemoryID: known.ID, Collection: a.Collection}
		entry.Reason, entry.After = "an import replaced a damaged state", newHash
	} else {
		stored, err := tx.Memory(known.ID, tx.Now)
		if err != nil {
			return err
		}

		// The entries are found by the stored row, so they are removed before WriteImported replaces it.
		if err := tx.Unindex(known.ID); err != nil {
			return err
		}
		past = append(past, archive.Version{
			Version: known.Version, ValidFrom: known.ValidFrom, ValidTo: a.UpdatedAt, Content: known.Content, Summary: known.Summary,
			Context: known.Context, Category: known.Category, Confidence: known.Confidence, Status: known.Status,
			SupersededBy: known.SupersededBy, Change: store.ActionUpdated, Reason: broughtNewer,
		})
		entry = store.AuditOf(store.ActionUpdated, stored)
		entry.Reason, entry.Before, entry.After = broughtNewer, store.TextHash(known.Content), newHash
	}

	// The transaction may run twice, so the record of the archive is not changed. The past states that are stored stay,
	// unless a damaged row leaves open which they are.
	merged, stays := *a.Memory, known.Versions
	if known.Damaged {
		stays = nil
	}

	merged.Versions = nil
	for _, v := range slices.Concat(a.Versions, past) {
		same := func(w archive.Version) bool { return store.SameState(&v, &w) }
		if !slices.ContainsFunc(stays, same) && !slices.ContainsFunc(merged.Versions, same) {
			merged.Versions = append(merged.Versions, v)
		}
	}

	// The version must not fall below one that a caller has seen here. The version in a damaged row proves nothing.
	err := error(nil)
	if !known.Damaged {
		merged.Version = max(merged.Version, known.Version)
	} else {
		err = tx.Exec(store.DeleteVersions, known.ID)
	}

	// WriteImported inserts all tags again.
	err = errors.Join(err, tx.Exec(store.DeleteTags, known.ID), tx.Unevict(known.ID), tx.Audit(entry))
	if err != nil {
		return err
	}

	_, err = tx.WriteImported(known.ID, &store.ImportRecord{Memory: &merged, Rec: a.Rec})

	return err
}
