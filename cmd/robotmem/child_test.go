package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// child is a Service over the MCP tools of a child process. An operation without a
// tool fails with ErrNotOffered.
type child struct{ c *mcpclient.Client }

var _ robotmem.Service = child{}

// TestMCPChild runs the suite on the command mcp, over its stdin and stdout. In CI each
// case starts a child process; elsewhere the command runs in this process, which takes
// half the time.
func TestMCPChild(t *testing.T) {
	t.Parallel()
	robotmemtest.Run(t, startChild)
}

func startChild(t *testing.T) robotmem.Service {
	t.Helper()
	rounds.OneIn(t, 4)
	if strings.HasSuffix(t.Name(), "/InlineLimit") {
		rounds.OnlyInCI(t, "44 MB of JSON take seconds")
	}
	home := t.TempDir()
	args := []string{"mcp", "--db", filepath.Join(home, "memory.db"), "--embedder", "none"}
	var c *mcpclient.Client
	var err error
	if os.Getenv("CI") != "" {
		c, err = mcpclient.NewStdioMCPClient("robotmem", []string{"HOME=" + home, "ROBOTMEM_HOME=" + home}, args...)
	} else {
		c, err = inProcess(t, args)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	var init mcp.InitializeRequest
	init.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	init.Params.ClientInfo = mcp.Implementation{Name: "robotmemtest", Version: "1"}
	if _, err := c.Initialize(t.Context(), init); err != nil {
		t.Fatal(err)
	}
	return child{c}
}

// inProcess runs a command until its stdin is closed.
func inProcess(t *testing.T, args []string) (*mcpclient.Client, error) {
	stdin, toStdin := io.Pipe()
	fromStdout, stdout := io.Pipe()
	ended := make(chan int, 1)
	var stderr bytes.Buffer
	go func() {
		ended <- run(args, stdin, stdout, &stderr)
		_ = stdout.Close()
	}()
	t.Cleanup(func() { // after the client is closed
		if code := <-ended; code != 0 {
			t.Errorf("%v ended with %d: %s", args, code, &stderr)
		}
	})
	pipes := transport.NewIO(fromStdout, toStdin, io.NopCloser(strings.NewReader("")))
	return mcpclient.NewClient(pipes), pipes.Start(context.WithoutCancel(t.Context()))
}

func use[In, Out any](ctx context.Context, ch child, name string, in *In) (*Out, error) {
	res, err := ch.call(ctx, name, in)
	if err != nil {
		return nil, err
	}
	out := new(Out)
	dec := json.NewDecoder(bytes.NewReader(res.RawStructuredContent))
	dec.UseNumber()
	return out, dec.Decode(out)
}

func (ch child) contents(ctx context.Context, name string, in any) ([]mcp.Content, error) {
	res, err := ch.call(ctx, name, in)
	if err != nil {
		return nil, err
	}
	if len(res.RawStructuredContent) > 0 || res.StructuredContent != nil {
		return nil, fmt.Errorf("%s has structured content, beside which clients drop images", name)
	}
	return res.Content, nil
}

func (ch child) call(ctx context.Context, name string, in any) (*mcp.CallToolResult, error) {
	fail := func(kind robotmem.Kind, field string, err error) (*mcp.CallToolResult, error) {
		return nil, &robotmem.Error{Op: name, Kind: kind, Field: field, Err: err}
	}
	if !robotmem.OpByName(name).Hints.Tool {
		return fail(robotmem.Invalid, "", fmt.Errorf("%s is no tool: %w", name, robotmemtest.ErrNotOffered))
	}
	args, err := robotmem.RequestJSON(in)
	if err != nil {
		return fail(robotmem.Invalid, "", err)
	}
	if bytes.Contains(args, []byte(`\ufffd`)) { // the encoder replaces a byte that is not UTF-8
		return fail(robotmem.Invalid, "", fmt.Errorf("JSON cannot carry the text: %w", robotmemtest.ErrNotOffered))
	}
	var req mcp.CallToolRequest
	req.Params.Name, req.Params.Arguments = name, json.RawMessage(args)
	res, err := ch.c.CallTool(ctx, req)
	if err != nil {
		return fail(robotmem.Unavailable, "", err)
	}
	if !res.IsError {
		return res, nil
	}
	var parts struct{ Kind, Field, Detail string }
	data, err := json.Marshal(res.Meta)
	if err != nil {
		return fail(robotmem.Internal, "", err)
	}
	var meta map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(data, &meta), json.Unmarshal(meta["robotmem/error"], &parts)); err != nil {
		return fail(robotmem.Internal, "", fmt.Errorf("_meta %s: %w", data, err))
	}
	return fail(robotmem.Kind(parts.Kind), parts.Field, errors.New(parts.Detail))
}

