package client_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/client"
)

// The wait for a change does not count towards the timeout of the HTTP client.
func TestChangesOutlastsTheTimeLimit(t *testing.T) {
	const limit = 50 * time.Millisecond
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(3 * limit)
		_, _ = io.WriteString(w, `{"change":8,"changed":true}`)
	}))
	t.Cleanup(ts.Close)
	own := &http.Client{Transport: ts.Client().Transport, Timeout: limit}
	c := client.New(ts.URL, client.Options{HTTP: own})
	since := int64(7)
	res, err := c.Changes(t.Context(), &admin.ChangesRequest{Since: &since, WaitMS: 60000})
	if err != nil || res.Change != 8 || !res.Changed {
		t.Errorf("got %+v, %v", res, err)
	}
	if _, err := c.Changes(t.Context(), &admin.ChangesRequest{Since: &since}); !errors.Is(err, robotmem.Unavailable) {
		t.Errorf("without a wait: %v, want the time limit", err)
	}
	if own.Timeout != limit {
		t.Errorf("the caller's client has a limit of %v now", own.Timeout)
	}
}
