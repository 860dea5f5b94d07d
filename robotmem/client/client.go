package client

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/outgoing"
)

// Options configure a Client. The zero value works.
type Options struct {
	// HTTP sends the requests; http.DefaultClient is copied if it is nil. Its CheckRedirect is not used: a request holds
	// a token and data to be stored, so it follows redirects only within the address of the node.
	HTTP *http.Client
	// Token is sent as a bearer token if it is not empty.
	Token string
}

// Client is a [robotmem.Service] on a node over HTTP. The operations are documented there. It
// may be used by several goroutines.
type Client struct {
	base string
	opts Options
}

var (
	_ robotmem.Service = (*Client)(nil)
	_ robotmem.Streams = (*Client)(nil)
	_ robotmem.Zoned   = (*Client)(nil)
)

// New returns a client of the node at baseURL, such as http://127.0.0.1:7878. It does not connect.
func New(baseURL string, opts Options) *Client {
	opts.HTTP = outgoing.Client(cmp.Or(opts.HTTP, http.DefaultClient))
	return &Client{base: strings.TrimRight(baseURL, "/"), opts: opts}
}

// LocalNow implements robotmem.Zoned. It asks the node. Without an answer it returns the local time of this process.
func (c *Client) LocalNow() time.Time {
	res, err := c.Changes(context.Background(), &admin.ChangesRequest{})
	if err != nil || res.Time.IsZero() {
		return time.Now()
	}
	return res.Time
}

func (c *Client) Learn(ctx context.Context, r *robotmem.LearnRequest) (*robotmem.LearnResponse, error) {
	return call[robotmem.LearnResponse](ctx, c, "learn", r)
}

func (c *Client) LearnBatch(ctx context.Context, r *robotmem.LearnBatchRequest) (*robotmem.LearnBatchResponse, error) {
	return call[robotmem.LearnBatchResponse](ctx, c, "learn_batch", r)
}

func (c *Client) Recall(ctx context.Context, r *robotmem.RecallRequest) (*robotmem.RecallResponse, error) {
	return call[robotmem.RecallResponse](ctx, c, "recall", r)
}

func (c *Client) Search(ctx context.Context, r *robotmem.SearchRequest) (*robotmem.RecallResponse, error) {
	return call[robotmem.RecallResponse](ctx, c, "search", r)
}

func (c *Client) Advise(ctx context.Context, r *robotmem.AdviseRequest) (*robotmem.AdviseResponse, error) {
	return call[robotmem.AdviseResponse](ctx, c, "advise", r)
}

func (c *Client) About(ctx context.Context, r *robotmem.AboutRequest) (*robotmem.AboutResponse, error) {
	return call[robotmem.AboutResponse](ctx, c, "about", r)
}

func (c *Client) SaveDocument(ctx context.Context, r *robotmem.SaveDocumentRequest) (*robotmem.SaveDocumentResponse, error) {
	return call[robotmem.SaveDocumentResponse](ctx, c, "save_document", r)
}

func (c *Client) Documents(ctx context.Context, r *robotmem.DocumentsRequest) (*robotmem.DocumentsResponse, error) {
	return call[robotmem.DocumentsResponse](ctx, c, "documents", r)
}

func (c *Client) RemoveDocument(ctx context.Context, r *robotmem.RemoveDocumentRequest) (*robotmem.RemoveDocumentResponse, error) {
	return call[robotmem.RemoveDocumentResponse](ctx, c, "remove_document", r)
}

func (c *Client) Attempt(ctx context.Context, r *robotmem.AttemptRequest) (*robotmem.AttemptResponse, error) {
	return call[robotmem.AttemptResponse](ctx, c, "attempt", r)
}

func (c *Client) Aggregate(ctx context.Context, r *robotmem.AggregateRequest) (*robotmem.AggregateResponse, error) {
	return call[robotmem.AggregateResponse](ctx, c, "aggregate", r)
}

func (c *Client) SavePerception(
	ctx context.Context, r *robotmem.SavePerceptionRequest,
) (*robotmem.SavePerceptionResponse, error) {
	return call[robotmem.SavePerceptionResponse](ctx, c, "save_perception", r)
}

func (c *Client) Forget(ctx context.Context, r *robotmem.ForgetRequest) (*robotmem.ForgetResponse, error) {
	return call[robotmem.ForgetResponse](ctx, c, "forget", r)
}

func (c *Client) Restore(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.RestoreResponse, error) {
	return call[robotmem.RestoreResponse](ctx, c, "restore", r)
}

func (c *Client) Update(ctx context.Context, r *robotmem.UpdateRequest) (*robotmem.UpdateResponse, error) {
	return call[robotmem.UpdateResponse](ctx, c, "update", r)
}

func (c *Client) Pin(ctx context.Context, r *admin.PinRequest) (*admin.PinResponse, error) {
	return call[admin.PinResponse](ctx, c, "pin", r)
}

