package subjects

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Entity is a subject that a person has listed.
type Entity struct {
	Name    string   `toml:"name"`
	Kind    string   `toml:"kind"`
	Aliases []string `toml:"aliases"`
}

// Catalog are the subjects of a file entities.toml:
//
//	[[entity]]
//	name = "gripper 3"
//	kind = "part"
//	aliases = ["G3", "left gripper"]
type Catalog struct {
	Entities []Entity `toml:"entity"`

	byName map[string]*Entity // by the key of each name
}

// maxEntities limits the subjects of one file, and maxAliases the names of each.
const (
	maxCatalog  = 4 << 20 // bytes of the file
	maxEntities = 10_000
	maxAliases  = 32
)

// ParseCatalog reads the text of a file. An error names the entity or the line, and what is wrong with it.
func ParseCatalog(data []byte) (*Catalog, error) {
	c := &Catalog{}
	if len(data) > maxCatalog {
		return nil, fmt.Errorf("has %d bytes, at most %d MiB are taken", len(data), maxCatalog>>20)
	}

	// A misspelt key would have no effect, without a word.
	strict := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields()
	if err := strict.Decode(c); err != nil {
		if unknown := (*toml.StrictMissingError)(nil); errors.As(err, &unknown) && len(unknown.Errors) > 0 {
			line, _ := unknown.Errors[0].Position()
			return nil, fmt.Errorf("line %d: %s is unknown; an [[entity]] has name, kind and aliases",
				line, strings.Join(unknown.Errors[0].Key(), "."))
		}
		if at := (*toml.DecodeError)(nil); errors.As(err, &at) {
			line, column := at.Position()
			// The library describes types of Go.
			text := strings.TrimPrefix(at.Error(), "toml: ")
			if strings.Contains(text, "struct") || strings.Contains(text, "unmarshal") {
				text = "a value of the wrong type; name and kind are texts, aliases is a list of texts"
			}

			return nil, fmt.Errorf("line %d, column %d: %s", line, column, text)
		}

		return nil, err
	}

	return c, c.check()
}

func (c *Catalog) check() error {
	if len(c.Entities) > maxEntities {
		return fmt.Errorf("has %d entities, at most %d are taken", len(c.Entities), maxEntities)
	}

	c.byName = map[string]*Entity{}

	for i := range c.Entities {
		e := &c.Entities[i]
		name := ParseName(e.Name)

		switch {
		case name.Empty():
			return fmt.Errorf("entity %d: name is missing", i+1)
		case len(e.Aliases) > maxAliases:
			return fmt.Errorf("entity %q: has %d aliases, at most %d are taken", e.Name, len(e.Aliases), maxAliases)
		case e.Kind != "" && !slices.Contains([]string{Robot, Object, Place, Part, Person}, e.Kind):
			return fmt.Errorf("entity %q: kind %q must be robot, object, place, part or person", e.Name, e.Kind)
		}

		for _, alias := range append([]string{e.Name}, e.Aliases...) {
			n := ParseName(alias)
			if n.Empty() {
				return fmt.Errorf("entity %q: an alias is empty", e.Name)
			}
			other, taken := c.byName[n.key()]
			if taken && other.Name != e.Name {
				return fmt.Errorf("entity %q: %q is a name of %q already", e.Name, alias, other.Name)
			}
			if !taken {
				c.byName[n.key()] = e
			}
		}
	}

	return nil
}

// Of returns the listed subject that has a name; nil if none has.
func (c *Catalog) Of(n *Name) *Entity {
	if c == nil {
		return nil
	}
	return c.byName[n.key()]
}
