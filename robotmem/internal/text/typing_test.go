package text_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// Every prefix of a word finds the form of the word in the index.
func TestEveryPrefixFindsTheWord(t *testing.T) {
	for _, word := range strings.Fields(`gripping gripped gripper slipped slippery batteries battery calibration calibrations
		calibrated stationary stationed universities relational happiness hopping hoping flies flying controllability
		generalizations troubled reduces reduction probabilities activities classifier classified carried
		measurements replacement stability stabilizer oscillations vibrational operators communism careful carefully
		effectiveness adjustable adjustment formalize triplicate electrical electricity goodness dependent
		defensible irritant adoption angularity homologous bowdlerize agreed plastered motoring conflated rate cease
		controlling rolling vision decision pressing dishes classes boxes tries trying dying tied joint3 grip_force
		v1.2.3 12.5 0.001 192.168.1.10 front-left CamelCaseName`) {
		for end := 1; end < len(word); end++ {
			if word[end-1] == '-' {
				continue // a hyphenated word is stored by its parts
			}
			u := text.Typing("wet glass " + word[:end])
			if u == nil {
				t.Errorf("%q: nothing is unfinished", word[:end])
				continue
			}
			if first := text.Stem(text.Terms(word)[0]); !u.Begins(first) && !slices.ContainsFunc(text.Terms(word), func(w string) bool { return u.Begins(text.Stem(w)) }) {
				t.Errorf("%q does not begin %q, which is stored as %q", word[:end], word, first)
			}
		}
	}
}

func TestTyping(t *testing.T) {
	for _, tt := range []struct {
		query       string
		terms       []string // nil: nothing is unfinished
		begins, not []string // stems that it begins; that it does not
	}{
		{"wet sli", []string{"sli"}, []string{"slip", "slide", "slipperi"}, []string{"wet", "sl", "grip"}},
		{"WET SLI", []string{"sli"}, []string{"slip"}, nil},
		{"grippin", []string{"grippin"}, []string{"grip"}, []string{"gripper", "gri"}},
		{"slip", []string{"slip"}, []string{"slip", "slipper"}, nil},
		{"grip_for", []string{"grip_for", "for"}, []string{"grip_forc", "forc"}, []string{"grip", "grip_f"}},
		{"grip_", nil, []string{"grip_forc"}, []string{"grip", "gripper"}},
		{"12.", nil, []string{"12.5", "12.5n"}, []string{"12", "125"}},
		{"station 5", []string{"5"}, []string{"5", "53", "5.5"}, []string{"station"}},
		{"th", []string{"th"}, []string{"thermal", "three"}, []string{"the", "thi", "there"}},
		{"the", []string{"the"}, []string{"thermal"}, []string{"the", "them", "there"}},
		{"usin", []string{"usin"}, []string{"us"}, []string{"u"}},
		{"café cr", []string{"cr"}, []string{"cream"}, nil},
		{"Käs", []string{"kas"}, []string{"kase"}, nil},
		{"夹爪", nil, nil, []string{"夹", "夹爪", "爪力"}},
		{"grip 夹", nil, nil, []string{"夹爪", "grip"}},
		{"夹爪 gri", []string{"gri"}, []string{"grip"}, []string{"夹"}},
		{"", nil, nil, []string{"", "a"}},
		{"slip!", nil, nil, []string{"slip", "slipper"}},
		{"...", nil, nil, []string{"slip"}},
	} {
		u := text.Typing(tt.query)
		if u == nil {
			if tt.terms != nil || tt.begins != nil {
				t.Errorf("%q: nothing is unfinished, want %v", tt.query, tt.terms)
			}
			continue
		}
		if diff := cmp.Diff(tt.terms, u.Terms); diff != "" {
			t.Errorf("%q: terms (-want +got):\n%s", tt.query, diff)
		}
		for _, stem := range tt.begins {
			if !u.Begins(stem) {
				t.Errorf("%q does not begin %q", tt.query, stem)
			}
		}
		for _, stem := range tt.not {
			if u.Begins(stem) {
				t.Errorf("%q begins %q", tt.query, stem)
			}
		}
	}
}

// The terms of the unfinished word are terms of the question.
func FuzzTyping(f *testing.F) {
	for _, s := range []string{"wet sli", "grip_", "12.5 N", "don't", "夹爪a", "HTTPServ", "1e-3", "ab\xff", "x.y-z:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u := text.Typing(s)
		if u == nil {
			return
		}
		all := text.Terms(s)
		for _, term := range u.Terms {
			if !slices.Contains(all, term) {
				t.Errorf("%q is none of %q", term, all)
			}
		}
		u.Begins("")
	})
}
