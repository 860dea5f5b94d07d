package robotmem

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// LearnRequest records one fact.
type LearnRequest struct {
	Insight    string     `json:"insight" validate:"required,utf8,maxbytes=16384" cli:"arg" doc:"What was learnt, in one sentence with its numbers: \"grip_force=12.5 N holds wet glass\". 1 byte to 16 KiB, stored unchanged."`
	Context    Object     `json:"context,omitempty" doc:"JSON object that describes the situation. Known sections: params, spatial, robot, task (task.success is the outcome), env. Other keys are stored too."`
	Collection string     `json:"collection,omitempty" validate:"omitempty,collection" doc:"Namespace, [A-Za-z0-9._-]{1,64}. Default: the collection of the session, else default."`
	SessionID  string     `json:"session_id,omitempty" validate:"omitempty,session" doc:"The episode of the memory, from start_session."`
	Tags       []string   `json:"tags,omitempty" validate:"max=32,dive,tag" doc:"Tags to add to the inferred ones; each 1 to 64 letters, digits, _ . or -."`
	ObservedAt *time.Time `json:"observed_at,omitempty" validate:"omitempty,instant" doc:"Time of the observation (RFC 3339). Default: now."`
	Pinned     *bool      `json:"pinned,omitempty" doc:"A pinned memory does not decay and is not merged. Default: depends on the category."`
	Outcome    string     `json:"outcome,omitempty" validate:"omitempty,oneof=success failure partial unknown" doc:"How it went: success, failure, partial or unknown. Default: read from the context (task.success, result, status, …), else from the text."`
	Source     string     `json:"source,omitempty" validate:"utf8,max=64,source" doc:"Who or what reported the fact, up to 64 characters. The names operator and verified are reserved."`
	Supersedes int64      `json:"supersedes,omitempty" validate:"min=0" tool:"rare" doc:"The memory_id of an active memory of the same collection that this fact replaces: it is no longer recalled, the history keeps it, and restore brings it back."`
	RequestID  string     `json:"request_id,omitempty" validate:"omitempty,session" tool:"rare" doc:"A name of this call, up to 128 characters, such as a UUID. A call that is repeated with it, because its answer was lost, gets the same answer and stores nothing again. The last 100,000 of the last 7 days are known."`
}

// LearnBatchRequest records many facts.
type LearnBatchRequest struct {
	Items          []LearnRequest `json:"items" validate:"required,min=1,max=10000" doc:"1 to 10,000 learn requests."`
	KeepDuplicates bool           `json:"keep_duplicates,omitempty" doc:"Store every item, including duplicates of known facts."`

	itemErrs map[int]error           // decoding errors, by item
	itemRaw  map[int]json.RawMessage // JSON of the items that could not be decoded
}

// MarshalJSON implements json.Marshaler. It writes an item that could not be
// decoded unchanged, so that a remote node refuses it for the same reason.
func (r LearnBatchRequest) MarshalJSON() ([]byte, error) {
	wire := struct {
		Items          []any `json:"items"`
		KeepDuplicates bool  `json:"keep_duplicates,omitempty"`
	}{make([]any, len(r.Items)), r.KeepDuplicates}
	for i := range r.Items {
		wire.Items[i] = &r.Items[i]
		if raw, ok := r.itemRaw[i]; ok {
			wire.Items[i] = raw
		}
	}

	return json.Marshal(wire)
}

// ItemError returns the decoding error of an item, or nil.
func (r *LearnBatchRequest) ItemError(i int) error { return r.itemErrs[i] }

// UnmarshalJSON implements json.Unmarshaler. An item that cannot be decoded does
// not fail the request; the response reports the error at the item's index.
func (r *LearnBatchRequest) UnmarshalJSON(data []byte) error { return r.read(&requestReader{}, data) }

