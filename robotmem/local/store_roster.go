package local

import (
	"github.com/ncruces/go-sqlite3"
)

// load reads the rows that changed after a revision into the roster. The
// caller holds the roster's lock.
func (r *roster) load(c *conn, after int64) error {
	r.names.id("")
	if r.points == nil {
		r.points = map[int64]*pointColumn{}
	}
	var changed []int64
	err := c.Query(`SELECT id, collection, session_id, category, type, perception_type, status, confidence, decay_rate,
		observed_at, coalesce(last_accessed, created_at), created_at, valid_from,
		CASE WHEN instr(context, 'sim_or_real') > 0 AND json_valid(context) THEN json_extract(context, '$.env.sim_or_real') = 'real' END, context
		FROM memories WHERE revision > ?`, []any{after}, func(s *sqlite3.Stmt) error {
		id := s.ColumnInt64(0)
		r.set(id, rosterRow{
			collection: r.names.id(s.ColumnText(1)), session: r.names.id(s.ColumnText(2)), category: r.names.id(s.ColumnText(3)),
			kind: kindOf(s.ColumnText(4)), perception: r.names.id(s.ColumnText(5)), status: statusOf(s.ColumnText(6)),
			belief:   r.beliefs.id(belief{s.ColumnFloat(7), s.ColumnFloat(8)}),
			observed: parseNano(s.ColumnRawText(9)), useful: parseNano(s.ColumnRawText(10)),
			created: parseNano(s.ColumnRawText(11)), validFrom: parseNano(s.ColumnRawText(12)),
			real: s.ColumnBool(13),
		})
		if after > 0 || r.loaded { // the first of an empty memory: what was answered before must follow
			for _, col := range r.points {
				col.drop(id)
			}
			changed = append(changed, id)
			r.leaves.change(id, s.ColumnText(14))
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.follow(changed)
	return r.loadPoints(c, after)
}

// set replaces a row.
func (r *roster) set(id int64, row rosterRow) {
	for int64(len(r.rows)) <= id {
		r.rows = append(r.rows, rosterRow{})
	}
	if old := &r.rows[id]; old.kind != 0 && old.status == statusActive {
		r.actives--
	}
	if row.status == statusActive {
		r.actives++
	}
	r.rows[id] = row
}

func (r *roster) loadPoints(c *conn, after int64) error {
	from, args := "points p", []any{}
	if after > 0 {
		from, args = "memories m JOIN points p ON p.memory_id = m.id WHERE m.revision > ?", []any{after}
	}
	return c.Query("SELECT p.memory_id, p.path_id, p.x, p.y, p.z, p.frame_id, p.map_id FROM "+from, args, func(s *sqlite3.Stmt) error {
		col := r.points[s.ColumnInt64(1)]
		if col == nil {
			col = &pointColumn{}
			r.points[s.ColumnInt64(1)] = col
		}
		p := point{memoryID: s.ColumnInt64(0), x: s.ColumnFloat(2), y: s.ColumnFloat(3), dims: 2,
			frame: r.names.id(s.ColumnText(5)), mapID: r.names.id(s.ColumnText(6))}
		if s.ColumnType(4) != sqlite3.NULL {
			p.z, p.dims = s.ColumnFloat(4), 3
		}
		col.put(p)
		return nil
	})
}
