package agent_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/agent"
)

// lessonOf matches the lessons in an answer of the week's agent.
var lessonOf = regexp.MustCompile(`(?m)Lesson:\**\s*(.+?)\**$`)

// A week of an agent: five conversations about two projects with 400 uses of tools, as Claude Code tells its hooks of
// them. Nothing in it calls learn. Each conversation begins with what the one before it in the project has taught, in at
// most 400 tokens.
func TestAWeekOfAnAgent(t *testing.T) {
	packed, err := os.Open("testdata/week.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}

	n := open(t)
	h := &agent.Hooks{Node: n, Folder: filepath.Join(t.TempDir(), "agents"), Exclude: []string{"*.env"}}
	taught := map[string][]string{} // by folder: the lessons of the last conversation
	uses, started, told, missing := 0, 0, 0, 0
	var session, folder string

	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		e, err := agent.Read(bytes.NewReader(lines.Bytes()), agent.ClaudeCode, "")
		if err != nil {
			t.Fatal(err)
		}
		answer, err := h.Handle(t.Context(), e)
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}

		if size := tokens(t, answer.Context); size > 400 {
			t.Errorf("%s injects %d tokens: %s", e.Name, size, answer.Context)
		}
		switch e.Kind {
		case agent.Start:
			started++
			for _, lesson := range taught[e.Folder] {
				told++
				if !strings.Contains(answer.Context, lesson[:min(len(lesson), 60)]) {
					missing++
					t.Logf("%s does not begin with %q", e.Session, lesson)
				}
			}
			session, folder = e.Session, e.Folder
			taught[folder] = nil
		case agent.Tool:
			uses++
		case agent.Stop:
			if e.Session == session && !e.Asked {
				for _, m := range lessonOf.FindAllStringSubmatch(e.Message, -1) {
					taught[folder] = append(taught[folder], strings.Trim(m[1], " *`"))
				}
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}

	if uses != 400 || started != 5 || told < 10 {
		t.Fatalf("%d uses of tools in %d conversations, %d lessons to be told", uses, started, told)
	}
	if 10*missing > told {
		t.Errorf("%d of %d lessons are not told to the next conversation", missing, told)
	}

	all, err := n.List(t.Context(), &robotmem.ListRequest{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all.Memories {
		context, err := robotmem.EncodeJSON(m.Context)
		if err != nil {
			t.Fatal(err)
		}
		text := m.Content + string(context)
		if m.Type == "perception" {
			text += payloadOf(t, n, m.MemoryID)
		}
		for _, secret := range []string{"ghp_", "AKIA", "sk_live", "xoxb-", "<private>", "BEGIN OPENSSH", "Vt7kQz92mXw4"} {
			if strings.Contains(text, secret) {
				t.Errorf("#%d has %q: %.300s", m.MemoryID, secret, text)
			}
		}
	}
}
