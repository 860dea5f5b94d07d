package eval

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// deploymentFiles holds the facts that robots of eleven deployments learnt in a week, and the questions that were asked
// afterwards. Each was written without sight of the program and of the others. languages.json has questions about two
// of them in another language than the memory that answers.
//
//go:embed testdata/deployments/*.json testdata/languages.json
var deploymentFiles embed.FS

// Untouched lists the deployments that were used to choose no constant and no rule.
var Untouched = []string{"armcell", "hospital", "kaigo", Languages}

// Languages is the deployment whose questions are in another language than their answers.
const Languages = "languages"

// Deployment is a week of one deployment.
type Deployment struct {
	Name     string
	Language string
	Now      string // weekday and time of the questions, such as "Thursday 16:30"
	Sessions []struct {
		DaysAgo  int `json:"days_ago"`
		Starts   string
		Context  robotmem.Object
		Memories []struct {
			ID      string
			Insight string
			Context robotmem.Object
		}
		End struct{ Outcome string }
	}
	Questions []DeploymentQuestion
}

// DeploymentQuestion is a question with the memories that answer it. None means that nothing does.
type DeploymentQuestion struct {
	Kind       string
	Query      string
	Arguments  map[string]any
	Right      []string // acceptable first answers
	WrongTwins []string `json:"wrong_twins"` // failed or outdated counterparts
}

// Deployments returns all deployments by name, and Languages last.
func Deployments() (out []Deployment, err error) {
	files, err := deploymentFiles.ReadDir("testdata/deployments")
	if err != nil {
		return nil, err
	}

	for _, f := range files {
		data, err := deploymentFiles.ReadFile("testdata/deployments/" + f.Name())
		if err != nil {
			return nil, err
		}
		d := Deployment{Name: strings.TrimSuffix(f.Name(), path.Ext(f.Name()))}
		if err := json.Unmarshal(data, &d); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		out = append(out, d)
	}

	across, err := acrossLanguages(out)

	return append(out, across), err
}

// acrossLanguages returns the deployment that has the sessions of two others.
func acrossLanguages(all []Deployment) (d Deployment, err error) {
	data, err := deploymentFiles.ReadFile("testdata/languages.json")
	if err != nil {
		return d, err
	}

	var file struct {
		Of        []string
		Now       string
		Questions []DeploymentQuestion
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return d, fmt.Errorf("languages.json: %w", err)
	}

	d = Deployment{Name: Languages, Language: "several", Now: file.Now, Questions: file.Questions}

	// The memories of several deployments together, so that an answer competes with those in other languages.
	for _, other := range all {
		if slices.Contains(file.Of, other.Name) {
			d.Sessions = append(d.Sessions, other.Sessions...)
		}
	}

	return d, nil
}

// DeploymentScore counts how questions of a deployment were answered.
type DeploymentScore struct {
	Deployment string     `json:"deployment"`
	Answerable int        `json:"answerable"`
	Hit1       float64    `json:"hit_at_1" doc:"Share of the answerable questions whose first answer is right."`
	Hit5       float64    `json:"hit_at_5"`
	TwinFirst  float64    `json:"wrong_twin_first" doc:"Share whose first answer is the failed or outdated counterpart."`
	Unknown    int        `json:"unknown" doc:"Questions that nothing answers."`
	Unsaid     float64    `json:"unknown_unsaid" doc:"Share of them that were answered without a note."`
	Wrong      []WrongOne `json:"wrong,omitempty"`
}

// WrongOne is a question that was not answered well.
type WrongOne struct {
	Kind  string   `json:"kind"`
	Query string   `json:"query"`
	Got   []string `json:"got"`
	Want  []string `json:"want"`
	Twin  bool     `json:"twin_first,omitempty"`
}

// minutesBetween is how long after each other the memories of a session were stored.
const minutesBetween = 22

