// Package documents compares the text of a document with the passages that are stored of it, and says what each
// passage remembers of its place.
//
// The context of a passage has a section "document" with the name of the document, the page and the section. That of the
// first passage, the head, also has the hash of the file and what is said of the document as a whole. So a list of
// documents reads the heads, and archives, the fleet and filters know documents without tables of their own.
package documents

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

const separator = " > " // between the headings of a section

// Passage is a passage as it is to be stored.
type Passage struct {
	Text    string
	Context robotmem.Object
	Summary string // the document and the section, in which the words of a question may be
}

// Plan says what changes when a document is saved. Passages are named by their index.
type Plan struct {
	Kept   int    // passages whose text did not change
	Move   []Move // those of them that are at another place
	Add    []int  // new passages
	Remove []store.StoredPassage
}

// Move is a stored passage and its index in the new text.
type Move struct {
	ID    int64
	Index int
}

// CheckContext refuses a context that has the section which is the node's.
func CheckContext(context robotmem.Object) error {
	if _, has := context[robotmem.DocumentSection]; has {
		return robotmem.Errorf(robotmem.Invalid, "context", "has a section document, which the node writes; give it another name")
	}
	return nil
}

// Passages returns the passages of a request.
func Passages(r *robotmem.SaveDocumentRequest) []Passage {
	out := make([]Passage, len(r.Passages))

	for i := range r.Passages {
		p := &r.Passages[i]
		section := strings.Join(p.Section, separator)

		place := map[string]any{"name": r.Name}
		if section != "" {
			place["section"] = section
		}
		if p.Page > 0 {
			place["page"] = p.Page
		}
		if p.LastPage > p.Page {
			place["last_page"] = p.LastPage
		}

		if i == 0 {
			place["sha256"] = strings.ToLower(r.SHA256)
			for key, v := range map[string]string{"title": r.Title, "media_type": r.MediaType} {
				if v != "" {
					place[key] = v
				}
			}
			if r.Pages > 0 {
				place["pages"] = r.Pages
			}
		}

		context := robotmem.Object{}
		maps.Copy(context, r.Context)
		context[robotmem.DocumentSection] = place

		summary := r.Name
		if r.Title != "" {
			summary = r.Title
		}
		if section != "" {
			summary += ": " + section
		}
		out[i] = Passage{Text: p.Text, Context: context, Summary: summary}
	}

	return out
}

// hashOf returns the hash of the file that the stored passages were made of, "" if their head is missing.
func hashOf(stored []store.StoredPassage) string {
	for i := range stored {
		if sum, ok := at(stored[i].Context)["sha256"].(string); ok {
			return sum
		}
	}

	return ""
}

func at(context robotmem.Object) map[string]any {
	place, _ := context[robotmem.DocumentSection].(map[string]any)
	return place
}

// compare plans the change from the stored passages to those of a new text.
func compare(stored []store.StoredPassage, wanted []Passage) *Plan {
	// A text may stand at several places of a document.
	byText := map[string][]int{}
	for i := range stored {
		byText[stored[i].Content] = append(byText[stored[i].Content], i)
	}

	plan := &Plan{}
	kept := make([]bool, len(stored))

	for index, p := range wanted {
		left := byText[p.Text]
		if len(left) == 0 {
			plan.Add = append(plan.Add, index)
			continue
		}

		i := left[0]
		byText[p.Text] = left[1:]
		kept[i] = true

		plan.Kept++
		if !same(stored[i].Context, p.Context) {
			plan.Move = append(plan.Move, Move{stored[i].ID, index})
		}
	}

	for i := range stored {
		if !kept[i] {
			plan.Remove = append(plan.Remove, stored[i])
		}
	}

	return plan
}

// same reports whether two contexts are equal, whatever the order of their keys.
func same(a, b robotmem.Object) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)

	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// documentOf returns a document of the list.
func documentOf(d *store.StoredDocument) robotmem.Document {
	out := robotmem.Document{
		Name: d.Name, Collection: d.Collection, Passages: d.Passages, AddedAt: d.Added, UpdatedAt: d.Updated,
	}

	place := at(d.Head)
	out.Title, _ = place["title"].(string)
	out.MediaType, _ = place["media_type"].(string)
	out.SHA256, _ = place["sha256"].(string)
	out.Pages = robotmem.PageOf(place["pages"])

	for key, v := range d.Head {
		if key == robotmem.DocumentSection {
			continue
		}
		if out.Context == nil {
			out.Context = robotmem.Object{}
		}
		out.Context[key] = v
	}

	return out
}
