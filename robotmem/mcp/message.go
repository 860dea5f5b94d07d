package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/robotmem/robotmem-go/robotmem"
)

// The library decodes a message up to ten times, with arguments as maps. So the
// arguments of a tool call, which may hold a payload, do not pass through it: they are
// cut out of the message before, and the operation alone decodes them, which keeps the
// spelling of numbers and names a field that is wrong.

// maxEnvelope is the largest message in bytes without the arguments of a tool call.
const maxEnvelope = 64 << 10

// message is a JSON-RPC message.
type message struct {
	envelope  []byte          // the message, without the arguments of a tool call
	arguments json.RawMessage // nil if they were not cut out
}

// openMessage cuts the arguments of a call of an operation out of data. It reports
// whether the rest has an allowed size. The library refuses data that is no message.
func openMessage(data []byte) (m message, ok bool) {
	m.envelope = data

	var call struct {
		Method string `json:"method"`
		Params struct {
			Name      string         `json:"name"`
			Arguments robotmem.View  `json:"arguments,omitempty"`
			Rest      jsontext.Value `json:",embed"`
		} `json:"params"`
		Rest jsontext.Value `json:",embed"`
	}

	// The operation refuses these itself, with an error that names the field.
	lenient := jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	err := jsonv2.Unmarshal(data, &call, lenient)

	// Only an operation decodes its arguments from the exchange, so those of any other method stay in the message.
	arguments := call.Params.Arguments
	isCall := err == nil && call.Method == string(mcp.MethodToolsCall) && arguments != nil
	if isCall && robotmem.OpByName(call.Params.Name) != nil && len(data)-len(arguments) <= maxEnvelope {
		call.Params.Arguments = nil
		if envelope, err := jsonv2.Marshal(&call, lenient); err == nil {
			m = message{envelope, json.RawMessage(arguments)}
		}
	}

	return m, len(m.envelope) <= maxEnvelope
}

// exchange holds what the handler of a message needs beside the library's request.
type exchange struct {
	arguments  json.RawMessage // nil if they are in the request
	notifier   notifier        // nil without one
	correction correction      // of the answer
}

type exchangeKey struct{}

func (x *exchange) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// exchangeOf returns the exchange of a request, an empty one if it did not come over stdio or HTTP.
func exchangeOf(ctx context.Context) *exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x
	}
	return &exchange{}
}

// maxID is the largest id in bytes that the answer to a refused message repeats.
const maxID = 256

// messageTooLong returns the answer to a message over the limit, which is not read for its id.
func (s *Server) messageTooLong() mcp.JSONRPCError {
	return tooLarge(nil, "%d bytes; save large payloads over HTTP (POST /api/perceptions), "+
		"or give save_perception a path", s.maxMessage)
}

// envelopeTooLarge returns the answer to a message that is too large without the arguments of a call.
func (s *Server) envelopeTooLarge(id json.RawMessage) mcp.JSONRPCError {
	return tooLarge(id, "%d bytes without the arguments of a tool call; "+
		"send large values as arguments of tools/call", maxEnvelope)
}

func tooLarge(id json.RawMessage, format string, limit int) mcp.JSONRPCError {
	if len(id) > maxID {
		id = nil
	}

	text := fmt.Sprintf("the message is over "+format, limit)

	return mcp.NewJSONRPCError(mcp.NewRequestId(id), mcp.INVALID_REQUEST, text, nil)
}
