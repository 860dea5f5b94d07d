package robotmem

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// LearnRequest records one fact.
type LearnRequest struct {
	Insight    string     `json:"insight" validate:"required,utf8,maxbytes=16384" cli:"arg" doc:"What was learnt, in one sentence with its numbers: \"grip_force=12.5 N holds wet glass\". 1 byte to 16 KiB, kept byte for byte."`
	Context    Object     `json:"context,omitempty" doc:"JSON object beside the fact. Known sections: params, spatial, robot, task (task.success is the outcome), env. Other keys are kept."`
	Collection string     `json:"collection,omitempty" validate:"omitempty,collection" doc:"Namespace, [A-Za-z0-9._-]{1,64}. The session's if a session is given, else default."`
	SessionID  string     `json:"session_id,omitempty" validate:"omitempty,uuid" doc:"Episode this belongs to, from start_session."`
	Tags       []string   `json:"tags,omitempty" validate:"max=32,dive,tag" doc:"Tags to add to those inferred; 1 to 64 letters, digits, _ . or -."`
	ObservedAt *time.Time `json:"observed_at,omitempty" validate:"omitempty,instant" doc:"When it was observed (RFC 3339). Now if absent."`
	Pinned     *bool      `json:"pinned,omitempty" doc:"Never fades and is never merged. By category if absent."`
	Source     string     `json:"source,omitempty" validate:"max=64" doc:"Who or what says so, up to 64 characters."`
}

// LearnBatchRequest records many facts.
type LearnBatchRequest struct {
	Items          []LearnRequest `json:"items" validate:"required,min=1,max=10000" doc:"1 to 10,000 learn requests."`
	KeepDuplicates bool           `json:"keep_duplicates,omitempty" doc:"Store every item, also those that say what is known."`

	itemErrs map[int]error           // decoding errors, by item
	itemRaw  map[int]json.RawMessage // what could not be decoded, by item
}

// MarshalJSON implements json.Marshaler. An item that could not be decoded is
// passed on as it came, so that a remote node refuses it for the same reason.
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

// ItemError is why an item could not be decoded, nil if it could.
func (r *LearnBatchRequest) ItemError(i int) error { return r.itemErrs[i] }

// UnmarshalJSON implements json.Unmarshaler. An item that cannot be decoded is
// reported in its place of the response; the others are not held up by it.
func (r *LearnBatchRequest) UnmarshalJSON(data []byte) error {
	var wire struct {
		Items          []json.RawMessage `json:"items"`
		KeepDuplicates bool              `json:"keep_duplicates"`
	}
	if err := decode(data, &wire); err != nil {
		return err
	}
	*r = LearnBatchRequest{KeepDuplicates: wire.KeepDuplicates, itemErrs: map[int]error{}, itemRaw: map[int]json.RawMessage{}}
	for i, raw := range wire.Items {
		var item LearnRequest
		if err := decode(raw, &item); err != nil {
			r.itemErrs[i], r.itemRaw[i] = err, raw
		}
		r.Items = append(r.Items, item)
	}
	return nil
}

