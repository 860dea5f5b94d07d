// Package embedtest runs a real Ollama for tests, with a generated model of random
// weights. A fake would hide how Ollama cuts texts, refuses them and fails.
//
// Its nouns: an Ollama is a server of the test's own, with models and a home in
// the test's temporary folder; Dim is the length of the vectors of its models.
//
//	o := embedtest.StartOllama(t) // skips the test when there is no binary
//	o.CreateModel("tiny")
//	e, err := embedding.Open("ollama:tiny", embedding.Options{OllamaURL: o.URL})
//
// # Caveats
//
// The binary is the one that ROBOTMEM_OLLAMA names, otherwise the one that `make
// ollama` builds into the user's cache folder. If the named file does not exist, the
// test fails instead of being skipped.
//
// The vectors are deterministic and differ between texts, but have no meaning: only
// texts with common words are near each other.
package embedtest
