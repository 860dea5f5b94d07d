package engine

import (
	"context"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/lexical"
	"github.com/robotmem/robotmem-go/robotmem/internal/profile"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// About writes the page of a subject, or lists the subjects.
func (n *Engine) About(ctx context.Context, req *robotmem.AboutRequest) (*robotmem.AboutResponse, error) {
	return serve("about", req, func(r *robotmem.AboutRequest) (*robotmem.AboutResponse, error) {
		res := &robotmem.AboutResponse{}

		return res, n.withWords(ctx, true, func(missing error) error {
			return n.Store.Read(ctx, func(c *store.Conn) error {
				if err := n.index.Columns.Sync(c); err != nil {
					return err
				}
				words, err := n.index.Postings.At(c)
				if err == nil && words == nil && missing == nil {
					err = index.ErrPostingsDropped
				}
				if err != nil {
					return err
				}

				base, err := n.index.Admit(c,
					index.Selection{Scope: index.Scope{Collection: r.Collection}, Now: n.Now()})
				if err != nil {
					return err
				}

				// A page says what the robot has learnt of a subject. recall with entity finds what manuals say of it.
				manuals, err := n.index.Admit(c, index.Selection{
					Scope: index.Scope{Collection: r.Collection, Kind: robotmem.TypeDocument}, Now: n.Now(),
				})
				if err != nil {
					return err
				}
				base = base.Difference(manuals)

				*res = robotmem.AboutResponse{}
				finder := n.finder(c, words, missing, r.Collection, base)

				if r.Subject == "" {
					res.Memories = int(base.Count())
					res.Subjects, err = finder.List()

					return err
				}

				s, err := finder.Find("subject", r.Subject)
				if err != nil {
					return err
				}
				if s.Write(r.N, n.Now(), res); res.Memories == 0 {
					return finder.Suggest(s, res)
				}

				return nil
			})
		})
	})
}

// finder finds subjects among the members of base. words are nil if they are not loaded, for the reason that missing
// gives.
func (n *Engine) finder(
	c *store.Conn, words *lexical.Index, missing error, collection string, base *bitset.BitSet,
) *profile.Finder {
	return &profile.Finder{
		Index: n.index, Catalog: n.catalog, Conn: c, Words: words, Missing: missing, Collection: collection, Base: base,
		Now: n.Now(),
	}
}
