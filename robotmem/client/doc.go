// Package client is a robotmem.Service over HTTP: a node that `robotmem web` serves,
// with the same requests, responses and errors as a local memory.
//
// # Caveats
//
// The client has no state and never retries: a write whose answer was lost may have
// been done. A batch with a text that is not UTF-8 is refused as a whole, because JSON
// cannot carry the bytes; a local memory refuses only the one item.
package client
