package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"
)

// A warning reaches a client that only waits, and none that asked for errors alone.
func TestWarningsReachAWaitingClient(t *testing.T) {
	warnings := make(chan string)
	s := NewServer(&fake{}, Options{Warnings: func(ctx context.Context, tell func(string, any)) {
		for {
			select {
			case text := <-warnings:
				tell(text, map[string]any{"failures": 2})
			case <-ctx.Done():
				return
			}
		}
	}})

	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.ServeStdio(t.Context(), fromClient, toClient) }()
	lines := make(chan map[string]any, 100)
	go func() {
		for in := bufio.NewScanner(fromServer); in.Scan(); {
			var m map[string]any
			if err := json.Unmarshal(in.Bytes(), &m); err != nil {
				t.Error(err)
			}
			lines <- m
		}
	}()
	say := func(method, params string, id int) {
		t.Helper()
		if _, err := fmt.Fprintf(toServer, `{"jsonrpc":"2.0",%s"method":%q,"params":%s}`+"\n", idOf(id), method, params); err != nil {
			t.Fatal(err)
		}
	}
	next := func() map[string]any {
		t.Helper()
		select {
		case m := <-lines:
			return m
		case <-time.After(30 * time.Second):
			t.Fatal("nothing comes")
			return nil
		}
	}

	say("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`, 1)
	result, _ := next()["result"].(map[string]any)
	if capabilities, _ := result["capabilities"].(map[string]any); capabilities["logging"] == nil {
		t.Errorf("the capabilities are %v, without logging", capabilities)
	}
	say("notifications/initialized", `{}`, 0)
	say("ping", `{}`, 2)
	next()

	warnings <- "the door jams"
	params, _ := next()["params"].(map[string]any)
	data, _ := params["data"].(map[string]any)
	if params["level"] != "warning" || data["text"] != "the door jams" || data["warning"] == nil {
		t.Errorf("the client is told %v", params)
	}

	say("logging/setLevel", `{"level":"error"}`, 3)
	next()
	warnings <- "unheard"
	say("ping", `{}`, 4)
	if m := next(); m["id"] != 4.0 {
		t.Errorf("a client that wants errors alone is told %v", m)
	}

	_ = toServer.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func idOf(id int) string {
	if id == 0 {
		return ""
	}
	return fmt.Sprintf(`"id":%d,`, id)
}
