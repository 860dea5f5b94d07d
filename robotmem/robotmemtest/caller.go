package robotmemtest

import (
	"context"
	"io"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// As returns a node that is called by a caller, as a server calls it after it has checked a token.
func As(n robotmem.Node, c robotmem.Caller) robotmem.Node { return calledBy{n, c} }

type calledBy struct {
	node   robotmem.Node
	caller robotmem.Caller
}

func (c calledBy) ctx(ctx context.Context) context.Context { return robotmem.WithCaller(ctx, c.caller) }

// LocalNow implements robotmem.Zoned.
func (c calledBy) LocalNow() time.Time {
	if z, ok := c.node.(robotmem.Zoned); ok {
		return z.LocalNow()
	}
	return time.Now()
}

func (c calledBy) Learn(ctx context.Context, r *robotmem.LearnRequest) (*robotmem.LearnResponse, error) {
	return c.node.Learn(c.ctx(ctx), r)
}

func (c calledBy) LearnBatch(ctx context.Context, r *robotmem.LearnBatchRequest) (*robotmem.LearnBatchResponse, error) {
	return c.node.LearnBatch(c.ctx(ctx), r)
}

func (c calledBy) Recall(ctx context.Context, r *robotmem.RecallRequest) (*robotmem.RecallResponse, error) {
	return c.node.Recall(c.ctx(ctx), r)
}

func (c calledBy) Search(ctx context.Context, r *robotmem.SearchRequest) (*robotmem.RecallResponse, error) {
	return c.node.Search(c.ctx(ctx), r)
}

func (c calledBy) Advise(ctx context.Context, r *robotmem.AdviseRequest) (*robotmem.AdviseResponse, error) {
	return c.node.Advise(c.ctx(ctx), r)
}

func (c calledBy) About(ctx context.Context, r *robotmem.AboutRequest) (*robotmem.AboutResponse, error) {
	return c.node.About(c.ctx(ctx), r)
}

func (c calledBy) SaveDocument(ctx context.Context, r *robotmem.SaveDocumentRequest) (*robotmem.SaveDocumentResponse, error) {
	return c.node.SaveDocument(c.ctx(ctx), r)
}

func (c calledBy) Documents(ctx context.Context, r *robotmem.DocumentsRequest) (*robotmem.DocumentsResponse, error) {
	return c.node.Documents(c.ctx(ctx), r)
}

func (c calledBy) RemoveDocument(ctx context.Context, r *robotmem.RemoveDocumentRequest) (*robotmem.RemoveDocumentResponse, error) {
	return c.node.RemoveDocument(c.ctx(ctx), r)
}

func (c calledBy) Attempt(ctx context.Context, r *robotmem.AttemptRequest) (*robotmem.AttemptResponse, error) {
	return c.node.Attempt(c.ctx(ctx), r)
}

func (c calledBy) Aggregate(ctx context.Context, r *robotmem.AggregateRequest) (*robotmem.AggregateResponse, error) {
	return c.node.Aggregate(c.ctx(ctx), r)
}

func (c calledBy) SavePerception(
	ctx context.Context, r *robotmem.SavePerceptionRequest,
) (*robotmem.SavePerceptionResponse, error) {
	return c.node.SavePerception(c.ctx(ctx), r)
}

func (c calledBy) Forget(ctx context.Context, r *robotmem.ForgetRequest) (*robotmem.ForgetResponse, error) {
	return c.node.Forget(c.ctx(ctx), r)
}

func (c calledBy) Restore(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.RestoreResponse, error) {
	return c.node.Restore(c.ctx(ctx), r)
}

func (c calledBy) Update(ctx context.Context, r *robotmem.UpdateRequest) (*robotmem.UpdateResponse, error) {
	return c.node.Update(c.ctx(ctx), r)
}

func (c calledBy) Pin(ctx context.Context, r *admin.PinRequest) (*admin.PinResponse, error) {
	return c.node.Pin(c.ctx(ctx), r)
}

func (c calledBy) StartSession(
	ctx context.Context, r *robotmem.StartSessionRequest,
) (*robotmem.StartSessionResponse, error) {
	return c.node.StartSession(c.ctx(ctx), r)
}

func (c calledBy) EndSession(ctx context.Context, r *robotmem.EndSessionRequest) (*robotmem.EndSessionResponse, error) {
	return c.node.EndSession(c.ctx(ctx), r)
}

func (c calledBy) Get(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.Memory, error) {
	return c.node.Get(c.ctx(ctx), r)
}

func (c calledBy) Timeline(ctx context.Context, r *robotmem.TimelineRequest) (*robotmem.TimelineResponse, error) {
	return c.node.Timeline(c.ctx(ctx), r)
}

func (c calledBy) Data(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.DataResponse, error) {
	return c.node.Data(c.ctx(ctx), r)
}

func (c calledBy) Preview(ctx context.Context, r *admin.PreviewRequest) (*admin.PreviewResponse, error) {
	return c.node.Preview(c.ctx(ctx), r)
}

func (c calledBy) Samples(ctx context.Context, r *robotmem.SamplesRequest) (*robotmem.SamplesResponse, error) {
	return c.node.Samples(c.ctx(ctx), r)
}

func (c calledBy) History(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.HistoryResponse, error) {
	return c.node.History(c.ctx(ctx), r)
}

func (c calledBy) List(ctx context.Context, r *robotmem.ListRequest) (*robotmem.ListResponse, error) {
	return c.node.List(c.ctx(ctx), r)
}

func (c calledBy) Sessions(ctx context.Context, r *robotmem.SessionsRequest) (*robotmem.SessionsResponse, error) {
	return c.node.Sessions(c.ctx(ctx), r)
}

func (c calledBy) Session(ctx context.Context, r *robotmem.SessionRequest) (*robotmem.SessionResponse, error) {
	return c.node.Session(c.ctx(ctx), r)
}

func (c calledBy) SessionMemories(
	ctx context.Context, r *admin.SessionMemoriesRequest,
) (*robotmem.ListResponse, error) {
	return c.node.SessionMemories(c.ctx(ctx), r)
}

func (c calledBy) Collections(ctx context.Context, r *admin.CollectionsRequest) (*admin.CollectionsResponse, error) {
	return c.node.Collections(c.ctx(ctx), r)
}

func (c calledBy) Categories(ctx context.Context, r *admin.CategoriesRequest) (*admin.CategoriesResponse, error) {
	return c.node.Categories(c.ctx(ctx), r)
}

func (c calledBy) Paths(ctx context.Context, r *admin.PathsRequest) (*admin.PathsResponse, error) {
	return c.node.Paths(c.ctx(ctx), r)
}

func (c calledBy) Places(ctx context.Context, r *robotmem.PlacesRequest) (*admin.PlacesResponse, error) {
	return c.node.Places(c.ctx(ctx), r)
}

func (c calledBy) RecentFailures(ctx context.Context, r *admin.RecentFailuresRequest) (*robotmem.ListResponse, error) {
	return c.node.RecentFailures(c.ctx(ctx), r)
}

func (c calledBy) Incidents(ctx context.Context, r *admin.IncidentsRequest) (*admin.IncidentsResponse, error) {
	return c.node.Incidents(c.ctx(ctx), r)
}

func (c calledBy) Stats(ctx context.Context, r *admin.StatsRequest) (*admin.StatsResponse, error) {
	return c.node.Stats(c.ctx(ctx), r)
}

func (c calledBy) Activity(ctx context.Context, r *admin.ActivityRequest) (*admin.ActivityResponse, error) {
	return c.node.Activity(c.ctx(ctx), r)
}

func (c calledBy) Changes(ctx context.Context, r *admin.ChangesRequest) (*admin.ChangesResponse, error) {
	return c.node.Changes(c.ctx(ctx), r)
}

func (c calledBy) Doctor(ctx context.Context, r *admin.DoctorRequest) (*admin.DoctorResponse, error) {
	return c.node.Doctor(c.ctx(ctx), r)
}

func (c calledBy) Retain(ctx context.Context, r *admin.RetainRequest) (*admin.RetainResponse, error) {
	return c.node.Retain(c.ctx(ctx), r)
}

func (c calledBy) Audit(ctx context.Context, r *admin.AuditRequest) (*admin.AuditResponse, error) {
	return c.node.Audit(c.ctx(ctx), r)
}

func (c calledBy) Repair(ctx context.Context, r *admin.RepairRequest) (*admin.RepairResponse, error) {
	return c.node.Repair(c.ctx(ctx), r)
}

func (c calledBy) SavePerceptionFrom(
	ctx context.Context, r *robotmem.SavePerceptionRequest, data io.Reader,
) (*robotmem.SavePerceptionResponse, error) {
	return c.node.SavePerceptionFrom(c.ctx(ctx), r, data)
}

func (c calledBy) OpenData(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.DataReader, error) {
	return c.node.OpenData(c.ctx(ctx), r)
}
