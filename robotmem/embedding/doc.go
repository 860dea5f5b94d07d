// Package embedding turns texts into vectors for robotmem's search by meaning:
// through a local Ollama, through any service that speaks OpenAI's embeddings
// API, or in this process from a folder of files.
//
// Its nouns: a spec names an embedder in one string; a backend computes the
// vectors; a prompt is what some models want in front of a text, by purpose; a
// cool-down is the time a failing service is left alone; the guard lets no
// answer through that is not one finite vector for each text.
//
//	auto              a local Ollama that has an embedding model, else none
//	none              no embedder
//	ollama:<model>    ollama:nomic-embed-text
//	openai:<model>    openai:text-embedding-3-small, at any compatible address
//	model2vec:<dir>   a folder with model.safetensors and tokenizer.json
//	onnx:<dir>        a folder with model.onnx and tokenizer.json; only in a
//	                  program that has the runtime of package onnx
//
// A whole example:
//
//	e, err := embedding.Open("ollama:nomic-embed-text", embedding.Options{})
//	if err != nil {
//		return err // the spec is wrong, or its files are: never the network
//	}
//	defer e.(io.Closer).Close()
//	vectors, err := e.Embed(ctx, robotmem.ForMemory, []string{"wet glass slips at 12.5 N"})
//	if errors.Is(err, robotmem.Unavailable) {
//		fmt.Println(e.State().Reason, "until", e.State().Until)
//	}
//
// # Caveats
//
// A text is cut to its first 8 KiB, and models cut much earlier than that,
// silently: 512 tokens (some 2 KB of English) are common, and what follows does
// not find the memory. A blank text has no meaning and is refused as Invalid.
//
// A service that fails is left alone for 60, 120, 240, then 300 s each time;
// calls in between fail at once. A caller that gives up does not count as a
// failure, nor does a deadline of the caller's that left it less than a second.
//
// Text leaves the process in plain with an http:// address; only the host of an
// address ever stands in an error or a log, and no key. Redirects to another
// host are refused, as they would carry texts along.
//
// auto keeps the model that it found first until it is closed. It never starts
// Ollama and never pulls a model.
//
// The prompts are part of what a vector means, but not of the model's name: a
// change of the table in prompts.go calls for new vectors.
package embedding