func (r *LearnBatchRequest) read(in *requestReader, data []byte) error {
	var wire struct {
		Items          []View `json:"items"`
		KeepDuplicates bool   `json:"keep_duplicates"`
	}
	if err := in.decode(data, &wire); err != nil {
		return err
	}

	*r = LearnBatchRequest{
		KeepDuplicates: wire.KeepDuplicates,
		itemErrs:       map[int]error{},
		itemRaw:        map[int]json.RawMessage{},
	}

	// scan has counted the values of the request, but it cannot see those of a context that is a string.
	left := maxBatchValues

	for i, raw := range wire.Items {
		var item LearnRequest
		in.within = fmt.Sprintf("items[%d].", i)
		if err := in.decode(raw, &item); err != nil {
			r.itemErrs[i] = err
			r.itemRaw[i] = json.RawMessage(raw)
		}

		if walk(map[string]any(item.Context), func(any) bool { left--; return left >= 0 }); left < 0 {
			field := fmt.Sprintf("items[%d].context", i)
			return Errorf(TooLarge, field, "brings the items to more than %d values; "+
				"split them into several calls", maxBatchValues)
		}

		r.Items = append(r.Items, item)
	}

	in.within = ""

	return nil
}

// RecallRequest describes a search for memories.
type RecallRequest struct {
	Query          string       `json:"query,omitempty" validate:"utf8" cli:"arg" doc:"What to look for, in words; may be empty with a filter, a place or a session."`
	Collection     string       `json:"collection,omitempty" validate:"omitempty,collections" default:"default" doc:"Namespace to search; * for all."`
	N              int          `json:"n,omitempty" validate:"min=1,max=100" default:"5" doc:"Number of memories to return, 1 to 100."`
	MinConfidence  *float64     `json:"min_confidence,omitempty" validate:"omitempty,finite,min=0,max=1" default:"0.3" doc:"Lowest current confidence, 0 to 1."`
	SessionID      string       `json:"session_id,omitempty" validate:"omitempty,session" doc:"Only memories of this episode. With an empty query they are returned in time order."`
	ForSession     string       `json:"for_session,omitempty" validate:"omitempty,session" doc:"The episode that makes the recall; end_session uses it to credit memories."`
	ContextFilter  Object       `json:"context_filter,omitempty" doc:"Filter over context paths: {\"task.success\":true,\"params.force\":{\"$lt\":15}}. Operators $eq $ne $lt $lte $gt $gte $in $nin $exists $and $or $not."`
	SpatialSort    *SpatialSort `json:"spatial_sort,omitempty" doc:"Nearest first: {\"field\":\"spatial.position\",\"target\":[x,y,z],\"max_distance\":1.5}. \"mode\":\"fused\" ranks by words too; frame_id, map_id."`
	After          *time.Time   `json:"after,omitempty" validate:"omitempty,instant" doc:"Only memories observed at or after this time (RFC 3339)."`
	Before         *time.Time   `json:"before,omitempty" validate:"omitempty,instant" doc:"Only memories observed before this time (RFC 3339)."`
	AsOf           *time.Time   `json:"as_of,omitempty" validate:"omitempty,instant" tool:"rare" doc:"Search the state of the memory at this past time (RFC 3339)."`
	ParseTime      *bool        `json:"parse_time,omitempty" default:"true" tool:"rare" doc:"Read time words in the query (yesterday, last week, before the crash at 14:05, 昨天) as after and before; times in the response shows how. false: they are words."`
	Type           string       `json:"type,omitempty" validate:"omitempty,oneof=fact perception document" doc:"Only facts, perceptions or documents."`
	PerceptionType string       `json:"perception_type,omitempty" validate:"omitempty,oneof=visual tactile auditory proprioceptive procedural spatial" tool:"rare" doc:"Only perceptions of this type."`
	Category       string       `json:"category,omitempty" validate:"max=64" doc:"Only this category."`
	Tags           []string     `json:"tags,omitempty" validate:"max=32,dive,tag" doc:"Only memories with all of these tags."`
	Entity         string       `json:"entity,omitempty" validate:"utf8,maxbytes=256" doc:"Only memories that name this robot, object, place, part or person, in any spelling or by another of its names (see about)."`
	Like           *Like        `json:"like,omitempty" doc:"Find perceptions similar to this one, or facts that mean the same: {\"memory_id\":7} or {\"data_base64\":\"…\",\"media_type\":\"text/csv\"}."`
	Diversity      float64      `json:"diversity,omitempty" validate:"finite,min=0,max=1" tool:"rare" doc:"0 ranks by score only; larger values avoid similar results; at most 1."`
	Surprise       int          `json:"surprise,omitempty" validate:"min=0,max=10" tool:"rare" doc:"Also return up to so many memories in surprising that are tied to the answers and not to the words of the question, 0 to 10."`
	MinRelevance   float64      `json:"min_relevance,omitempty" validate:"finite,min=0,max=1" tool:"rare" doc:"Lowest relevance on the absolute scale, 0 to 1."`
	DeadlineMS     int          `json:"deadline_ms,omitempty" validate:"min=0,max=600000" tool:"rare" doc:"Return the results that are ready after this many milliseconds. 0 means no limit."`
	Scope          string       `json:"scope,omitempty" validate:"omitempty,oneof=local fleet both" tool:"rare" doc:"Where to look: local (this memory; the default), fleet (the site that this memory has joined) or both."`
	Explain        bool         `json:"explain,omitempty" tool:"rare" doc:"Report how many memories each stage kept and how each memory was found."`
	ContextWindow  int          `json:"context_window,omitempty" validate:"min=0,max=3" doc:"Add the texts of so many memories before and after in the same episode, 0 to 3."`
	Detail         string       `json:"detail,omitempty" validate:"omitempty,oneof=ids compact full" doc:"ids, compact (one line for each memory) or full. Default: full; over MCP compact."`
	MaxTokens      int          `json:"max_tokens,omitempty" validate:"omitempty,min=100,max=1000000" doc:"Largest size of the answer in tokens, at least 100; more counts the memories that do not fit."`
	AsYouType      bool         `json:"as_you_type,omitempty" tool:"rare" doc:"Treat the last word of the query as a prefix, unless a space follows it. Words with this prefix match with a lower weight than the word itself. The statistics do not count such a recall."`
}