// RecallRequest asks for memories.
type RecallRequest struct {
	Query          string       `json:"query,omitempty" validate:"utf8" cli:"arg" doc:"What to look for, in words. May be empty when anything else narrows the search."`
	Collection     string       `json:"collection,omitempty" validate:"omitempty,collections" default:"default" doc:"Namespace to look in; * for all."`
	N              int          `json:"n,omitempty" validate:"min=1,max=100" default:"5" doc:"How many to return, 1 to 100."`
	MinConfidence  *float64     `json:"min_confidence,omitempty" validate:"omitempty,finite,min=0,max=1" default:"0.3" doc:"Leave out memories less sure than this now, 0 to 1."`
	SessionID      string       `json:"session_id,omitempty" validate:"omitempty,uuid" doc:"Only this episode. With an empty query it is replayed in time order."`
	ForSession     string       `json:"for_session,omitempty" validate:"omitempty,uuid" doc:"The episode that is asking, so that it can be credited at its end."`
	ContextFilter  Object       `json:"context_filter,omitempty" doc:"Filter over context paths: {\"task.success\":true,\"params.force\":{\"$lt\":15}}. Operators $eq $ne $lt $lte $gt $gte $in $nin $exists $and $or $not."`
	SpatialSort    *SpatialSort `json:"spatial_sort,omitempty" doc:"Nearest first: {\"field\":\"spatial.position\",\"target\":[x,y,z],\"max_distance\":1.5}."`
	After          *time.Time   `json:"after,omitempty" validate:"omitempty,instant" doc:"Only observed at or after this time (RFC 3339)."`
	Before         *time.Time   `json:"before,omitempty" validate:"omitempty,instant" doc:"Only observed before this time (RFC 3339)."`
	AsOf           *time.Time   `json:"as_of,omitempty" validate:"omitempty,instant" doc:"Answer as the node believed at this time (RFC 3339)."`
	ParseTime      bool         `json:"parse_time,omitempty" doc:"Read time words of the query (yesterday, last week, before the crash at 14:05, 昨天) as after and before; times says how they were read."`
	Type           string       `json:"type,omitempty" validate:"omitempty,oneof=fact perception" doc:"Only facts or only perceptions."`
	PerceptionType string       `json:"perception_type,omitempty" validate:"omitempty,oneof=visual tactile auditory proprioceptive procedural spatial" doc:"Only perceptions of this type."`
	Category       string       `json:"category,omitempty" validate:"max=64" doc:"Only this category."`
	Tags           []string     `json:"tags,omitempty" validate:"max=32,dive,tag" doc:"Only memories that carry all of these tags."`
	Like           *Like        `json:"like,omitempty" doc:"Perceptions like this one: {\"memory_id\":7} or {\"data_base64\":\"…\",\"media_type\":\"text/csv\"}."`
	Diversity      float64      `json:"diversity,omitempty" validate:"finite,min=0,max=1" doc:"0 ranks by score alone, 1 avoids answers that say the same."`
	MinRelevance   float64      `json:"min_relevance,omitempty" validate:"finite,min=0,max=1" doc:"Leave out what is less relevant than this on the absolute scale, 0 to 1."`
	DeadlineMS     int          `json:"deadline_ms,omitempty" validate:"min=0,max=600000" doc:"Answer with what is ready after this many milliseconds. 0 waits."`
	Explain        bool         `json:"explain,omitempty" doc:"Say what each stage kept and how each memory was found."`
	AsYouType      bool         `json:"as_you_type,omitempty" doc:"The last word of the query may be unfinished, unless a space follows it: words that it begins count too, less than the word itself. Such a recall is not counted in the statistics."`
}

// SpatialSort orders by Euclidean distance to a point.
type SpatialSort struct {
	Field       string    `json:"field" validate:"required,max=256" doc:"Context path of the coordinates, such as spatial.object_position."`
	Target      []float64 `json:"target" validate:"required,min=2,max=3,dive,finite" doc:"[x, y] or [x, y, z], in the unit of the stored coordinates."`
	MaxDistance *float64  `json:"max_distance,omitempty" validate:"omitempty,finite,min=0" doc:"Leave out what is farther, in the same unit."`
	Mode        string    `json:"mode,omitempty" validate:"omitempty,oneof=strict fused" default:"strict" doc:"strict: exact nearest neighbours, nearest first. fused: place is one more ranked list."`
	FrameID     string    `json:"frame_id,omitempty" validate:"max=256" doc:"Only coordinates of this frame."`
	MapID       string    `json:"map_id,omitempty" validate:"max=256" doc:"Only coordinates of this map."`
}

