// Package mcp offers a robotmem.Service to models over the Model Context Protocol: over stdio or
// streamable HTTP, with the initialize handshake (until 2025-11-25) and without it (2026-07-28).
//
// A tool is an operation of robotmem.Ops with the hint Tool. It takes the JSON request of the
// operation and answers its JSON response, as structured content and as text. A failed operation is
// a result with isError, whose text says what failed, which values are allowed and what to do next.
// Its _meta holds the same in parts (robotmem/error: kind, op, field, detail).
//
// Resources are memories, episodes, and the bytes and pictures of perceptions. The prompts give a
// briefing before a task and review an episode. Collections, tags, session ids and memory ids are
// completed from the contents of the memory. docs/reference/mcp.md lists them all.
//
// Over stdio, requests to the memory run one after the other in the order in which they came, so
// that a recall sees the learn before it even if both were sent at once. Requests that came before
// the end of the input are all answered.
//
// A call with a progress token gets progress notifications. A call that is cancelled, by
// notifications/cancelled or over HTTP by closing the request, stops; a write that has begun is
// completed.
//
// # Caveats
//
// Answers take at most 25,000 tokens, because clients cut longer ones: long contents and contexts
// are shortened, with a note on how to read the rest. Resources are whole.
//
// Handler checks neither Host nor Origin. Package web, which mounts it, does.
package mcp