// Values of Scope.
const (
	ScopeLocal = "local"
	ScopeFleet = "fleet"
	ScopeBoth  = "both"
)

// Values of RecallRequest.Detail.
const (
	DetailIDs     = "ids"
	DetailCompact = "compact"
	DetailFull    = "full"
)

// Like names the perception to compare with: a stored one or the given data.
type Like struct {
	MemoryID   int64  `json:"memory_id,omitempty" validate:"min=0" doc:"A stored perception; the results exclude it."`
	Data       string `json:"data,omitempty" doc:"The data of a perception as text, such as CSV. Exactly one of memory_id, data and data_base64."`
	DataBase64 []byte `json:"data_base64,omitempty" doc:"The data of a perception as base64."`
	MediaType  string `json:"media_type,omitempty" validate:"max=128" doc:"Its media type. Default: detected from the data."`
	Metadata   Object `json:"metadata,omitempty" doc:"How to read the data, as in save_perception."`
}

// UnmarshalJSON implements json.Unmarshaler. It accepts an object or a string that contains one.
func (l *Like) UnmarshalJSON(data []byte) error { return l.read(&requestReader{}, data) }

func (l *Like) read(r *requestReader, data []byte) error {
	type plain Like
	data, err := unquoteObject(data)
	if err != nil {
		return err
	}
	return r.decode(data, (*plain)(l))
}

// SearchRequest is a RecallRequest with simple parameters.
type SearchRequest struct {
	Q          string `json:"q" validate:"required,utf8" cli:"arg" doc:"What to look for, in words."`
	Collection string `json:"collection,omitempty" validate:"omitempty,collections" default:"*" doc:"Namespace to search. Default: all."`
	TopK       int    `json:"top_k,omitempty" validate:"min=1,max=100" default:"10" doc:"Number of memories to return, 1 to 100."`
	ParseTime  *bool  `json:"parse_time,omitempty" default:"true" doc:"Read time words in q as bounds; times in the response shows how. false: they are words."`
	Explain    bool   `json:"explain,omitempty" doc:"Report how many memories each stage kept and how each memory was found."`
}

