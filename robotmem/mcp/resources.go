package mcp

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

const (
	memoryTemplate  = "robotmem://memory/{id}"
	dataTemplate    = "robotmem://perception/{id}/data"
	previewTemplate = "robotmem://perception/{id}/preview{?width,height}"
	sessionTemplate = "robotmem://session/{id}"

	mediaJSON = "application/json"
)

// addResources offers whole memories and episodes, and the bytes and pictures of perceptions.
// Perceptions have no common media type, so their templates name none.
func (s *Server) addResources() {
	s.addResource(memoryTemplate, mediaJSON, "memory", "A memory",
		"One whole memory, whatever its status: text, context, tags, confidence and provenance "+
			"as in the answer of get, but never shortened. The id is a memory_id.",
		byID(s.readMemory))
	s.addResource(sessionTemplate, mediaJSON, "session", "An episode",
		"One episode: its context, outcome and summary, the memories that were recalled for it, "+
			"and which of them helped. The id is a session_id.",
		s.readSession)
	s.addResource(dataTemplate, "", "perception data", "Bytes of a perception",
		"The saved bytes of a perception. The id is the memory_id of a perception.",
		byID(s.readData))
	s.addResource(previewTemplate, "", "perception preview", "Picture of a perception",
		"A thumbnail, a plot, a spectrogram or a view from above, at most width pixels wide and "+
			"height pixels high, 16 to 4,096 each. The id is the memory_id of a perception.",
		byID(s.readPreview))
}

// reader returns the media type and the bytes of a resource.
type reader func(ctx context.Context, uri *url.URL) (mediaType string, data []byte, err error)

func (s *Server) addResource(template, mediaType, name, title, doc string, read reader) {
	options := []mcp.ResourceTemplateOption{mcp.WithTemplateTitle(title), mcp.WithTemplateDescription(doc)}
	if mediaType != "" {
		options = append(options, mcp.WithTemplateMIMEType(mediaType))
	}
	s.mcp.AddResourceTemplate(mcp.NewResourceTemplate(template, name, options...),
		func(ctx context.Context, req mcp.ReadResourceRequest) (_ []mcp.ResourceContents, err error) {
			defer s.recoverPanic(ctx, &err)
			uri, err := url.Parse(req.Params.URI)
			if err != nil {
				return nil, s.publicError(ctx, notFound(req.Params.URI))
			}
			mediaType, data, err := read(ctx, uri)
			if err != nil {
				return nil, s.publicError(ctx, err)
			}

			return []mcp.ResourceContents{contents(req.Params.URI, mediaType, data)}, nil
		})
}

// byID reads robotmem://memory/7 and robotmem://perception/7/data by their memory_id, a number or a uid.
func byID(read func(context.Context, *robotmem.MemoryRequest, url.Values) (string, []byte, error)) reader {
	return func(ctx context.Context, uri *url.URL) (string, []byte, error) {
		name, _, _ := strings.Cut(strings.TrimPrefix(uri.Path, "/"), "/")

		var req robotmem.MemoryRequest
		if id, err := strconv.ParseInt(name, 10, 64); err == nil {
			req.MemoryID = id
		} else {
			req.UID = name
		}
		if _, err := robotmem.ByUID(&req); err != nil || req.UID == "" && req.MemoryID <= 0 {
			return "", nil, notFound(uri.String())
		}

		return read(ctx, &req, uri.Query())
	}
}

func (s *Server) readMemory(ctx context.Context, req *robotmem.MemoryRequest, _ url.Values) (string, []byte, error) {
	return document(s.svc.Get(ctx, req))
}

func (s *Server) readSession(ctx context.Context, uri *url.URL) (string, []byte, error) {
	id, err := url.PathUnescape(strings.TrimPrefix(uri.EscapedPath(), "/"))
	if err != nil {
		return "", nil, notFound(uri.String())
	}
	return document(s.svc.Session(ctx, &robotmem.SessionRequest{SessionID: id}))
}

// document returns a response as the JSON of a resource.
func document[T any](response *T, err error) (string, []byte, error) {
	if err != nil {
		return "", nil, err
	}
	data, err := encode(response)
	return mediaJSON, data, err
}

