package python

import (
	"cmp"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

func (p *Python) sessions() (*archive.Entry, error) {
	rows, err := pythonSessions(p.c, p.shape, p.after)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	entry := &archive.Entry{}
	for _, r := range rows {
		p.after = r.number("id")
		s, err := p.session(r)
		if err != nil {
			return nil, err
		}
		entry.Sessions = append(entry.Sessions, *s)
	}
	return entry, nil
}

func (p *Python) session(r row) (*archive.Session, error) {
	s := &archive.Session{}
	id := r.text("external_id")
	s.Where, s.SessionID, s.Collection = "session "+id, sessionUID(id), cmp.Or(r.text("collection"), robotmem.DefaultCollection)
	s.Context, s.Status, s.ClientType, s.Count = p.object(r.text("context"), "context"), "ended", r.text("client_type"), r.number("session_count")
	if r.text("status") == "active" {
		s.Status = "active"
	}
	s.CreatedAt = p.at(r.text("created_at"), store.FormatTime(p.mtime))
	s.UpdatedAt = p.at(r.text("updated_at"), s.CreatedAt)
	if s.Status == "ended" {
		s.EndedAt = s.UpdatedAt
	}
	outcomes, err := pythonOutcomes(p.c, p.shape, id)
	for _, o := range outcomes {
		s.Outcomes = append(s.Outcomes, archive.Outcome{Score: o.float("score", 0), CreatedAt: p.at(o.text("created_at"), s.UpdatedAt)})
	}
	return s, err
}

// lostSessions makes an ended episode of each that only memories name.
func (p *Python) lostSessions() (*archive.Entry, error) {
	rows, err := pythonLost(p.c, p.shape)
	if err != nil || p.after > 0 || len(rows) == 0 {
		return nil, err
	}
	p.after = 1
	entry := &archive.Entry{}
	for _, r := range rows {
		s, err := p.session(r)
		if err != nil {
			return nil, err
		}
		s.Count = 1
		p.report.Notes["sessions that only memories name, made anew"]++
		entry.Sessions = append(entry.Sessions, *s)
	}
	return entry, nil
}

// successors are the references to what superseded a memory.
func (p *Python) successors() (*archive.Entry, error) {
	rows, err := pythonSuccessors(p.c, p.after)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	entry := &archive.Entry{Links: []archive.Link{}}
	for _, r := range rows {
		p.after = r.number("id")
		from, err := pythonByID(p.c, p.after)
		if err != nil {
			return nil, err
		}
		to, err := pythonByID(p.c, r.number("superseded_by"))
		if err != nil {
			return nil, err
		}
		if to == nil {
			p.report.Notes["superseded by a memory that is not in the file"]++
			continue
		}
		entry.Links = append(entry.Links, archive.Link{Memory: p.uid(from), SupersededBy: p.uid(to)})
	}
	return entry, nil
}
