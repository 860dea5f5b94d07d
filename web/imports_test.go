package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/imports"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/web"
)

// lateQueue is an Importer that is opened once the node is.
type lateQueue struct{ *imports.Queue }

// serveImports runs a node that takes recordings, of 1 MiB at most.
func serveImports(t *testing.T, o web.Options) (n *local.Node, url string) {
	t.Helper()
	late := &lateQueue{}
	o.Imports = late
	n, url = serveNode(t, o)
	id, err := n.FileID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	late.Queue = imports.Open(imports.Options{Node: n, Memory: n.Files().DB(), FileID: id, Limit: 1 << 20})
	t.Cleanup(func() {
		if err := late.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(n.Files().DB() + ".imports"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("received files are left: %v", err)
		}
	})
	return n, url
}

func readDrive(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("../ui/browsertest/testdata/drive.mcap")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// untilEnded polls an import until it has ended.
func untilEnded(t *testing.T, at string, headers ...string) admin.Import {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		res, data := ask(t, "GET", at, nil, headers...)
		var i admin.Import
		if err := json.Unmarshal(data, &i); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %s", at, res.Status, data)
		}
		if !i.EndedAt.IsZero() {
			return i
		}
		if time.Now().After(deadline) {
			t.Fatalf("the import is still %s", i.State)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestRecordingsAreImportedOverREST(t *testing.T) {
	known := &list{}
	writer, reader := known.add("writer", false), known.add("reader", true)
	_, url := serveImports(t, web.Options{Tokens: known.tokens})
	send := func(query string, body io.Reader, secret string, want int, part string, headers ...string) *http.Response {
		t.Helper()
		res, got := ask(t, "POST", url+"/api/imports"+query, body, with(headers, bearer(secret))...)
		if res.StatusCode != want || !strings.Contains(string(got), part) {
			t.Errorf("%s: %s %s, want %d and %s", query, res.Status, got, want, part)
		}
		return res
	}

	for _, tt := range []struct {
		name, query, secret string
		body                string
		want                int
		part                string
	}{
		{"a reader", "?name=a.mcap", reader, "x", 403, "for reading only"},
		{"a stranger", "?name=a.mcap", web.NewSecret(), "x", 401, ""},
		{"no name", "", writer, "x", 400, "is required"},
		{"a path", "?name=../a.mcap", writer, "x", 400, "without folders"},
		{"an unknown field", "?name=a.mcap&rate=3", writer, "x", 400, "the fields are"},
		{"a bad collection", "?name=a.mcap&collection=a/b", writer, "x", 400, "collection"},
		{"a bad flag", "?name=a.mcap&no_events=perhaps", writer, "x", 400, "true or false"},
		{"a field twice", "?name=a.mcap&robot=a&robot=b", writer, "x", 400, "more than once"},
		{"a folder as a body", "?name=bag&folder=1", writer, "x", 400, "needs a form"},
		{"nothing", "?name=a.mcap", writer, "", 400, "is empty"},
		{"too large", "?name=a.mcap", writer, strings.Repeat("x", 1<<20+1), 413, "import_limit"},
	} {
		t.Run(tt.name, func(t *testing.T) { send(tt.query, strings.NewReader(tt.body), tt.secret, tt.want, tt.part) })
	}

	res := send("?name=drive.mcap&robot=amr3&map_id=hall&collection=drives", bytes.NewReader(readDrive(t)), writer, 202, `"state":"queued"`)
	i := untilEnded(t, url+res.Header.Get("Location"), bearer(reader))
	if i.State != admin.ImportDone || i.Who != "writer" || i.Result.FactCount == 0 || i.Robot != "amr3" || i.Collection != "drives" {
		t.Errorf("got %+v", i)
	}
	// What it stored is of the caller.
	_, got := askBody(t, "GET", url+"/api/memories?collection=drives&limit=1&type=fact", "", bearer(reader))
	if !strings.Contains(got, `"tool":"import `) || !strings.Contains(got, `"who":"writer"`) {
		t.Errorf("who stored it: %s", got)
	}

	res = send("?name=garbage.mcap", strings.NewReader(strings.Repeat("garbage", 100)), writer, 202, "")
	if i := untilEnded(t, url+res.Header.Get("Location"), bearer(reader)); i.State != admin.ImportFailed || i.Error.Kind != "invalid" {
		t.Errorf("got %+v", i)
	}

	at := url + res.Header.Get("Location")
	if res, got := askBody(t, "DELETE", at, "", bearer(reader)); res.StatusCode != 403 {
		t.Errorf("a reader cancels: %s %s", res.Status, got)
	}
	if res, got := askBody(t, "DELETE", at, "", bearer(writer)); res.StatusCode != 200 || !strings.Contains(got, `"state":"failed"`) {
		t.Errorf("cancelling what has ended: %s %s", res.Status, got)
	}
	if res, _ := askBody(t, "GET", url+"/api/imports/none", "", bearer(reader)); res.StatusCode != 404 {
		t.Errorf("an unknown one: %s", res.Status)
	}
	if _, got := askBody(t, "GET", url+"/api/imports", "", bearer(reader)); !strings.Contains(got, `"limit_bytes":1048576`) || strings.Count(got, `"import_id"`) != 2 {
		t.Errorf("all of them: %s", got)
	}

	_, url = serveNode(t, web.Options{Tokens: known.tokens})
	send("?name=a.mcap", strings.NewReader("x"), writer, 404, "")
}

// The files of a folder come as a form.
func TestAFolderIsImportedOverREST(t *testing.T) {
	_, url := serveImports(t, web.Options{})
	form := func(names ...string) (*bytes.Buffer, string) {
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		for _, name := range names {
			part, err := w.CreateFormFile("file", name)
			if err != nil {
				t.Fatal(err)
			}
			data := readDrive(t)
			if filepath.Ext(name) == ".yaml" {
				data = []byte("rosbag2_bagfile_information:\n  version: 5\n  storage_identifier: mcap\n  relative_file_paths:\n    - bag_0.mcap\n")
			}
			if _, err := part.Write(data); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return &body, "Content-Type: " + w.FormDataContentType()
	}

	body, contentType := form("metadata.yaml", "bag_0.mcap")
	res, got := ask(t, "POST", url+"/api/imports?name=bag&folder=true", body, contentType)
	if res.StatusCode != http.StatusAccepted {
		t.Fatalf("%s %s", res.Status, got)
	}
	if i := untilEnded(t, url+res.Header.Get("Location")); i.State != admin.ImportDone || i.Result.Messages == 0 {
		t.Errorf("got %+v", i)
	}
	body, contentType = form("../bag_0.mcap")
	if res, got := ask(t, "POST", url+"/api/imports?name=bag&folder=true", body, contentType); res.StatusCode != http.StatusBadRequest {
		t.Errorf("a path: %s %s", res.Status, got)
	}
}

// A client that goes while it sends leaves nothing.
func TestAnUploadThatEnds(t *testing.T) {
	n, url := serveImports(t, web.Options{})
	body, in := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", url+"/api/imports?name=drive.mcap", body)
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if res, err := http.DefaultClient.Do(req); err == nil {
			_ = res.Body.Close()
			t.Errorf("answered %s", res.Status)
		}
	}()
	if _, err := in.Write(readDrive(t)[:50_000]); err != nil {
		t.Fatal(err)
	}
	state := func(part string) {
		t.Helper()
		deadline := time.Now().Add(30 * time.Second)
		for {
			_, got := askBody(t, "GET", url+"/api/imports", "")
			if strings.Contains(got, part) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s, want %s", got, part)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	state(`"state":"receiving"`)
	cancel()
	_ = in.CloseWithError(context.Canceled) // the client waits for its body
	<-gone
	state(`"imports":[]`)
	if total(t, n) != 0 {
		t.Error("something was stored")
	}
}
