package embedding

import "strings"

// prompts are what stands before a text, by robotmem.Purpose.
type prompts [2]string

const (
	passages = "Represent this sentence for searching relevant passages: "
	instruct = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
)

// promptTable lists what models were trained with, as their model cards say.
// The first entry whose name the model's name holds is taken.
var promptTable = []struct {
	name     string
	memory   string
	question string
}{
	{"nomic-embed-text", "search_document: ", "search_query: "},
	{"mxbai-embed-large", "", passages},
	{"snowflake-arctic-embed2", "", "query: "},
	{"snowflake-arctic-embed-l-v2", "", "query: "},
	{"snowflake-arctic-embed-m-v2", "", "query: "},
	{"snowflake-arctic-embed", "", passages},
	{"bge-small-en", "", passages},
	{"bge-base-en", "", passages},
	{"bge-large-en", "", passages},
	{"embeddinggemma", "title: none | text: ", "task: search result | query: "},
	{"qwen3-embedding", "", instruct},
	{"e5-large-instruct", "", instruct},
	{"e5-mistral", "", instruct},
	{"e5-small", "passage: ", "query: "},
	{"e5-base", "passage: ", "query: "},
	{"e5-large", "passage: ", "query: "},
}

// promptsOf returns what the model wants before its texts: nothing for one that
// is not in the table.
func promptsOf(model string) prompts {
	model = strings.ToLower(model)
	for _, p := range promptTable {
		if strings.Contains(model, p.name) {
			return prompts{p.memory, p.question}
		}
	}
	return prompts{}
}
