package robotmem

import (
	"bytes"
	"context"
	"io"

	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// Service is the interface to a memory. All methods have the same signature,
// so that one table (Ops) maps them to MCP, REST and the CLI. All errors are
// *Error. A duplicate is a normal result, not an error.
type Service interface {
	// Learn stores one fact. If a memory already states it with the same
	// context, the response has the status "duplicate" and the id of that memory.
	Learn(context.Context, *LearnRequest) (*LearnResponse, error)
	// LearnBatch stores many facts. An invalid item does not stop the others.
	LearnBatch(context.Context, *LearnBatchRequest) (*LearnBatchResponse, error)
	// Recall returns the best matches of the query among all memories that
	// pass the filters, best first. Degraded names each signal that failed.
	Recall(context.Context, *RecallRequest) (*RecallResponse, error)
	// Search is Recall with simple parameters. It searches all collections
	// unless the request names one.
	Search(context.Context, *SearchRequest) (*RecallResponse, error)
	// Advise computes which parameters worked in past attempts, with intervals, and suggests some
	// that were tried. It makes no suggestion from fewer than NMin attempts.
	Advise(context.Context, *AdviseRequest) (*AdviseResponse, error)
	// Aggregate counts memories exactly by group and outcome.
	Aggregate(context.Context, *AggregateRequest) (*AggregateResponse, error)
	// About returns what is known of a robot, an object, a place, a part or a person, or the list of them.
	About(context.Context, *AboutRequest) (*AboutResponse, error)
	// SaveDocument stores the text of a document as one unit. It keeps the passages that did not change, and forgets
	// those that the new text does not have.
	SaveDocument(context.Context, *SaveDocumentRequest) (*SaveDocumentResponse, error)

	// Documents lists the documents.
	Documents(context.Context, *DocumentsRequest) (*DocumentsResponse, error)

	// RemoveDocument forgets all passages of a document.
	RemoveDocument(context.Context, *RemoveDocumentRequest) (*RemoveDocumentResponse, error)

	// Attempt begins or continues an attempt at a goal, stores a try of it, and ends it with a verdict. It says what was
	// tried already.
	Attempt(context.Context, *AttemptRequest) (*AttemptResponse, error)
	// SavePerception stores sensor data byte for byte, with a description.
	SavePerception(context.Context, *SavePerceptionRequest) (*SavePerceptionResponse, error)
	// Forget removes a memory from recall. Restore undoes it, except with
	// Purge, which deletes the memory permanently. It fails with NotFound if
	// there is no such memory and with Conflict if it is already forgotten.
	Forget(context.Context, *ForgetRequest) (*ForgetResponse, error)
	// Restore makes a forgotten or superseded memory active again.
	Restore(context.Context, *MemoryRequest) (*RestoreResponse, error)
	// Update replaces a memory's text and keeps its id. History returns the old text.
	Update(context.Context, *UpdateRequest) (*UpdateResponse, error)
	// Pin protects a memory from decay and merging, or removes the protection.
	Pin(context.Context, *admin.PinRequest) (*admin.PinResponse, error)
	// StartSession opens an episode and returns a briefing for it.
	StartSession(context.Context, *StartSessionRequest) (*StartSessionResponse, error)
	// EndSession closes an episode. It stores the outcome, credits the memories
	// that helped, merges redundant facts and returns a summary. It fails with
	// Conflict if the episode has already ended.
	EndSession(context.Context, *EndSessionRequest) (*EndSessionResponse, error)
	// Get returns one memory of any status.
	Get(context.Context, *MemoryRequest) (*Memory, error)
	// Timeline returns the memories observed before and after a memory.
	Timeline(context.Context, *TimelineRequest) (*TimelineResponse, error)
	// Data returns the bytes of a perception.
	Data(context.Context, *MemoryRequest) (*DataResponse, error)
	// Preview returns a picture of a perception: a thumbnail, a plot, a spectrogram or a top
	// view. It fails with NotFound if the format has no preview.
	Preview(context.Context, *admin.PreviewRequest) (*admin.PreviewResponse, error)
	// Samples returns the numbers of a trace, a sound or a set of points,
	// downsampled for a plot. It fails with NotFound if there are none.
	Samples(context.Context, *SamplesRequest) (*SamplesResponse, error)
	// History returns all versions of a memory, oldest first.
	History(context.Context, *MemoryRequest) (*HistoryResponse, error)
	// List pages through memories, newest first.
	List(context.Context, *ListRequest) (*ListResponse, error)
	// Sessions pages through episodes, newest first.
	Sessions(context.Context, *SessionsRequest) (*SessionsResponse, error)
	// Session returns one episode with its summary and the memories that were recalled for it.
	Session(context.Context, *SessionRequest) (*SessionResponse, error)
	// SessionMemories returns the memories of an episode in time order.
	SessionMemories(context.Context, *admin.SessionMemoriesRequest) (*ListResponse, error)
	// Collections counts the memories of every collection.
	Collections(context.Context, *admin.CollectionsRequest) (*admin.CollectionsResponse, error)
	// Categories counts the active memories of every category.
	Categories(context.Context, *admin.CategoriesRequest) (*admin.CategoriesResponse, error)
	// Paths lists the context paths of the active memories, for use in filters.
	Paths(context.Context, *admin.PathsRequest) (*admin.PathsResponse, error)
	// Places returns the coordinates of the active memories, for a map.
	Places(context.Context, *PlacesRequest) (*admin.PlacesResponse, error)
	// RecentFailures returns recent failures, newest first.
	RecentFailures(context.Context, *admin.RecentFailuresRequest) (*ListResponse, error)
	// Incidents returns what failed, by episode.
	Incidents(context.Context, *admin.IncidentsRequest) (*admin.IncidentsResponse, error)
	// Stats counts memories, sessions, bytes and recalls.
	Stats(context.Context, *admin.StatsRequest) (*admin.StatsResponse, error)
	// Activity counts stored memories and recalls per hour or day.
	Activity(context.Context, *admin.ActivityRequest) (*admin.ActivityResponse, error)
	// Changes waits until the file has changed, by this process or another.
	Changes(context.Context, *admin.ChangesRequest) (*admin.ChangesResponse, error)
	// Doctor checks the node and names a remedy for each finding.
	Doctor(context.Context, *admin.DoctorRequest) (*admin.DoctorResponse, error)
	// Retain removes the payloads that exceed a budget, or lists them.
	Retain(context.Context, *admin.RetainRequest) (*admin.RetainResponse, error)
	// Audit pages through the log of changes, newest first.
	Audit(context.Context, *admin.AuditRequest) (*admin.AuditResponse, error)
	// Repair rebuilds every index from the tables.
	Repair(context.Context, *admin.RepairRequest) (*admin.RepairResponse, error)
}

// Node is a Service with payloads as streams, as local.Node and client.Client are.
type Node interface {
	Service
	Streams
}

// Streams reads and writes payloads of any size without holding them in memory.
type Streams interface {
	// SavePerceptionFrom is SavePerception with the payload read from data
	// until EOF. If reading fails, nothing is stored.
	SavePerceptionFrom(ctx context.Context, r *SavePerceptionRequest, data io.Reader) (*SavePerceptionResponse, error)
	// OpenData is Data as a stream. The caller must close it.
	OpenData(ctx context.Context, r *MemoryRequest) (*DataReader, error)
}

// DataReader reads the bytes of a perception and can seek in them. The caller must close it. A
// read of all bytes in order fails with Corrupt at the end if the checksum does not match.
type DataReader struct {
	io.ReadSeekCloser
	MemoryID  int64
	MediaType string
	Bytes     int64
	SHA256    string // hex
}

// NewDataReader returns a reader of a response that holds all bytes.
func NewDataReader(res *DataResponse) *DataReader {
	return &DataReader{
		ReadSeekCloser: inMemory{bytes.NewReader(res.DataBase64)},
		MemoryID:       res.MemoryID,
		MediaType:      res.MediaType,
		Bytes:          res.Bytes,
		SHA256:         res.SHA256,
	}
}

type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }
