package foxglove

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Text messages are JSON objects with the kind in "op". Lists come from the other side and are decoded
// element by element, so that "[{},{},…]" takes no more memory than its limits.

// maxSmallText is the size of a text message without channels or parameters, in bytes: 1,000,000 ids fit.
const maxSmallText = 16 << 20

// maxParameters bounds the parameters of one message.
const maxParameters = 100_000

// Capability is an optional part of the protocol that a server has.
type Capability string

// The capabilities that this package knows. Servers may have others.
const (
	CapabilityClientPublish       Capability = "clientPublish"
	CapabilityParameters          Capability = "parameters"
	CapabilityParametersSubscribe Capability = "parametersSubscribe"
	CapabilityTime                Capability = "time"
	CapabilityPlaybackControl     Capability = "playbackControl" // of foxglove.sdk.v1
)

// ServerInfo is what a server says of itself. A server sends it first, and again when it begins a new
// session.
type ServerInfo struct {
	Name               string
	Capabilities       []Capability
	SupportedEncodings []string // of messages that clients publish
	Metadata           map[string]string
	SessionID          string
	Playback           *Range // of the data that is played; nil if it is live
}

// Range is a span of time with both its ends, in ns since 1970.
type Range struct{ Start, End uint64 }

type wireServerInfo struct {
	Op                 string            `json:"op"`
	Name               string            `json:"name"`
	Capabilities       []Capability      `json:"capabilities"`
	SupportedEncodings []string          `json:"supportedEncodings,omitempty"`
	Metadata           map[string]string `json:"metadata,omitempty"`
	SessionID          string            `json:"sessionId,omitempty"`
	DataStartTime      *wireTime         `json:"dataStartTime,omitempty"`
	DataEndTime        *wireTime         `json:"dataEndTime,omitempty"`
}

type wireTime struct {
	Sec  uint32 `json:"sec"`
	Nsec uint32 `json:"nsec"`
}

const second = 1_000_000_000 // ns

func toWireTime(ns uint64) *wireTime {
	if ns/second > math.MaxUint32 {
		return &wireTime{math.MaxUint32, second - 1}
	}

	return &wireTime{uint32(ns / second), uint32(ns % second)}
}

func (t *wireTime) ns() uint64 { return uint64(t.Sec)*second + uint64(t.Nsec) }

func decodeServerInfo(text []byte) (*ServerInfo, error) {
	var w wireServerInfo
	if err := unmarshal(text, &w); err != nil {
		return nil, err
	}

	info := &ServerInfo{
		Name: w.Name, Capabilities: w.Capabilities, SupportedEncodings: w.SupportedEncodings,
		Metadata: w.Metadata, SessionID: w.SessionID,
	}
	if w.DataStartTime != nil && w.DataEndTime != nil {
		info.Playback = &Range{w.DataStartTime.ns(), w.DataEndTime.ns()}
	}

	return info, nil
}

func (i *ServerInfo) encode() ([]byte, error) {
	w := wireServerInfo{
		Op: "serverInfo", Name: i.Name, Capabilities: i.Capabilities, SupportedEncodings: i.SupportedEncodings,
		Metadata: i.Metadata, SessionID: i.SessionID,
	}
	if i.Playback != nil {
		w.DataStartTime, w.DataEndTime = toWireTime(i.Playback.Start), toWireTime(i.Playback.End)
	}

	return json.Marshal(w, jsontext.AllowInvalidUTF8(true), json.Deterministic(true), json.FormatNilSliceAsNull(false))
}

// Level is how serious a status is.
type Level int

// The levels of the protocol.
const (
	LevelInfo Level = iota
	LevelWarning
	LevelError
)

// Status is a message of a server for people.
type Status struct {
	Level   Level  `json:"level"`
	Message string `json:"message"`
	ID      string `json:"id,omitempty"` // by which the server may take it back
}

// Parameter is a named value of a server.
type Parameter struct {
	Name  string         `json:"name"`
	Type  string         `json:"type,omitempty"` // byte_array (a string of base64), float64, float64_array, or ""
	Value jsontext.Value `json:"value,omitzero"` // JSON as it was sent; nil if the parameter is not set
}

// parameterValues is a message of either side with parameters.
type parameterValues struct {
	Op         string         `json:"op"`
	Parameters jsontext.Value `json:"parameters"`
	ID         string         `json:"id,omitempty"`
}

func decodeParameters(list jsontext.Value, p *problems) (parameters []Parameter) {
	err := eachElement(list, func(v jsontext.Value) bool {
		var each Parameter
		if err := unmarshal(v, &each); err != nil || each.Name == "" {
			p.add(BadParameter, "a parameter that has no name or is not an object: %v", err)
			return true
		}
		if len(parameters) == maxParameters {
			p.add(BadParameter, "the parameter %.80q is after the first %d", each.Name, maxParameters)
			return false
		}
		if string(each.Value) == "null" {
			each.Value = nil
		}
		parameters = append(parameters, each)

		return true
	})
	if err != nil {
		p.add(BadJSON, "the list of parameters: %v", err)
	}

	return parameters
}

// encodeParameters makes a message with parameters. A value that is not JSON is an error.
func encodeParameters(op string, parameters []Parameter, id string) ([]byte, error) {
	if parameters == nil {
		parameters = []Parameter{}
	}
	list, err := json.Marshal(parameters, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, fmt.Errorf("make a message of parameters: %w", err)
	}

	return json.Marshal(parameterValues{op, list, id}, jsontext.AllowInvalidUTF8(true))
}

// parameterNames is a message of a client that names parameters.
type parameterNames struct {
	Op    string   `json:"op"`
	Names []string `json:"parameterNames"`
	ID    string   `json:"id,omitempty"`
}

// opOf returns the kind of a text message.
func opOf(text []byte) (string, error) {
	var m struct {
		Op string `json:"op"`
	}
	err := unmarshal(text, &m)

	return m.Op, err
}

// unmarshal decodes JSON of the other side, whose strings may be broken UTF-8 and whose fields may be twice.
func unmarshal(text []byte, into any) error {
	return json.Unmarshal(text, into, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}

// eachElement calls f with the elements of a JSON array until it returns false. A value that is missing or
// null has none.
func eachElement(array jsontext.Value, f func(jsontext.Value) bool) error {
	if len(array) == 0 || string(array) == "null" {
		return nil
	}

	d := jsontext.NewDecoder(bytes.NewBuffer(array), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if d.PeekKind() != '[' {
		return errNotArray
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}

	for d.PeekKind() != ']' {
		v, err := d.ReadValue()
		if err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		if !f(v) {
			return nil
		}
	}

	return nil
}
