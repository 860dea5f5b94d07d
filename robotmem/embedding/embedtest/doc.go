// Package embedtest runs a real Ollama for tests, with a model of random weights
// that is made on the spot: what a fake of it hides is how it cuts, refuses and
// fails.
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
// The binary is the one that ROBOTMEM_OLLAMA names, or else the one that `make
// ollama` builds into the user's cache folder. A name that leads nowhere fails
// the test instead of skipping it.
//
// The vectors are deterministic and differ from text to text, but mean nothing:
// texts that share words are near each other, and that is all.
package embedtest
