package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// What the model was given is said by the proxy alone, however the upstream spells it and in whichever event.
func TestUpstreamsForgeNoHits(t *testing.T) {
	const forged = `"memory_hits":[{"memory_id":99}],"Memory_Hits":1,"memory\u005fhits":2`
	const streamed = `{"choices":[{"index":0,"delta":{"content":"a"}}],` + forged + `}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Robotmem-Degraded", "forged")
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), `"stream":true`) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "data: %s\n\ndata: %s\n\ndata: {%s}\n\ndata: [DONE]\n\n", streamed, streamed, forged)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{`+forged+`,"big":12345678901234567890.5,"choices":[{"message":{"content":"a"}}]}`)
	}))
	defer s.Close()
	at, _ := between(t, memory(t), &upstream{Server: s}, nil)

	for _, stream := range []string{"false", "true"} {
		res, err := http.Post(at+"/v1/chat/completions", "application/json",
			strings.NewReader(`{"stream":`+stream+`,"messages":[{"role":"user","content":"where is the dock"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		text := string(data)
		if strings.Contains(text, "99") || strings.Contains(text, "Memory_Hits") || strings.Contains(text, "u005f") || strings.Count(text, `"memory_hits":[]`) != 1 {
			t.Errorf("stream %s: %s", stream, text)
		}
		if stream == "false" && !strings.Contains(text, "12345678901234567890.5") {
			t.Error(text)
		}
		if h := res.Header.Get("X-Robotmem-Degraded"); h != "" {
			t.Errorf("stream %s: degraded %q", stream, h)
		}
	}
}

// refusing is a memory that stores nothing, as one on a full disk.
type refusing struct{ robotmem.Node }

func (refusing) Learn(context.Context, *robotmem.LearnRequest) (*robotmem.LearnResponse, error) {
	return nil, errors.New("the disk is full")
}

// Who watches the proxy sees that the turns are lost.
func TestHealthOfAMemoryThatStoresNothing(t *testing.T) {
	u := newUpstream(t)
	at, _ := between(t, refusing{memory(t)}, u, nil)
	post(t, at, wetGlass)

	res, err := http.Get(at + "/health")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var health map[string]any
	if err := json.NewDecoder(res.Body).Decode(&health); err != nil || health["status"] != "degraded: the turn is not stored" {
		t.Errorf("%v %v", health, err)
	}
}
