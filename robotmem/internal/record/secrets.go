package record

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/classify/secrets"
	"github.com/robotmem/robotmem-go/robotmem"
)

// What is done about keys, tokens and passwords in a new text.
const (
	SecretsWarn   = "warn"   // the answer names them
	SecretsMask   = "mask"   // the name of the rule is stored in their place
	SecretsRefuse = "refuse" // the call fails
	SecretsOff    = "off"    // nobody looks
)

// SecretsChoices are the values of an option about secrets.
var SecretsChoices = []string{SecretsWarn, SecretsMask, SecretsRefuse, SecretsOff}

// guard looks for secrets in a text and in the texts of its context, but in no number. It returns both as they
// are to be stored, and remarks about what it has found.
func (b *Builder) guard(
	kind, text string, context robotmem.Object,
) (kept string, object robotmem.Object, remarks []string, err error) {
	if b.Secrets == SecretsOff {
		return text, context, nil, nil
	}

	field := "insight"

	switch kind {
	case "perception":
		field = "description"
	case robotmem.TypeDocument:
		field = "passages"
	}
	text, remarks, err = b.guardText(field, text)
	if err != nil {
		return "", nil, nil, err
	}

	masked, err := b.guardValue("context", map[string]any(context), &remarks)
	if err != nil {
		return "", nil, nil, err
	}
	if m, ok := masked.(map[string]any); ok && context != nil {
		context = robotmem.Object(m)
	}

	return text, context, remarks, nil
}

// guardText looks for secrets in one text.
func (b *Builder) guardText(field, text string) (kept string, remarks []string, err error) {
	masked, found := secrets.Mask(text)
	if found == nil {
		return text, nil, nil
	}

	var names []string
	for _, f := range found {
		if !slices.Contains(names, f.Rule) {
			names = append(names, f.Rule)
		}
	}
	what := strings.Join(names, ", ")

	switch b.Secrets {
	case SecretsRefuse:
		return "", nil, robotmem.Errorf(robotmem.Invalid, field, "holds what looks like a secret (%s); take it out, and store where it is kept", what)
	case SecretsMask:
		return masked, []string{fmt.Sprintf("%s: what looks like a secret (%s) is not stored", field, what)}, nil
	}

	return text, []string{fmt.Sprintf("%s: holds what looks like a secret (%s), and is stored as it is; if it is one, remove the memory with forget and purge, and change the secret", field, what)}, nil
}

// guardValue looks for secrets in the texts of a value, at any depth. It changes nothing in place.
func (b *Builder) guardValue(path string, v any, remarks *[]string) (kept any, err error) {
	switch v := v.(type) {
	case string:
		text, found, err := b.guardText(path, v)
		*remarks = append(*remarks, found...)
		return text, err
	case map[string]any:
		object := maps.Clone(v)
		for key, inner := range v {
			if object[key], err = b.guardValue(path+"."+key, inner, remarks); err != nil {
				return nil, err
			}
		}

		return object, nil
	case []any:
		list := slices.Clone(v)
		for i, inner := range v {
			if list[i], err = b.guardValue(path, inner, remarks); err != nil {
				return nil, err
			}
		}

		return list, nil
	}

	return v, nil
}