func (ch child) Learn(ctx context.Context, r *robotmem.LearnRequest) (*robotmem.LearnResponse, error) {
	return use[robotmem.LearnRequest, robotmem.LearnResponse](ctx, ch, "learn", r)
}

func (ch child) LearnBatch(ctx context.Context, r *robotmem.LearnBatchRequest) (*robotmem.LearnBatchResponse, error) {
	return use[robotmem.LearnBatchRequest, robotmem.LearnBatchResponse](ctx, ch, "learn_batch", r)
}

func (ch child) Recall(ctx context.Context, r *robotmem.RecallRequest) (*robotmem.RecallResponse, error) {
	in := *r // the suite expects what the library answers by default
	in.Detail = cmp.Or(in.Detail, robotmem.DetailFull)
	res, err := use[robotmem.RecallRequest, robotmem.RecallResponse](ctx, ch, "recall", &in)
	for i := 0; err == nil && in.Detail == robotmem.DetailFull && i < len(res.Memories); i++ {
		lift(&res.Memories[i])
	}
	return res, err
}

func (ch child) Search(ctx context.Context, r *robotmem.SearchRequest) (*robotmem.RecallResponse, error) {
	return use[robotmem.SearchRequest, robotmem.RecallResponse](ctx, ch, "search", r)
}

func (ch child) SavePerception(ctx context.Context, r *robotmem.SavePerceptionRequest) (*robotmem.SavePerceptionResponse, error) {
	return use[robotmem.SavePerceptionRequest, robotmem.SavePerceptionResponse](ctx, ch, "save_perception", r)
}

func (ch child) Forget(ctx context.Context, r *robotmem.ForgetRequest) (*robotmem.ForgetResponse, error) {
	return use[robotmem.ForgetRequest, robotmem.ForgetResponse](ctx, ch, "forget", r)
}

func (ch child) Restore(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.RestoreResponse, error) {
	return use[robotmem.MemoryRequest, robotmem.RestoreResponse](ctx, ch, "restore", r)
}

func (ch child) Update(ctx context.Context, r *robotmem.UpdateRequest) (*robotmem.UpdateResponse, error) {
	return use[robotmem.UpdateRequest, robotmem.UpdateResponse](ctx, ch, "update", r)
}

func (ch child) Pin(ctx context.Context, r *admin.PinRequest) (*admin.PinResponse, error) {
	return use[admin.PinRequest, admin.PinResponse](ctx, ch, "pin", r)
}

func (ch child) Audit(ctx context.Context, r *admin.AuditRequest) (*admin.AuditResponse, error) {
	return use[admin.AuditRequest, admin.AuditResponse](ctx, ch, "audit", r)
}

func (ch child) StartSession(ctx context.Context, r *robotmem.StartSessionRequest) (*robotmem.StartSessionResponse, error) {
	return use[robotmem.StartSessionRequest, robotmem.StartSessionResponse](ctx, ch, "start_session", r)
}

func (ch child) EndSession(ctx context.Context, r *robotmem.EndSessionRequest) (*robotmem.EndSessionResponse, error) {
	return use[robotmem.EndSessionRequest, robotmem.EndSessionResponse](ctx, ch, "end_session", r)
}

func (ch child) Get(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.Memory, error) {
	m, err := use[robotmem.MemoryRequest, robotmem.Memory](ctx, ch, "get", r)
	if err == nil {
		lift(m)
	}
	return m, err
}

// lift restores what an MCP answer says once: the sections of the context, a summary
// that is the text, and the time of an update that never was.
func lift(m *robotmem.Memory) {
	c := m.Context
	m.Params, m.Spatial, m.Robot, m.Task, m.Env = c["params"], c["spatial"], c["robot"], c["task"], c["env"]
	m.Summary = cmp.Or(m.Summary, m.Content)
	if m.UpdatedAt == nil && m.Version > 0 {
		m.UpdatedAt = &m.CreatedAt
	}
}

