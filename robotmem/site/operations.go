package site

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// The operations of a Guard. Each is checked by its request; those with a body of their own also
// leave something out of the answer.

func (g *Guard) Recall(ctx context.Context, r *robotmem.RecallRequest) (*robotmem.RecallResponse, error) {
	return call(ctx, g, "recall", r, robotmem.Service.Recall)
}

func (g *Guard) Search(ctx context.Context, r *robotmem.SearchRequest) (*robotmem.RecallResponse, error) {
	return call(ctx, g, "search", r, robotmem.Service.Search)
}

func (g *Guard) Advise(ctx context.Context, r *robotmem.AdviseRequest) (*robotmem.AdviseResponse, error) {
	return call(ctx, g, "advise", r, robotmem.Service.Advise)
}

func (g *Guard) About(ctx context.Context, r *robotmem.AboutRequest) (*robotmem.AboutResponse, error) {
	return call(ctx, g, "about", r, robotmem.Service.About)
}

func (g *Guard) SaveDocument(ctx context.Context, r *robotmem.SaveDocumentRequest) (*robotmem.SaveDocumentResponse, error) {
	return call(ctx, g, "save_document", r, robotmem.Service.SaveDocument)
}

func (g *Guard) Documents(ctx context.Context, r *robotmem.DocumentsRequest) (*robotmem.DocumentsResponse, error) {
	return call(ctx, g, "documents", r, robotmem.Service.Documents)
}

func (g *Guard) RemoveDocument(ctx context.Context, r *robotmem.RemoveDocumentRequest) (*robotmem.RemoveDocumentResponse, error) {
	return call(ctx, g, "remove_document", r, robotmem.Service.RemoveDocument)
}

func (g *Guard) Attempt(ctx context.Context, r *robotmem.AttemptRequest) (*robotmem.AttemptResponse, error) {
	return call(ctx, g, "attempt", r, robotmem.Service.Attempt)
}

func (g *Guard) Aggregate(ctx context.Context, r *robotmem.AggregateRequest) (*robotmem.AggregateResponse, error) {
	return call(ctx, g, "aggregate", r, robotmem.Service.Aggregate)
}

func (g *Guard) Learn(ctx context.Context, r *robotmem.LearnRequest) (*robotmem.LearnResponse, error) {
	return call(ctx, g, "learn", r, robotmem.Service.Learn)
}

func (g *Guard) LearnBatch(ctx context.Context, r *robotmem.LearnBatchRequest) (*robotmem.LearnBatchResponse, error) {
	return call(ctx, g, "learn_batch", r, robotmem.Service.LearnBatch)
}

func (g *Guard) Forget(ctx context.Context, r *robotmem.ForgetRequest) (*robotmem.ForgetResponse, error) {
	return call(ctx, g, "forget", r, robotmem.Service.Forget)
}

func (g *Guard) Restore(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.RestoreResponse, error) {
	return call(ctx, g, "restore", r, robotmem.Service.Restore)
}

func (g *Guard) Update(ctx context.Context, r *robotmem.UpdateRequest) (*robotmem.UpdateResponse, error) {
	return call(ctx, g, "update", r, robotmem.Service.Update)
}

func (g *Guard) Pin(ctx context.Context, r *admin.PinRequest) (*admin.PinResponse, error) {
	return call(ctx, g, "pin", r, robotmem.Service.Pin)
}

func (g *Guard) StartSession(
	ctx context.Context, r *robotmem.StartSessionRequest,
) (*robotmem.StartSessionResponse, error) {
	return serve(ctx, g, "start_session", r, func(ctx context.Context, a *access, r *robotmem.StartSessionRequest) (*robotmem.StartSessionResponse, error) {
		res, err := a.node.StartSession(ctx, r)
		// With an origin the node may return a known episode, which may be of another robot.
		if err == nil && a.limited() && r.Origin != "" {
			if _, err := a.checkSession(ctx, "origin", res.SessionID, true); err != nil {
				return nil, err
			}
		}

		return res, err
	})
}

func (g *Guard) EndSession(ctx context.Context, r *robotmem.EndSessionRequest) (*robotmem.EndSessionResponse, error) {
	return call(ctx, g, "end_session", r, robotmem.Service.EndSession)
}

func (g *Guard) Get(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.Memory, error) {
	return call(ctx, g, "get", r, robotmem.Service.Get)
}

func (g *Guard) Timeline(ctx context.Context, r *robotmem.TimelineRequest) (*robotmem.TimelineResponse, error) {
	return call(ctx, g, "timeline", r, robotmem.Service.Timeline)
}

func (g *Guard) Data(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.DataResponse, error) {
	return call(ctx, g, "data", r, robotmem.Service.Data)
}

