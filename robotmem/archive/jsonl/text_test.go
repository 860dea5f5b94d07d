package jsonl

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/robotmem/robotmem-go/robotmem"
)

func utf16Of(order binary.AppendByteOrder, mark bool, s string) []byte {
	var out []byte
	if mark {
		out = order.AppendUint16(out, 0xfeff)
	}
	for _, u := range utf16.Encode([]rune(s)) {
		out = order.AppendUint16(out, u)
	}
	return out
}

// What holds learn requests is read, however it is laid out and encoded.
func TestTextsThatHoldRequests(t *testing.T) {
	const lines = `{"insight":"grip at 12 N holds"}` + "\n" + `{"insight":"Straße 夹爪 works"}` + "\n"
	for name, text := range map[string][]byte{
		"lines":                   []byte(lines),
		"an array":                []byte(`[{"insight":"grip at 12 N holds"},` + "\n" + `{"insight":"Straße 夹爪 works"}]`),
		"an array, printed":       []byte("\ufeff[\n  {\n    \"insight\": \"grip at 12 N holds\"\n  },\n  {\n    \"insight\": \"Straße 夹爪 works\"\n  }\n]\n"),
		"printed objects":         []byte("{\n  \"insight\": \"grip at 12 N holds\"\n}\n{\n  \"insight\": \"Straße 夹爪 works\"\n}\n"),
		"UTF-16 of PowerShell":    utf16Of(binary.LittleEndian, true, strings.ReplaceAll(lines, "\n", "\r\n")),
		"UTF-16, big end first":   utf16Of(binary.BigEndian, true, lines),
		"UTF-16 without its mark": utf16Of(binary.LittleEndian, false, lines),
		"UTF-16, an array":        utf16Of(binary.LittleEndian, true, `[{"insight":"grip at 12 N holds"},{"insight":"Straße 夹爪 works"}]`),
	} {
		t.Run(name, func(t *testing.T) {
			m := openNode(t, filepath.Join(t.TempDir(), "memory.db"))
			counts, err := Import(t.Context(), m, bytes.NewReader(text), Options{Refused: func(unit string, n int64, reason string) { t.Errorf("%s %d: %s", unit, n, reason) }})
			must(t, err)
			if counts.Created != 2 || counts.Bad != 0 {
				t.Errorf("got %+v", counts)
			}
			res, err := m.List(t.Context(), &robotmem.ListRequest{Limit: 10})
			must(t, err)
			if got := res.Memories[0].Content + "|" + res.Memories[1].Content; !strings.Contains(got, "Straße 夹爪 works") {
				t.Errorf("got %q", got)
			}
		})
	}
}

// Another text ends the import after its first lines, with one sentence.
func TestAnotherText(t *testing.T) {
	long := &strings.Builder{}
	for i := range 100_000 {
		fmt.Fprintf(long, "%d,0.25,1.5\n", i)
	}
	logs := strings.Repeat(`{"level":"info","msg":"started"}`+"\n", 5000)
	for name, test := range map[string]struct{ text, want string }{
		"a table":         {long.String(), "line 1"},
		"a letter":        {"Dear robot,\n\nplease stop.\n", "line 1"},
		"a log":           {logs, "level"},
		"numbers":         {"[[1,2],[3,4]]", "value 1"},
		"a web page":      {"<!DOCTYPE html>\n<html>\n</html>\n", "line 1"},
		"an array, wrong": {"[" + strings.Repeat(`{"level":"x"},`, 500) + `{"level":"x"}]`, "value 1"},
	} {
		t.Run(name, func(t *testing.T) {
			m := openNode(t, filepath.Join(t.TempDir(), "memory.db"))
			in := &countingReader{r: strings.NewReader(test.text)}
			refused := 0
			_, err := Import(t.Context(), m, in, Options{Refused: func(string, int64, string) { refused++ }})
			if !errors.Is(err, robotmem.Invalid) || !errors.Is(err, ErrNoRequests) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if refused > 0 {
				t.Errorf("%d lines are reported beside the sentence", refused)
			}
			if len(test.text) > 2<<20 && in.n == len(test.text) {
				t.Error("the whole text was read")
			}
		})
	}
}

