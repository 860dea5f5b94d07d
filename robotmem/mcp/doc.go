// Package mcp offers a robotmem.Service to models over the Model Context
// Protocol: one tool for every operation of robotmem.Ops that is marked as
// one, over stdio or streamable HTTP.
//
//	s := mcp.NewServer(svc, mcp.Options{Version: "1.0.0", Logger: logger})
//	err := s.ServeStdio(ctx, os.Stdin, os.Stdout) // robotmem mcp
//	http.Handle("/mcp", s.Handler())              // robotmem web
//
// A tool takes the operation's JSON request and answers its JSON response, as
// structured content and as text. A failed operation is a result with isError
// whose text says what failed, what is allowed and what to do next; its _meta
// holds the same in parts (robotmem/error: kind, op, field, detail).
//
// Over stdio, tool calls run one after the other in the order they came, so
// that a recall sees the learn before it even when both were sent at once. The
// end of the input ends nothing that was asked before it.
//
// # Caveats
//
// Answers of recall are kept small, since clients cut long ones off: long
// contents, and when many are asked for also contexts, are shortened with the
// get call that returns them whole.
//
// Handler checks neither Host nor Origin; package web, where it is mounted,
// does.
package mcp
