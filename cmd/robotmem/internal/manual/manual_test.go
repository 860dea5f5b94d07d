package manual

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

type grammar struct {
	Verbose bool `name:"verbose" short:"v" help:"Say more."`
	Ask     struct {
		Words string `arg:"" help:".begins with a point; 'quoted' C:\\new ~ ^"`
		N     int    `name:"n" help:"How many."`
	} `cmd:"" help:"Ask it."`
	Box struct {
		Open struct{} `cmd:"" help:"Open it."`
	} `cmd:"" help:"Handle boxes."`
	Secret struct{} `cmd:"" hidden:"" help:"Not shown."`
}

func manualOf(t *testing.T) *Manual {
	t.Helper()
	k, err := kong.New(&grammar{}, kong.Name("tool"), kong.Description("A tool."))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range k.Model.Leaves(false) {
		n.Detail = "More.\n\nExamples:\n\n  tool ask 'a b'\n  .hidden | it's"
	}
	return &Manual{App: k.Model, Version: "1.2", Date: "2026-03-01", Exits: [][2]string{{"0", "it worked"}}}
}

func TestEveryCommandHasAPage(t *testing.T) {
	m := manualOf(t)
	var names []string
	for _, n := range m.Pages() {
		names = append(names, m.Name(n))
	}
	if got, want := strings.Join(names, " "), "tool tool-ask tool-box tool-box-open"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The pages are good roff, and a reader sees each text as it was written.
func TestPagesAreShownAsTheyWereWritten(t *testing.T) {
	mandoc, err := exec.LookPath("mandoc")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("needs mandoc: apt-get install mandoc")
	} else if err != nil {
		t.Fatal(err)
	}
	m := manualOf(t)
	shown := map[string]string{}
	for _, n := range m.Pages() {
		var page bytes.Buffer
		if err := m.Page(&page, n); err != nil {
			t.Fatal(err)
		}
		text := page.String()
		lint := exec.CommandContext(t.Context(), mandoc, "-Tlint", "-Wwarning")
		lint.Stdin = strings.NewReader(text)
		if out, err := lint.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v: %s\n%s", m.Name(n), err, out, text)
		}
		show := exec.CommandContext(t.Context(), mandoc, "-Tascii", "-Owidth=200")
		show.Stdin = strings.NewReader(text)
		out, err := show.Output()
		if err != nil {
			t.Fatal(err)
		}
		for at := bytes.IndexByte(out, '\b'); at > 0; at = bytes.IndexByte(out, '\b') { // overstrikes of bold letters
			out = append(out[:at-1], out[at+1:]...)
		}
		shown[m.Name(n)] = string(out)
	}
	for _, want := range []string{
		`.begins with a point; 'quoted' C:\new ~ ^`, "tool ask 'a b'", ".hidden | it's", "--n=INT", "tool ask [flags] <words>", "it worked", "More.",
	} {
		if !strings.Contains(shown["tool-ask"], want) {
			t.Errorf("the page of ask has no %q:\n%s", want, shown["tool-ask"])
		}
	}
	if page := shown["tool"]; !strings.Contains(page, "-v, --verbose") || !strings.Contains(page, "box open") || strings.Contains(page, "Not shown") {
		t.Errorf("the page of the program:\n%s", page)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestAPageThatCannotBeWrittenIsAnError(t *testing.T) {
	m := manualOf(t)
	if err := m.Page(full{}, m.App.Node); err == nil {
		t.Error("no error")
	}
}
