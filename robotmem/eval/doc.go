// Package eval measures how well a robotmem.Service finds what it was taught.
//
// A data set is a folder in the BEIR layout (Thakur et al. 2021): corpus.jsonl (_id, title, text,
// meta), queries.jsonl (_id, text, meta) and qrels.tsv or qrels/test.tsv (query-id, corpus-id,
// score; a header line is skipped). Documents whose meta names a conv form one collection each, and
// a query whose meta names one asks there: a chat is asked about itself.
//
// # Caveats
//
// Run learns the corpus into the Service, which should be empty. Documents over the limit of one
// memory are cut and counted.
package eval
