// Package client is a robotmem.Service over HTTP: a node that `robotmem web`
// serves, with the requests, responses and errors of a local Engine.
//
//	m := client.New("http://127.0.0.1:7878", client.Options{})
//	res, err := m.Recall(ctx, &robotmem.RecallRequest{Query: "wet glass"})
//	if errors.Is(err, robotmem.Unavailable) {
//		// the node is not running, or busy
//	}
//
// # Caveats
//
// The client keeps no state and retries nothing: a write whose answer was lost
// may have been done. A batch whose text is not UTF-8 is refused as a whole,
// where an Engine refuses the one item, because JSON cannot carry the bytes.
package client
