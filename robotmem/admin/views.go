package admin

import (
	"time"
)

// The requests and responses of what the dashboard shows beside memories: maps, context paths,
// pictures of perceptions, incidents.

// PlacesResponse holds the coordinates of memories, for a map.
type PlacesResponse struct {
	Interpretation
	Fields  []PlaceField `json:"fields" doc:"The context paths that hold coordinates, by frame and map, at most 1,000. Paths with the most memories are first."`
	Points  []PlacePoint `json:"points" doc:"Sorted by memory_id."`
	Total   int          `json:"total" doc:"Number of points within the bounds; points may be a sample of them."`
	Sampled bool         `json:"sampled" doc:"points is a sample."`
	Cell    float64      `json:"cell,omitempty" doc:"Side of a cell, in the unit of the coordinates."`
	Cells   []PlaceCell  `json:"cells" doc:"The cells that are not empty. Their counts include points that are not in the sample."`
}

// PlaceField is a path of coordinates in one frame and map.
type PlaceField struct {
	Field    string    `json:"field"`
	FrameID  string    `json:"frame_id,omitempty"`
	MapID    string    `json:"map_id,omitempty"`
	Dims     int       `json:"dims" doc:"Number of dimensions, 2 or 3."`
	Memories int64     `json:"memories"`
	Min      []float64 `json:"min" doc:"The smallest value of each coordinate."`
	Max      []float64 `json:"max" doc:"The largest value of each coordinate."`
}

// PlacePoint is one memory on the map.
type PlacePoint struct {
	MemoryID   int64     `json:"memory_id"`
	X          float64   `json:"x"`
	Y          float64   `json:"y"`
	Z          *float64  `json:"z,omitempty"`
	Type       string    `json:"type"`
	Category   string    `json:"category"`
	Success    *bool     `json:"success,omitempty" doc:"task.success, if it is true or false."`
	ObservedAt time.Time `json:"observed_at"`
	Summary    string    `json:"summary"`
}

// PlaceCell counts the points of one cell, which extends from x to x + cell and from y to y + cell.
type PlaceCell struct {
	X         float64 `json:"x"`
	Y         float64 `json:"y"`
	Memories  int64   `json:"memories"`
	Successes int64   `json:"successes" doc:"Memories with task.success true."`
	Failures  int64   `json:"failures" doc:"Memories with task.success false."`
}

// PathsRequest selects the context paths to list.
type PathsRequest struct {
	Collection string `json:"collection,omitempty" validate:"omitempty,collections" default:"*" doc:"Namespace. Default: all."`
	Path       string `json:"path,omitempty" validate:"utf8,max=1024" doc:"Only this path, with its most frequent values."`
	Prefix     string `json:"prefix,omitempty" validate:"utf8,max=1024" doc:"Only paths that begin with this text, such as params."`
}

// PathsResponse lists context paths.
type PathsResponse struct {
	Interpretation
	Paths []ContextPath `json:"paths" doc:"Sorted by path, at most 10,000. Use prefix if there are more."`
	Total int           `json:"total" doc:"Number of paths."`
}

// ContextPath is a context path for use in a filter, with statistics of its values.
type ContextPath struct {
	Path     string      `json:"path"`
	Memories int64       `json:"memories" doc:"Number of active memories with a value at this path."`
	Kinds    []string    `json:"kinds" doc:"Types of the values: number, text, bool, null, list or an empty object."`
	Min      *float64    `json:"min,omitempty" doc:"The smallest number, in unit if unit is set."`
	Max      *float64    `json:"max,omitempty"`
	Unit     string      `json:"unit,omitempty" doc:"The canonical unit, if most of the numbers are quantities such as 12.5 N."`
	Values   []PathValue `json:"values,omitempty" doc:"For a request of one path: at most 50 values, the most frequent first, without lists and long texts."`
}

// PathValue is a value at a path and the number of memories that have it.
type PathValue struct {
	Value    any   `json:"value"`
	Memories int64 `json:"memories"`
}

