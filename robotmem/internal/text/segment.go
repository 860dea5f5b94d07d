package text

import (
	_ "embed"
	"sync"

	"github.com/go-ego/gse"
	"github.com/klauspost/compress/zstd"
)

// chineseWords is a dictionary of simplified Chinese, a word and its frequency a line: the words
// of jieba's dictionary (github.com/fxsjy/jieba, as in gse) that occur at least five times. A
// word of one character has the frequency 2, so that longer words win. The dictionaries that gse
// embeds are not linked, because nothing loads them: they are 38 MB, most of it Japanese.
//
//go:embed chinese/words.zst
var chineseWords []byte

// maxSegmented is how many bytes are segmented at once, because gse sums the shortest
// path in single precision.
const maxSegmented = 3 * 1024

// segmenter is loaded by the first Chinese question and kept for the process. It is
// never changed after that. It is no sync.OnceValue: a type parameter keeps all
// methods of a type in the program, and with them the dictionaries of gse.
var (
	loadSegmenter sync.Once
	segmenter     gse.Segmenter
)

func loadDictionary() {
	segmenter = gse.Segmenter{NotLoadHMM: true, SkipLog: true}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic(err) // no option is wrong
	}
	defer z.Close()
	words, err := z.DecodeAll(chineseWords, nil)
	if err == nil {
		err = segmenter.LoadDictStr(string(words))
	}
	if err != nil {
		// The dictionary is part of the program.
		panic(err)
	}
}

// segment returns the words of a Chinese text: the most probable ones.
func segment(s string) (words []string) {
	loadSegmenter.Do(loadDictionary)

	for _, w := range segmenter.Segment([]byte(s)) {
		words = append(words, w.Token().Text())
	}
	return words
}