// UnmarshalJSON implements json.Unmarshaler: an object, or a string that holds one.
func (s *SpatialSort) UnmarshalJSON(data []byte) error {
	type plain SpatialSort
	data, err := unquoteObject(data)
	if err != nil {
		return err
	}
	// Many encoders write NaN as null, which must not become the origin.
	var target struct {
		Target []*float64 `json:"target"`
	}
	if json.Unmarshal(data, &target) == nil && slices.Contains(target.Target, nil) {
		return Errorf(Invalid, "target", "holds null, perhaps for a number that is not finite; give two or three numbers")
	}
	return decode(data, (*plain)(s))
}

// Like names the perception to compare with: one that is stored, or data.
type Like struct {
	MemoryID   int64  `json:"memory_id,omitempty" validate:"min=0" doc:"A stored perception; it is left out of the answer."`
	Data       string `json:"data,omitempty" doc:"The data of a perception as text, such as CSV. Exactly one of memory_id, data and data_base64."`
	DataBase64 []byte `json:"data_base64,omitempty" doc:"The data of a perception as base64."`
	MediaType  string `json:"media_type,omitempty" validate:"max=128" doc:"Its media type; sniffed if absent."`
	Metadata   Object `json:"metadata,omitempty" doc:"How to read the data, as in save_perception."`
}

// UnmarshalJSON implements json.Unmarshaler: an object, or a string that holds one.
func (l *Like) UnmarshalJSON(data []byte) error {
	type plain Like
	data, err := unquoteObject(data)
	if err != nil {
		return err
	}
	return decode(data, (*plain)(l))
}

// SearchRequest is RecallRequest with plain parameters.
type SearchRequest struct {
	Q          string `json:"q" validate:"required,utf8" cli:"arg" doc:"What to look for, in words."`
	Collection string `json:"collection,omitempty" validate:"omitempty,collections" default:"*" doc:"Namespace to look in; all if absent."`
	TopK       int    `json:"top_k,omitempty" validate:"min=1,max=100" default:"10" doc:"How many to return, 1 to 100."`
	ParseTime  bool   `json:"parse_time,omitempty" doc:"Read time words of q as bounds; times says how they were read."`
	Explain    bool   `json:"explain,omitempty" doc:"Say what each stage kept and how each memory was found."`
}

// SavePerceptionRequest stores what a sensor gave.
type SavePerceptionRequest struct {
	Description    string     `json:"description" validate:"required,utf8,min=5,maxbytes=16384" cli:"arg" doc:"What it shows, in words; 5 characters to 16 KiB."`
	PerceptionType string     `json:"perception_type,omitempty" validate:"oneof=visual tactile auditory proprioceptive procedural spatial" default:"visual" doc:"visual, tactile, auditory, proprioceptive, procedural or spatial."`
	Data           string     `json:"data,omitempty" doc:"The payload as text, kept as UTF-8. At most one of data, data_base64 and path."`
	DataBase64     []byte     `json:"data_base64,omitzero" doc:"The payload as base64. At most 32 MiB of bytes."`
	Path           string     `json:"path,omitempty" validate:"max=4096" doc:"A file to read on the node's machine, below one of the folders its operator allows."`
	MediaType      string     `json:"media_type,omitempty" validate:"max=128" doc:"Media type of the payload; sniffed if absent."`
	Metadata       Object     `json:"metadata,omitempty" doc:"How to read the payload: shape, rate_hz or duration_s, channels, units."`
	Context        Object     `json:"context,omitempty" doc:"JSON object beside it, as in learn."`
	Collection     string     `json:"collection,omitempty" validate:"omitempty,collection" doc:"Namespace. The session's if a session is given, else default."`
	SessionID      string     `json:"session_id,omitempty" validate:"omitempty,uuid" doc:"Episode this belongs to, from start_session."`
	ObservedAt     *time.Time `json:"observed_at,omitempty" validate:"omitempty,instant" doc:"When it was sensed, by the sensor's clock (RFC 3339). Now if absent."`
	Source         string     `json:"source,omitempty" validate:"utf8,max=64" doc:"Which sensor or topic it comes from, up to 64 characters."`
	Origin         string     `json:"origin,omitempty" validate:"utf8,max=256" doc:"What its source calls it, up to 256 characters. The same origin is stored once in a collection: saving it again answers the memory that has it."`
}

