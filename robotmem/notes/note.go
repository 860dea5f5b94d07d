package notes

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive/markdown"
)

// kind is the value of the field robotmem in the front matter of a note.
const kind = "note"

// head is the front matter of a note. Version and Hash are those of the state in which memory and file were last equal,
// so a file says itself whether a person has changed it since.
type head struct {
	Kind    string          `json:"robotmem"`
	UID     string          `json:"uid"`
	Version int             `json:"version"`
	Context robotmem.Object `json:"context,omitempty"`
	Hash    string          `json:"hash"`
}

// note is a file.
type note struct {
	head
	name  string
	data  []byte // of the whole file
	text  string
	tags  []string // of a note that a person began
	fresh bool     // no memory belongs to it yet
}

// parse reads a file.
func parse(name string, data []byte) (*note, error) {
	fields, body, err := markdown.CutFrontMatter(data)
	if err != nil {
		return nil, err
	}

	n := &note{name: name, data: data, text: markdown.NoteText(body)}
	if strings.Contains(n.text, "\r\n") && hashOf(n.text, nil) != n.Hash {
		n.text = strings.ReplaceAll(n.text, "\r\n", "\n") // as some editors save
	}

	for field, into := range map[string]any{
		"robotmem": &n.Kind, "uid": &n.UID, "version": &n.Version, "context": &n.Context, "hash": &n.Hash, "tags": &n.tags,
	} {
		if fields[field] == nil || string(fields[field]) == "null" {
			continue
		}
		dec := json.NewDecoder(bytes.NewReader(fields[field]))
		dec.UseNumber()
		if err := dec.Decode(into); err != nil {
			return nil, fmt.Errorf("%s in the front matter: %w", field, err)
		}
	}

	switch {
	case n.Kind != "" && n.Kind != kind:
		return nil, fmt.Errorf("it is a %s of an export, which robotmem import reads; keep it in another folder", n.Kind)
	case strings.TrimSpace(n.text) == "":
		return nil, errors.New("it has no text; delete the file to forget its memory")
	}
	n.fresh = n.UID == "" || n.Kind != kind
	if n.fresh {
		n.text = strings.TrimSpace(n.text)
	}

	return n, nil
}

// edited reports whether a person has changed the text or the context since the file was written.
func (n *note) edited() bool { return hashOf(n.text, n.Context) != n.Hash }

// says reports whether the file and the memory are equal.
func (n *note) says(m *robotmem.Memory) bool {
	return n.text == m.Content && hashOf("", n.Context) == hashOf("", m.Context)
}

func hashOf(text string, context robotmem.Object) string {
	data := []byte(text)
	if len(context) > 0 {
		encoded, _ := json.Marshal(context) // it was decoded, so it can be encoded; its keys are sorted
		data = append(append(data, 0), encoded...)
	}
	sum := sha256.Sum256(data)

	return hex.EncodeToString(sum[:16])
}

// render returns the file of a memory.
func render(m *robotmem.Memory) ([]byte, error) {
	var b bytes.Buffer
	err := markdown.WriteFrontMatter(&b, head{kind, m.UID, m.Version, m.Context, hashOf(m.Content, m.Context)})
	b.WriteString("\n" + m.Content + "\n")

	return b.Bytes(), err
}

var noWord = regexp.MustCompile(`[^\pL\pN]+`)

// nameOf returns the name of the file of a memory: the beginning of its text and the end of its uid.
func nameOf(m *robotmem.Memory) string {
	const most = 40 // bytes of the text
	words := noWord.ReplaceAllString(strings.ToLower(m.Content[:min(len(m.Content), 4*most)]), "-")
	words = strings.ToValidUTF8(words[:min(len(words), most)], "")

	return strings.Trim(strings.Trim(words, "-")+"-"+m.UID[len(m.UID)-12:], "-") + ".md"
}
