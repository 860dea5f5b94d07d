package mcp

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/robotmem/robotmem-go/robotmem"
)

// A perception reaches a model as a picture, when it is small enough to stand
// within a conversation, and otherwise as a link: to resources/read, and to the
// node's own address for a client that follows URLs.

// maxInlinePicture bounds an image inside a result, before base64.
const maxInlinePicture = 200 << 10

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
