// Package importerstest has a sink for the tests of importers.
package importerstest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/perception/importers"
)

// Memory is a sink that keeps everything, and fails the test when an importer
// breaks a limit of its contract.
type Memory struct {
	T        testing.TB
	Sessions map[string]*Session // by origin
	Saved    map[string]Saved    // by origin
	Order    []string            // origins of Saved, as they came
	Facts    []Learnt            // in their order
	// Fail, when set, is the error of Save.
	Fail error
}

// Session is one that was started.
type Session struct {
	importers.Session
	Ended  bool
	Ending importers.Ending
}

// Learnt is a fact.
type Learnt struct {
	importers.Fact
	Session string // origin of its session, "" for none
}

// Saved is a perception with its payload read.
type Saved struct {
	importers.Perception
	Session string // origin of its session, "" for none
}

var _ importers.Sink = (*Memory)(nil)

// New is an empty sink.
func New(t testing.TB) *Memory {
	return &Memory{T: t, Sessions: map[string]*Session{}, Saved: map[string]Saved{}}
}

// Start implements [importers.Sink]; the id is the origin.
func (m *Memory) Start(_ context.Context, s importers.Session) (string, error) {
	m.checkOrigin(s.Origin)
	if old := m.Sessions[s.Origin]; old != nil {
		if old.Ended {
			return "", fmt.Errorf("session %s: %w", s.Origin, importers.ErrEnded)
		}
		return s.Origin, nil
	}
	m.Sessions[s.Origin] = &Session{Session: s}

	return s.Origin, nil
}

func (m *Memory) Save(_ context.Context, session string, ps []importers.Perception) (int, error) {
	if m.Fail != nil {
		return 0, m.Fail
	}
	if s := m.Sessions[session]; session != "" && (s == nil || s.Ended) {
		m.T.Errorf("saved in session %q, which is not open", session)
	}

	stored := 0

	for _, p := range ps {
		m.check(p)
		if _, known := m.Saved[p.Origin]; known {
			continue
		}
		m.Saved[p.Origin] = Saved{p, session}
		m.Order = append(m.Order, p.Origin)
		stored++
	}

	return stored, nil
}

// Learn implements [importers.Sink].
func (m *Memory) Learn(_ context.Context, session string, facts []importers.Fact) (int, error) {
	if s := m.Sessions[session]; session != "" && (s == nil || s.Ended) {
		m.T.Errorf("learnt in session %q, which is not open", session)
	}

	stored := 0

	for _, f := range facts {
		m.checkOrigin(f.Origin)
		if f.Text == "" || len(f.Text) > importers.MaxDescription || !utf8.ValidString(f.Text) {
			m.T.Errorf("%s: text %.100q breaks the limits", f.Origin, f.Text)
		}
		if !f.ObservedAt.Equal(importers.Clock(f.ObservedAt)) {
			m.T.Errorf("%s: observed at %v", f.Origin, f.ObservedAt)
		}
		if slices.ContainsFunc(m.Facts, func(old Learnt) bool { return old.Origin == f.Origin }) {
			continue
		}
		m.Facts = append(m.Facts, Learnt{f, session})
		stored++
	}

	return stored, nil
}

func (m *Memory) End(_ context.Context, session string, ending importers.Ending) error {
	s := m.Sessions[session]
	if s == nil || s.Ended {
		return fmt.Errorf("session %q is not open", session)
	}
	s.Ended, s.Ending = true, ending
	return nil
}

func (m *Memory) check(p importers.Perception) {
	m.T.Helper()
	m.checkOrigin(p.Origin)
	if n := utf8.RuneCountInString(p.Description); n < importers.MinDescription ||
		len(p.Description) > importers.MaxDescription || !utf8.ValidString(p.Description) {
		m.T.Errorf("%s: description %.100q breaks the limits", p.Origin, p.Description)
	}

	switch p.Type {
	case "visual", "tactile", "auditory", "proprioceptive", "procedural", "spatial":
	default:
		m.T.Errorf("%s: type is %q", p.Origin, p.Type)
	}

	if text, err := json.Marshal(p.Metadata); err != nil || len(text) > importers.MaxMetadata {
		m.T.Errorf("%s: metadata of %d bytes, %v", p.Origin, len(text), err)
	}
	if !p.ObservedAt.Equal(importers.Clock(p.ObservedAt)) {
		m.T.Errorf("%s: observed at %v", p.Origin, p.ObservedAt)
	}
	if len(p.Data) == 0 {
		m.T.Errorf("%s: it has no payload", p.Origin)
	}
}

func (m *Memory) checkOrigin(origin string) {
	m.T.Helper()
	if origin == "" || len(origin) > importers.MaxOrigin || !utf8.ValidString(origin) {
		m.T.Errorf("origin %.300q breaks the limits", origin)
	}
}
