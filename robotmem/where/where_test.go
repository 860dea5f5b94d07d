package where

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestConditions(t *testing.T) {
	for text, want := range map[string]string{
		"params.grip_force<15N":     `{"params.grip_force":{"$lt":"15N"}}`,
		"params.grip_force <= 15 N": `{"params.grip_force":{"$lte":"15 N"}}`,
		"a>=1.5":                    `{"a":{"$gte":1.5}}`,
		"a>-2":                      `{"a":{"$gt":-2}}`,
		"task.success=true":         `{"task.success":{"$eq":true}}`,
		"task.success==false":       `{"task.success":{"$eq":false}}`,
		"object!=cup":               `{"object":{"$ne":"cup"}}`,
		"version=007":               `{"version":{"$eq":"007"}}`,
		"version='7'":               `{"version":{"$eq":"7"}}`,
		`version="1.10"`:            `{"version":{"$eq":"1.10"}}`,
		`note="a = b, <c>"`:         `{"note":{"$eq":"a = b, \u003cc\u003e"}}`,
		`note=""`:                   `{"note":{"$eq":""}}`,
		"room=厨房":                   `{"room":{"$eq":"厨房"}}`,
		"object in glass,cup":       `{"object":{"$in":["glass","cup"]}}`,
		"n in [1, 2,'3,4']":         `{"n":{"$in":[1,2,"3,4"]}}`,
		"within.reach=yes":          `{"within.reach":{"$eq":"yes"}}`,
		"f~15N":                     `{"f":{"$gte":"13.5 N","$lte":"16.5 N"}}`,
		"f~100":                     `{"f":{"$gte":90,"$lte":110}}`,
		"t~-10 °C":                  `{"t":{"$gte":"-11 °C","$lte":"-9 °C"}}`,
		"e~5eV":                     `{"e":{"$gte":"4.5 eV","$lte":"5.5 eV"}}`,
		"note=salt and pepper":      `{"note":{"$eq":"salt and pepper"}}`,
		"note=this or that, later":  `{"note":{"$eq":"this or that, later"}}`,
		`note="a=true and b<5"`:     `{"note":{"$eq":"a=true and b\u003c5"}}`,
		"n in 'a,b=1',c":            `{"n":{"$in":["a,b=1","c"]}}`,
		"url=http://x?a=1&b=2":      `{"url":{"$eq":"http://x?a=1\u0026b=2"}}`,
		"url=http://x?a=b":          `{"url":{"$eq":"http://x?a=b"}}`,
	} {
		filter, err := Parse([]string{text})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, _ := json.Marshal(filter); string(got) != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestBadConditionsShowTheGrammar(t *testing.T) {
	for text, want := range map[string]string{
		"params.grip_force": "has no operator",
		"grip force":        "has no operator",
		"":                  "has no operator",
		"=5":                "has no path before =",
		"a b=5":             `has the path "a b"`,
		`{"a":1}=5`:         "has the path",
		"a<":                "has no value after <",
		"a in ":             "has no value after in",
		"a in x,,y":         "an empty value in its list",
		`a="x`:              "a quote that does not end",
		"a~cup":             "~ is for numbers",

		"task.success == true and params.grip_force < 15 N": "give each by itself",
		"task.success=true OR b in x,y":                     "give each by itself",
		"a=true && b!=5":                                    "give each by itself",
		"a=true||b~5":                                       "give each by itself",
		"a=true,b<5N":                                       "give each by itself",
		"a in x,y and b=5":                                  "give each by itself",
		`a="x" and b="y"`:                                   "give each by itself",
		"params.grip_force=>15 N":                           "write >= or <=",
		"params.grip_force=<5 N":                            "write >= or <=",
	} {
		_, err := Parse([]string{text})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "PATH=VALUE") {
			t.Errorf("%s: got %v, want %s and the grammar", text, err, want)
		}
	}
}

func TestConditionsAreJoinedWithAFilter(t *testing.T) {
	for _, tt := range []struct{ filter, want string }{
		{"", `{"$and":[{"a":{"$eq":1}},{"b":{"$lt":2}}]}`},
		{`{"c":{"$gt":3}}`, `{"$and":[{"$and":[{"a":{"$eq":1}},{"b":{"$lt":2}}]},{"c":{"$gt":3}}]}`},
		{"{c:3", "{c:3"},
		{"[1]", "[1]"},
		{"c>3", `{"$and":[{"a":{"$eq":1}},{"b":{"$lt":2}},{"c":{"$gt":3}}]}`},
		{`["c>3"]`, `{"$and":[{"a":{"$eq":1}},{"b":{"$lt":2}},{"c":{"$gt":3}}]}`},
	} {
		if got, err := And([]string{"a=1", "b<2"}, tt.filter); err != nil || got != tt.want {
			t.Errorf("%s: got %s, %v, want %s", tt.filter, got, err, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a=1", "a in x,'y", "a~-5N", "~", "a=''", "é<\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		filter, err := Parse([]string{text})
		if err == nil && len(filter) != 1 {
			t.Errorf("%q: %v", text, filter)
		}
		if _, err := json.Marshal(filter); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}