func (ch child) Data(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.DataResponse, error) {
	return use[robotmem.MemoryRequest, robotmem.DataResponse](ctx, ch, "data", r)
}

// Preview builds the response from the tool's result: a text and an image, or a link
// to a drawing.
func (ch child) Preview(ctx context.Context, r *admin.PreviewRequest) (*admin.PreviewResponse, error) {
	contents, err := ch.contents(ctx, "preview", r)
	if err != nil {
		return nil, err
	}
	p := &admin.PreviewResponse{MemoryID: r.MemoryID}
	for _, content := range contents {
		switch c := content.(type) {
		case mcp.TextContent:
			text, _, _ := strings.Cut(c.Text, "\n")
			_, p.Summary, _ = strings.Cut(text, ": ")
		case mcp.ImageContent:
			p.MediaType = c.MIMEType
			if p.DataBase64, err = base64.StdEncoding.DecodeString(c.Data); err != nil {
				return nil, err
			}
			size, _, err := image.DecodeConfig(bytes.NewReader(p.DataBase64))
			if err != nil {
				return nil, err
			}
			p.Width, p.Height = size.Width, size.Height
		case mcp.ResourceLink:
			p.MediaType = c.MIMEType
			form := "robotmem://perception/%d/preview?width=%d&height=%d"
			if _, err := fmt.Sscanf(c.URI, form, &p.MemoryID, &p.Width, &p.Height); err != nil {
				return nil, fmt.Errorf("link %s: %w", c.URI, err)
			}
			if p.DataBase64, err = ch.drawing(ctx, c.URI); err != nil {
				return nil, err
			}
		}
	}
	m, err := ch.Get(ctx, &robotmem.MemoryRequest{MemoryID: r.MemoryID, UID: r.UID})
	if err == nil {
		p.SHA256 = m.SHA256
	}
	return p, err
}

// drawing reads a text resource.
func (ch child) drawing(ctx context.Context, uri string) ([]byte, error) {
	var req mcp.ReadResourceRequest
	req.Params.URI = uri
	res, err := ch.c.ReadResource(ctx, req)
	if err != nil {
		return nil, err
	}
	for _, content := range res.Contents {
		if text, ok := content.(mcp.TextResourceContents); ok {
			return []byte(text.Text), nil
		}
	}
	return nil, fmt.Errorf("%s is no text: %+v", uri, res.Contents)
}

func (ch child) Samples(ctx context.Context, r *robotmem.SamplesRequest) (*robotmem.SamplesResponse, error) {
	return use[robotmem.SamplesRequest, robotmem.SamplesResponse](ctx, ch, "samples", r)
}

func (ch child) Retain(ctx context.Context, r *admin.RetainRequest) (*admin.RetainResponse, error) {
	return use[admin.RetainRequest, admin.RetainResponse](ctx, ch, "retain", r)
}

func (ch child) History(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.HistoryResponse, error) {
	return use[robotmem.MemoryRequest, robotmem.HistoryResponse](ctx, ch, "history", r)
}

func (ch child) Timeline(ctx context.Context, r *robotmem.TimelineRequest) (*robotmem.TimelineResponse, error) {
	return use[robotmem.TimelineRequest, robotmem.TimelineResponse](ctx, ch, "timeline", r)
}

func (ch child) List(ctx context.Context, r *robotmem.ListRequest) (*robotmem.ListResponse, error) {
	return use[robotmem.ListRequest, robotmem.ListResponse](ctx, ch, "list", r)
}

func (ch child) Sessions(ctx context.Context, r *robotmem.SessionsRequest) (*robotmem.SessionsResponse, error) {
	return use[robotmem.SessionsRequest, robotmem.SessionsResponse](ctx, ch, "sessions", r)
}

func (ch child) Session(ctx context.Context, r *robotmem.SessionRequest) (*robotmem.SessionResponse, error) {
	return use[robotmem.SessionRequest, robotmem.SessionResponse](ctx, ch, "session", r)
}

func (ch child) SessionMemories(ctx context.Context, r *admin.SessionMemoriesRequest) (*robotmem.ListResponse, error) {
	return use[admin.SessionMemoriesRequest, robotmem.ListResponse](ctx, ch, "session_memories", r)
}