// PreviewRequest names the perception to draw and the size of the picture.
type PreviewRequest struct {
	MemoryID int64  `json:"memory_id" validate:"required_without=UID,omitempty,min=1" cli:"arg" doc:"The perception, by its memory_id or uid."`
	UID      string `json:"-" validate:"omitempty,uid"` // instead of MemoryID
	Width    int    `json:"width,omitempty" validate:"min=16,max=4096" default:"640" doc:"Largest width in pixels, 16 to 4,096."`
	Height   int    `json:"height,omitempty" validate:"min=16,max=4096" default:"360" tool:"rare" doc:"Largest height in pixels, 16 to 4,096."`
}

// PreviewResponse is a picture of a perception.
type PreviewResponse struct {
	Interpretation
	MemoryID   int64  `json:"memory_id"`
	UID        string `json:"uid,omitempty"` // of a memory of the site, which has no memory_id here
	MediaType  string `json:"media_type" doc:"image/png, image/jpeg or image/svg+xml."`
	Width      int    `json:"width"`
	Height     int    `json:"height"`
	Summary    string `json:"summary"`
	SHA256     string `json:"sha256" doc:"Checksum of the perception, not of the picture."`
	DataBase64 []byte `json:"data_base64"`
}

// Incident is an episode that failed, or a failed memory outside of one.
type Incident struct {
	Kind           string    `json:"kind" doc:"session: an episode that failed. memory: a failed memory of no episode, or of one that did not fail."`
	SessionID      string    `json:"session_id,omitempty"`
	MemoryID       int64     `json:"memory_id,omitempty" doc:"The memory that tells of the failure: of an episode the newest failed fact. Absent for an episode without memories."`
	Collection     string    `json:"collection"`
	Robot          string    `json:"robot,omitempty"`
	Task           string    `json:"task,omitempty"`
	Object         string    `json:"object,omitempty" doc:"What the task handled, as the context names it at object or task.object."`
	At             time.Time `json:"at" doc:"When the failure was observed, or the episode ended."`
	Said           string    `json:"said,omitempty" doc:"The text of the memory."`
	Place          any       `json:"place,omitempty" doc:"The value of spatial in its context."`
	Evidence       string    `json:"evidence,omitempty" doc:"The episode of the recording that shows it, if that is another one."`
	PerceptionID   int64     `json:"perception_id,omitempty" doc:"The perception that shows it: the last trace or sound that began before the failure, else picture or cloud."`
	PerceptionType string    `json:"perception_type,omitempty"`
	MediaType      string    `json:"media_type,omitempty"`
	Summary        string    `json:"summary,omitempty" doc:"What the node read in the perception that shows it."`
	Group          string    `json:"group" doc:"Equal for incidents of one collection, task and object with similar words."`
	Repeats        int       `json:"repeats" doc:"How many of the group there were until this one, this one included."`
	FirstAt        time.Time `json:"first_at" doc:"The first of the group."`
	Resolved       *Resolved `json:"resolved,omitempty"`
}

// Resolved is the fact that resolves an incident: its context names it at
// resolves.session_id, resolves.memory_id or, with all older ones, resolves.group.
type Resolved struct {
	MemoryID int64     `json:"memory_id"`
	At       time.Time `json:"at"`
	Lesson   string    `json:"lesson"`
}

// IncidentGroup is what happened repeatedly.
type IncidentGroup struct {
	Group      string    `json:"group"`
	Collection string    `json:"collection"`
	Task       string    `json:"task,omitempty"`
	Said       string    `json:"said" doc:"The shortest text of the group."`
	Count      int       `json:"count"`
	Open       int       `json:"open" doc:"How many are not resolved."`
	FirstAt    time.Time `json:"first_at"`
	LastAt     time.Time `json:"last_at"`
}

// IncidentLine counts the incidents of one robot and task.
type IncidentLine struct {
	Collection string   `json:"collection"`
	Robot      string   `json:"robot,omitempty"`
	Task       string   `json:"task,omitempty"`
	Episodes   int      `json:"episodes" doc:"Failed episodes."`
	Facts      int      `json:"facts" doc:"Failed memories of no episode, or of one that did not fail."`
	Open       int      `json:"open" doc:"How many are not resolved."`
	Last       Incident `json:"last" doc:"The newest of them: of the episodes, if there is one, else of the memories."`
}

