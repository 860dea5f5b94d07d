package text

import (
	"sync"
	"unicode/utf8"

	"github.com/go-ego/gse"
)

// Scripts without spaces are indexed by each character and each pair of
// neighbours. That needs no dictionary: traditional characters, names and
// misspellings work like any other text, a word of one or two characters is
// found wherever it stands, and no update of a dictionary makes an index stale.
//
// Dictionary words beside them were tried and found nothing more (docs/text.md).
// What a segmentation is good for is the question: "夹爪的力是多少" asks for 夹爪
// and 力, and without word borders nobody knows that 的 and 多少 may go, and with
// them the pairs 爪的, 的力, 力是, 是多.

const (
	// minWordFrequency cuts the dictionary to its common half: loading takes a
	// third of the time and of the memory.
	minWordFrequency = 5
	// maxHanBytes bounds what is segmented at once, as gse sums the shortest
	// path in single precision.
	maxHanBytes = 3 * 1024
)

// dictionary is loaded by the first Chinese question and kept for the process.
// It is only read from then on.
var dictionary = sync.OnceValues(func() (*gse.Segmenter, error) {
	seg := &gse.Segmenter{MinTokenFreq: minWordFrequency, NotLoadHMM: true, SkipLog: true}
	return seg, seg.LoadDictEmbed("zh_s")
})

// unspaced emits the run of class c at i and returns its end.
func (p *scanner) unspaced(i int, c class) int {
	start := i
	for i < len(p.s) {
		next, n := classAt(p.s, i)
		if next != c {
			break
		}
		i += n
	}
	run := p.s[start:i]
	if c == han && p.query && p.ask(run) {
		return i
	}
	p.pairs(run, 0, len(run), len(run))
	return i
}

// pairs emits the characters of run from i to end, each followed by its pair
// with the next unless that reaches beyond limit.
func (p *scanner) pairs(run string, i, end, limit int) {
	for i < end {
		_, n := utf8.DecodeRuneInString(run[i:])
		p.out = append(p.out, run[i:i+n])
		if next := i + n; next < limit {
			_, m := utf8.DecodeRuneInString(run[next:])
			p.out = append(p.out, run[i:next+m])
		}
		i += n
	}
}

// ask emits a Chinese run of a question without what lies in or across a stop
// word; that goes to p.stop. It reports false if there is no dictionary.
func (p *scanner) ask(run string) bool {
	seg, err := dictionary()
	if err != nil {
		return false // embedded, so hardly: the whole run is searched for instead
	}
	for len(run) > 0 {
		cut := min(len(run), maxHanBytes)
		for cut < len(run) && !utf8.RuneStart(run[cut]) {
			cut++
		}
		words := seg.Segment([]byte(run[:cut]))
		for i, w := range words {
			limit := cut
			if next := i + 1; next < len(words) && Stop(words[next].Token().Text()) {
				limit = w.End()
			}
			if !Stop(w.Token().Text()) {
				p.pairs(run, w.Start(), w.End(), limit)
				continue
			}
			kept := len(p.out)
			p.pairs(run, w.Start(), w.End(), w.End())
			p.stop = append(p.stop, p.out[kept:]...)
			p.out = p.out[:kept]
		}
		run = run[cut:]
	}
	return true
}
