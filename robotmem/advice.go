package robotmem

import "time"

// AdviseRequest asks what worked in attempts like the one that is planned.
type AdviseRequest struct {
	Query         string       `json:"query,omitempty" validate:"utf8" cli:"arg" doc:"The task in words: \"pick wet glass\". Attempts weigh by the words that they share with it, in their text or context."`
	Task          string       `json:"task,omitempty" validate:"utf8,max=256" doc:"Name of the task, as in task.name. If no attempt has this name, its words count like those of query."`
	Collection    string       `json:"collection,omitempty" validate:"omitempty,collections" default:"default" doc:"Namespace; * for all."`
	ContextFilter Object       `json:"context_filter,omitempty" doc:"Only attempts that match, as in recall: {\"wet\":true,\"object\":\"glass\"}."`
	Given         Object       `json:"given,omitempty" doc:"States that you cannot choose, by context path: {\"tool.edges\":450}. Attempts weigh by how near their numbers are; texts and truth values must be equal. Such paths are not advised."`
	After         *time.Time   `json:"after,omitempty" validate:"omitempty,instant" doc:"Only attempts observed at or after this time (RFC 3339)."`
	Before        *time.Time   `json:"before,omitempty" validate:"omitempty,instant" doc:"Only attempts observed before this time (RFC 3339)."`
	SpatialSort   *SpatialSort `json:"spatial_sort,omitempty" doc:"Attempts near this place weigh more; those beyond max_distance do not count."`
	Parameters    []string     `json:"parameters,omitempty" validate:"max=16,dive,min=1,max=256" doc:"Context paths to advise on, such as params.grip_force, in any spelling (gripForce). Default: those below params."`
	Goal          string       `json:"goal,omitempty" validate:"utf8,max=256" default:"success" doc:"success, near (how near spatial_sort an attempt ended, whatever its outcome), or a context path with a number: task.score to maximise it, -task.duration_s to minimise it."`
	NMin          int          `json:"n_min,omitempty" validate:"min=1,max=1000" default:"3" doc:"Fewest attempts for a suggestion."`
	Explore       bool         `json:"explore,omitempty" doc:"Suggest a Thompson sample: mostly what worked, sometimes what has been tried little. For repeated attempts that may fail."`
	Scope         string       `json:"scope,omitempty" validate:"omitempty,oneof=local fleet both" tool:"rare" doc:"Whose attempts count: local (this memory; the default), fleet (the site that this memory has joined) or both (the site's if it answers, else this memory's)."`
	Seed          int64        `json:"seed,omitempty" tool:"-" doc:"Makes explore repeatable. 0: a new sample each time."`
}

// AdviseResponse says what worked, as numbers.
type AdviseResponse struct {
	Evidence     string            `json:"evidence" doc:"none: fewer than n_min attempts, no suggestion. good: at least 5 attempts near the suggestion, with an interval narrower than 0.5, of which the last three did not all fail. Else weak."`
	Attempts     int               `json:"attempts" doc:"Attempts that match and whose result is known."`
	FromEpisodes int               `json:"from_episodes,omitempty" doc:"How many of the attempts are whole episodes: one setting of parameters, and an outcome from end_session."`
	Unknown      int               `json:"unknown,omitempty" doc:"Memories that match but have no known result; they do not count."`
	Overall      *Estimate         `json:"overall,omitempty" doc:"Of all these attempts, equally weighted."`
	Suggestion   *Suggestion       `json:"suggestion,omitempty" doc:"Absent if there are too few attempts or none succeeded."`
	Combination  *Combination      `json:"best_combination,omitempty" doc:"Of the exact combinations of all parameters that were tried at least twice and succeeded, the one with the highest lower bound, by the weights of the attempts. Its counts are exact."`
	Parameters   []ParameterAdvice `json:"parameters"`
	Differs      []Difference      `json:"differs" doc:"Context paths that separate successes from failures, most information first; p < 0.05, corrected for the number of paths."`
	Notes        []string          `json:"notes,omitempty" doc:"What was left out or assumed."`
	QueryMS      float64           `json:"query_ms"`
}

// Estimate is a success rate, or the mean of the goal, with its 95 % interval.
type Estimate struct {
	Attempts  float64  `json:"attempts" doc:"Number of attempts; weighted by distance, relevance and recency in best and suggestion."`
	Successes *float64 `json:"successes,omitempty" doc:"Not with another goal than success. A partial success counts half."`
	Rate      float64  `json:"rate" doc:"Success rate, or the mean of the goal."`
	Low       float64  `json:"low" doc:"Lower end: of the Wilson interval for a rate, of the normal one for a mean."`
	High      float64  `json:"high"`
}

