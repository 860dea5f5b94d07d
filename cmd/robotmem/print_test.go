package main

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

// A table of an answer is printed up to a number of rows, and says how many more there are.
func TestLongTablesAreCut(t *testing.T) {
	type topic struct {
		Name string `json:"name"`
	}
	type account struct {
		Topics []topic `json:"topics"`
	}
	for _, n := range []int{maxRows, maxRows + 7} {
		var a account
		for i := range n {
			a.Topics = append(a.Topics, topic{fmt.Sprintf("/t%d", i)})
		}
		var out strings.Builder
		l := &lines{w: &out}
		l.fields(reflect.ValueOf(a), "")
		if l.err != nil {
			t.Fatal(l.err)
		}
		if got := strings.Count(out.String(), "/t"); got != maxRows {
			t.Errorf("%d topics: %d are printed, want %d", n, got, maxRows)
		}
		if cut := strings.Contains(out.String(), "… and 7 more; --json prints all"); cut != (n > maxRows) {
			t.Errorf("%d topics: the last lines are %q", n, out.String()[out.Len()-60:])
		}
	}
}

// An argument that is not UTF-8 is refused, unless it names a file.
func TestArgumentsAreText(t *testing.T) {
	t.Chdir(t.TempDir())
	var out, errs strings.Builder
	if code := run([]string{"learn", "bad \xff bytes", "--db", "u.db"}, strings.NewReader(""), &out, &errs); code != 2 || !strings.Contains(errs.String(), `argument 2 is not valid UTF-8 ("bad \xff bytes")`) {
		t.Errorf("code %d: %s", code, errs.String())
	}
	if exists("u.db") {
		t.Error("a memory was made")
	}
	const name = "caf\xe9.db"
	if err := checkText([]string{"--db=" + name}); err == nil {
		t.Error("a name without a file is accepted")
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Skip("this system has no such names:", err)
	}
	if err := checkText([]string{"--db", name, "--db=" + name}); err != nil {
		t.Error(err)
	}
}
