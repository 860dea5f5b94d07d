package robotmem

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// TypeDocument is the type of the memories that are passages of a document. They never decay, are not merged, and count
// neither as rules nor as attempts.
const TypeDocument = "document"

// DocumentSection is the section of a context that says from where in which document a passage is. The first passage
// also says of which text the document was made.
const DocumentSection = "document"

// SaveDocumentRequest stores the text of a document.
type SaveDocumentRequest struct {
	Name       string            `json:"name" validate:"required,utf8,max=512" cli:"arg" doc:"The name of the document in its collection, such as manual.pdf; up to 512 characters. Saving another text under it replaces the document."`
	SHA256     string            `json:"sha256" validate:"required,len=64,hexadecimal" doc:"SHA-256 of the file, in hexadecimal digits. If the document was made of the same file, nothing is stored."`
	MediaType  string            `json:"media_type,omitempty" validate:"max=128" doc:"Its media type."`
	Title      string            `json:"title,omitempty" validate:"utf8,max=256" doc:"Its title, up to 256 characters."`
	Pages      int               `json:"pages,omitempty" validate:"min=0,max=1000000" doc:"How many pages it has; 0 if it has none."`
	Passages   []DocumentPassage `json:"passages" validate:"required,min=1,max=20000,dive" doc:"1 to 20,000 passages, in their order."`
	Context    Object            `json:"context,omitempty" doc:"JSON object for every passage, such as {\"robot\":{\"model\":\"X7\"}}. The section document is written by the node."`
	Collection string            `json:"collection,omitempty" validate:"omitempty,collection" default:"default" doc:"Namespace."`
}

// DocumentPassage is a part of a document.
type DocumentPassage struct {
	Text     string   `json:"text" validate:"required,utf8,maxbytes=16384" doc:"Its text, 1 byte to 16 KiB."`
	Page     int      `json:"page,omitempty" validate:"min=0,max=1000000" doc:"The page on which it begins, from 1; 0 if the document has none."`
	LastPage int      `json:"last_page,omitempty" validate:"min=0,max=1000000" doc:"The page on which it ends, if that is another."`
	Section  []string `json:"section,omitempty" validate:"max=16,dive,utf8,max=512" doc:"The headings above it, from the outermost."`
}

// SaveDocumentResponse counts what became of the passages.
type SaveDocumentResponse struct {
	Status      string   `json:"status" doc:"created, updated or unchanged."`
	Name        string   `json:"name"`
	Collection  string   `json:"collection"`
	Passages    int      `json:"passages" doc:"Passages that the document has now."`
	Added       int      `json:"added" doc:"Passages that are new."`
	Kept        int      `json:"kept" doc:"Passages whose text did not change. They keep their memory_id."`
	Moved       int      `json:"moved" doc:"Of those kept, how many are on another page or in another section."`
	Removed     int      `json:"removed" doc:"Passages that the new text does not have. They are forgotten, and restore brings them back."`
	Interpreted []string `json:"interpreted,omitempty" doc:"Remarks, such as secrets that were masked."`
}

// DocumentsRequest selects documents.
type DocumentsRequest struct {
	Collection string `json:"collection,omitempty" validate:"omitempty,collections" default:"*" doc:"Namespace. Default: all."`
}

// DocumentsResponse lists documents by collection and name.
type DocumentsResponse struct {
	Documents []Document `json:"documents"`
}

// Document is one document of the memory.
type Document struct {
	Name       string    `json:"name"`
	Collection string    `json:"collection"`
	Title      string    `json:"title,omitempty"`
	MediaType  string    `json:"media_type,omitempty"`
	SHA256     string    `json:"sha256,omitempty" doc:"SHA-256 of the file that it was made of. Empty if its first passage was forgotten: saving the file again completes the document."`
	Pages      int       `json:"pages,omitempty"`
	Passages   int       `json:"passages"`
	Context    Object    `json:"context,omitempty" doc:"The context of its passages, without their places."`
	AddedAt    time.Time `json:"added_at"`
	UpdatedAt  time.Time `json:"updated_at"`
}

// RemoveDocumentRequest removes a document.
type RemoveDocumentRequest struct {
	Name       string `json:"name" validate:"required,utf8,max=512" cli:"arg" doc:"The name of the document."`
	Reason     string `json:"reason,omitempty" validate:"max=1000" default:"the document was removed" doc:"Why, up to 1,000 characters. The audit log keeps the reason."`
	Collection string `json:"collection,omitempty" validate:"omitempty,collection" default:"default" doc:"Namespace."`
}

// RemoveDocumentResponse says what was removed.
type RemoveDocumentResponse struct {
	Status     string `json:"status" doc:"removed."`
	Name       string `json:"name"`
	Collection string `json:"collection"`
	Passages   int    `json:"passages" doc:"Passages that were forgotten. restore brings each back."`
}

// DocumentLabel says where in which document a passage is: "manual.pdf p. 12, Safety > Grippers". It is "" for a memory
// that is none.
func DocumentLabel(m *Memory) string {
	place, _ := m.Context[DocumentSection].(map[string]any)
	name, _ := place["name"].(string)
	if m.Type != TypeDocument || name == "" {
		return ""
	}

	label := name

	switch first, last := PageOf(place["page"]), PageOf(place["last_page"]); {
	case first > 0 && last > first:
		label += fmt.Sprintf(" p. %d-%d", first, last)
	case first > 0:
		label += fmt.Sprintf(" p. %d", first)
	}
	if section, _ := place["section"].(string); section != "" {
		label += ", " + section
	}

	return Visible(strings.Join(strings.Fields(label), " "))
}

// PageOf returns a number of a context as a number of a page, 0 if it is none.
func PageOf(v any) int {
	switch v := v.(type) {
	case json.Number:
		n, _ := v.Int64()
		return int(n)
	case float64:
		return int(v)
	case int:
		return v
	}

	return 0
}
