package robotmem

import (
	"bytes"
	"context"
	"io"

	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// Service is everything that can be asked of a memory. Every method has the
// same shape, so that one table (Ops) carries it to MCP, REST and the CLI.
// Every method fails with *Error and nothing else. A duplicate is an outcome,
// not an error.
type Service interface {
	// Learn stores one fact. The response says "duplicate" and names the
	// existing memory when one already says the same in the same context.
	Learn(context.Context, *LearnRequest) (*LearnResponse, error)
	// LearnBatch stores many facts; one bad item does not stop the rest.
	LearnBatch(context.Context, *LearnBatchRequest) (*LearnBatchResponse, error)
	// Recall returns the memories that answer the query, best first, out of
	// all that pass the filters. It reads what it can: a signal that could
	// not answer is named in Degraded.
	Recall(context.Context, *RecallRequest) (*RecallResponse, error)
	// Search is Recall with plain parameters, over all collections unless one
	// is named.
	Search(context.Context, *SearchRequest) (*RecallResponse, error)
	// SavePerception stores what a sensor gave, byte for byte.
	SavePerception(context.Context, *SavePerceptionRequest) (*SavePerceptionResponse, error)
	// Forget takes a memory out of recall. Restore undoes it, unless it was to be
	// purged: then nothing of it is left.
	// NotFound if there is no such memory, Conflict if it is forgotten already.
	Forget(context.Context, *ForgetRequest) (*ForgetResponse, error)
	// Restore makes a forgotten or superseded memory active again.
	Restore(context.Context, *MemoryRequest) (*RestoreResponse, error)
	// Update replaces a memory's text under the same id; the old text stays
	// readable through History.
	Update(context.Context, *UpdateRequest) (*UpdateResponse, error)
	// Pin keeps a memory from fading and from being merged, or lets it go again.
	Pin(context.Context, *PinRequest) (*PinResponse, error)
	// StartSession opens an episode and says what to know before it.
	StartSession(context.Context, *StartSessionRequest) (*StartSessionResponse, error)
	// EndSession closes an episode: outcome, credit, consolidation, summary.
	// Conflict if it has ended already.
	EndSession(context.Context, *EndSessionRequest) (*EndSessionResponse, error)
	// Get returns one memory, whatever its status.
	Get(context.Context, *MemoryRequest) (*Memory, error)
	// Data returns the bytes of a perception.
	Data(context.Context, *MemoryRequest) (*DataResponse, error)
	// Preview draws a perception: a thumbnail, a plot, a spectrogram, a view
	// from above. NotFound if nothing can be drawn of it.
	Preview(context.Context, *PreviewRequest) (*PreviewResponse, error)
	// Samples returns the numbers of a trace, a sound or a set of points, few
	// enough to be drawn. NotFound if there are none in it.
	Samples(context.Context, *SamplesRequest) (*SamplesResponse, error)
	// History returns every state a memory has been in, oldest first.
	History(context.Context, *MemoryRequest) (*HistoryResponse, error)
	// List pages through memories, newest first.
	List(context.Context, *ListRequest) (*ListResponse, error)
	// Sessions pages through episodes, newest first.
	Sessions(context.Context, *SessionsRequest) (*SessionsResponse, error)
	// Session returns one episode: what it came to and what was recalled for it.
	Session(context.Context, *SessionRequest) (*SessionResponse, error)
	// SessionMemories returns an episode in the order it was lived.
	SessionMemories(context.Context, *SessionMemoriesRequest) (*ListResponse, error)
	// Collections counts the memories of every collection.
	Collections(context.Context, *admin.CollectionsRequest) (*admin.CollectionsResponse, error)
	// Categories counts the active memories of every category.
	Categories(context.Context, *admin.CategoriesRequest) (*admin.CategoriesResponse, error)
	// Paths lists the context paths of the active memories, for filters.
	Paths(context.Context, *PathsRequest) (*PathsResponse, error)
	// Places puts the active memories on a map.
	Places(context.Context, *PlacesRequest) (*PlacesResponse, error)
	// RecentFailures returns what went wrong lately, newest first.
	RecentFailures(context.Context, *RecentFailuresRequest) (*ListResponse, error)
	// Stats counts what the node holds and what it has been asked.
	Stats(context.Context, *admin.StatsRequest) (*admin.StatsResponse, error)
	// Activity counts what was stored and asked, by the hour or day.
	Activity(context.Context, *admin.ActivityRequest) (*admin.ActivityResponse, error)
	// Changes waits until the file has changed, by this process or another.
	Changes(context.Context, *admin.ChangesRequest) (*admin.ChangesResponse, error)
	// Doctor checks the node and names a remedy for all it finds.
	Doctor(context.Context, *admin.DoctorRequest) (*admin.DoctorResponse, error)
	// Retain takes away the payloads that are over a budget, or lists them.
	Retain(context.Context, *admin.RetainRequest) (*admin.RetainResponse, error)
	// Audit pages through what was changed and by whom, newest first.
	Audit(context.Context, *admin.AuditRequest) (*admin.AuditResponse, error)
	// Repair rebuilds every index from the tables.
	Repair(context.Context, *admin.RepairRequest) (*admin.RepairResponse, error)
}

// Streams passes payloads of any size on without holding them. What implements
// Service may implement it too, as local.Node and client.Client do.
type Streams interface {
	// SavePerceptionFrom is SavePerception with the payload read from data to
	// its end. If that fails nothing is stored.
	SavePerceptionFrom(ctx context.Context, r *SavePerceptionRequest, data io.Reader) (*SavePerceptionResponse, error)
	// OpenData is Data as a stream. The caller closes it.
	OpenData(ctx context.Context, r *MemoryRequest) (*DataReader, error)
}

// DataReader reads the bytes of a perception from any place in them, and must
// be closed. The reader that has read them all from the first to the last fails
// with Corrupt if they are not what was saved.
type DataReader struct {
	io.ReadSeekCloser
	MemoryID  int64
	MediaType string
	Bytes     int64
	SHA256    string // hex
}

// NewDataReader reads a response that holds all bytes.
func NewDataReader(res *DataResponse) *DataReader {
	return &DataReader{ReadSeekCloser: inMemory{bytes.NewReader(res.DataBase64)}, MemoryID: res.MemoryID, MediaType: res.MediaType, Bytes: res.Bytes, SHA256: res.SHA256}
}

type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }
