package mcp

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/robotmem/robotmem-go/robotmem"
)

// A perception reaches a model as a picture, when it is small enough to stand
// within a conversation, and otherwise as a link: to resources/read, and to the
// node's own address for a client that follows URLs.

// maxInlinePicture bounds an image inside a result, before base64.
const maxInlinePicture = 200 << 10

const (
	dataTemplate    = "robotmem://perception/{id}/data"
	previewTemplate = "robotmem://perception/{id}/preview"
)

// perceptionURI is the resource of a perception: its data or its preview.
func perceptionURI(id int64, part string) string {
	return fmt.Sprintf("robotmem://perception/%d/%s", id, part)
}

// addResources offers the bytes and the pictures of perceptions.
func (s *Server) addResources() {
	for _, r := range []struct {
		template, name, title, doc string
		read                       func(context.Context, int64) (mediaType string, data []byte, err error)
	}{
		{dataTemplate, "perception data", "Bytes of a perception", "The bytes of a perception as they were saved.",
			func(ctx context.Context, id int64) (string, []byte, error) {
				d, err := s.svc.Data(ctx, &robotmem.DataRequest{MemoryID: id})
				if err != nil {
					return "", nil, err
				}
				return d.MediaType, d.DataBase64, nil
			}},
		{previewTemplate, "perception preview", "Picture of a perception", "A thumbnail, a plot, a spectrogram or a view from above.",
			func(ctx context.Context, id int64) (string, []byte, error) {
				p, err := s.svc.Preview(ctx, &robotmem.PreviewRequest{MemoryID: id})
				if err != nil {
					return "", nil, err
				}
				return p.MediaType, p.DataBase64, nil
			}},
	} {
		s.mcp.AddResourceTemplate(
			mcp.NewResourceTemplate(r.template, r.name, mcp.WithTemplateTitle(r.title), mcp.WithTemplateDescription(r.doc)),
			func(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
				id, err := perceptionID(req.Params.URI)
				if err != nil {
					return nil, err
				}
				mediaType, data, err := r.read(ctx, id)
				if err != nil {
					return nil, s.resourceError(err)
				}
				return []mcp.ResourceContents{contents(req.Params.URI, mediaType, data)}, nil
			})
	}
}

// contents is a resource as text where it is text.
func contents(uri, mediaType string, data []byte) mcp.ResourceContents {
	if strings.HasPrefix(mediaType, "text/") || mediaType == "image/svg+xml" || strings.HasPrefix(mediaType, "application/json") {
		return mcp.TextResourceContents{URI: uri, MIMEType: mediaType, Text: string(data)}
	}
	return mcp.BlobResourceContents{URI: uri, MIMEType: mediaType, Blob: base64.StdEncoding.EncodeToString(data)}
}

func perceptionID(uri string) (id int64, err error) {
	var part string
	rest := strings.TrimPrefix(uri, "robotmem://perception/")
	if n, err := fmt.Sscanf(rest, "%d/%s", &id, &part); err != nil || n != 2 || id < 1 {
		return 0, fmt.Errorf("%w: %s; a perception is %s", server.ErrResourceNotFound, uri, dataTemplate)
	}
	return id, nil
}

// resourceError is what a reader of a resource is told.
func (s *Server) resourceError(err error) error {
	shown := &robotmem.Error{Kind: robotmem.Internal}
	if !errors.As(err, &shown) || shown.Kind == robotmem.Internal {
		s.log.Error("resource not read", "err", err)
		return errors.New("internal error; the node's log has the cause")
	}
	if shown.Kind == robotmem.NotFound {
		return fmt.Errorf("%w: %s", server.ErrResourceNotFound, shown.Error())
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
	if url := s.url(p.MemoryID, "preview"); url != "" {
		text += "\nThe picture: " + url
	}
	res.Content = []mcp.Content{mcp.NewTextContent(text), s.link(p.MemoryID, "preview", p.MediaType, int64(len(p.DataBase64)))}
	return res
}

// link points to a part of a perception.
func (s *Server) link(id int64, part, mediaType string, size int64) mcp.Content {
	l := mcp.NewResourceLink(perceptionURI(id, part), fmt.Sprintf("memory %d, %s", id, part), fmt.Sprintf("%d bytes", size), mediaType)
	return l
}

// url is where a browser finds a part of a perception, "" if the node's address
// is not known.
func (s *Server) url(id int64, part string) string {
	if s.address == "" {
		return ""
	}
	return fmt.Sprintf("%s/api/memory/%d/%s", s.address, id, part)
}

// links are those of a memory that has bytes.
func (s *Server) links(out any) []mcp.Content {
	switch r := out.(type) {
	case *robotmem.Memory:
		if r.SHA256 != "" {
			return []mcp.Content{s.link(r.MemoryID, "data", r.MediaType, r.Bytes)}
		}
	case *robotmem.SavePerceptionResponse:
		if r.SHA256 != "" {
			return []mcp.Content{s.link(r.MemoryID, "data", r.MediaType, r.Bytes)}
		}
	}
	return nil
}