// ForgetRequest takes one memory out of recall.
type ForgetRequest struct {
	MemoryID int64  `json:"memory_id" validate:"required,min=1" cli:"arg" doc:"Which memory."`
	Reason   string `json:"reason" validate:"required,max=1000" doc:"Why it is wrong, up to 1,000 characters. It stays in the audit log."`
	Purge    bool   `json:"purge,omitempty" tool:"-" doc:"Destroy it for good: text, context, every version, indexes, vectors and payload, and the old pages of the file. Nothing brings it back. The reason is kept, so it must not repeat the text."`
}

// UpdateRequest replaces a memory's text.
type UpdateRequest struct {
	MemoryID   int64  `json:"memory_id" validate:"required,min=1" cli:"arg" doc:"Which memory; its id stays."`
	NewContent string `json:"new_content" validate:"required,utf8,maxbytes=16384" cli:"arg" doc:"The new text, 1 byte to 16 KiB, kept byte for byte."`
	Context    Object `json:"context,omitempty" doc:"A new context; the old one is kept if absent."`
}

// PinRequest pins a memory or lets it go.
type PinRequest struct {
	MemoryID int64 `json:"memory_id" validate:"required,min=1" cli:"arg" doc:"Which memory."`
	Pinned   *bool `json:"pinned,omitempty" default:"true" doc:"Whether it is pinned from now on."`
}

// StartSessionRequest opens an episode.
type StartSessionRequest struct {
	Collection string `json:"collection,omitempty" validate:"omitempty,collection" default:"default" doc:"Namespace of the episode and of all it learns."`
	Context    Object `json:"context,omitempty" doc:"What the episode is about (robot, task, env); at most 64 KiB. The briefing is made for it."`
	Origin     string `json:"origin,omitempty" validate:"utf8,max=256" doc:"What its source calls the episode, up to 256 characters. Starting the same origin in a collection again answers the session that has it."`
}

// EndSessionRequest closes an episode.
type EndSessionRequest struct {
	SessionID     string   `json:"session_id" validate:"required,uuid" cli:"arg" doc:"The episode, from start_session."`
	OutcomeScore  *float64 `json:"outcome_score,omitempty" validate:"omitempty,finite,min=0,max=1" doc:"How well it went, 0 (failed) to 1 (succeeded)."`
	UsedMemoryIDs []int64  `json:"used_memory_ids,omitempty" validate:"max=1000,dive,min=1" doc:"Memories that helped: their clock of fading starts anew."`
}

// MemoryRequest names one memory: of get, data, history and restore.
type MemoryRequest struct {
	MemoryID int64 `json:"memory_id" validate:"required,min=1" cli:"arg" doc:"Which memory."`
}

// PreviewRequest asks for a picture of a perception.
type PreviewRequest struct {
	MemoryID int64 `json:"memory_id" validate:"required,min=1" cli:"arg" doc:"Which perception."`
	Width    int   `json:"width,omitempty" validate:"min=16,max=4096" default:"640" doc:"At most so many pixels wide, 16 to 4,096."`
	Height   int   `json:"height,omitempty" validate:"min=16,max=4096" default:"360" doc:"At most so many pixels high, 16 to 4,096."`
}

// SamplesRequest asks for the numbers of a perception.
type SamplesRequest struct {
	MemoryID int64    `json:"memory_id" validate:"required,min=1" cli:"arg" doc:"Which perception."`
	From     *float64 `json:"from,omitempty" validate:"omitempty,finite" doc:"Only samples from here on: seconds since the first, or sample numbers (from 0) when the rate is unknown. Of a recording of scans, the first sweep from here on. A cloud or a single scan has no time."`
	To       *float64 `json:"to,omitempty" validate:"omitempty,finite" doc:"Only samples up to here, likewise."`
	Points   int      `json:"points,omitempty" validate:"omitempty,min=16,max=200000" doc:"At most so many entries, 16 to 200,000; 2,000 of traces and sounds and 50,000 of points if absent. More than ten channels share some 2,000,000 readings."`
}

