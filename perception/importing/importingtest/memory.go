// Package importingtest has a sink for the tests of importers.
package importingtest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/perception/importing"
)

// Memory is a sink that keeps everything, and fails the test when an importer
// breaks a limit of its contract.
type Memory struct {
	T        testing.TB
	Sessions map[string]*Session // by origin
	Saved    map[string]Saved    // by origin
	Order    []string            // origins of Saved, as they came
	// Fail, when set, is the error of Save.
	Fail error
}

// Session is one that was started.
type Session struct {
	importing.Session
	Ended   bool
	Outcome *float64
}

// Saved is a perception with its payload read.
type Saved struct {
	importing.Perception
	Session string // origin of its session, "" for none
}

var _ importing.Sink = (*Memory)(nil)

// New is an empty sink.
func New(t testing.TB) *Memory {
	return &Memory{T: t, Sessions: map[string]*Session{}, Saved: map[string]Saved{}}
}

// Start implements [importing.Sink]; the id is the origin.
func (m *Memory) Start(_ context.Context, s importing.Session) (string, error) {
	m.checkOrigin(s.Origin)
	if old := m.Sessions[s.Origin]; old != nil {
		if old.Ended {
			return "", fmt.Errorf("session %s: %w", s.Origin, importing.ErrEnded)
		}
		return s.Origin, nil
	}
	m.Sessions[s.Origin] = &Session{Session: s}

	return s.Origin, nil
}

func (m *Memory) Save(_ context.Context, session string, ps []importing.Perception) (int, error) {
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

func (m *Memory) End(_ context.Context, session string, outcome *float64) error {
	s := m.Sessions[session]
	if s == nil || s.Ended {
		return fmt.Errorf("session %q is not open", session)
	}
	s.Ended, s.Outcome = true, outcome
	return nil
}

func (m *Memory) check(p importing.Perception) {
	m.T.Helper()
	m.checkOrigin(p.Origin)
	if n := utf8.RuneCountInString(p.Description); n < importing.MinDescription || len(p.Description) > importing.MaxDescription || !utf8.ValidString(p.Description) {
		m.T.Errorf("%s: description %.100q breaks the limits", p.Origin, p.Description)
	}

	switch p.Type {
	case "visual", "tactile", "auditory", "proprioceptive", "procedural", "spatial":
	default:
		m.T.Errorf("%s: type is %q", p.Origin, p.Type)
	}

	if text, err := json.Marshal(p.Metadata); err != nil || len(text) > importing.MaxMetadata {
		m.T.Errorf("%s: metadata of %d bytes, %v", p.Origin, len(text), err)
	}
	if !p.ObservedAt.Equal(importing.Clock(p.ObservedAt)) {
		m.T.Errorf("%s: observed at %v", p.Origin, p.ObservedAt)
	}
	if len(p.Data) == 0 {
		m.T.Errorf("%s: it has no payload", p.Origin)
	}
}

func (m *Memory) checkOrigin(origin string) {
	m.T.Helper()
	if origin == "" || len(origin) > importing.MaxOrigin || !utf8.ValidString(origin) {
		m.T.Errorf("origin %.300q breaks the limits", origin)
	}
}