// SavePerceptionRequest stores sensor data with a description.
type SavePerceptionRequest struct {
	Description    string     `json:"description" validate:"required,utf8,min=5,maxbytes=16384" cli:"arg" doc:"What it shows, in words; 5 characters to 16 KiB."`
	PerceptionType string     `json:"perception_type,omitempty" validate:"omitempty,oneof=visual tactile auditory proprioceptive procedural spatial" doc:"Kind of sensor data. Default: by the data, else visual."`
	Data           string     `json:"data,omitempty" doc:"The payload as text, stored as UTF-8. At most one of data, data_base64 and path."`
	DataBase64     []byte     `json:"data_base64,omitzero" doc:"The payload as base64. At most 32 MiB of bytes."`
	Path           string     `json:"path,omitempty" validate:"max=4096" doc:"A file on the machine of the node, in one of the folders that its operator allows."`
	MediaType      string     `json:"media_type,omitempty" validate:"max=128" doc:"Media type of the payload. Default: detected from the payload."`
	Metadata       Object     `json:"metadata,omitempty" doc:"How to read the payload: shape, rate_hz or duration_s, channels, units."`
	Context        Object     `json:"context,omitempty" doc:"JSON object that describes the situation, as in learn."`
	Collection     string     `json:"collection,omitempty" validate:"omitempty,collection" doc:"Namespace. Default: the collection of the session, else default."`
	SessionID      string     `json:"session_id,omitempty" validate:"omitempty,session" doc:"The episode of the memory, from start_session."`
	ObservedAt     *time.Time `json:"observed_at,omitempty" validate:"omitempty,instant" doc:"Time of the measurement, by the sensor's clock (RFC 3339). Default: now."`
	Source         string     `json:"source,omitempty" validate:"utf8,max=64,source" tool:"rare" doc:"The sensor or topic, up to 64 characters. The names operator and verified are reserved."`
	Origin         string     `json:"origin,omitempty" validate:"utf8,max=256" tool:"rare" doc:"Identifier of the perception in its source, up to 256 characters. It is unique in a collection: saving the same origin again returns the existing memory."`
	RequestID      string     `json:"request_id,omitempty" validate:"omitempty,session" tool:"rare" doc:"A name of this call, up to 128 characters, such as a UUID. A call that is repeated with it, because its answer was lost, gets the same answer and stores nothing again. The last 100,000 of the last 7 days are known."`
}

// ForgetRequest removes one memory from recall.
type ForgetRequest struct {
	MemoryID int64  `json:"memory_id" validate:"required_without=UID,omitempty,min=1" cli:"arg" doc:"The memory, by its memory_id or uid."`
	UID      string `json:"-" validate:"omitempty,uid"` // instead of MemoryID
	Reason   string `json:"reason" validate:"required,max=1000" doc:"Why it is wrong, up to 1,000 characters. The audit log keeps the reason."`
	Purge    bool   `json:"purge,omitempty" tool:"-" doc:"Delete the memory permanently: text, context, all versions, indexes, vectors, payload and the old pages of the file. This cannot be undone. The audit log keeps the reason, so the reason must not repeat the text."`
}

// UpdateRequest replaces a memory's text.
type UpdateRequest struct {
	MemoryID   int64  `json:"memory_id" validate:"required_without=UID,omitempty,min=1" cli:"arg" doc:"The memory, by its memory_id or uid; its id does not change."`
	UID        string `json:"-" validate:"omitempty,uid"` // instead of MemoryID
	NewContent string `json:"new_content" validate:"required,utf8,maxbytes=16384" cli:"arg" doc:"The new text, 1 byte to 16 KiB, stored unchanged."`
	Context    Object `json:"context,omitempty" doc:"A new context. Default: keep the old one."`
}

// StartSessionRequest opens an episode.
type StartSessionRequest struct {
	Collection string `json:"collection,omitempty" validate:"omitempty,collection" default:"default" doc:"Namespace of the episode and of its memories."`
	Context    Object `json:"context,omitempty" doc:"Robot, task and environment of the episode; at most 64 KiB. The briefing is selected for this context."`
	SessionID  string `json:"session_id,omitempty" validate:"omitempty,session" doc:"An id of your own, 1 to 128 characters. If an open episode has it, that one continues. Default: a new id."`
	Goal       string `json:"goal,omitempty" validate:"utf8,maxbytes=1024" tool:"rare" doc:"A goal to reach in several tries: the open attempt at it is continued, else one begins (see attempt)."`
	Origin     string `json:"origin,omitempty" validate:"utf8,max=256" tool:"rare" doc:"Identifier of the episode in its source, up to 256 characters. It is unique in a collection: starting the same origin again returns the existing session."`

	StartedAt *time.Time `json:"started_at,omitempty" validate:"omitempty,instant" tool:"rare" doc:"When it began, for an episode that is stored later. Default: now; if all of its memories were observed earlier, end_session takes the time of the first."`
}

