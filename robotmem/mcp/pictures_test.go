package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

func engine(t *testing.T, o local.Options) *local.Node {
	t.Helper()
	e, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func save(t *testing.T, e *local.Node, r *robotmem.SavePerceptionRequest) *robotmem.SavePerceptionResponse {
	t.Helper()
	r.Description = "what a test senses"
	res, err := e.SavePerception(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// picture is a PNG. A noisy one is as large as its pixels.
func picture(t *testing.T, width, height int, noisy bool) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range width * height {
		c := color.RGBA{R: uint8(i), G: 90, B: 200, A: 255}
		if noisy {
			c = color.RGBA{R: uint8(random.Int()), G: uint8(random.Int()), B: uint8(random.Int()), A: 255}
		}
		m.SetRGBA(i%width, i/width, c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func trace() string {
	var b strings.Builder
	b.WriteString("t,Fx,Fy,Fz\n")
	for i := range 200 {
		fmt.Fprintf(&b, "%.2f,%d,%d,%d\n", float64(i)/100, i%7, i%5, -i%62)
	}
	return b.String()
}

func textAt(t *testing.T, res *mcp.CallToolResult, i int) string {
	t.Helper()
	if len(res.Content) <= i {
		t.Fatalf("%d contents: %+v", len(res.Content), res.Content)
	}
	c, ok := res.Content[i].(mcp.TextContent)
	if !ok {
		t.Fatalf("content %d is %T", i, res.Content[i])
	}
	return c.Text
}

func linkAt(t *testing.T, res *mcp.CallToolResult, i int) mcp.ResourceLink {
	t.Helper()
	if len(res.Content) <= i {
		t.Fatalf("%d contents: %+v", len(res.Content), res.Content)
	}
	c, ok := res.Content[i].(mcp.ResourceLink)
	if !ok {
		t.Fatalf("content %d is %T", i, res.Content[i])
	}
	return c
}

func readResource(t *testing.T, c *client.Client, uri string) mcp.ResourceContents {
	t.Helper()
	var req mcp.ReadResourceRequest
	req.Params.URI = uri
	res, err := c.ReadResource(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Contents) != 1 {
		t.Fatalf("%d contents", len(res.Contents))
	}
	return res.Contents[0]
}

func TestPreviewIsSeen(t *testing.T) {
	e := engine(t, local.Options{})
	c := connect(t, NewServer(e, Options{Address: "http://127.0.0.1:7878/"}))
	seen := save(t, e, &robotmem.SavePerceptionRequest{DataBase64: picture(t, 800, 400, false)})
	res := callTool(t, c, "preview", map[string]any{"memory_id": seen.MemoryID})
	if res.IsError || res.StructuredContent != nil || len(res.Content) != 2 {
		t.Fatalf("got %+v", res)
	}
	if text := textAt(t, res, 0); !strings.Contains(text, seen.Summary) || !strings.Contains(text, fmt.Sprint(seen.MemoryID)) {
		t.Errorf("text %q", text)
	}
	shown, ok := res.Content[1].(mcp.ImageContent)
	if !ok {
		t.Fatalf("content is %T", res.Content[1])
	}
	data, err := base64.StdEncoding.DecodeString(shown.Data)
	if err != nil {
		t.Fatal(err)
	}
	if cfg, kind, err := image.DecodeConfig(bytes.NewReader(data)); err != nil || "image/"+kind != shown.MIMEType || cfg.Width != 640 || cfg.Height != 320 {
		t.Errorf("%s of %dx%d, called %s: %v", kind, cfg.Width, cfg.Height, shown.MIMEType, err)
	}
}

func TestDrawingsAndLargePicturesAreLinked(t *testing.T) {
	e := engine(t, local.Options{})
	drawn := save(t, e, &robotmem.SavePerceptionRequest{Data: trace(), PerceptionType: "tactile"})
	large := save(t, e, &robotmem.SavePerceptionRequest{DataBase64: picture(t, 1500, 1000, true)})
	for _, tt := range []struct {
		name, address string
		id            int64
		width         int
		mediaType     string
		part          string
	}{
		{"drawing", "http://127.0.0.1:7878", drawn.MemoryID, 400, "image/svg+xml", "preview?width=400&height=360"},
		{"drawing, no address", "", drawn.MemoryID, 400, "image/svg+xml", "preview?width=400&height=360"},
		{"large picture", "http://127.0.0.1:7878/", large.MemoryID, 4096, "image/jpeg", "preview?width=1500&height=1000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := connect(t, NewServer(e, Options{Address: tt.address}))
			args := map[string]any{"memory_id": tt.id, "width": tt.width}
			if tt.width == 4096 {
				args["height"] = 4096
			}
			res := callTool(t, c, "preview", args)
			if res.IsError || res.StructuredContent != nil || len(res.Content) != 2 {
				t.Fatalf("got %+v", res)
			}
			url := fmt.Sprintf("http://127.0.0.1:7878/api/memory/%d/%s", tt.id, tt.part)
			if text := textAt(t, res, 0); strings.Contains(text, url) != (tt.address != "") || strings.Contains(text, "http") != (tt.address != "") {
				t.Errorf("text %q, want it to name %s", text, url)
			}
			l := linkAt(t, res, 1)
			if l.URI != fmt.Sprintf("robotmem://perception/%d/%s", tt.id, tt.part) || l.MIMEType != tt.mediaType {
				t.Errorf("link %+v", l)
			}
			if size(res) > 2000 {
				t.Errorf("the result takes %d bytes", size(res))
			}
			want, err := e.Preview(t.Context(), &admin.PreviewRequest{MemoryID: tt.id, Width: tt.width})
			if tt.width == 4096 {
				want, err = e.Preview(t.Context(), &admin.PreviewRequest{MemoryID: tt.id, Width: 1500, Height: 1000})
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []byte
			switch r := readResource(t, c, l.URI).(type) {
			case mcp.TextResourceContents:
				got = []byte(r.Text)
			case mcp.BlobResourceContents:
				if got, err = base64.StdEncoding.DecodeString(r.Blob); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(got, want.DataBase64) {
				t.Errorf("the link leads to %d bytes, want the picture's %d", len(got), len(want.DataBase64))
			}
		})
	}
}

func TestResourcesAreReadable(t *testing.T) {
	e := engine(t, local.Options{})
	c := connect(t, NewServer(e, Options{}))
	templates, err := c.ListResourceTemplates(t.Context(), mcp.ListResourceTemplatesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, tmpl := range templates.ResourceTemplates {
		listed[tmpl.URITemplate.Raw()] = tmpl.Title != "" && tmpl.Description != ""
	}
	if diff := cmp.Diff(map[string]bool{memoryTemplate: true, sessionTemplate: true, dataTemplate: true, previewTemplate: true}, listed); diff != "" {
		t.Errorf("templates (-want +got):\n%s", diff)
	}
	text := save(t, e, &robotmem.SavePerceptionRequest{Data: trace()})
	got, ok := readResource(t, c, fmt.Sprintf("robotmem://perception/%d/data", text.MemoryID)).(mcp.TextResourceContents)
	if !ok || got.Text != trace() || !strings.HasPrefix(got.MIMEType, "text/csv") {
		t.Errorf("text: %+v", got)
	}
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	opaque := save(t, e, &robotmem.SavePerceptionRequest{DataBase64: all})
	blob, ok := readResource(t, c, fmt.Sprintf("robotmem://perception/%d/data", opaque.MemoryID)).(mcp.BlobResourceContents)
	if !ok || blob.Blob != base64.StdEncoding.EncodeToString(all) || blob.MIMEType != "application/octet-stream" {
		t.Errorf("bytes: %+v", blob)
	}
	// Declared as text but not UTF-8: JSON would change the bytes.
	lie := save(t, e, &robotmem.SavePerceptionRequest{DataBase64: all, MediaType: "text/plain"})
	if blob, ok := readResource(t, c, fmt.Sprintf("robotmem://perception/%d/data", lie.MemoryID)).(mcp.BlobResourceContents); !ok || blob.Blob != base64.StdEncoding.EncodeToString(all) {
		t.Errorf("text that is none: %+v", blob)
	}
}

// Both eras of the protocol, over both transports.
func TestResourceErrorsHaveTheirCodes(t *testing.T) {
	e := engine(t, local.Options{})
	s := NewServer(e, Options{})
	opaque := save(t, e, &robotmem.SavePerceptionRequest{DataBase64: []byte{0, 1, 2}}).MemoryID
	ts := httptest.NewServer(s.Handler())
	defer ts.Close()
	type fault struct {
		Error *struct {
			Code    int
			Message string
		}
	}
	overHTTP := func(version, message, uri string) (int, fault) {
		req, err := http.NewRequestWithContext(t.Context(), "POST", ts.URL, strings.NewReader(message))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": version, "Mcp-Method": "resources/read", "Mcp-Name": uri} {
			req.Header.Set(k, v)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		var f fault
		if err != nil || json.Unmarshal(body, &f) != nil {
			t.Fatalf("%s: %q %v", res.Status, body, err)
		}
		return res.StatusCode, f
	}
	for _, tt := range []struct {
		name, uri      string
		legacy, modern int
		says           string
	}{
		{"no such memory", "robotmem://perception/999/data", -32002, -32602, "999"},
		{"no picture", fmt.Sprintf("robotmem://perception/%d/preview", opaque), -32002, -32602, "picture"},
		{"no number", "robotmem://perception/seven/data", -32002, -32602, dataTemplate},
		{"zero", "robotmem://perception/0/data", -32002, -32602, dataTemplate},
		{"beyond numbers", "robotmem://perception/99999999999999999999/data", -32002, -32602, dataTemplate},
		{"no such part", "robotmem://perception/1/other", -32002, -32602, "not found"},
		{"another scheme", "file:///etc/passwd", -32002, -32602, "not found"},
		{"bad width", fmt.Sprintf("robotmem://perception/%d/preview?width=wide", opaque), -32602, -32602, "width"},
		{"width out of range", fmt.Sprintf("robotmem://perception/%d/preview?width=5", opaque), -32602, -32602, "width"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			legacy := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":%q}}`, tt.uri)
			modern := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":%q,"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`, tt.uri, mcp.LATEST_PROTOCOL_VERSION)
			check := func(way string, code, want int, message string) {
				t.Helper()
				if code != want || !strings.Contains(message, tt.says) {
					t.Errorf("%s: code %d, %q; want %d and %q", way, code, message, want, tt.says)
				}
			}
			for _, a := range serve(t, s, initialize+legacy+"\n") {
				if a.ID == 7.0 && a.Error != nil {
					check("stdio, legacy", a.Error.Code, tt.legacy, a.Error.Message)
				} else if a.ID == 7.0 {
					t.Errorf("stdio, legacy: got %+v", a)
				}
			}
			for _, a := range serve(t, s, modern+"\n") {
				if a.Error == nil {
					t.Fatalf("stdio, modern: got %+v", a)
				}
				check("stdio, modern", a.Error.Code, tt.modern, a.Error.Message)
			}
			status, f := overHTTP(mcp.ProtocolVersion20251125, legacy, tt.uri)
			if f.Error == nil || status != 200 {
				t.Fatalf("HTTP, legacy: %d %+v", status, f)
			}
			check("HTTP, legacy", f.Error.Code, tt.legacy, f.Error.Message)
			status, f = overHTTP(mcp.LATEST_PROTOCOL_VERSION, modern, tt.uri)
			if f.Error == nil || status != 400 {
				t.Fatalf("HTTP, modern: %d %+v", status, f)
			}
			check("HTTP, modern", f.Error.Code, tt.modern, f.Error.Message)
		})
	}
}

func TestBytesAreLinkedWhereTheyAre(t *testing.T) {
	e := engine(t, local.Options{})
	c := connect(t, NewServer(e, Options{Address: "http://127.0.0.1:7878"}))
	res := callTool(t, c, "save_perception", map[string]any{"description": "a small one", "data": "0.1,0.2"})
	if l := linkAt(t, res, 1); l.URI != "robotmem://perception/1/data" || strings.Contains(textAt(t, res, 0), "http://") || len(res.Content) != 2 {
		t.Errorf("small: %+v", res.Content)
	}
	large := save(t, e, &robotmem.SavePerceptionRequest{DataBase64: bytes.Repeat([]byte{0, 1, 2, 3}, 100_000)})
	res = callTool(t, c, "get", map[string]any{"memory_id": large.MemoryID})
	if text := textAt(t, res, 1); text != fmt.Sprintf("The bytes: http://127.0.0.1:7878/api/memory/%d/data", large.MemoryID) {
		t.Errorf("large: %q", text)
	}
	if l := linkAt(t, res, 2); l.MIMEType != "application/octet-stream" || size(res) > 5000 {
		t.Errorf("large: %+v, %d bytes", l, size(res))
	}
	res = callTool(t, c, "save_perception", map[string]any{"description": "only told"})
	if len(res.Content) != 1 {
		t.Errorf("without bytes: %+v", res.Content)
	}
}

// A model may name any path, but only paths that the operator allows are read.
func TestPathsStayWithinTheAllowedFolders(t *testing.T) {
	folder, outside := t.TempDir(), t.TempDir()
	for path, data := range map[string]string{
		filepath.Join(folder, "trace.csv"): trace(), filepath.Join(folder, "large.bin"): strings.Repeat("0123456789", 60_000), filepath.Join(outside, "secret"): "SECRET",
	} {
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"link": filepath.Join(outside, "secret"), "way-out": outside, "up": "../" + filepath.Base(outside) + "/secret", "within": "trace.csv"} {
		if err := os.Symlink(to, filepath.Join(folder, link)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	e := engine(t, local.Options{AllowPaths: []string{folder}})
	c := connect(t, NewServer(e, Options{}))
	cases := map[string]string{ // path to the kind of error, "" if it is read
		"trace.csv": "", "large.bin": "", "sub/../trace.csv": "", "within": "",
		"link": "forbidden", "way-out/secret": "forbidden", "up": "forbidden", "../" + filepath.Base(outside) + "/secret": "forbidden",
		filepath.Join(outside, "secret"): "forbidden", "/etc/hostname": "forbidden",
		"sub": "invalid", "": "invalid", "missing": "not_found", "trace.csv/x": "forbidden",
	}
	if exec.CommandContext(t.Context(), "mkfifo", filepath.Join(folder, "pipe")).Run() == nil {
		cases["pipe"] = "invalid" // and is not waited for
	}
	for path, want := range cases {
		t.Run(path, func(t *testing.T) {
			full := path
			if !filepath.IsAbs(path) {
				full = folder + "/" + path
			}
			res := callTool(t, c, "save_perception", map[string]any{"description": "read from a path", "path": full})
			got := ""
			if res.IsError {
				parts, _ := res.Meta.AdditionalFields["robotmem/error"].(map[string]any)
				got, _ = parts["kind"].(string)
				if parts["field"] != "path" || strings.Contains(textAt(t, res, 0), "SECRET") {
					t.Errorf("%v: %s", parts, textAt(t, res, 0))
				}
			}
			if got != want {
				t.Errorf("kind %q, want %q: %s", got, want, textAt(t, res, 0))
			}
		})
	}
}
