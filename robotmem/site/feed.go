package site

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// Robots read the changes of others from feeds, in chunks that are the same for all of them. The database writes the
// feeds: no way into a memory leaves them out. A chunk is rendered once for each state of it, from what the memories
// are then: one that has changed again is at its new number. So a text is nowhere but in the memory itself.

const (
	keptChunks    = 1000 // rendered ones, some 15 kB each
	chunksAtOnce  = 200  // that an answer names
	confirmAgain  = time.Minute
	knownReplicas = 100_000
)

// feeds answers what robots ask of feeds.
type feeds struct {
	node   Memories
	chunks *lru.Cache[string, []byte]

	mu        sync.Mutex // guards confirmed
	confirmed *lru.Cache[string, confirmation]
}

// confirmation is what a node has stored of the cursors of a replica.
type confirmation struct {
	at          time.Time
	generations int64 // of all its feeds: they change with each purge
}

func newFeeds(node Memories) *feeds {
	// They fail only for a size below 1.
	chunks, _ := lru.New[string, []byte](keptChunks)
	confirmed, _ := lru.New[string, confirmation](knownReplicas)

	return &feeds{node: node, chunks: chunks, confirmed: confirmed}
}

// answerPull says what is new after the cursors of a robot, and stores the cursors: they say what it has applied.
func (f *feeds) answerPull(ctx context.Context, n *local.Node, p *fleet.PullRequest) (*fleet.PullResponse, error) {
	if err := requireRobot(ctx, p.Robot); err != nil {
		return nil, err
	}
	if p.Newest < 0 || len(p.Subscribe) > maxSubscribed {
		return nil, robotmem.Errorf(robotmem.Invalid, "subscribe", "names at most %d collections, and newest is not below 0", maxSubscribed)
	}

	if len(p.Cursors) > fleet.MaxItems {
		return nil, robotmem.Errorf(robotmem.TooLarge, "cursors", "are %d; a robot reads at most %d feeds", len(p.Cursors), fleet.MaxItems)
	}

	out := &fleet.PullResponse{Protocol: fleet.Protocol}

	names, all := []string{fleet.OwnFeed(p.Robot)}, false
	for _, collection := range p.Subscribe {
		all = all || collection == robotmem.AllCollections
		if strings.HasPrefix(collection, "@") {
			continue // that of another robot
		}
		if err := requireCollection(ctx, collection); err != nil && collection != robotmem.AllCollections {
			out.Feeds = append(out.Feeds, fleet.News{Feed: collection, Refused: robotmem.Explain(err).Detail()})
			continue
		}
		names = append(names, collection)
	}
	list, err := json.Marshal(names)
	if err != nil {
		return nil, err
	}

	generations, read := int64(0), map[string]int64{}
	err = engine.Of(n).Store.Read(ctx, func(c *store.Conn) error {
		known, err := readReplica(c, p.Replica)
		if err != nil {
			return err
		}
		if known == nil || known.robot != p.Robot {
			return robotmem.Errorf(robotmem.Conflict, "replica", "is not known at this site; run robotmem fleet join again")
		}
		out.Cloned = known.cloned

		heads, err := c.FeedHeads(string(list), all)
		if err != nil {
			return err
		}

		for i := range heads {
			h := &heads[i]
			if !strings.HasPrefix(h.Feed, "@") && requireCollection(ctx, h.Feed) != nil {
				continue
			}
			generations += h.Generation
			read[h.Feed] = max(0, p.Cursors[h.Feed].Number)
			news, err := newsOf(c, h, p)
			if err != nil {
				return err
			}
			if news != nil {
				out.Feeds = append(out.Feeds, *news)
				out.More = out.More || !news.End
			}
		}

		return c.Query(store.OpenConflictsOf, []any{p.Robot}, func(s store.Row) error {
			out.Conflicts = append(out.Conflicts, s.ColumnText(0))
			return nil
		})
	})
	if err != nil {
		return nil, err
	}

	return out, f.confirm(ctx, n, p, read, generations)
}

// maxSubscribed bounds the collections of a pull.
const maxSubscribed = 1000