// A few bad lines among others are reported one by one, and JSON that is damaged says where.
func TestBadLinesAmongOthers(t *testing.T) {
	for name, test := range map[string]struct {
		text    string
		created int64
		where   string
	}{
		"the first line":   {"# facts\n" + `{"insight":"grip at 12 N holds"}`, 1, "line 1"},
		"only one, cut":    {`{"insight":"grip at`, 0, "line 1"},
		"a cut array":      {`[{"insight":"grip at 12 N holds"},{"insi`, 1, "value 2"},
		"printed and cut":  {"{\n \"insight\": \"grip at 12 N holds\"\n}\n{\n \"insi", 1, "value 2"},
		"a wrong element":  {`[{"insight":"grip at 12 N holds"}, 7]`, 1, "value 2"},
		"after the array":  {`[{"insight":"grip at 12 N holds"}] {"insight":"x y"}`, 1, "value 2"},
		"one of other use": {`{"insight":"grip at 12 N holds"}` + "\n" + `{"level":"info"}`, 1, "line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			m := openNode(t, filepath.Join(t.TempDir(), "memory.db"))
			var refused []string
			counts, err := Import(t.Context(), m, strings.NewReader(test.text), Options{Refused: func(unit string, n int64, reason string) {
				refused = append(refused, fmt.Sprint(unit, " ", n))
				if strings.Contains(reason, "\x00") {
					t.Errorf("got reason %q", reason)
				}
				if strings.Contains(name, "after the array") && !strings.Contains(reason, "follows the end") {
					t.Errorf("got reason %q", reason)
				}
			}})
			must(t, err)
			if counts.Created != test.created || counts.Bad != 1 || len(refused) != 1 || refused[0] != test.where {
				t.Errorf("got %+v, refused %v; want %d and %s", counts, refused, test.created, test.where)
			}
		})
	}
}

// An interrupted import of any layout goes on without doubling.
func TestResumeOfOtherLayouts(t *testing.T) {
	array := &strings.Builder{}
	array.WriteString("[\n")
	for i := range 1200 {
		fmt.Fprintf(array, "  {\"insight\": \"robot %d has a gripper\"},\n", i)
	}
	array.WriteString("  {\"insight\": \"the last robot has none\"}\n]\n")
	for name, data := range map[string][]byte{"array": []byte(array.String()), "UTF-16": utf16Of(binary.LittleEndian, true, array.String())} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "facts.json")
			must(t, os.WriteFile(path, data, 0o600))
			m := openNode(t, filepath.Join(dir, "memory.db"))
			run := func(svc robotmem.Service) (Counts, error) {
				f, err := os.Open(path)
				must(t, err)
				defer f.Close()
				state, err := OpenState(f, filepath.Join(dir, "memory.db"), "")
				must(t, err)
				return Import(t.Context(), svc, f, Options{State: state, KeepDuplicates: true})
			}
			if _, err := run(&dyingService{Service: m, batches: 3, lost: true}); err == nil {
				t.Fatal("the import was not interrupted")
			}
			counts, err := run(m)
			must(t, err)
			if counts.Created != 1201 || counts.Bad != 0 {
				t.Errorf("got %+v", counts)
			}
		})
	}
}

type countingReader struct {
	r io.Reader
	n int
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

// A value that never ends takes no more memory than a long one.
func TestAnEndlessValue(t *testing.T) {
	m := openNode(t, filepath.Join(t.TempDir(), "memory.db"))
	in := &countingReader{r: io.MultiReader(strings.NewReader("[{\"insight\":\"grip at 12 N holds\"},{\"insight\":\""), &endless{})}
	reason := ""
	counts, err := Import(t.Context(), m, in, Options{Refused: func(_ string, _ int64, said string) { reason = said }})
	must(t, err)
	if counts.Created != 1 || counts.Bad != 1 || !strings.Contains(reason, "longer than 16 MiB") || in.n > 64<<20 {
		t.Errorf("got %+v after %d bytes: %s", counts, in.n, reason)
	}
}

// endless is a text of spaces.
type endless struct{}

func (*endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