func (s *Server) readData(ctx context.Context, req *robotmem.MemoryRequest, _ url.Values) (string, []byte, error) {
	d, err := s.svc.Data(ctx, req)
	if err != nil {
		return "", nil, err
	}
	return d.MediaType, d.DataBase64, nil
}

func (s *Server) readPreview(
	ctx context.Context, req *robotmem.MemoryRequest, query url.Values,
) (string, []byte, error) {
	op := robotmem.OpByName("preview")
	query.Set("memory_id", robotmem.MemoryName(req.MemoryID, req.UID))
	request, err := op.Request(query)
	if err != nil {
		return "", nil, err
	}
	out, err := op.Call(ctx, s.svc, request)
	if err != nil {
		return "", nil, err
	}
	p := out.(*admin.PreviewResponse)

	return p.MediaType, p.DataBase64, nil
}

// contents returns text as text if it is valid UTF-8, because JSON would change
// other bytes, and everything else as base64.
func contents(uri, mediaType string, data []byte) mcp.ResourceContents {
	readable := strings.HasPrefix(mediaType, "text/") ||
		mediaType == "image/svg+xml" ||
		strings.HasPrefix(mediaType, mediaJSON)
	if readable && utf8.Valid(data) {
		return mcp.TextResourceContents{URI: uri, MIMEType: mediaType, Text: string(data)}
	}

	return mcp.BlobResourceContents{URI: uri, MIMEType: mediaType, Blob: base64.StdEncoding.EncodeToString(data)}
}

func notFound(uri string) error {
	err := fmt.Errorf("%s is not a resource of this memory; a memory is %s, a perception %s",
		uri, memoryTemplate, dataTemplate)
	return &robotmem.Error{Op: "resources/read", Kind: robotmem.NotFound, Err: err}
}

// maxListed is how many memories, and how many episodes, resources/list offers to
// a person who selects one. The templates reach all of them.
const maxListed = 20

// listRecent adds the newest memories and episodes to a list. It logs an error and
// leaves entries out, because the templates reach everything.
func (s *Server) listRecent(ctx context.Context, _ any, req *mcp.ListResourcesRequest, res *mcp.ListResourcesResult) {
	// The newest entries belong to the first page only.
	if req.Params.Cursor != "" {
		return
	}

	var err error
	defer s.recoverPanic(ctx, &err)
	sessions, serr := s.svc.Sessions(ctx, &robotmem.SessionsRequest{Limit: maxListed})
	memories, merr := s.svc.List(ctx, &robotmem.ListRequest{Limit: maxListed})
	if err := errors.Join(serr, merr); err != nil {
		s.log.Error("listing episodes and memories", "err", err)
		return
	}

	for _, e := range sessions.Sessions {
		res.Resources = append(res.Resources, mcp.NewResource(sessionURI(e.SessionID), "session "+oneLine(e.SessionID),
			mcp.WithResourceTitle("Episode of "+e.CreatedAt.UTC().Format(timeToMinute)),
			mcp.WithResourceDescription(describeSession(&e)), mcp.WithMIMEType(mediaJSON)))
	}

	for _, m := range memories.Memories {
		observed := m.ObservedAt.UTC().Format(timeToMinute)
		description := fmt.Sprintf("%s, %s, in %s, %s", m.Type, m.Category, m.Collection, observed)
		res.Resources = append(res.Resources, mcp.NewResource(memoryURI(robotmem.MemoryName(m.MemoryID, m.UID)), fmt.Sprintf("memory %d", m.MemoryID),
			mcp.WithResourceTitle(robotmem.Clip(oneLine(m.Summary), 80)),
			mcp.WithResourceDescription(description), mcp.WithMIMEType(mediaJSON)))
	}
}

const timeToMinute = "2006-01-02 15:04 UTC"

func memoryURI(memory string) string { return "robotmem://memory/" + memory }

// sessionURI encodes an id, which may hold any character: %61 is the address of the episode a, and %2561
// that of an episode whose id is %61.
func sessionURI(id string) string { return "robotmem://session/" + url.PathEscape(id) }

// describeSession describes an episode in one line.
func describeSession(e *robotmem.Session) string {
	text := fmt.Sprintf("%s, %s, %d memories", e.Collection, e.Status, e.MemoryCount)
	if e.OutcomeScore != nil {
		text += fmt.Sprintf(", outcome %.2g", *e.OutcomeScore)
	}
	return text
}
