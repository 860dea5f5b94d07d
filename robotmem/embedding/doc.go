// Package embedding turns texts into vectors for robotmem's search by meaning: with the model in the
// program, through a local Ollama, through any service with OpenAI's embeddings API, or in this
// process from a folder of files.
//
// Its nouns: a spec names an embedder in one string; a backend computes the vectors; a runtime runs
// the models of one format in this process; a prompt is the text that some models need before a
// text, by purpose; a cool-down is the time in which a failing service is not called.
//
//	auto              the model in the program; for a memory that is bound to
//	                  another, a local Ollama that has an embedding model, else
//	                  the model that was pulled last, else none
//	builtin           the model in the program
//	none              no embedder
//	ollama:<model>    ollama:nomic-embed-text
//	openai:<model>    openai:text-embedding-3-small, at any compatible address
//	model2vec:<dir>   a folder with model.safetensors and tokenizer.json
//	onnx:<dir>        a folder with model.onnx and tokenizer.json; only in a
//	                  program that has the runtime of package onnx
//
// OpenReranker returns a client of a reranking service, which judges the first hits of a recall.
//
// # Caveats
//
// A text is cut to its first 8 KiB. Models cut much earlier than that, without an error: often after
// 512 tokens, about 2 KB of English. A search by meaning does not see the rest. A blank text has no
// meaning and is refused as Invalid.
//
// After a failure, a service is not called for 60, 120, 240, then 300 s. Calls in that time fail at
// once. A caller that cancels is no failure, nor is a passed deadline that left the service less
// than a second.
//
// With an http:// address the texts are sent unencrypted. Errors and logs contain only the host of
// an address, and never the key. Redirects to another host are refused, because the texts would go
// there.
//
// auto looks for a model when it is opened, and every 3 minutes while it has none. It never starts
// Ollama and never pulls a model. Only Models.Pull contacts a hub.
//
// The prompts change what a vector means, but are no part of the model's name: after a change of
// promptTable the vectors must be computed again.
package embedding