// ListRequest pages through memories.
type ListRequest struct {
	Page           int      `json:"page,omitempty" validate:"min=1,max=1000000" default:"1" doc:"Which page, from 1."`
	Limit          int      `json:"limit,omitempty" validate:"min=1,max=1000" default:"20" doc:"Memories a page, 1 to 1,000."`
	BeforeID       int64    `json:"before_id,omitempty" validate:"min=0" doc:"Only memories with a smaller id: the last one of a page begins the next, whatever is learnt meanwhile."`
	Collection     string   `json:"collection,omitempty" validate:"omitempty,collections" default:"*" doc:"Namespace; all if absent."`
	Type           string   `json:"type,omitempty" validate:"omitempty,oneof=fact perception" doc:"Only facts or only perceptions."`
	Category       string   `json:"category,omitempty" validate:"max=64" doc:"Only this category."`
	Status         string   `json:"status,omitempty" validate:"oneof=active superseded invalidated all" default:"active" doc:"active, superseded, invalidated or all."`
	ConfidenceMin  *float64 `json:"confidence_min,omitempty" validate:"omitempty,finite,min=0,max=1" doc:"Stored confidence at least this."`
	ConfidenceMax  *float64 `json:"confidence_max,omitempty" validate:"omitempty,finite,min=0,max=1" doc:"Stored confidence at most this."`
	Days           int      `json:"days,omitempty" validate:"min=0,max=36500" doc:"Only those created in the last so many days; 0 for all."`
	PerceptionType string   `json:"perception_type,omitempty" validate:"omitempty,oneof=visual tactile auditory proprioceptive procedural spatial" doc:"Only perceptions of this type."`
	SessionID      string   `json:"session_id,omitempty" validate:"omitempty,uuid" doc:"Only this episode."`
	Tags           []string `json:"tags,omitempty" validate:"max=32,dive,tag" doc:"Only memories that carry all of these tags."`
	Cursor         string   `json:"cursor,omitempty" validate:"max=512" doc:"next of the page before: goes on after it, whatever was stored meanwhile."`
}

// SessionsRequest pages through episodes.
type SessionsRequest struct {
	Page       int    `json:"page,omitempty" validate:"min=1,max=1000000" default:"1" doc:"Which page, from 1."`
	Limit      int    `json:"limit,omitempty" validate:"min=1,max=1000" default:"20" doc:"Episodes a page, 1 to 1,000."`
	Collection string `json:"collection,omitempty" validate:"omitempty,collections" default:"*" doc:"Namespace; all if absent."`
	Status     string `json:"status,omitempty" validate:"omitempty,oneof=active ended" doc:"active or ended; both if absent."`
	Cursor     string `json:"cursor,omitempty" validate:"max=512" doc:"next of the page before: goes on after it, whatever was stored meanwhile."`
}

// SessionRequest asks for one episode.
type SessionRequest struct {
	SessionID string `json:"session_id" validate:"required,uuid" cli:"arg" doc:"The episode."`
}

// SessionMemoriesRequest asks for an episode in the order it was lived.
type SessionMemoriesRequest struct {
	SessionID string `json:"session_id" validate:"required,uuid" cli:"arg" doc:"The episode."`
	Page      int    `json:"page,omitempty" validate:"min=1,max=1000000" default:"1" doc:"Which page, from 1."`
	Limit     int    `json:"limit,omitempty" validate:"min=1,max=1000" default:"100" doc:"Memories a page, 1 to 1,000."`
	Cursor    string `json:"cursor,omitempty" validate:"max=512" doc:"next of the page before: goes on after it, whatever was stored meanwhile."`
}

// PathsRequest asks for the context paths in use.
type PathsRequest struct {
	Collection string `json:"collection,omitempty" validate:"omitempty,collections" default:"*" doc:"Namespace; all if absent."`
	Path       string `json:"path,omitempty" validate:"utf8,max=1024" doc:"Only this path, with its most frequent values."`
	Prefix     string `json:"prefix,omitempty" validate:"utf8,max=1024" doc:"Only paths that begin with this text, such as params."`
}