// Play learns a deployment and asks its questions.
func (d *Deployment) Play(ctx context.Context, open OpenAt) (_ *DeploymentScore, err error) {
	asked, err := d.askedAt()
	if err != nil {
		return nil, err
	}

	now := asked
	s, stop, err := open(func() time.Time { return now })
	if err != nil {
		return nil, err
	}

	defer func() { err = cmp.Or(err, stop()) }()

	names := map[int64]string{}

	for i := range d.Sessions {
		e := &d.Sessions[i]

		var hour, minute int
		if _, err := fmt.Sscanf(e.Starts, "%d:%d", &hour, &minute); err != nil {
			return nil, fmt.Errorf("starts %q: %w", e.Starts, err)
		}

		day := asked.AddDate(0, 0, -e.DaysAgo)
		now = time.Date(day.Year(), day.Month(), day.Day(), hour, minute, 0, 0, time.UTC)

		session, err := s.StartSession(ctx, &robotmem.StartSessionRequest{Context: e.Context})
		if err != nil {
			return nil, err
		}

		for _, m := range e.Memories {
			now = now.Add(minutesBetween * time.Minute)

			res, err := s.Learn(ctx, &robotmem.LearnRequest{
				Insight:   m.Insight,
				Context:   m.Context,
				SessionID: session.SessionID,
			})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.ID, err)
			}

			names[res.MemoryID] = m.ID
		}

		end := &robotmem.EndSessionRequest{SessionID: session.SessionID, Outcome: e.End.Outcome}
		if _, err := s.EndSession(ctx, end); err != nil {
			return nil, err
		}
	}

	// In a real week the vectors are computed in the background long before the questions. Here they are computed now.
	if e, ok := s.(interface{ Embed(context.Context) error }); ok {
		if err := e.Embed(ctx); err != nil {
			return nil, err
		}
	}

	now = asked

	score := &DeploymentScore{Deployment: d.Name}
	for _, q := range d.Questions {
		if err := q.ask(ctx, s, names, score); err != nil {
			return nil, fmt.Errorf("%q: %w", q.Query, err)
		}
	}

	for _, share := range []*float64{&score.Hit1, &score.Hit5, &score.TwinFirst} {
		*share /= float64(max(1, score.Answerable))
	}

	score.Unsaid /= float64(max(1, score.Unknown))

	return score, nil
}

func (q *DeploymentQuestion) ask(
	ctx context.Context, s robotmem.Service, names map[int64]string, score *DeploymentScore,
) error {
	args := map[string]any{"query": q.Query}
	for k, v := range q.Arguments {
		args[k] = v
	}

	out, err := ask(ctx, s, "recall", args)
	if err != nil {
		return err
	}

	res := out.(*robotmem.RecallResponse)

	got := []string{}
	for _, m := range res.Memories[:min(5, len(res.Memories))] {
		got = append(got, names[m.MemoryID])
	}

	// A question without an answer is answered well by nothing, or by a note that words are unknown.
	if len(q.Right) == 0 {
		score.Unknown++
		if len(got) > 0 && !saysUnknown(res) {
			score.Unsaid++
			score.Wrong = append(score.Wrong, WrongOne{q.Kind, q.Query, got, q.Right, false})
		}

		return nil
	}

	score.Answerable++
	if slices.ContainsFunc(got, func(id string) bool { return slices.Contains(q.Right, id) }) {
		score.Hit5++
	}

	if len(got) > 0 && slices.Contains(q.Right, got[0]) {
		score.Hit1++
		return nil
	}

	twin := len(got) > 0 && slices.Contains(q.WrongTwins, got[0])
	if twin {
		score.TwinFirst++
	}

	score.Wrong = append(score.Wrong, WrongOne{q.Kind, q.Query, got, q.Right, twin})

	return nil
}

// saysUnknown reports whether an answer names words that no memory has.
func saysUnknown(res *robotmem.RecallResponse) bool {
	return slices.ContainsFunc(res.Notes, func(n string) bool { return strings.HasPrefix(n, "unknown") })
}

// askedAt returns the time of the questions, in a week that is the same for all deployments.
func (d *Deployment) askedAt() (time.Time, error) {
	weekday, clock, _ := strings.Cut(d.Now, " ")
	at, err := time.Parse("15:04", clock)
	if err != nil {
		return at, fmt.Errorf("now %q: %w", d.Now, err)
	}

	for day := 23; day < 30; day++ {
		t := time.Date(2026, time.November, day, at.Hour(), at.Minute(), 0, 0, time.UTC)
		if t.Weekday().String() == weekday {
			return t, nil
		}
	}

	return at, fmt.Errorf("now %q: %q is no weekday", d.Now, weekday)
}