// EndSessionRequest closes an episode.
type EndSessionRequest struct {
	SessionID     string   `json:"session_id" validate:"required,session" cli:"arg" doc:"The episode, from start_session."`
	OutcomeScore  *float64 `json:"outcome_score,omitempty" validate:"omitempty,finite,min=0,max=1" doc:"Outcome, 0 (failed) to 1 (succeeded)."`
	Outcome       string   `json:"outcome,omitempty" validate:"omitempty,oneof=success failure partial unknown" doc:"How the episode went: success, failure, partial or unknown. Instead of outcome_score."`
	UsedMemoryIDs []int64  `json:"used_memory_ids,omitempty" validate:"max=1000,dive,min=1" doc:"Memories that were used. Their decay restarts from today, and the outcome counts in their record."`
	MemoryScores  Object   `json:"memory_scores,omitempty" doc:"What memories were worth, by memory_id: {\"12\":\"helped\",\"15\":\"misled\"}. helped, partly, misled or unused."`

	EndedAt *time.Time `json:"ended_at,omitempty" validate:"omitempty,instant" tool:"rare" doc:"When it ended, for an episode that is stored later; not before it began. Default: now; if all of its memories were observed before it was started, the time of the last."`
}

// sessionScores maps the outcome of an episode to its outcome_score.
var sessionScores = map[string]float64{OutcomeSuccess: 1, OutcomePartial: 0.5, OutcomeFailure: 0}

// check completes outcome_score and refuses an outcome that contradicts it.
func (r *EndSessionRequest) check() error {
	for key, word := range r.MemoryScores {
		id, err := strconv.ParseInt(key, 10, 64)
		if err != nil || id < 1 {
			return Errorf(Invalid, "memory_scores", "%s is not a memory_id", abbreviate(key))
		}
		if !slices.Contains([]any{"helped", "partly", "misled", "unused"}, word) {
			return Errorf(Invalid, "memory_scores."+key, "must be one of helped, partly, misled, unused")
		}
	}

	// unknown has no score. A score up to 0.5 away is no contradiction: 0.5 may be a poor success.
	score, known := sessionScores[r.Outcome]
	switch {
	case !known:
	case r.OutcomeScore == nil:
		r.OutcomeScore = &score
	case math.Abs(*r.OutcomeScore-score) > 0.5:
		return Errorf(Invalid, "outcome", "is %s, but outcome_score is %v; leave one out", r.Outcome, *r.OutcomeScore)
	}

	return nil
}

// MemoryRequest names one memory, for Get, Data, History and Restore.
type MemoryRequest struct {
	MemoryID int64  `json:"memory_id" validate:"required_without=UID,omitempty,min=1" cli:"arg" doc:"The memory, by its memory_id or uid."`
	UID      string `json:"-" validate:"omitempty,uid"` // instead of MemoryID
}

// TimelineRequest names a memory and how many to return before and after it.
type TimelineRequest struct {
	MemoryID int64  `json:"memory_id" validate:"required_without=UID,omitempty,min=1" cli:"arg" doc:"The memory, by its memory_id or uid."`
	UID      string `json:"-" validate:"omitempty,uid"` // instead of MemoryID
	Before   *int   `json:"before,omitempty" validate:"omitempty,min=0,max=50" default:"3" doc:"Memories before it, 0 to 50."`
	After    *int   `json:"after,omitempty" validate:"omitempty,min=0,max=50" default:"3" doc:"Memories after it, 0 to 50."`
}

