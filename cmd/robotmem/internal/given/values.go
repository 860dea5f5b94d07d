// Package given looks at the values of flags that kong has taken.
package given

import (
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/robotmem/robotmem-go/robotmem"
)

// notEmpty are the flags that an unset variable of a script must not leave empty: the command would work on another
// memory, or write something else.
var notEmpty = []string{"db", "collection", "key-file", "url", "tenant", "mcap", "archive", "markdown"}

// Check refuses flags whose value is missing. kong takes the end of the command line for an empty text, and the
// next flag for the value, because a value may begin with a hyphen.
func Check(args []string, k *kong.Context) error {
	if k == nil || k.Selected() == nil {
		return nil
	}

	command := k.Selected().Path()
	refuse := func(flag, why string) error {
		return robotmem.Errorf(robotmem.Invalid, "", "%s: %s: %s; see robotmem %s --help", command, flag, why, command)
	}

	spellings := flagSpellings(k.Flags())

	for _, p := range k.Path {
		if p.Flag == nil || p.Flag.IsBool() {
			continue
		}

		at := len(args) - len(p.Remainder()) - 1 // the word that kong has read last for this flag
		if at < 0 {
			continue
		}

		switch last := args[at]; {
		case slices.Contains(spellings, last) && at+1 == len(args) && (at == 0 || !spells(p.Flag, args[at-1])):
			return refuse(last, "missing value")
		case slices.Contains(spellings, last) && at > 0:
			return refuse(args[at-1], "missing value; "+last+" is a flag, and --"+p.Flag.Name+"="+last+" takes it as the text")
		case slices.Contains(notEmpty, p.Flag.Name) && isEmpty(k.FlagValue(p.Flag)):
			return refuse("--"+p.Flag.Name, "is empty; leave it out, or check the variable that it is made of")
		}
	}

	return nil
}

// flagSpellings are all words that are flags.
func flagSpellings(flags []*kong.Flag) (words []string) {
	for _, f := range flags {
		words = append(words, "--"+f.Name)
		if f.Short != 0 {
			words = append(words, "-"+string(f.Short))
		}
		if f.Tag.Negatable != "" {
			words = append(words, "--no-"+f.Name)
		}
	}

	return words
}

// spells reports whether a word is the flag alone, or ends with its letter.
func spells(f *kong.Flag, word string) bool {
	return word == "--"+f.Name || f.Short != 0 && len(word) > 1 && word[0] == '-' && word[1] != '-' && strings.HasSuffix(word, string(f.Short))
}

// isEmpty reports whether a value is the empty text.
func isEmpty(value any) bool {
	v := reflect.Indirect(reflect.ValueOf(value))
	return v.IsValid() && v.Kind() == reflect.String && v.String() == ""
}
