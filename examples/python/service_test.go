package python_test

import (
	"context"

	"github.com/robotmem/robotmem-go/robotmem"
)

func (s service) Learn(ctx context.Context, r *robotmem.LearnRequest) (*robotmem.LearnResponse, error) {
	return use[robotmem.LearnResponse](ctx, s, "learn", r)
}

func (s service) LearnBatch(ctx context.Context, r *robotmem.LearnBatchRequest) (*robotmem.LearnBatchResponse, error) {
	return use[robotmem.LearnBatchResponse](ctx, s, "learn_batch", r)
}

func (s service) Recall(ctx context.Context, r *robotmem.RecallRequest) (*robotmem.RecallResponse, error) {
	return use[robotmem.RecallResponse](ctx, s, "recall", r)
}

func (s service) Search(ctx context.Context, r *robotmem.SearchRequest) (*robotmem.RecallResponse, error) {
	return use[robotmem.RecallResponse](ctx, s, "search", r)
}

func (s service) SavePerception(ctx context.Context, r *robotmem.SavePerceptionRequest) (*robotmem.SavePerceptionResponse, error) {
	return use[robotmem.SavePerceptionResponse](ctx, s, "save_perception", r)
}

func (s service) Forget(ctx context.Context, r *robotmem.ForgetRequest) (*robotmem.ForgetResponse, error) {
	return use[robotmem.ForgetResponse](ctx, s, "forget", r)
}

func (s service) Restore(ctx context.Context, r *robotmem.RestoreRequest) (*robotmem.RestoreResponse, error) {
	return use[robotmem.RestoreResponse](ctx, s, "restore", r)
}

func (s service) Update(ctx context.Context, r *robotmem.UpdateRequest) (*robotmem.UpdateResponse, error) {
	return use[robotmem.UpdateResponse](ctx, s, "update", r)
}

func (s service) StartSession(ctx context.Context, r *robotmem.StartSessionRequest) (*robotmem.StartSessionResponse, error) {
	return use[robotmem.StartSessionResponse](ctx, s, "start_session", r)
}

func (s service) EndSession(ctx context.Context, r *robotmem.EndSessionRequest) (*robotmem.EndSessionResponse, error) {
	return use[robotmem.EndSessionResponse](ctx, s, "end_session", r)
}

func (s service) Get(ctx context.Context, r *robotmem.GetRequest) (*robotmem.Memory, error) {
	return use[robotmem.Memory](ctx, s, "get", r)
}

func (s service) Data(ctx context.Context, r *robotmem.DataRequest) (*robotmem.DataResponse, error) {
	return use[robotmem.DataResponse](ctx, s, "data", r)
}

func (s service) Preview(ctx context.Context, r *robotmem.PreviewRequest) (*robotmem.PreviewResponse, error) {
	return use[robotmem.PreviewResponse](ctx, s, "preview", r)
}

func (s service) History(ctx context.Context, r *robotmem.HistoryRequest) (*robotmem.HistoryResponse, error) {
	return use[robotmem.HistoryResponse](ctx, s, "history", r)
}

func (s service) List(ctx context.Context, r *robotmem.ListRequest) (*robotmem.ListResponse, error) {
	return use[robotmem.ListResponse](ctx, s, "list", r)
}

func (s service) Sessions(ctx context.Context, r *robotmem.SessionsRequest) (*robotmem.SessionsResponse, error) {
	return use[robotmem.SessionsResponse](ctx, s, "sessions", r)
}

func (s service) SessionMemories(ctx context.Context, r *robotmem.SessionMemoriesRequest) (*robotmem.ListResponse, error) {
	return use[robotmem.ListResponse](ctx, s, "session_memories", r)
}

func (s service) Collections(ctx context.Context, r *robotmem.CollectionsRequest) (*robotmem.CollectionsResponse, error) {
	return use[robotmem.CollectionsResponse](ctx, s, "collections", r)
}

func (s service) Categories(ctx context.Context, r *robotmem.CategoriesRequest) (*robotmem.CategoriesResponse, error) {
	return use[robotmem.CategoriesResponse](ctx, s, "categories", r)
}

func (s service) RecentFailures(ctx context.Context, r *robotmem.RecentFailuresRequest) (*robotmem.ListResponse, error) {
	return use[robotmem.ListResponse](ctx, s, "recent_failures", r)
}

func (s service) Stats(ctx context.Context, r *robotmem.StatsRequest) (*robotmem.StatsResponse, error) {
	return use[robotmem.StatsResponse](ctx, s, "stats", r)
}

func (s service) Doctor(ctx context.Context, r *robotmem.DoctorRequest) (*robotmem.DoctorResponse, error) {
	return use[robotmem.DoctorResponse](ctx, s, "doctor", r)
}

func (s service) Retain(ctx context.Context, r *robotmem.RetainRequest) (*robotmem.RetainResponse, error) {
	return use[robotmem.RetainResponse](ctx, s, "retain", r)
}

func (s service) Repair(ctx context.Context, r *robotmem.RepairRequest) (*robotmem.RepairResponse, error) {
	return use[robotmem.RepairResponse](ctx, s, "repair", r)
}