// ListRequest pages through memories.
type ListRequest struct {
	Page           int      `json:"page,omitempty" validate:"min=1,max=1000000" default:"1" doc:"Page number, from 1."`
	Limit          int      `json:"limit,omitempty" validate:"min=1,max=1000" default:"20" doc:"Memories per page, 1 to 1,000."`
	BeforeID       int64    `json:"before_id,omitempty" validate:"min=0" doc:"Only memories with a smaller id. Pass the last id of a page to get the next one; new memories do not shift the pages."`
	Collection     string   `json:"collection,omitempty" validate:"omitempty,collections" default:"*" doc:"Namespace. Default: all."`
	Type           string   `json:"type,omitempty" validate:"omitempty,oneof=fact perception document" doc:"Only facts, perceptions or documents."`
	Category       string   `json:"category,omitempty" validate:"max=64" doc:"Only this category."`
	Status         string   `json:"status,omitempty" validate:"oneof=active superseded invalidated all" default:"active" doc:"active, superseded, invalidated or all."`
	ConfidenceMin  *float64 `json:"confidence_min,omitempty" validate:"omitempty,finite,min=0,max=1" doc:"Lowest stored confidence."`
	ConfidenceMax  *float64 `json:"confidence_max,omitempty" validate:"omitempty,finite,min=0,max=1" doc:"Highest stored confidence."`
	Days           int      `json:"days,omitempty" validate:"min=0,max=36500" doc:"Only memories created within this number of days; 0 for all."`
	PerceptionType string   `json:"perception_type,omitempty" validate:"omitempty,oneof=visual tactile auditory proprioceptive procedural spatial" doc:"Only perceptions of this type."`
	SessionID      string   `json:"session_id,omitempty" validate:"omitempty,session" doc:"Only memories of this episode."`
	Tags           []string `json:"tags,omitempty" validate:"max=32,dive,tag" doc:"Only memories with all of these tags."`
	ContextFilter  Object   `json:"context_filter,omitempty" doc:"Filter over context paths, as in recall."`
	Cursor         string   `json:"cursor,omitempty" validate:"max=512" doc:"The value of next from the previous page. New entries do not shift the pages."`
}

// SessionsRequest pages through episodes.
type SessionsRequest struct {
	Page       int        `json:"page,omitempty" validate:"min=1,max=1000000" default:"1" doc:"Page number, from 1."`
	Limit      int        `json:"limit,omitempty" validate:"min=1,max=1000" default:"20" doc:"Episodes per page, 1 to 1,000."`
	Collection string     `json:"collection,omitempty" validate:"omitempty,collections" default:"*" doc:"Namespace. Default: all."`
	Status     string     `json:"status,omitempty" validate:"omitempty,oneof=active ended" doc:"active or ended. Default: both."`
	Outcome    string     `json:"outcome,omitempty" validate:"omitempty,oneof=success failure partial unknown" doc:"Only episodes with this last outcome; unknown for those without one."`
	Robot      string     `json:"robot,omitempty" validate:"utf8,max=256" doc:"Only of this robot: robot.id, robot.name or robot of the context."`
	Task       string     `json:"task,omitempty" validate:"utf8,max=1024" doc:"Only of this task: task.name, task.type, task.goal or task of the context of the episode or of one of its facts."`
	Words      string     `json:"words,omitempty" validate:"utf8,max=1024" doc:"Only those whose context, or the text of one of whose facts, contains this text, such as a place; A to Z in any case."`
	After      *time.Time `json:"after,omitempty" validate:"omitempty,instant" doc:"Only episodes that began at this time or later, RFC 3339."`
	Before     *time.Time `json:"before,omitempty" validate:"omitempty,instant" doc:"Only episodes that began before this time, RFC 3339."`
	Sort       string     `json:"sort,omitempty" validate:"oneof=time outcome robot task place" default:"time" doc:"time (newest first), outcome (worst first), robot, task or place, which is the value of spatial. Other orders than time have pages but no next."`
	Cursor     string     `json:"cursor,omitempty" validate:"max=512" doc:"The value of next from the previous page. New entries do not shift the pages."`
}

// SessionRequest names the episode to return.
type SessionRequest struct {
	SessionID string `json:"session_id" validate:"required,session" cli:"arg" doc:"The episode."`
}

