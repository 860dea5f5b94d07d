package robotmem

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/salvage"
)

// A row may come in two forms, one from the file and one from behind a damaged
// frame of the log, whose further pages were used for something else since.
func TestRecoverTakesTheFormThatMatches(t *testing.T) {
	ctx := t.Context()
	e := openTest(t, Options{})
	for _, text := range []string{"the first glass is wet", "the second glass is dry"} {
		if _, err := e.Learn(ctx, &LearnRequest{Insight: text}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.SavePerception(ctx, &SavePerceptionRequest{Description: "what the gripper felt", DataBase64: bytes.Repeat([]byte{1, 2, 3}, 100)}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := salvage.Open(e.path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	id, err := identify(ctx, f)
	if err != nil {
		t.Fatal(err)
	}
	to := &Engine{path: filepath.Join(t.TempDir(), "new.db"), options: e.options, rules: e.rules, log: e.log}
	if err := createFile(ctx, to.options.Disk, to.path, to.connOptions(writerCacheKiB)); err != nil {
		t.Fatal(err)
	}
	r, err := newRecovery(ctx, to, f, id)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()

	column := func(table int, name string) int {
		return slices.IndexFunc(r.tables[table].Columns, func(c salvage.Column) bool { return c.Name == name })
	}
	with := func(row salvage.Row, column int, value any, stray bool) salvage.Row {
		row.Values = slices.Clone(row.Values)
		row.Values[column], row.Stray = value, stray
		return row
	}
	var late []salvage.Row
	memories := int64(0)
	_, err = f.Rows(ctx, salvage.Plan{Tables: r.tables}, func(row salvage.Row) error {
		first, again := row, row
		switch r.tables[row.Table].Name {
		case "memories":
			memories++
			switch row.Key {
			case 1: // of the file it is the one that does not match
				first = with(row, column(row.Table, "content"), "the first glass is a page of something else", false)
				again.Stray = true
			case 2: // of the log, though it says that it is the later one
				again = with(row, column(row.Table, "content"), "the second glass is a page of something else", true)
				again = with(again, column(row.Table, "revision"), int64(1000), true)
			case 3: // both match
				again = with(row, column(row.Table, "revision"), int64(2000), true)
			}
		case "payloads":
			at := column(row.Table, "data")
			data := slices.Clone(row.Values[at].([]byte))
			again = with(row, at, slices.Clone(data), true)
			data[len(data)/2] ^= 4
			first = with(row, at, data, false)
		default:
			return r.take(row)
		}
		late = append(late, again)
		return r.take(first)
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it changes nothing
		for _, row := range late {
			if err := r.take(row); err != nil {
				t.Fatal(err)
			}
		}
	}
	if memories != 3 || r.verified != 3 || len(r.doubtful) > 0 {
		t.Errorf("%d memories, %d of which match, doubtful are %v; want 3, 3, none", memories, r.verified, r.doubtful)
	}
	for _, to := range r.into {
		if to.name == "memories" && to.Kept != 3 {
			t.Errorf("%d memories are counted as kept, want 3", to.Kept)
		}
	}
	if n, err := r.number("SELECT revision FROM memories WHERE id = 3"); err != nil || n != 2000 {
		t.Errorf("of two forms that match the one of revision %d was taken (%v), want the later one", n, err)
	}
	if n, some, err := r.changedTexts(); err != nil || n > 0 {
		t.Errorf("%d texts %v do not match (%v)", n, some, err)
	}
	bad := 0
	err = r.keptPayloads(true, func(p keptPayload) error {
		if _, ok := p.bytes(); !ok {
			bad++
		}
		return nil
	})
	if err != nil || bad > 0 {
		t.Errorf("%d payloads do not match: %v", bad, err)
	}
}
