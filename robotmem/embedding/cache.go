package embedding

import (
	"container/list"
	"slices"
	"sync"
)

// cachedQuestions is how many questions keep their vector: 3 MB at 768
// dimensions. A robot asks the same few questions all day.
const cachedQuestions = 1000

// cache holds the vectors of the questions that were asked last.
type cache struct {
	size int

	mu     sync.Mutex // guards all below
	recent *list.List // of *cached, the last used first
	byText map[string]*list.Element
}

type cached struct {
	text   string
	vector []float32
}

func newCache(size int) *cache {
	return &cache{size: size, recent: list.New(), byText: map[string]*list.Element{}}
}

// get returns a copy of the vector of text, nil if it is not held.
func (c *cache) get(text string) []float32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.byText[text]
	if !ok {
		return nil
	}
	c.recent.MoveToFront(at)
	return slices.Clone(at.Value.(*cached).vector)
}

// put keeps a copy of vector and drops what was not used for the longest time.
func (c *cache) put(text string, vector []float32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.byText[text]; ok {
		at.Value.(*cached).vector = slices.Clone(vector)
		c.recent.MoveToFront(at)
		return
	}
	c.byText[text] = c.recent.PushFront(&cached{text, slices.Clone(vector)})
	if c.recent.Len() > c.size {
		oldest := c.recent.Remove(c.recent.Back()).(*cached)
		delete(c.byText, oldest.text)
	}
}
