package local

import (
	"context"
	"io"
	"time"

	"github.com/robotmem/robotmem-go/perception/recorder"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
)

// Node is a [robotmem.Node] on one SQLite file, or on the database of a site that package site has opened.
// [robotmem.Service] documents the operations.
type Node struct {
	held //nolint:unused // for engine.Of
}

// held has the engine that does the work.
type held = engine.Held //nolint:unused // see Node

var (
	_ robotmem.Node = (*Node)(nil)
	_ recorder.Sink = (*Node)(nil)
)

func (n *Node) Learn(ctx context.Context, r *robotmem.LearnRequest) (*robotmem.LearnResponse, error) {
	return engine.Of(n).Learn(ctx, r)
}

func (n *Node) LearnBatch(ctx context.Context, r *robotmem.LearnBatchRequest) (*robotmem.LearnBatchResponse, error) {
	return engine.Of(n).LearnBatch(ctx, r)
}

func (n *Node) Recall(ctx context.Context, r *robotmem.RecallRequest) (*robotmem.RecallResponse, error) {
	return engine.Of(n).Recall(ctx, r)
}

func (n *Node) Search(ctx context.Context, r *robotmem.SearchRequest) (*robotmem.RecallResponse, error) {
	return engine.Of(n).Search(ctx, r)
}

func (n *Node) Advise(ctx context.Context, r *robotmem.AdviseRequest) (*robotmem.AdviseResponse, error) {
	return engine.Of(n).Advise(ctx, r)
}

func (n *Node) About(ctx context.Context, r *robotmem.AboutRequest) (*robotmem.AboutResponse, error) {
	return engine.Of(n).About(ctx, r)
}

func (n *Node) SaveDocument(ctx context.Context, r *robotmem.SaveDocumentRequest) (*robotmem.SaveDocumentResponse, error) {
	return engine.Of(n).SaveDocument(ctx, r)
}

func (n *Node) Documents(ctx context.Context, r *robotmem.DocumentsRequest) (*robotmem.DocumentsResponse, error) {
	return engine.Of(n).Documents(ctx, r)
}

func (n *Node) RemoveDocument(ctx context.Context, r *robotmem.RemoveDocumentRequest) (*robotmem.RemoveDocumentResponse, error) {
	return engine.Of(n).RemoveDocument(ctx, r)
}

func (n *Node) Attempt(ctx context.Context, r *robotmem.AttemptRequest) (*robotmem.AttemptResponse, error) {
	return engine.Of(n).Attempt(ctx, r)
}

func (n *Node) Aggregate(ctx context.Context, r *robotmem.AggregateRequest) (*robotmem.AggregateResponse, error) {
	return engine.Of(n).Aggregate(ctx, r)
}

func (n *Node) SavePerception(
	ctx context.Context, r *robotmem.SavePerceptionRequest,
) (*robotmem.SavePerceptionResponse, error) {
	return engine.Of(n).SavePerception(ctx, r)
}

func (n *Node) Forget(ctx context.Context, r *robotmem.ForgetRequest) (*robotmem.ForgetResponse, error) {
	return engine.Of(n).Forget(ctx, r)
}

func (n *Node) Restore(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.RestoreResponse, error) {
	return engine.Of(n).Restore(ctx, r)
}

func (n *Node) Update(ctx context.Context, r *robotmem.UpdateRequest) (*robotmem.UpdateResponse, error) {
	return engine.Of(n).Update(ctx, r)
}

func (n *Node) Pin(ctx context.Context, r *admin.PinRequest) (*admin.PinResponse, error) {
	return engine.Of(n).Pin(ctx, r)
}

func (n *Node) StartSession(
	ctx context.Context, r *robotmem.StartSessionRequest,
) (*robotmem.StartSessionResponse, error) {
	return engine.Of(n).StartSession(ctx, r)
}

func (n *Node) EndSession(ctx context.Context, r *robotmem.EndSessionRequest) (*robotmem.EndSessionResponse, error) {
	return engine.Of(n).EndSession(ctx, r)
}

func (n *Node) Get(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.Memory, error) {
	return engine.Of(n).Get(ctx, r)
}

func (n *Node) Timeline(ctx context.Context, r *robotmem.TimelineRequest) (*robotmem.TimelineResponse, error) {
	return engine.Of(n).Timeline(ctx, r)
}

func (n *Node) Data(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.DataResponse, error) {
	return engine.Of(n).Data(ctx, r)
}

func (n *Node) Preview(ctx context.Context, r *admin.PreviewRequest) (*admin.PreviewResponse, error) {
	return engine.Of(n).Preview(ctx, r)
}