func (g *Guard) Preview(ctx context.Context, r *admin.PreviewRequest) (*admin.PreviewResponse, error) {
	return call(ctx, g, "preview", r, robotmem.Service.Preview)
}

func (g *Guard) Samples(ctx context.Context, r *robotmem.SamplesRequest) (*robotmem.SamplesResponse, error) {
	return call(ctx, g, "samples", r, robotmem.Service.Samples)
}

func (g *Guard) History(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.HistoryResponse, error) {
	return call(ctx, g, "history", r, robotmem.Service.History)
}

func (g *Guard) List(ctx context.Context, r *robotmem.ListRequest) (*robotmem.ListResponse, error) {
	return call(ctx, g, "list", r, robotmem.Service.List)
}

func (g *Guard) Sessions(ctx context.Context, r *robotmem.SessionsRequest) (*robotmem.SessionsResponse, error) {
	return call(ctx, g, "sessions", r, robotmem.Service.Sessions)
}

// Session leaves out the memories of other collections that were recalled for the episode.
func (g *Guard) Session(ctx context.Context, r *robotmem.SessionRequest) (*robotmem.SessionResponse, error) {
	return serve(ctx, g, "session", r, func(ctx context.Context, a *access, r *robotmem.SessionRequest) (*robotmem.SessionResponse, error) {
		res, err := a.node.Session(ctx, r)
		if err == nil {
			res.Recalled = slices.DeleteFunc(res.Recalled,
				func(m robotmem.RecalledMemory) bool { return !robotmem.InCollections(a.Collections, m.Collection) })
		}
		return res, err
	})
}

func (g *Guard) SessionMemories(ctx context.Context, r *admin.SessionMemoriesRequest) (*robotmem.ListResponse, error) {
	return call(ctx, g, "session_memories", r, robotmem.Service.SessionMemories)
}

func (g *Guard) Collections(ctx context.Context, r *admin.CollectionsRequest) (*admin.CollectionsResponse, error) {
	return serve(ctx, g, "collections", r, func(ctx context.Context, a *access, r *admin.CollectionsRequest) (*admin.CollectionsResponse, error) {
		res, err := a.node.Collections(ctx, r)
		if err == nil {
			res.Collections = slices.DeleteFunc(res.Collections,
				func(c admin.CollectionCount) bool { return !robotmem.InCollections(a.Collections, c.Collection) })
		}
		return res, err
	})
}

func (g *Guard) Categories(ctx context.Context, r *admin.CategoriesRequest) (*admin.CategoriesResponse, error) {
	return call(ctx, g, "categories", r, robotmem.Service.Categories)
}

func (g *Guard) Paths(ctx context.Context, r *admin.PathsRequest) (*admin.PathsResponse, error) {
	return call(ctx, g, "paths", r, robotmem.Service.Paths)
}

func (g *Guard) Places(ctx context.Context, r *robotmem.PlacesRequest) (*admin.PlacesResponse, error) {
	return call(ctx, g, "places", r, robotmem.Service.Places)
}

func (g *Guard) RecentFailures(ctx context.Context, r *admin.RecentFailuresRequest) (*robotmem.ListResponse, error) {
	return call(ctx, g, "recent_failures", r, robotmem.Service.RecentFailures)
}

func (g *Guard) Incidents(ctx context.Context, r *admin.IncidentsRequest) (*admin.IncidentsResponse, error) {
	return call(ctx, g, "incidents", r, robotmem.Service.Incidents)
}

// Stats counts what is in the caller's collections. What is of the whole tenant or of the node, such
// as bytes and workers, is left out then.
func (g *Guard) Stats(ctx context.Context, r *admin.StatsRequest) (*admin.StatsResponse, error) {
	return serve(ctx, g, "stats", r, func(ctx context.Context, a *access, r *admin.StatsRequest) (*admin.StatsResponse, error) {
		if !a.limited() || a.Collections == robotmem.AllCollections {
			return a.node.Stats(ctx, r)
		}
		return a.stats(ctx)
	})
}

