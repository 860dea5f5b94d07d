package engine

import (
	"context"

	"github.com/robotmem/robotmem-go/robotmem"
)

// EmbedStored is Embed if this node has stored a memory and its model is in this process. It is for a program
// that stores something and ends: no other may run that would compute the vectors.
func (n *Engine) EmbedStored(ctx context.Context) error {
	return robotmem.Wrap("embed", n.embeddings.EmbedStored(ctx))
}

// Embed computes the vectors of memories that have none, until all have one or ctx ends.
func (n *Engine) Embed(ctx context.Context) error {
	return robotmem.Wrap("embed", n.embeddings.EmbedAll(ctx))
}

// Reembed embeds every memory with the model of this node's embedder and then switches
// recall to that model. Recall uses the old vectors until all new ones are stored. The
// vectors of an interrupted call are kept for the next one. progress, which may be nil, is called with the
// number of memories done and the total. It fails with Invalid without an embedder, with Conflict when the
// reembed of another process ends first, and with the errors of Embedder.Embed.
func (n *Engine) Reembed(ctx context.Context, progress func(done, total int64)) error {
	if progress == nil {
		progress = func(int64, int64) {}
	}
	return robotmem.Wrap("reembed", n.embeddings.Reembed(ctx, progress))
}
