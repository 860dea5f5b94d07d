package vector_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/vec1"

	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

// tabled is s in a file with the virtual table memories_vec and a table memories.
func tabled(t *testing.T, s *set) *sqlite3.Conn {
	t.Helper()
	c, load := stored(t, s)
	x := index(t, s)
	must(t, vec1.Register(c))
	must(t, vector.Register(c, "memories_vec", func(unit []float32, k int) ([]vector.Hit, error) {
		return x.Search(vector.Query{Vector: unit, N: k}, load)
	}))
	must(t, c.Exec(`CREATE TABLE memories(id INTEGER PRIMARY KEY, title TEXT);
		INSERT INTO memories SELECT memory_id, 'memory ' || memory_id FROM vectors WHERE memory_id % 2`))
	return c
}

// rows runs a query and returns its rows, columns joined by a bar.
func rows(c *sqlite3.Conn, sql string, args ...any) ([]string, error) {
	stmt, _, err := c.Prepare(sql)
	if err != nil {
		return nil, err
	}
	defer stmt.Close()
	for i, arg := range args {
		switch arg := arg.(type) {
		case []byte:
			err = stmt.BindBlob(i+1, arg)
		case int:
			err = stmt.BindInt(i+1, arg)
		case float64:
			err = stmt.BindFloat(i+1, arg)
		case string:
			err = stmt.BindText(i+1, arg)
		default:
			err = stmt.BindNull(i + 1)
		}
		if err != nil {
			return nil, err
		}
	}
	var all []string
	for stmt.Step() {
		var row []string
		for i := range stmt.ColumnCount() {
			row = append(row, stmt.ColumnText(i))
		}
		all = append(all, strings.Join(row, "|"))
	}
	return all, stmt.Err()
}

// vec1 computes in float32, so the order of nearly equal neighbours may differ; the
// distances at each rank may not.
func TestTableAgreesWithVec1(t *testing.T) {
	const dims, members = 48, 3000
	d := clustered(dims, 30, 3)
	s := makeSet(dims, members, d)
	c := tabled(t, s)
	for _, q := range questions(20, d) {
		for i := range q {
			q[i] *= 7 // any length is taken
		}
		got, err := rows(c, `SELECT memory_id, distance, similarity FROM memories_vec WHERE embedding MATCH ? AND k = 25`, floats(q))
		must(t, err)
		want, err := rows(c, `SELECT memory_id, vec1_cos_distance(vector_float32(vector), ?1) AS d FROM vectors ORDER BY d, memory_id LIMIT 25`, floats(q))
		must(t, err)
		if len(got) != 25 || len(want) != 25 {
			t.Fatalf("%d rows and %d of vec1, want 25", len(got), len(want))
		}
		for i := range got {
			var id, id1 int64
			var distance, similarity, distance1 float64
			_, err := fmt.Sscanf(strings.ReplaceAll(got[i]+"|"+want[i], "|", " "), "%d %g %g %d %g", &id, &distance, &similarity, &id1, &distance1)
			must(t, err)
			if math.Abs(distance-distance1) > 1e-6 || math.Abs(distance+similarity-1) > 1e-12 {
				t.Errorf("place %d: memory %d at %v (similarity %v), vec1 has %d at %v", i, id, distance, similarity, id1, distance1)
			}
			if i+1 < len(got) && id != id1 && !strings.Contains(strings.Join(want, " "), fmt.Sprintf("%d|", id)) {
				t.Errorf("place %d: memory %d is not among the nearest of vec1", i, id)
			}
		}
	}
}