// newsOf returns what a feed has after the cursor of a robot, nil for nothing.
func newsOf(c *store.Conn, h *store.FeedHead, p *fleet.PullRequest) (news *fleet.News, err error) {
	at, known := p.Cursors[h.Feed]
	news = &fleet.News{Feed: h.Feed, Generation: h.Generation, After: at.Number}

	if known && at.Number > 0 {
		mark, err := c.FeedMark(h, at.Number)
		if err != nil {
			return nil, err
		}

		// The feed of this database is not the one that the robot has read: one of them was restored from a backup. A
		// cursor without a mark is of a robot that was interrupted while it began anew.
		if at.Mark != "" && fleet.MarkText(mark) != at.Mark || at.Number > h.Last {
			known = false
		}
	}
	if !known {
		news.Restart, news.After = true, 0
		if p.Newest > 0 && !strings.HasPrefix(h.Feed, "@") {
			_, err := c.One(store.FeedStart, []any{h.Feed, p.Newest}, func(s store.Row) { news.After = s.ColumnInt64(0) })
			if err != nil {
				return nil, err
			}
		}
	}
	if known && news.After >= h.Last {
		return nil, nil
	}

	return news, chunksAfter(c, h, news)
}

// chunksAfter names the chunks of a feed after a number.
func chunksAfter(c *store.Conn, h *store.FeedHead, news *fleet.News) error {
	next := news.After / store.ChunkNumbers
	open := (h.Last - 1) / store.ChunkNumbers

	if next < open {
		err := c.Query(store.FeedSealed, []any{h.Feed, next, chunksAtOnce}, func(s store.Row) error {
			chunk := s.ColumnInt64(0)
			if chunk >= open || chunk != next {
				return nil
			}
			news.Chunks = append(news.Chunks, fleet.Chunk{
				First: chunk*store.ChunkNumbers + 1, Last: (chunk + 1) * store.ChunkNumbers, Mark: fleet.MarkText(s.ColumnRawBlob(1)),
			})
			next++

			return nil
		})
		if err != nil {
			return err
		}
	}
	if news.End = next >= open; news.End && h.Last > 0 {
		news.Chunks = append(news.Chunks, fleet.Chunk{First: open*store.ChunkNumbers + 1, Last: h.Last, Mark: fleet.MarkText(h.Mark())})
	}

	return nil
}

// confirm stores which feeds a robot reads, and how far it has applied them. It writes at most once a minute for each
// robot, unless there was a purge, which is confirmed at once.
func (f *feeds) confirm(
	ctx context.Context, n *local.Node, p *fleet.PullRequest, read map[string]int64, generations int64,
) error {
	key := robotmem.CallerOf(ctx).Tenant + "\x00" + p.Replica
	f.mu.Lock()
	last, known := f.confirmed.Get(key)
	fresh := known && time.Since(last.at) < confirmAgain && last.generations == generations
	f.mu.Unlock()
	if fresh {
		return nil
	}

	err := engine.Of(n).Store.Write(ctx, func(tx *store.Tx) error {
		for feed, number := range read {
			if err := tx.Exec(store.PutFeedCursor, p.Replica, feed, number); err != nil {
				return err
			}
		}

		return tx.Exec(store.PulledReplica, store.FormatTime(tx.Now), max(0, p.Waiting), max(0, p.Refused), p.Replica)
	})
	if err != nil {
		return err
	}

	// A purge that came with this pull is confirmed by the next one, which must be stored too.
	at := time.Now()
	if known && last.generations != generations {
		at = time.Time{}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.confirmed.Add(key, confirmation{at, generations})

	return nil
}

// chunk writes a chunk. Its mark is known only to who was told of it, so a cache between robots and the site may
// keep it for everybody who asks for the same address.
func (f *feeds) chunk(w http.ResponseWriter, r *http.Request) error {
	n, leave, err := f.node(r.Context(), 0, 0)
	if err != nil {
		return err
	}
	defer leave()

	q := r.URL.Query()
	first, err1 := strconv.ParseInt(q.Get("first"), 10, 64)
	last, err2 := strconv.ParseInt(q.Get("last"), 10, 64)
	mark, err3 := hex.DecodeString(q.Get("mark"))
	if err1 != nil || err2 != nil || err3 != nil || first < 1 || last < first || last-first >= store.ChunkNumbers || len(mark) != store.MarkBytes {
		return robotmem.Errorf(robotmem.Invalid, "chunk", "has no such numbers; ask /api/fleet/pull for the chunks of a feed")
	}

	body, err := f.rendered(r.Context(), n, q, first, last, mark)
	if err != nil {
		return err
	}

	h := w.Header()
	etag := `"` + q.Get("generation") + "-" + q.Get("mark") + `"`
	h.Set("ETag", etag)
	// What the robot itself does to its memories is not in its own feed, so that a chunk of that ages.
	h.Set("Cache-Control", "public, max-age=3600, immutable")
	if strings.HasPrefix(q.Get("feed"), "@") {
		h.Set("Cache-Control", "no-store")
	}
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", "application/x-ndjson")
	h.Set("Vary", "Accept-Encoding")
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		return unpack(w, body)
	}
	h.Set("Content-Encoding", "gzip")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // the caller may be gone

	return nil
}