// PlacesRequest asks for memories on a map.
type PlacesRequest struct {
	Collection    string     `json:"collection,omitempty" validate:"omitempty,collections" default:"*" doc:"Namespace; all if absent."`
	Field         string     `json:"field,omitempty" validate:"utf8,max=1024" doc:"Context path of the coordinates, such as spatial.object_position. Without it only fields is answered."`
	FrameID       string     `json:"frame_id,omitempty" validate:"utf8,max=256" doc:"Only coordinates of this frame."`
	MapID         string     `json:"map_id,omitempty" validate:"utf8,max=256" doc:"Only coordinates of this map."`
	Type          string     `json:"type,omitempty" validate:"omitempty,oneof=fact perception" doc:"Only facts or only perceptions."`
	Category      string     `json:"category,omitempty" validate:"max=64" doc:"Only this category."`
	SessionID     string     `json:"session_id,omitempty" validate:"omitempty,uuid" doc:"Only this episode."`
	After         *time.Time `json:"after,omitempty" validate:"omitempty,instant" doc:"Only observed at or after this time (RFC 3339)."`
	Before        *time.Time `json:"before,omitempty" validate:"omitempty,instant" doc:"Only observed before this time (RFC 3339)."`
	ContextFilter Object     `json:"context_filter,omitempty" doc:"Filter over context paths, as in recall."`
	Min           []float64  `json:"min,omitempty" validate:"omitempty,len=2,dive,finite" doc:"[x, y]: leave out what lies below in either, in the unit of the coordinates."`
	Max           []float64  `json:"max,omitempty" validate:"omitempty,len=2,dive,finite" doc:"[x, y]: leave out what lies above in either."`
	Limit         int        `json:"limit,omitempty" validate:"min=1,max=20000" default:"5000" doc:"Points at most, 1 to 20,000: of more an even sample."`
	Grid          int        `json:"grid,omitempty" validate:"min=0,max=256" doc:"Also count square cells, so many along the longer side, up to 256; 0 for none."`
}

// RecentFailuresRequest asks what went wrong lately.
type RecentFailuresRequest struct {
	Collection string `json:"collection,omitempty" validate:"omitempty,collections" default:"*" doc:"Namespace; all if absent."`
	Limit      int    `json:"limit,omitempty" validate:"min=1,max=1000" default:"20" doc:"How many, 1 to 1,000."`
	Days       int    `json:"days,omitempty" validate:"min=0,max=36500" doc:"Only the last so many days; 0 for all."`
}

// trim prepares the texts whose surrounding space has no meaning.
func (r *LearnRequest) trim() { r.Insight = strings.TrimSpace(r.Insight) }

func (r *SavePerceptionRequest) trim() { r.Description = strings.TrimSpace(r.Description) }

func (r *UpdateRequest) trim() { r.NewContent = strings.TrimSpace(r.NewContent) }

func (r *ForgetRequest) trim() { r.Reason = strings.TrimSpace(r.Reason) }

// A space says that the last word is finished.
func (r *RecallRequest) trim() {
	last, _ := utf8.DecodeLastRuneInString(r.Query)
	r.AsYouType = r.AsYouType && !unicode.IsSpace(last)
	r.Query = strings.TrimSpace(r.Query)
}

func (r *RecallRequest) check() error {
	if r.Like == nil {
		return nil
	}
	if err := r.Like.check(); err != nil {
		return Errorf(Invalid, "like", "%v", err)
	}
	return nil
}

func (l *Like) check() error {
	given := 0
	for _, has := range []bool{l.MemoryID != 0, l.Data != "", len(l.DataBase64) > 0} {
		if has {
			given++
		}
	}
	if given != 1 {
		return errors.New("takes exactly one of memory_id, data and data_base64")
	}
	return nil
}