// IncidentsRequest selects incidents.
type IncidentsRequest struct {
	Collection string     `json:"collection,omitempty" validate:"omitempty,collections" default:"*" doc:"Namespace. Default: all."`
	Robot      string     `json:"robot,omitempty" validate:"utf8,max=256" doc:"Only of this robot."`
	Task       string     `json:"task,omitempty" validate:"utf8,max=1024" doc:"Only of this task."`
	Words      string     `json:"words,omitempty" validate:"utf8,max=1024" doc:"Only those whose text, robot, task or place contains this text, in any case."`
	SessionID  string     `json:"session_id,omitempty" validate:"omitempty,session" doc:"Only the incident of this episode."`
	MemoryID   int64      `json:"memory_id,omitempty" validate:"min=0" doc:"Only the incident that this memory tells of."`
	Group      string     `json:"group,omitempty" validate:"max=64" doc:"Only the incidents of this group."`
	Resolved   *bool      `json:"resolved,omitempty" doc:"Only resolved or only open ones. Default: both."`
	After      *time.Time `json:"after,omitempty" validate:"omitempty,instant" doc:"Only those at this time or later, RFC 3339."`
	Before     *time.Time `json:"before,omitempty" validate:"omitempty,instant" doc:"Only those before this time, RFC 3339."`
	Sort       string     `json:"sort,omitempty" validate:"oneof=time episodes repeats robot task place" default:"time" doc:"time (newest first), episodes (failed episodes first, newest first), repeats (most first), robot, task or place."`
	Page       int        `json:"page,omitempty" validate:"min=1,max=1000000" default:"1" doc:"Page number, from 1."`
	Limit      int        `json:"limit,omitempty" validate:"min=1,max=200" default:"50" doc:"Incidents per page, 1 to 200."`
}

// IncidentsResponse is a page of incidents.
type IncidentsResponse struct {
	Interpretation
	Incidents []Incident      `json:"incidents"`
	Total     int             `json:"total"`
	Page      int             `json:"page"`
	Limit     int             `json:"limit"`
	Groups    []IncidentGroup `json:"groups" doc:"What happened at least twice among all that match, most often first; at most 20."`
	Lines     []IncidentLine  `json:"lines" doc:"One for each collection, robot and task among all that match: those with failed episodes first, newest first; at most 20."`
	Robots    []string        `json:"robots" doc:"The robots of all incidents of the collection; at most 200."`
	Tasks     []string        `json:"tasks" doc:"The tasks of all incidents of the collection; at most 200."`
	Degraded  []string        `json:"degraded,omitempty" doc:"What is missing, and why."`
}

// RecentFailuresRequest selects the recent failures to list.
type RecentFailuresRequest struct {
	Collection string `json:"collection,omitempty" validate:"omitempty,collections" default:"*" doc:"Namespace. Default: all."`
	Limit      int    `json:"limit,omitempty" validate:"min=1,max=1000" default:"20" doc:"Largest number, 1 to 1,000."`
	Days       int    `json:"days,omitempty" validate:"min=0,max=36500" doc:"Only failures within this number of days; 0 for all."`
}

// SessionMemoriesRequest pages through the memories of an episode in time order.
type SessionMemoriesRequest struct {
	SessionID string `json:"session_id" validate:"required,session" cli:"arg" doc:"The episode."`
	Page      int    `json:"page,omitempty" validate:"min=1,max=1000000" default:"1" doc:"Page number, from 1."`
	Limit     int    `json:"limit,omitempty" validate:"min=1,max=1000" default:"100" doc:"Memories per page, 1 to 1,000."`
	Cursor    string `json:"cursor,omitempty" validate:"max=512" doc:"The value of next from the previous page. New entries do not shift the pages."`
}

// PinRequest pins or unpins a memory.
type PinRequest struct {
	MemoryID int64  `json:"memory_id" validate:"required_without=UID,omitempty,min=1" cli:"arg" doc:"The memory, by its memory_id or uid."`
	UID      string `json:"-" validate:"omitempty,uid"` // instead of MemoryID
	Pinned   *bool  `json:"pinned,omitempty" default:"true" doc:"true to pin, false to unpin."`
}

// PinResponse is the result of Pin.
type PinResponse struct {
	Interpretation
	Status   string `json:"status" doc:"pinned or unpinned."`
	MemoryID int64  `json:"memory_id"`
	Pinned   bool   `json:"pinned"`
}