func (ch child) Collections(ctx context.Context, r *admin.CollectionsRequest) (*admin.CollectionsResponse, error) {
	return use[admin.CollectionsRequest, admin.CollectionsResponse](ctx, ch, "collections", r)
}

func (ch child) Categories(ctx context.Context, r *admin.CategoriesRequest) (*admin.CategoriesResponse, error) {
	return use[admin.CategoriesRequest, admin.CategoriesResponse](ctx, ch, "categories", r)
}

func (ch child) Paths(ctx context.Context, r *admin.PathsRequest) (*admin.PathsResponse, error) {
	return use[admin.PathsRequest, admin.PathsResponse](ctx, ch, "paths", r)
}

func (ch child) Advise(ctx context.Context, r *robotmem.AdviseRequest) (*robotmem.AdviseResponse, error) {
	return use[robotmem.AdviseRequest, robotmem.AdviseResponse](ctx, ch, "advise", r)
}

func (ch child) About(ctx context.Context, r *robotmem.AboutRequest) (*robotmem.AboutResponse, error) {
	return use[robotmem.AboutRequest, robotmem.AboutResponse](ctx, ch, "about", r)
}

func (ch child) SaveDocument(ctx context.Context, r *robotmem.SaveDocumentRequest) (*robotmem.SaveDocumentResponse, error) {
	return use[robotmem.SaveDocumentRequest, robotmem.SaveDocumentResponse](ctx, ch, "save_document", r)
}

func (ch child) Documents(ctx context.Context, r *robotmem.DocumentsRequest) (*robotmem.DocumentsResponse, error) {
	return use[robotmem.DocumentsRequest, robotmem.DocumentsResponse](ctx, ch, "documents", r)
}

func (ch child) RemoveDocument(ctx context.Context, r *robotmem.RemoveDocumentRequest) (*robotmem.RemoveDocumentResponse, error) {
	return use[robotmem.RemoveDocumentRequest, robotmem.RemoveDocumentResponse](ctx, ch, "remove_document", r)
}

func (ch child) Attempt(ctx context.Context, r *robotmem.AttemptRequest) (*robotmem.AttemptResponse, error) {
	return use[robotmem.AttemptRequest, robotmem.AttemptResponse](ctx, ch, "attempt", r)
}

func (ch child) Aggregate(ctx context.Context, r *robotmem.AggregateRequest) (*robotmem.AggregateResponse, error) {
	return use[robotmem.AggregateRequest, robotmem.AggregateResponse](ctx, ch, "aggregate", r)
}

func (ch child) Places(ctx context.Context, r *robotmem.PlacesRequest) (*admin.PlacesResponse, error) {
	return use[robotmem.PlacesRequest, admin.PlacesResponse](ctx, ch, "places", r)
}

func (ch child) RecentFailures(ctx context.Context, r *admin.RecentFailuresRequest) (*robotmem.ListResponse, error) {
	return use[admin.RecentFailuresRequest, robotmem.ListResponse](ctx, ch, "recent_failures", r)
}

func (ch child) Incidents(ctx context.Context, r *admin.IncidentsRequest) (*admin.IncidentsResponse, error) {
	return use[admin.IncidentsRequest, admin.IncidentsResponse](ctx, ch, "incidents", r)
}

func (ch child) Stats(ctx context.Context, r *admin.StatsRequest) (*admin.StatsResponse, error) {
	return use[admin.StatsRequest, admin.StatsResponse](ctx, ch, "stats", r)
}

func (ch child) Activity(ctx context.Context, r *admin.ActivityRequest) (*admin.ActivityResponse, error) {
	return use[admin.ActivityRequest, admin.ActivityResponse](ctx, ch, "activity", r)
}

func (ch child) Changes(ctx context.Context, r *admin.ChangesRequest) (*admin.ChangesResponse, error) {
	return use[admin.ChangesRequest, admin.ChangesResponse](ctx, ch, "changes", r)
}

func (ch child) Doctor(ctx context.Context, r *admin.DoctorRequest) (*admin.DoctorResponse, error) {
	return use[admin.DoctorRequest, admin.DoctorResponse](ctx, ch, "doctor", r)
}

func (ch child) Repair(ctx context.Context, r *admin.RepairRequest) (*admin.RepairResponse, error) {
	return use[admin.RepairRequest, admin.RepairResponse](ctx, ch, "repair", r)
}
