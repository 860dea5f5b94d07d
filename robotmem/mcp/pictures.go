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
)

// A perception reaches a model as a picture, when it is small enough to stand
// within a conversation, and otherwise as a link: to resources/read, and to the
// node's own address for a client that follows URLs.

// maxInlinePicture bounds an image inside a result, before base64.
const maxInlinePicture = 200 << 10

const (
	dataTemplate    = "robotmem://perception/{id}/data"
	previewTemplate = "robotmem://perception/{id}/preview{?width,height}"
)

// addResources offers the bytes and the pictures of perceptions.
func (s *Server) addResources() {
	s.addResource(dataTemplate, "perception data", "Bytes of a perception", "The bytes of a perception as they were saved.", s.readData)
	s.addResource(previewTemplate, "perception preview", "Picture of a perception", "A thumbnail, a plot, a spectrogram or a view from above, at most width pixels wide and height pixels high.", s.readPreview)
}

// reader returns the media type and the bytes of a resource.
type reader func(ctx context.Context, uri *url.URL, id int64) (mediaType string, data []byte, err error)

func (s *Server) addResource(template, name, title, doc string, read reader) {
	s.mcp.AddResourceTemplate(
		mcp.NewResourceTemplate(template, name, mcp.WithTemplateTitle(title), mcp.WithTemplateDescription(doc)),
		func(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			uri, id, err := perceptionOf(req.Params.URI)
			if err != nil {
				return nil, s.resourceError(ctx, err)
			}
			mediaType, data, err := read(ctx, uri, id)
			if err != nil {
				return nil, s.resourceError(ctx, err)
			}
			return []mcp.ResourceContents{contents(req.Params.URI, mediaType, data)}, nil
		})
}

func (s *Server) readData(ctx context.Context, _ *url.URL, id int64) (string, []byte, error) {
	d, err := s.svc.Data(ctx, &robotmem.DataRequest{MemoryID: id})
	if err != nil {
		return "", nil, err
	}
	return d.MediaType, d.DataBase64, nil
}

func (s *Server) readPreview(ctx context.Context, uri *url.URL, id int64) (string, []byte, error) {
	r := &robotmem.PreviewRequest{MemoryID: id}
	for name, size := range map[string]*int{"width": &r.Width, "height": &r.Height} {
		text := uri.Query().Get(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return "", nil, &robotmem.Error{Op: "preview", Kind: robotmem.Invalid, Field: name, Err: fmt.Errorf("must be a whole number of pixels, not %q", text)}
		}
		*size = n
	}
	p, err := s.svc.Preview(ctx, r)
	if err != nil {
		return "", nil, err
	}
	return p.MediaType, p.DataBase64, nil
}

// contents is a resource as text where it is text, and not only called so: JSON
// would carry other bytes.
func contents(uri, mediaType string, data []byte) mcp.ResourceContents {
	readable := strings.HasPrefix(mediaType, "text/") || mediaType == "image/svg+xml" || strings.HasPrefix(mediaType, "application/json")
	if readable && utf8.Valid(data) {
		return mcp.TextResourceContents{URI: uri, MIMEType: mediaType, Text: string(data)}
	}
	return mcp.BlobResourceContents{URI: uri, MIMEType: mediaType, Blob: base64.StdEncoding.EncodeToString(data)}
}

// perceptionOf reads the URI of a resource: robotmem://perception/7/data.
func perceptionOf(uri string) (*url.URL, int64, error) {
	u, err := url.Parse(uri)
	if err == nil {
		number, _, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
		if id, err := strconv.ParseInt(number, 10, 64); err == nil && id > 0 {
			return u, id, nil
		}
	}
	return nil, 0, &robotmem.Error{Op: "resources/read", Kind: robotmem.NotFound, Err: fmt.Errorf("%s names no perception; a perception is %s", uri, dataTemplate)}
}

// resourceError is what a reader of a resource is told.
func (s *Server) resourceError(ctx context.Context, err error) error {
	shown := &robotmem.Error{Kind: robotmem.Internal}
	errors.As(err, &shown)
	note(ctx, shown.Kind)
	if shown.Kind == robotmem.Internal || shown.Kind == robotmem.Corrupt {
		s.log.Error("resource not read", "kind", shown.Kind, "err", err)
	}
	if shown.Kind == robotmem.Internal {
		return errors.New("internal error; the node's log has the cause")
	}
	return errors.New(shown.Error())
}

// picture is the result of preview: an image that the model sees, or a link to
// one that it cannot (a drawing in SVG) or that is too large.
func (s *Server) picture(p *robotmem.PreviewResponse) *mcp.CallToolResult {
	text := fmt.Sprintf("Memory %d: %s", p.MemoryID, p.Summary)
	res := &mcp.CallToolResult{}
	if p.MediaType != "image/svg+xml" && len(p.DataBase64) <= maxInlinePicture {
		res.Content = []mcp.Content{
			mcp.NewTextContent(text),
			mcp.NewImageContent(base64.StdEncoding.EncodeToString(p.DataBase64), p.MediaType),
		}
		return res
	}
	part := fmt.Sprintf("preview?width=%d&height=%d", p.Width, p.Height)
	res.Content = []mcp.Content{mcp.NewTextContent(text + s.address("The picture", p.MemoryID, part)), link(p.MemoryID, part, p.MediaType, int64(len(p.DataBase64)))}
	return res
}

// link points to a part of a perception.
func link(id int64, part, mediaType string, size int64) mcp.Content {
	name, _, _ := strings.Cut(part, "?")
	return mcp.NewResourceLink(fmt.Sprintf("robotmem://perception/%d/%s", id, part), fmt.Sprintf("memory %d, %s", id, name), fmt.Sprintf("%d bytes", size), mediaType)
}

// address is a line that says where a browser finds a part of a perception, ""
// if the node's address is not known.
func (s *Server) address(what string, id int64, part string) string {
	if s.node == "" {
		return ""
	}
	return fmt.Sprintf("\n%s: %s/api/memory/%d/%s", what, s.node, id, part)
}

// links are those of a memory that has bytes. Large ones are for a program to
// fetch, so its address is named too.
func (s *Server) links(out any) []mcp.Content {
	link := func(id int64, sum, mediaType string, size int64) (out []mcp.Content) {
		if sum == "" {
			return nil
		}
		if where := s.address("The bytes", id, "data"); where != "" && size > maxInlinePicture {
			out = append(out, mcp.NewTextContent(strings.TrimSpace(where)))
		}
		return append(out, link(id, "data", mediaType, size))
	}
	switch r := out.(type) {
	case *robotmem.Memory:
		return link(r.MemoryID, r.SHA256, r.MediaType, r.Bytes)
	case *robotmem.SavePerceptionResponse:
		return link(r.MemoryID, r.SHA256, r.MediaType, r.Bytes)
	}
	return nil
}