// Mean returns the mean of scores over questions, as the score of one deployment.
func Mean(name string, scores []*DeploymentScore) *DeploymentScore {
	out := &DeploymentScore{Deployment: name}

	for _, s := range scores {
		n := float64(s.Answerable)
		out.Answerable += s.Answerable
		out.Unknown += s.Unknown
		out.Hit1 += n * s.Hit1
		out.Hit5 += n * s.Hit5
		out.TwinFirst += n * s.TwinFirst
		out.Unsaid += float64(s.Unknown) * s.Unsaid
	}

	for _, share := range []*float64{&out.Hit1, &out.Hit5, &out.TwinFirst} {
		*share /= float64(max(1, out.Answerable))
	}
	out.Unsaid /= float64(max(1, out.Unknown))

	return out
}

// Setting is a way to rank that is chosen on some deployments and judged on another.
type Setting struct {
	Name    string
	Weights map[string]float64 // of local.Options
}

// Settings are the grid of LeaveOneOut. The first is that of the program.
func Settings() []Setting {
	out := []Setting{{Name: "default"}}

	for _, context := range []float64{0.35, 0.7, 1} {
		for _, neighbours := range []float64{0, 0.1, 0.2} {
			if context != 0.7 || neighbours != 0.1 { // these are the default
				out = append(out, Setting{
					Name:    fmt.Sprintf("context %g, neighbours %g", context, neighbours),
					Weights: map[string]float64{"context": context, "neighbours": neighbours},
				})
			}
		}
	}

	for _, vector := range []float64{0.5, 2} {
		out = append(out,
			Setting{Name: fmt.Sprintf("vector %g", vector), Weights: map[string]float64{"vector": vector}})
	}

	return append(out, Setting{Name: "without twins", Weights: map[string]float64{"evidence": 0}})
}

// DeploymentResult has the figures of all deployments.
type DeploymentResult struct {
	Deployments []*DeploymentScore `json:"deployments" doc:"By the program as it is."`
	Mean        *DeploymentScore   `json:"mean" doc:"Of the deployments by which something was chosen."`
	// LeftOut has the scores of each deployment by the setting that is best on the others.
	LeftOut     []*DeploymentScore `json:"left_out"`
	LeftOutMean *DeploymentScore   `json:"left_out_mean"`
	Untouched   *DeploymentScore   `json:"untouched" doc:"Mean of those by which nothing was chosen."`
	Chosen      map[string]string  `json:"chosen" doc:"The setting that was chosen without each deployment."`
}

// LeaveOneOut plays every deployment in every setting. For each deployment it chooses the setting with the
// best first answers on the others, and judges it there.
func LeaveOneOut(
	ctx context.Context, open func(Setting) OpenAt, progress func(done, all int),
) (*DeploymentResult, error) {
	all, err := Deployments()
	if err != nil {
		return nil, err
	}

	settings := Settings()

	scores := make([][]*DeploymentScore, len(settings)) // by setting and deployment
	for i, setting := range settings {
		for k := range all {
			score, err := all[k].Play(ctx, open(setting))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", all[k].Name, err)
			}
			scores[i] = append(scores[i], score)
			progress(i*len(all)+k+1, len(settings)*len(all))
		}
	}

	res := &DeploymentResult{Deployments: scores[0], Chosen: map[string]string{}}

	var touched, untouched []*DeploymentScore

	for k, d := range all {
		if slices.Contains(Untouched, d.Name) {
			untouched = append(untouched, scores[0][k])
			continue
		}

		touched = append(touched, scores[0][k])

		// The first setting, that of the program, wins a tie.
		best := 0
		for i := range settings {
			if without(scores[i], k) > without(scores[best], k) {
				best = i
			}
		}
		res.Chosen[d.Name] = settings[best].Name
		res.LeftOut = append(res.LeftOut, scores[best][k])
	}

	res.Mean = Mean("mean", touched)
	res.LeftOutMean = Mean("left out", res.LeftOut)
	res.Untouched = Mean("untouched", untouched)

	return res, nil
}

// without returns the share of right first answers over all deployments except deployment k and the untouched ones.
func without(scores []*DeploymentScore, k int) float64 {
	var others []*DeploymentScore

	for i, s := range scores {
		if i != k && !slices.Contains(Untouched, s.Deployment) {
			others = append(others, s)
		}
	}

	return Mean("", others).Hit1
}