// PlacesRequest selects the coordinates to return and the filters of the memories.
type PlacesRequest struct {
	Collection    string     `json:"collection,omitempty" validate:"omitempty,collections" default:"*" doc:"Namespace. Default: all."`
	Field         string     `json:"field,omitempty" validate:"utf8,max=1024" doc:"Context path of the coordinates, such as spatial.object_position. Without it the response contains only fields."`
	FrameID       string     `json:"frame_id,omitempty" validate:"utf8,max=256" doc:"Only coordinates of this frame."`
	MapID         string     `json:"map_id,omitempty" validate:"utf8,max=256" doc:"Only coordinates of this map."`
	Type          string     `json:"type,omitempty" validate:"omitempty,oneof=fact perception document" doc:"Only facts, perceptions or documents."`
	Category      string     `json:"category,omitempty" validate:"max=64" doc:"Only this category."`
	SessionID     string     `json:"session_id,omitempty" validate:"omitempty,session" doc:"Only memories of this episode."`
	After         *time.Time `json:"after,omitempty" validate:"omitempty,instant" doc:"Only memories observed at or after this time (RFC 3339)."`
	Before        *time.Time `json:"before,omitempty" validate:"omitempty,instant" doc:"Only memories observed before this time (RFC 3339)."`
	ContextFilter Object     `json:"context_filter,omitempty" doc:"Filter over context paths, as in recall."`
	Min           []float64  `json:"min,omitempty" validate:"omitempty,len=2,dive,finite" doc:"[x, y]: lower bounds, in the unit of the coordinates."`
	Max           []float64  `json:"max,omitempty" validate:"omitempty,len=2,dive,finite" doc:"[x, y]: upper bounds, in the unit of the coordinates."`
	Limit         int        `json:"limit,omitempty" validate:"min=1,max=20000" default:"5000" doc:"Largest number of points, 1 to 20,000. If there are more, the response has an even sample."`
	Grid          int        `json:"grid,omitempty" validate:"min=0,max=256" doc:"Also count memories in square cells. This is the number of cells along the longer side, up to 256; 0 for none."`
}

// trim removes surrounding space that has no meaning.
func (r *LearnRequest) trim() { r.Insight = strings.TrimSpace(r.Insight) }

// trim also treats an empty data_base64 beside data as not given.
func (r *SavePerceptionRequest) trim() {
	r.Description = strings.TrimSpace(r.Description)
	if r.Data != "" && len(r.DataBase64) == 0 {
		r.DataBase64 = nil
	}
}

func (r *UpdateRequest) trim() { r.NewContent = strings.TrimSpace(r.NewContent) }

// optionalFields returns the required fields that this request may leave out: with a new context the text
// may stay.
func (r *UpdateRequest) optionalFields() []string {
	if r.NewContent == "" && r.Context != nil {
		return []string{"NewContent"}
	}
	return nil
}

// noReason is stored for a call without a reason. The schema still requires a reason, and a purge, which cannot be
// undone, is refused without one.
const noReason = "not given"

func (r *ForgetRequest) trim() {
	r.Reason = strings.TrimSpace(r.Reason)
	if r.Reason == "" && !r.Purge {
		r.Reason = noReason
	}
}

// trim clears AsYouType if a space follows the last word of the query, bounds N, and gives a place
// without a field the usual one.
func (r *RecallRequest) trim() {
	r.N = min(r.N, maxRecalled)
	if s := r.SpatialSort; s != nil && s.Field == "" {
		place := *s // a copy, because the caller owns the original
		place.Field = defaultField
		r.SpatialSort = &place
	}

	last, _ := utf8.DecodeLastRuneInString(r.Query)
	r.AsYouType = r.AsYouType && !unicode.IsSpace(last)
	r.Query = strings.TrimSpace(r.Query)
}

func (r *RecallRequest) check() error {
	if r.Like == nil {
		return nil
	}

	given := 0

	for _, has := range []bool{r.Like.MemoryID != 0, r.Like.Data != "", len(r.Like.DataBase64) > 0} {
		if has {
			given++
		}
	}
	if given != 1 {
		return Errorf(Invalid, "like", "takes exactly one of memory_id, data and data_base64")
	}

	return nil
}

// SamplesRequest names the perception and the range of samples to return.
type SamplesRequest struct {
	MemoryID int64    `json:"memory_id" validate:"required_without=UID,omitempty,min=1" cli:"arg" doc:"The perception, by its memory_id or uid."`
	UID      string   `json:"-" validate:"omitempty,uid"` // instead of MemoryID
	From     *float64 `json:"from,omitempty" validate:"omitempty,finite" doc:"First sample: in seconds since the first sample of the perception, or as a sample number from 0 if the rate is unknown. For a recording of scans it selects the first sweep at or after this time. A point cloud or a single scan has no time."`
	To       *float64 `json:"to,omitempty" validate:"omitempty,finite" doc:"Last sample, in the same unit as from."`
	Points   int      `json:"points,omitempty" validate:"omitempty,min=16,max=200000" doc:"Largest number of entries, 16 to 200,000. Default: 2,000 for traces and sounds, 50,000 for points. More than ten channels share about 2,000,000 readings."`
	Trace    bool     `json:"trace,omitempty" doc:"Return the numbers of recorded messages as a trace, also of messages with a pose or a scan."`
}
