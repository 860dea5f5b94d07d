package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
)

func TestItemsAreCountedBeforeTheyAreDecoded(t *testing.T) {
	list := func(item string, n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+" , ", n), ", ") + "]"
	}
	for _, c := range []struct {
		name, body string
		fits       bool
	}{
		{"nothing", "", true},
		{"no JSON", `}}]],,"`, true},
		{"as many items as fit", `{"links":` + list("{}", MaxItems-1) + `, "past": [ {} ]}`, true},
		{"one more in two lists", `{"links":` + list("{}", MaxItems) + `, "past": [ {} ]}`, false},
		{"members of an object", `{"cursors":{` + strings.TrimSuffix(strings.Repeat(`"a":{"n":1},`, MaxItems+1), ",") + "}}", false},
		{"a list that is there again and again", "{" + strings.TrimSuffix(strings.Repeat(`"links":`+list("{}", 1000)+",", 6), ",") + "}", false},
		{"empty lists", "{" + strings.TrimSuffix(strings.Repeat(`"links":[ ],`, MaxItems+1), ",") + "}", true},
		{"commas and brackets in a text", `{"links":["` + strings.Repeat(`,[{\"`, MaxItems) + `"]}`, true},
		{"past states", `{"past":[{"versions":` + list("{}", maxInner+1) + "}]}", false},
		{"past states of all memories", `{"memories":` + list(`{"versions":`+list("null", 100)+"}", maxInner/100+1) + "}", false},
		{"values of a context", `{"memories":[{"context":{` + strings.TrimSuffix(strings.Repeat(`"a":1,`, maxInner+1), ",") + "}}]}", true},
		{"a list in a context", `{"memories":[{"context":{"a":` + list("1", maxInner+1) + "}}]}", true},
		{"as deep as fits", strings.Repeat("[", maxNesting) + strings.Repeat("]", maxNesting), true},
		{"deeper", strings.Repeat("[", maxNesting+1) + strings.Repeat("]", maxNesting+1), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := CheckBounds([]byte(c.body))
			if fits := err == nil; fits != c.fits || err != nil && !errors.Is(err, robotmem.TooLarge) {
				t.Errorf("got %v, fits should be %v", err, c.fits)
			}
		})
	}
}

// A robot divides a push within the bounds of a site, whatever is too much in it, and nothing of it is left out.
func TestAPushIsDividedWithinTheBounds(t *testing.T) {
	p := &PushRequest{Protocol: Protocol, Replica: "r", Robot: "arm-1", Upto: 7, Link: newLink()}
	for i := range 3*MaxPurges + 1 {
		p.Purged = append(p.Purged, fmt.Sprint("purged-", i))
	}
	for i := range MaxItems {
		p.Sessions = append(p.Sessions, archive.Session{SessionID: fmt.Sprint("run-", i)})
	}
	m := NumberedMemory{Memory: archive.Memory{UID: "often changed"}}
	for i := range 2*MaxPast + 1 {
		m.Versions = append(m.Versions, archive.Version{Version: int64(i + 1)})
	}
	p.Memories = []NumberedMemory{m}

	parts, aside, err := split(p)
	if err != nil || len(aside) > 0 {
		t.Fatal(err, aside)
	}
	purged, sessions, states, link := map[string]bool{}, map[string]bool{}, map[int64]bool{}, p.Prev
	for i, part := range parts {
		data, err := json.Marshal(part.PushRequest)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(part.CheckBounds(), CheckBounds(data)); err != nil {
			t.Errorf("part %d: %v", i, err)
		}
		if string(part.Prev) != string(link) || (part.Upto != 0) != (i == len(parts)-1) {
			t.Errorf("part %d of %d has the number %d, and follows %x", i, len(parts), part.Upto, part.Prev)
		}
		link = part.Link
		for _, uid := range part.Purged {
			purged[uid] = true
		}
		for _, s := range part.Sessions {
			sessions[s.SessionID] = true
		}
		for _, past := range part.Past {
			for _, v := range past.Versions {
				states[v.Version] = true
			}
		}
	}
	if len(purged) != 3*MaxPurges+1 || len(sessions) != MaxItems || len(states) != 2*MaxPast+1 {
		t.Errorf("%d uids to purge, %d episodes, %d past states arrive", len(purged), len(sessions), len(states))
	}
}