func (n *Node) Samples(ctx context.Context, r *robotmem.SamplesRequest) (*robotmem.SamplesResponse, error) {
	return engine.Of(n).Samples(ctx, r)
}

func (n *Node) History(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.HistoryResponse, error) {
	return engine.Of(n).History(ctx, r)
}

func (n *Node) List(ctx context.Context, r *robotmem.ListRequest) (*robotmem.ListResponse, error) {
	return engine.Of(n).List(ctx, r)
}

func (n *Node) Sessions(ctx context.Context, r *robotmem.SessionsRequest) (*robotmem.SessionsResponse, error) {
	return engine.Of(n).Sessions(ctx, r)
}

func (n *Node) Session(ctx context.Context, r *robotmem.SessionRequest) (*robotmem.SessionResponse, error) {
	return engine.Of(n).Session(ctx, r)
}

func (n *Node) SessionMemories(ctx context.Context, r *admin.SessionMemoriesRequest) (*robotmem.ListResponse, error) {
	return engine.Of(n).SessionMemories(ctx, r)
}

func (n *Node) Collections(ctx context.Context, r *admin.CollectionsRequest) (*admin.CollectionsResponse, error) {
	return engine.Of(n).Collections(ctx, r)
}

func (n *Node) Categories(ctx context.Context, r *admin.CategoriesRequest) (*admin.CategoriesResponse, error) {
	return engine.Of(n).Categories(ctx, r)
}

func (n *Node) Paths(ctx context.Context, r *admin.PathsRequest) (*admin.PathsResponse, error) {
	return engine.Of(n).Paths(ctx, r)
}

func (n *Node) Places(ctx context.Context, r *robotmem.PlacesRequest) (*admin.PlacesResponse, error) {
	return engine.Of(n).Places(ctx, r)
}

func (n *Node) RecentFailures(ctx context.Context, r *admin.RecentFailuresRequest) (*robotmem.ListResponse, error) {
	return engine.Of(n).RecentFailures(ctx, r)
}

func (n *Node) Incidents(ctx context.Context, r *admin.IncidentsRequest) (*admin.IncidentsResponse, error) {
	return engine.Of(n).Incidents(ctx, r)
}

func (n *Node) Stats(ctx context.Context, r *admin.StatsRequest) (*admin.StatsResponse, error) {
	return engine.Of(n).Stats(ctx, r)
}

func (n *Node) Activity(ctx context.Context, r *admin.ActivityRequest) (*admin.ActivityResponse, error) {
	return engine.Of(n).Activity(ctx, r)
}

func (n *Node) Changes(ctx context.Context, r *admin.ChangesRequest) (*admin.ChangesResponse, error) {
	return engine.Of(n).Changes(ctx, r)
}

func (n *Node) Doctor(ctx context.Context, r *admin.DoctorRequest) (*admin.DoctorResponse, error) {
	return engine.Of(n).Doctor(ctx, r)
}

func (n *Node) Retain(ctx context.Context, r *admin.RetainRequest) (*admin.RetainResponse, error) {
	return engine.Of(n).Retain(ctx, r)
}

func (n *Node) Audit(ctx context.Context, r *admin.AuditRequest) (*admin.AuditResponse, error) {
	return engine.Of(n).Audit(ctx, r)
}

func (n *Node) Repair(ctx context.Context, r *admin.RepairRequest) (*admin.RepairResponse, error) {
	return engine.Of(n).Repair(ctx, r)
}

// SavePerceptionFrom implements [robotmem.Streams].
func (n *Node) SavePerceptionFrom(
	ctx context.Context, r *robotmem.SavePerceptionRequest, data io.Reader,
) (*robotmem.SavePerceptionResponse, error) {
	return engine.Of(n).SavePerceptionFrom(ctx, r, data)
}

// OpenData implements [robotmem.Streams].
func (n *Node) OpenData(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.DataReader, error) {
	return engine.Of(n).OpenData(ctx, r)
}

// Recorder starts a recorder that stores its samples in this node. It does not block a
// control loop. Close it before the node.
func (n *Node) Recorder(o recorder.Options) *recorder.Recorder {
	return engine.Of(n).Recorder(o)
}

// Keep implements recorder.Sink: it stores a batch in one transaction. Features that do
// not come with the summary are computed later in the background.
func (n *Node) Keep(ctx context.Context, b recorder.Batch) error {
	return engine.Of(n).Keep(ctx, b)
}

// Export writes every record of one snapshot to a sink: memories of every status with
// their past states, sessions, and links. Later writes are not included. A slow sink
// delays no writer, but the log of the file grows until Export returns. Export fails with
// NotFound when there is no such session, and with the errors of the sink.
func (n *Node) Export(ctx context.Context, sink archive.Sink, o archive.ExportOptions) (*archive.ExportReport, error) {
	return engine.Of(n).Export(ctx, sink, o)
}