func (a *access) stats(ctx context.Context) (*admin.StatsResponse, error) {
	res := &admin.StatsResponse{
		ByStatus: map[string]int64{}, ByType: map[string]int64{}, ByCategory: map[string]int64{},
		Workers: []admin.Worker{},
	}
	res.Interpreted = []string{"counts of " + strings.ReplaceAll(a.Collections, ",", ", ") + "; what is of the whole tenant is left out"}

	// Only counts of the caller's collections may be told, so they are added up from operations that respect the
	// collections.
	all, err := a.node.Collections(ctx, &admin.CollectionsRequest{})
	if err != nil {
		return nil, err
	}

	for _, c := range all.Collections {
		if robotmem.InCollections(a.Collections, c.Collection) {
			res.Collections++
			res.Total += c.Active
			res.Sessions += c.Sessions
		}
	}

	categories, err := a.node.Categories(ctx, &admin.CategoriesRequest{Collection: a.Collections})
	if err != nil {
		return nil, err
	}

	for _, c := range categories.Categories {
		res.ByCategory[c.Category] = c.Count
	}

	count := func(into *int64, r robotmem.ListRequest) {
		if err == nil {
			var page *robotmem.ListResponse

			// Only the total is needed, so the page is as short as possible.
			r.Collection, r.Limit = a.Collections, 1
			if page, err = a.node.List(ctx, &r); err == nil {
				*into = page.Total
			}
		}
	}

	for _, status := range []string{"active", "superseded", "invalidated"} {
		n := int64(0)
		count(&n, robotmem.ListRequest{Status: status})
		res.ByStatus[status] = n
	}

	for _, kind := range []string{"fact", "perception", "document"} {
		n := int64(0)
		count(&n, robotmem.ListRequest{Type: kind})
		res.ByType[kind] = n
	}

	count(&res.LastDay, robotmem.ListRequest{Status: "all", Days: 1})

	return res, err
}

func (g *Guard) Activity(ctx context.Context, r *admin.ActivityRequest) (*admin.ActivityResponse, error) {
	return call(ctx, g, "activity", r, robotmem.Service.Activity)
}

func (g *Guard) Changes(ctx context.Context, r *admin.ChangesRequest) (*admin.ChangesResponse, error) {
	return call(ctx, g, "changes", r, robotmem.Service.Changes)
}

func (g *Guard) Doctor(ctx context.Context, r *admin.DoctorRequest) (*admin.DoctorResponse, error) {
	return call(ctx, g, "doctor", r, robotmem.Service.Doctor)
}

func (g *Guard) Retain(ctx context.Context, r *admin.RetainRequest) (*admin.RetainResponse, error) {
	return call(ctx, g, "retain", r, robotmem.Service.Retain)
}

func (g *Guard) Audit(ctx context.Context, r *admin.AuditRequest) (*admin.AuditResponse, error) {
	return call(ctx, g, "audit", r, robotmem.Service.Audit)
}

func (g *Guard) Repair(ctx context.Context, r *admin.RepairRequest) (*admin.RepairResponse, error) {
	return call(ctx, g, "repair", r, robotmem.Service.Repair)
}

func (g *Guard) SavePerception(
	ctx context.Context, r *robotmem.SavePerceptionRequest,
) (*robotmem.SavePerceptionResponse, error) {
	return serve(ctx, g, "save_perception", r, func(ctx context.Context, a *access, r *robotmem.SavePerceptionRequest) (*robotmem.SavePerceptionResponse, error) {
		if err := refusePath(r, nil); err != nil {
			return nil, err
		}
		return a.node.SavePerception(ctx, r)
	})
}

func (g *Guard) SavePerceptionFrom(
	ctx context.Context, r *robotmem.SavePerceptionRequest, data io.Reader,
) (*robotmem.SavePerceptionResponse, error) {
	return serve(ctx, g, "save_perception", r, func(ctx context.Context, a *access, r *robotmem.SavePerceptionRequest) (*robotmem.SavePerceptionResponse, error) {
		if err := refusePath(r, data); err != nil {
			return nil, err
		}
		data, err := a.metered(ctx, data)
		if err != nil {
			return nil, err
		}
		res, err := a.node.SavePerceptionFrom(ctx, r, data)

		// The node reports a payload that could not be read to its end. The quota ended it.
		if m, ok := data.(*metered); ok && m.over != nil {
			return nil, m.over
		}

		return res, err
	})
}

// OpenData keeps the memory of the tenant open until the reader is closed.
func (g *Guard) OpenData(ctx context.Context, r *robotmem.MemoryRequest) (*robotmem.DataReader, error) {
	return serve(ctx, g, "data", r, func(ctx context.Context, a *access, r *robotmem.MemoryRequest) (*robotmem.DataReader, error) {
		// serve releases the node when this function returns, but the reader still uses it.
		_, leave, err := g.nodes.take(ctx, a.Tenant)
		if err != nil {
			return nil, err
		}
		data, err := a.node.OpenData(ctx, r)
		if err != nil {
			leave()
			return nil, err
		}
		data.ReadSeekCloser = &leaving{data.ReadSeekCloser, leave}

		return data, nil
	})
}

type leaving struct {
	io.ReadSeekCloser
	leave func()
}

func (l *leaving) Close() error {
	defer l.leave()
	return l.ReadSeekCloser.Close()
}
