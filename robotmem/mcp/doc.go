// Package mcp offers a robotmem.Service to models over the Model Context
// Protocol, over stdio or streamable HTTP, in both eras of the protocol: with
// the initialize handshake (until 2025-11-25) and without (2026-07-28).
//
//	s := mcp.NewServer(svc, mcp.Options{Version: "1.0.0", Logger: logger})
//	err := s.ServeStdio(ctx, os.Stdin, os.Stdout) // robotmem mcp
//	http.Handle("/mcp", s.Handler())              // robotmem web
//
// A tool is an operation of robotmem.Ops that is marked as one. It takes the
// operation's JSON request and answers its JSON response, as structured content
// and as text. A failed operation is a result with isError whose text says what
// failed, what is allowed and what to do next; its _meta holds the same in parts
// (robotmem/error: kind, op, field, detail).
//
// Resources are memories, episodes, and the bytes and pictures of perceptions.
// Prompts brief before a task and review an episode. Collections, tags, session
// ids and memory ids are completed from what the memory holds. docs/mcp.md lists
// them all.
//
// Over stdio, what asks the memory runs one after the other in the order it
// came, so that a recall sees the learn before it even when both were sent at
// once. The end of the input ends nothing that was asked before it.
//
// A call with a progress token is told how far it has come. One that is
// cancelled, by notifications/cancelled or over HTTP by closing the request,
// stops; a write that has begun is carried through.
//
// # Caveats
//
// Answers are kept within 25,000 tokens, since clients cut long ones off: long
// contents and contexts are shortened and say how to read the rest. Resources
// are whole.
//
// Handler checks neither Host nor Origin; package web, where it is mounted,
// does.
package mcp