// rendered returns a chunk as compressed lines of JSON.
func (f *feeds) rendered(
	ctx context.Context, n *local.Node, q url.Values, first, last int64, mark []byte,
) (body []byte, err error) {
	feed := q.Get("feed")
	caller := robotmem.CallerOf(ctx)
	if robot, own := strings.CutPrefix(feed, "@"); own {
		err = requireRobot(ctx, robot)
	} else {
		err = requireCollection(ctx, feed)
	}
	if err != nil {
		return nil, err
	}

	err = engine.Of(n).Store.Read(ctx, func(c *store.Conn) error {
		// The head is read each time: after a purge nothing that was rendered before it may be served.
		heads, err := c.FeedHeads(mustList(feed), false)
		if err != nil {
			return err
		}
		known := []byte(nil)
		if len(heads) == 1 {
			if known, err = c.FeedMark(&heads[0], last); err != nil {
				return err
			}
		}
		if known == nil || !bytes.Equal(known, mark) || strconv.FormatInt(heads[0].Generation, 10) != q.Get("generation") {
			return robotmem.Errorf(robotmem.NotFound, "chunk", "is not of this feed any more; ask /api/fleet/pull again")
		}

		key := fmt.Sprintf("%s\x00%s\x00%d-%d-%x-%s", caller.Tenant, feed, first, last, mark, q.Get("generation"))
		_, own := strings.CutPrefix(feed, "@")
		if have, ok := f.chunks.Get(key); ok && !own {
			body = have
			return nil
		}
		if body, err = render(c, feed, first, last); err == nil && !own {
			f.chunks.Add(key, body)
		}

		return err
	})

	return body, err
}

// mustList is a JSON array of one name.
func mustList(name string) string {
	list, _ := json.Marshal([]string{name}) // a text
	return string(list)
}

// render reads a chunk from the database.
func render(c *store.Conn, feed string, first, last int64) ([]byte, error) {
	var body bytes.Buffer
	z := gzip.NewWriter(&body)
	lines := json.NewEncoder(z)

	err := c.EachFeedEntry(feed, first-1, last, func(e *store.FeedEntry) error {
		line := fleet.Entry{Number: e.Number, UID: e.UID, Change: e.Change}
		if e.Change == fleet.Changed {
			// The row is damaged, or it is being purged.
			if e.Memory == nil {
				return nil
			}
			// The history, the episode and the successor exist at the site only.
			m := *e.Memory
			m.Session, m.SupersededBy = "", ""
			line.Memory = &m
		}

		return lines.Encode(&line)
	})
	if err == nil {
		err = lines.Encode(&fleet.Entry{Number: last, UID: fleet.EndOfChunk})
	}
	if err == nil {
		err = z.Close()
	}

	return body.Bytes(), err
}

func unpack(w http.ResponseWriter, body []byte) error {
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return err
	}
	_, _ = io.Copy(w, z) // the caller may be gone

	return nil
}