// ParameterAdvice describes the tried values of one parameter.
type ParameterAdvice struct {
	Path      string        `json:"path"`
	Unit      string        `json:"unit,omitempty" doc:"Unit of the numbers: the most frequent one in the memories."`
	Values    []ValueRecord `json:"values" doc:"Numbers in ascending order, in bins if there are more than 12; texts by attempts, at most 12."`
	Best      *ValueRecord  `json:"best,omitempty" doc:"The region or value with the highest lower bound. For a number its rate is weighted by a kernel."`
	Kernel    string        `json:"kernel,omitempty" doc:"Kernel and rule of the bandwidth, for numbers."`
	Bandwidth float64       `json:"bandwidth,omitempty" doc:"Standard deviation of the kernel, in unit."`
}

// ValueRecord is how attempts with one value, or a range of values, went.
type ValueRecord struct {
	Value any      `json:"value,omitempty"`
	From  *float64 `json:"from,omitempty"`
	To    *float64 `json:"to,omitempty"`
	Estimate
	LastTried *time.Time `json:"last_tried,omitempty"`
	MemoryIDs []int64    `json:"memory_ids,omitempty" doc:"The last attempts, at most 3."`
}

// Suggestion is one assignment of the parameters.
type Suggestion struct {
	Parameters Object `json:"parameters" doc:"By path, ready for the context of the next attempt: 12.5, or 12.5 N if the memories hold units."`
	Estimate
	Tried     bool    `json:"tried" doc:"false: a combination that was not tried, which explore proposes or which is between attempts near the place; its rate is that of its neighbours."`
	MemoryIDs []int64 `json:"memory_ids" doc:"Attempts that support it, the one with these parameters first."`
	Text      string  `json:"text"`
}

// Combination is one exact setting of all parameters, and how the attempts with it went.
type Combination struct {
	Parameters Object `json:"parameters" doc:"By path, as in suggestion."`
	Estimate
	MemoryIDs []int64 `json:"memory_ids" doc:"The last attempts, at most 3."`
}

// Difference is a context path whose values go with success or failure.
type Difference struct {
	Path string  `json:"path"`
	Bits float64 `json:"bits" doc:"Mutual information with the outcome, 0 to 1."`
	P    float64 `json:"p" doc:"Permutation p-value after Holm's correction."`
	Text string  `json:"text" doc:"Such as: grip_force 9 N failed 3 of 3; 12.5 N succeeded 7 of 7."`
}

// AggregateRequest counts memories by group and outcome.
type AggregateRequest struct {
	Collection    string     `json:"collection,omitempty" validate:"omitempty,collections" default:"default" doc:"Namespace; * for all."`
	ContextFilter Object     `json:"context_filter,omitempty" doc:"Only memories that match, as in recall."`
	GroupBy       []string   `json:"group_by,omitempty" validate:"max=4,dive,min=1,max=256" doc:"Up to 4 context paths, or of collection, category, type, perception_type, session_id, outcome, day. Without it there is one group."`
	After         *time.Time `json:"after,omitempty" validate:"omitempty,instant" doc:"Only memories observed at or after this time (RFC 3339)."`
	Before        *time.Time `json:"before,omitempty" validate:"omitempty,instant" doc:"Only memories observed before this time (RFC 3339)."`
	Limit         int        `json:"limit,omitempty" validate:"min=1,max=1000" default:"50" doc:"Largest number of groups, 1 to 1,000."`
}

// AggregateResponse holds exact counts.
type AggregateResponse struct {
	Groups   []OutcomeGroup `json:"groups" doc:"The largest first."`
	Memories int            `json:"memories" doc:"Memories that match, in all groups."`
	More     int            `json:"more,omitempty" doc:"Groups over the limit, which are left out."`
	Notes    []string       `json:"notes,omitempty"`
}

// OutcomeGroup counts the memories with the same values.
type OutcomeGroup struct {
	Group        Object    `json:"group" doc:"Value by path; null where a memory has none."`
	Memories     int       `json:"memories"`
	Successes    int       `json:"successes"`
	Failures     int       `json:"failures"`
	Partial      int       `json:"partial"`
	Unknown      int       `json:"unknown"`
	FromEpisodes int       `json:"from_episodes,omitempty" doc:"Successes, failures and partial successes that are those of whole episodes: one setting of parameters, and an outcome from end_session."`
	Last         time.Time `json:"last" doc:"When the latest was observed."`
}