func (c *Client) StartSession(
	ctx context.Context, r *robotmem.StartSessionRequest,
) (*robotmem.StartSessionResponse, error) {
	return call[robotmem.StartSessionResponse](ctx, c, "start_session", r)
}

func (c *Client) EndSession(ctx context.Context, r *robotmem.EndSessionRequest) (*robotmem.EndSessionResponse, error) {
	return call[robotmem.EndSessionResponse](ctx, c, "end_session", r)
}

func (c *Client) Get(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.Memory, error) {
	return call[robotmem.Memory](ctx, c, "get", r)
}

func (c *Client) Audit(ctx context.Context, r *admin.AuditRequest) (*admin.AuditResponse, error) {
	return call[admin.AuditResponse](ctx, c, "audit", r)
}

func (c *Client) Timeline(ctx context.Context, r *robotmem.TimelineRequest) (*robotmem.TimelineResponse, error) {
	return call[robotmem.TimelineResponse](ctx, c, "timeline", r)
}

func (c *Client) Data(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.DataResponse, error) {
	return call[robotmem.DataResponse](ctx, c, "data", r)
}

func (c *Client) Preview(ctx context.Context, r *admin.PreviewRequest) (*admin.PreviewResponse, error) {
	return call[admin.PreviewResponse](ctx, c, "preview", r)
}

func (c *Client) Samples(ctx context.Context, r *robotmem.SamplesRequest) (*robotmem.SamplesResponse, error) {
	return call[robotmem.SamplesResponse](ctx, c, "samples", r)
}

func (c *Client) History(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.HistoryResponse, error) {
	return call[robotmem.HistoryResponse](ctx, c, "history", r)
}

func (c *Client) List(ctx context.Context, r *robotmem.ListRequest) (*robotmem.ListResponse, error) {
	return call[robotmem.ListResponse](ctx, c, "list", r)
}

func (c *Client) Sessions(ctx context.Context, r *robotmem.SessionsRequest) (*robotmem.SessionsResponse, error) {
	return call[robotmem.SessionsResponse](ctx, c, "sessions", r)
}

func (c *Client) Session(ctx context.Context, r *robotmem.SessionRequest) (*robotmem.SessionResponse, error) {
	return call[robotmem.SessionResponse](ctx, c, "session", r)
}

func (c *Client) SessionMemories(ctx context.Context, r *admin.SessionMemoriesRequest) (*robotmem.ListResponse, error) {
	return call[robotmem.ListResponse](ctx, c, "session_memories", r)
}

func (c *Client) Collections(ctx context.Context, r *admin.CollectionsRequest) (*admin.CollectionsResponse, error) {
	return call[admin.CollectionsResponse](ctx, c, "collections", r)
}

func (c *Client) Categories(ctx context.Context, r *admin.CategoriesRequest) (*admin.CategoriesResponse, error) {
	return call[admin.CategoriesResponse](ctx, c, "categories", r)
}

func (c *Client) Paths(ctx context.Context, r *admin.PathsRequest) (*admin.PathsResponse, error) {
	return call[admin.PathsResponse](ctx, c, "paths", r)
}

func (c *Client) Places(ctx context.Context, r *robotmem.PlacesRequest) (*admin.PlacesResponse, error) {
	return call[admin.PlacesResponse](ctx, c, "places", r)
}

func (c *Client) RecentFailures(ctx context.Context, r *admin.RecentFailuresRequest) (*robotmem.ListResponse, error) {
	return call[robotmem.ListResponse](ctx, c, "recent_failures", r)
}

func (c *Client) Incidents(ctx context.Context, r *admin.IncidentsRequest) (*admin.IncidentsResponse, error) {
	return call[admin.IncidentsResponse](ctx, c, "incidents", r)
}

func (c *Client) Stats(ctx context.Context, r *admin.StatsRequest) (*admin.StatsResponse, error) {
	return call[admin.StatsResponse](ctx, c, "stats", r)
}

func (c *Client) Activity(ctx context.Context, r *admin.ActivityRequest) (*admin.ActivityResponse, error) {
	return call[admin.ActivityResponse](ctx, c, "activity", r)
}

// Changes implements robotmem.Service. A wait counts towards the time limit of the HTTP client.
func (c *Client) Changes(ctx context.Context, r *admin.ChangesRequest) (*admin.ChangesResponse, error) {
	return call[admin.ChangesResponse](ctx, c, "changes", r)
}

func (c *Client) Doctor(ctx context.Context, r *admin.DoctorRequest) (*admin.DoctorResponse, error) {
	return call[admin.DoctorResponse](ctx, c, "doctor", r)
}

func (c *Client) Retain(ctx context.Context, r *admin.RetainRequest) (*admin.RetainResponse, error) {
	return call[admin.RetainResponse](ctx, c, "retain", r)
}

func (c *Client) Repair(ctx context.Context, r *admin.RepairRequest) (*admin.RepairResponse, error) {
	return call[admin.RepairResponse](ctx, c, "repair", r)
}
