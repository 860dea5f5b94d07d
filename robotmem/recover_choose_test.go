package robotmem

import (
	"bytes"
	"fmt"
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
	for _, text := range []string{"the first glass is wet", "the second glass is dry", "the third glass is broken"} {
		if _, err := e.Learn(ctx, &LearnRequest{Insight: text}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range byte(2) {
		if _, err := e.SavePerception(ctx, &SavePerceptionRequest{Description: fmt.Sprint("what the gripper felt: ", i), DataBase64: bytes.Repeat([]byte{1, 2, i}, 100)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.Forget(ctx, &ForgetRequest{MemoryID: 3, Reason: "it was whole"}); err != nil {
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
				late = append(late, with(row, column(row.Table, "uid"), "00000000-0000-7000-8000-000000000000", true))
			case 2: // of the log, though it says that it is the later one
				again = with(row, column(row.Table, "content"), "the second glass is a page of something else", true)
				again = with(again, column(row.Table, "revision"), int64(1000), true)
			case 3: // the earlier one matches, and is of before it was forgotten
				first = with(row, column(row.Table, "content"), "the third glass is a page of something else", false)
				again = with(row, column(row.Table, "status"), "active", true)
				again = with(again, column(row.Table, "revision"), int64(1), true)
			case 4: // both match
				again = with(row, column(row.Table, "revision"), int64(2000), true)
			}
		case "payloads":
			at := column(row.Table, "data")
			data := slices.Clone(row.Values[at].([]byte))
			again = with(row, at, slices.Clone(data), true)
			if row.Key == 1 {
				data[len(data)/2] ^= 4
				first = with(row, at, data, false)
				again.Key = 2 // which the other has in the file
			}
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
	if memories != 5 || r.verified != 4 || len(r.doubtful) != 1 || !r.doubtful[3] {
		t.Errorf("%d memories, %d of which match, doubtful are %v; want 5, 4, the third", memories, r.verified, r.doubtful)
	}
	for _, to := range r.into {
		if to.name == "memories" && to.Kept != 5 || to.name == "payloads" && to.Kept != 2 {
			t.Errorf("%d %s are counted as kept", to.Kept, to.name)
		}
	}
	if n, err := r.number("SELECT revision FROM memories WHERE id = 4"); err != nil || n != 2000 {
		t.Errorf("of two forms that match the one of revision %d was taken (%v), want the later one", n, err)
	}
	if n, some, err := r.changedTexts(); err != nil || n != 1 || some[0] != 3 {
		t.Errorf("%d texts %v do not match (%v), want the third", n, some, err)
	}
	if n, err := r.number("SELECT count(*) FROM memories WHERE id = 3 AND status = 'active'"); err != nil || n > 0 {
		t.Error("what was forgotten is back")
	}
	good, bad := 0, 0
	err = r.keptPayloads(true, func(p keptPayload) error {
		if _, ok := p.bytes(); ok {
			good++
		} else {
			bad++
		}
		return nil
	})
	if err != nil || bad > 0 || good != 2 {
		t.Errorf("%d payloads match, %d do not (%v), want 2, 0", good, bad, err)
	}
}