func TestTableInQueries(t *testing.T) {
	const dims = 16
	s := makeSet(dims, 200, isotropic(dims))
	c := tabled(t, s)
	q := questions(1, isotropic(dims))[0]
	blob := floats(q)
	nearest := func(n int, admit func(int64) bool) []string {
		var all []string
		for _, h := range exact(s, q, n, admit) {
			all = append(all, fmt.Sprint(h.ID))
		}
		return all
	}
	odd := func(all []string) []string {
		return slices.DeleteFunc(all, func(id string) bool { return strings.ContainsAny(id[len(id)-1:], "02468") })
	}
	reversed := nearest(5, nil)
	slices.Reverse(reversed)
	for name, test := range map[string]struct {
		sql  string
		args []any
		want []string
	}{
		"plain":           {`SELECT memory_id FROM memories_vec WHERE embedding MATCH ? AND k = ?`, []any{blob, 5}, nearest(5, nil)},
		"rowid":           {`SELECT rowid FROM memories_vec WHERE embedding MATCH ? AND k = ?`, []any{blob, 5}, nearest(5, nil)},
		"as a function":   {`SELECT memory_id FROM memories_vec(?, ?)`, []any{blob, 5}, nearest(5, nil)},
		"more than exist": {`SELECT count(*) FROM memories_vec WHERE embedding MATCH ? AND k = ?`, []any{blob, 10000}, []string{"200"}},
		"in order":        {`SELECT memory_id FROM memories_vec WHERE embedding MATCH ? AND k = ? ORDER BY similarity DESC, memory_id`, []any{blob, 5}, nearest(5, nil)},
		"by distance":     {`SELECT memory_id FROM memories_vec WHERE embedding MATCH ? AND k = ? ORDER BY distance LIMIT 3`, []any{blob, 5}, nearest(3, nil)},
		"worst first":     {`SELECT memory_id FROM memories_vec WHERE embedding MATCH ? AND k = ? ORDER BY similarity`, []any{blob, 5}, reversed},
		"joined":          {`SELECT m.id FROM memories_vec v JOIN memories m ON m.id = v.memory_id WHERE v.embedding MATCH ? AND v.k = ? ORDER BY v.distance`, []any{blob, 20}, odd(nearest(20, nil))},
		"joined, other way": {`SELECT m.id FROM memories m CROSS JOIN memories_vec v ON m.id = v.memory_id WHERE v.embedding MATCH ? AND v.k = ? ORDER BY v.distance`,
			[]any{blob, 20}, odd(nearest(20, nil))},
		"question from a table": {`SELECT v.memory_id FROM vectors q JOIN memories_vec v ON v.embedding MATCH vector_float32(q.vector) AND v.k = 1 WHERE q.memory_id IN (3, 1, 200) ORDER BY 1`,
			nil, []string{"1", "3", "200"}},
		"conditions": {`SELECT memory_id FROM memories_vec WHERE embedding MATCH ? AND k = ? AND memory_id % 2 AND similarity > -1`, []any{blob, 20}, odd(nearest(20, nil))},
		"several k":  {`SELECT count(*) FROM memories_vec WHERE embedding MATCH ? AND k IN (2, 3)`, []any{blob}, []string{"5"}},
		"hidden":     {`SELECT typeof(embedding), typeof(k) FROM memories_vec WHERE embedding MATCH ? AND k = 1`, []any{blob}, []string{"null|null"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := rows(c, test.sql, test.args...)
			must(t, err)
			if !slices.Equal(got, test.want) {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

func TestTableRefusals(t *testing.T) {
	s := makeSet(4, 10, isotropic(4))
	c := tabled(t, s)
	const ask = `SELECT * FROM memories_vec WHERE embedding MATCH ? AND k = ?`
	good := s.row(1)
	for name, test := range map[string]struct {
		sql  string
		args []any
		want string
	}{
		"nothing":       {`SELECT * FROM memories_vec`, nil, "memories_vec: say WHERE embedding MATCH ? AND k = ?"},
		"no embedding":  {`SELECT * FROM memories_vec WHERE k = 3`, nil, "say WHERE embedding MATCH"},
		"no k":          {`SELECT * FROM memories_vec WHERE embedding MATCH ?`, []any{good}, "memories_vec: say how many: AND k = ?"},
		"k zero":        {ask, []any{good, 0}, "k is 0, want an integer from 1 to 10000"},
		"k below":       {ask, []any{good, -4}, "k is -4"},
		"k above":       {ask, []any{good, 10001}, "k is 10001"},
		"k huge":        {ask, []any{good, 1 << 40}, "k is 1099511627776"},
		"k broken":      {ask, []any{good, 1.5}, "k is 1.5"},
		"k word":        {ask, []any{good, "ten"}, "k is ten"},
		"k null":        {ask, []any{good, nil}, "want an integer"},
		"text":          {ask, []any{"[1,2,3,4]", 1}, "wants a blob of little-endian float32"},
		"null":          {ask, []any{nil, 1}, "wants a blob"},
		"odd bytes":     {ask, []any{good[:15], 1}, "15 bytes are no vector"},
		"no bytes":      {ask, []any{[]byte{}, 1}, "finite numbers that is not zero"},
		"zeros":         {ask, []any{make([]byte, 16), 1}, "finite numbers that is not zero"},
		"not a number":  {ask, []any{slices.Repeat([]byte{0xff}, 16), 1}, "finite numbers"},
		"wrong size":    {ask, []any{good[:12], 1}, "a vector of 3 dimensions, want 4"},
		"written":       {`INSERT INTO memories_vec(memory_id) VALUES(1)`, nil, "may not be modified"},
		"created":       {`CREATE VIRTUAL TABLE other USING memories_vec`, nil, "no such module"},
		"order blocked": {`SELECT * FROM memories_vec v CROSS JOIN vectors q WHERE v.embedding MATCH vector_float32(q.vector) AND v.k = 1`, nil, "say WHERE embedding MATCH"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := rows(c, test.sql, test.args...)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// floats is a vector as SQL takes it.
func floats(v []float32) []byte {
	raw, _ := binary.Append(nil, binary.LittleEndian, v)
	return raw
}
