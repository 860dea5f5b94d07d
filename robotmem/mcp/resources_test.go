package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// storeEpisode stores one episode and returns its id.
func storeEpisode(t *testing.T, e *local.Node, collection string) string {
	t.Helper()
	started, err := e.StartSession(t.Context(), &robotmem.StartSessionRequest{Collection: collection, Context: robotmem.Object{"task": map[string]any{"name": "hold a glass"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*robotmem.LearnRequest{
		{Insight: "grip_force=12.5 N holds a wet glass", Tags: []string{"wet-glass"}, Context: robotmem.Object{"params": map[string]any{"grip_force": 12.5}, "task": map[string]any{"success": true}, "spatial": map[string]any{"position": []any{1.2, 0.5}}}},
		{Insight: "grip_force=8 N lets a wet glass slip", Tags: []string{"wet-glass"}, Context: robotmem.Object{"params": map[string]any{"grip_force": 8}, "task": map[string]any{"success": false}}},
		{Insight: "must never grip a glass above 20 N"},
		{Insight: "the wet glass stands on the left shelf"},
	} {
		r.SessionID = started.SessionID
		learn(t, e, r)
	}
	return started.SessionID
}

func learn(t *testing.T, e *local.Node, r *robotmem.LearnRequest) int64 {
	t.Helper()
	res, err := e.Learn(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return res.MemoryID
}

func TestMemoriesAndEpisodesAreResources(t *testing.T) {
	e := engine(t, local.Options{})
	session := storeEpisode(t, e, "arm")
	// Larger than an answer of the tool get: the resource is whole.
	large := learn(t, e, &robotmem.LearnRequest{Insight: "a long trace", Context: robotmem.Object{"params": map[string]any{"trace": strings.Repeat("7", 200_000)}}})
	c := connect(t, NewServer(e, Options{}))

	var got robotmem.Memory
	readJSON(t, c, memoryURI(strconv.FormatInt(large, 10)), &got)
	want, err := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: large})
	if err != nil {
		t.Fatal(err)
	}
	if got.Content != want.Content || size(got.Context) != size(want.Context) {
		t.Errorf("%q with %d bytes of context, want %d", got.Content, size(got.Context), size(want.Context))
	}
	var episode robotmem.SessionResponse
	readJSON(t, c, sessionURI(session), &episode)
	if episode.SessionID != session || episode.MemoryCount != 4 || episode.Collection != "arm" {
		t.Errorf("episode %+v", episode.Session)
	}
	for _, uri := range []string{"robotmem://memory/0", "robotmem://memory/x", "robotmem://memory/99", "robotmem://session/x", "robotmem://nothing/1"} {
		var req mcp.ReadResourceRequest
		req.Params.URI = uri
		if res, err := c.ReadResource(t.Context(), req); err == nil {
			t.Errorf("%s: got %+v", uri, res)
		}
	}
}

func readJSON(t *testing.T, c *client.Client, uri string, v any) {
	t.Helper()
	r, ok := readResource(t, c, uri).(mcp.TextResourceContents)
	if !ok || r.MIMEType != mediaJSON || r.URI != uri {
		t.Fatalf("%s: %+v", uri, r)
	}
	if err := json.Unmarshal([]byte(r.Text), v); err != nil {
		t.Fatal(err)
	}
}

func TestPipelinedReadSeesTheLearnBeforeIt(t *testing.T) {
	s := NewServer(engine(t, local.Options{}), Options{})
	var in strings.Builder
	for i := 1; i <= 20; i++ {
		in.WriteString(call(fmt.Sprint("learn ", i), "learn", fmt.Sprintf(`{"insight":"force %d N holds"}`, i)))
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":"read %d","method":"resources/read","params":{"uri":"robotmem://memory/%d"}}`+"\n", i, i)
	}
	got := serve(t, s, in.String())
	if len(got) != 40 {
		t.Fatalf("%d answers, want 40", len(got))
	}
	for i, a := range got {
		if want := fmt.Sprintf("%s %d", []string{"learn", "read"}[i%2], i/2+1); a.ID != want || a.Error != nil {
			t.Errorf("answer %d is %+v, want that of %s", i, a, want)
		}
	}
}

func TestResourcesListShowsTheNewest(t *testing.T) {
	e := engine(t, local.Options{})
	for i := range maxListed + 5 {
		learn(t, e, &robotmem.LearnRequest{Insight: fmt.Sprintf("force %d N holds part %d", i, i)})
	}
	session := storeEpisode(t, e, "arm")
	c := connect(t, NewServer(e, Options{}))
	res, err := c.ListResources(t.Context(), mcp.ListResourcesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var memories []string
	sessions := 0
	for _, r := range res.Resources {
		if r.Name == "" || r.Title == "" || r.Description == "" || r.MIMEType != mediaJSON {
			t.Errorf("not described: %+v", r)
		}
		if strings.HasPrefix(r.URI, "robotmem://memory/") {
			memories = append(memories, r.URI)
		} else if r.URI == sessionURI(session) {
			sessions++
		}
	}
	if len(memories) != maxListed || sessions != 1 || memories[0] != memoryURI(strconv.Itoa(maxListed+5+4)) {
		t.Errorf("%d memories from %s, %d sessions", len(memories), memories[0], sessions)
	}
}

func TestCompletion(t *testing.T) {
	e := engine(t, local.Options{})
	session := storeEpisode(t, e, "arm")
	storeEpisode(t, e, "armoury")
	c := connect(t, NewServer(e, Options{}))
	prompt := func(name string) any { return mcp.PromptReference{Type: "ref/prompt", Name: name} }
	template := func(uri string) any { return mcp.ResourceReference{Type: "ref/resource", URI: uri} }
	for _, tt := range []struct {
		name       string
		ref        any
		arg, value string
		want       []string
	}{
		{"collections", prompt("brief_me"), "collection", "ar", []string{"arm", "armoury"}},
		{"no such collection", prompt("brief_me"), "collection", "x", nil},
		{"sessions", prompt("review_episode"), "session_id", session, []string{session}},
		{"sessions of the template", template(sessionTemplate), "id", session, []string{session}},
		{"no memory ids", template(memoryTemplate), "id", "1", nil},
		{"free text", prompt("brief_me"), "task", "h", nil},
		{"no such prompt", prompt("nope"), "x", "h", nil},
		{"no such template", template("robotmem://nope/{id}"), "id", "1", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := complete(t, c, tt.ref, tt.arg, tt.value)
			if diff := cmp.Diff(tt.want, slices.Clip(got.Values), cmp.Transformer("nil", func(v []string) []string { return append([]string{}, v...) })); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
			if got.HasMore {
				t.Error("there is more")
			}
		})
	}
}

func complete(t *testing.T, c *client.Client, ref any, arg, value string) mcp.Completion {
	t.Helper()
	var req mcp.CompleteRequest
	req.Params.Ref = ref
	req.Params.Argument = mcp.CompleteArgument{Name: arg, Value: value}
	res, err := c.Complete(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return res.Completion
}

// The id of an episode is encoded once in its address: %61 is the episode a.
func TestSessionAddressesAreEncoded(t *testing.T) {
	e := engine(t, local.Options{})
	ids := []string{"a", "%61", "a/b", "/a/", "ä? #x", "run 7"}
	for _, id := range ids {
		if _, err := e.StartSession(t.Context(), &robotmem.StartSessionRequest{SessionID: id, Context: robotmem.Object{"task": id}}); err != nil {
			t.Fatal(err)
		}
	}
	c := connect(t, NewServer(e, Options{}))
	for _, id := range ids {
		var got robotmem.SessionResponse
		readJSON(t, c, sessionURI(id), &got)
		if got.SessionID != id {
			t.Errorf("%s is the episode %q, want %q", sessionURI(id), got.SessionID, id)
		}
	}
	var got robotmem.SessionResponse
	if readJSON(t, c, "robotmem://session/%61", &got); got.SessionID != "a" {
		t.Errorf("%%61 is %q", got.SessionID)
	}
}