// Import stores the records of a source. Memories are identified by their uid. A memory that the
// node does not have is stored under its uid. For one that it has, the state that changed last
// becomes the present one and the other a past one. Importing the same source twice stores
// nothing twice. Each part is checked and then stored in one transaction with its payloads, so
// that what an interrupted or damaged import has stored is valid and another run continues it.
// Import fails with Corrupt when the source is damaged, with Invalid when it is not an archive or
// holds an invalid record, and with TooLarge and Conflict as the source does.
func (n *Node) Import(ctx context.Context, src archive.Source, o archive.ImportOptions) (*archive.ImportReport, error) {
	return engine.Of(n).Import(ctx, src, o)
}

// Embed computes the vectors of memories that have none, until all have one or ctx ends.
func (n *Node) Embed(ctx context.Context) error {
	return engine.Of(n).Embed(ctx)
}

// EmbedStored is Embed if this node has stored a memory and its model is in this process. It is for a program
// that stores something and ends: no other may run that would compute the vectors.
func (n *Node) EmbedStored(ctx context.Context) error {
	return engine.Of(n).EmbedStored(ctx)
}

// Reembed embeds every memory with the model of this node's embedder and then switches
// recall to that model. Recall uses the old vectors until all new ones are stored. The
// vectors of an interrupted call are kept for the next one. progress, which may be nil, is called with the
// number of memories done and the total. It fails with Invalid without an embedder, with Conflict when the
// reembed of another process ends first, and with the errors of Embedder.Embed.
func (n *Node) Reembed(ctx context.Context, progress func(done, total int64)) error {
	return engine.Of(n).Reembed(ctx, progress)
}

// Warm loads the indexes into memory. Without it the first recall loads them and takes longer.
func (n *Node) Warm(ctx context.Context) error {
	return engine.Of(n).Warm(ctx)
}

// Pause begins or ends a pause of what a node computes in the background: vectors, the
// features of perceptions, and retention.
func (n *Node) Pause(on bool) {
	engine.Of(n).Pause(on)
}

// Ready fails with Unavailable, and the reason, if nothing can be stored because the file,
// its log or its payloads are no longer where the node has opened them.
func (n *Node) Ready() error {
	return engine.Of(n).Ready()
}

// Damage describes the corruption of the file, "" if there is none. Use RecoverInPlace
// for a corrupt file, and Repair for indexes that differ from the tables.
func (n *Node) Damage(ctx context.Context) (found string, err error) {
	return engine.Of(n).Damage(ctx)
}

// OutcomeOf implements robotmem.Judging with the words of the taxonomy.
func (n *Node) OutcomeOf(text string) string {
	return engine.Of(n).OutcomeOf(text)
}

// NoteGrant writes into the audit log that a program was allowed to use the memory, or that this has ended. Caller.Who
// of ctx is the person.
func (n *Node) NoteGrant(ctx context.Context, made bool, reason string) error {
	return engine.Of(n).NoteGrant(ctx, made, reason)
}

// Now returns the time of the node's clock.
func (n *Node) Now() time.Time {
	return engine.Of(n).Now()
}

// LocalNow returns Now in the time zone of the node.
func (n *Node) LocalNow() time.Time {
	return engine.Of(n).LocalNow()
}

// Memory returns the node's budget of memory.
func (n *Node) Memory() Memory {
	return Memory(engine.Of(n).Memory())
}

// ReadOnly says why nothing is written, "" if it is.
func (n *Node) ReadOnly() string {
	return engine.Of(n).Store.ReadOnly()
}

// Seal encrypts what is written to it for all who can open the memory, if that is encrypted; else it writes in clear. The
// stream is complete after Close, which leaves w open. Any program of age decrypts it.
func (n *Node) Seal(w io.Writer) (io.WriteCloser, error) {
	k := engine.Of(n).Store.Keys
	if k == nil {
		return inClear{w}, nil
	}
	return k.Seal(w)
}

type inClear struct{ io.Writer }

func (inClear) Close() error { return nil }

// Files returns the files of the memory. Those of a site have no names.
func (n *Node) Files() Files {
	return Files{engine.Of(n).Store.Files()}
}

// FileID returns the id of the file, which a copy of it does not share.
func (n *Node) FileID(ctx context.Context) (string, error) {
	return engine.Of(n).Store.FileID(ctx)
}

// Close waits for the calls in flight, stores the counters and closes the
// file. Further calls fail with Unavailable. Closing twice is harmless.
func (n *Node) Close() error {
	return engine.Of(n).Close()
}
