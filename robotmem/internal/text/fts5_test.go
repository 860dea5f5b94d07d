package text_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/fts5"

	"github.com/robotmem/robotmem-go/robotmem/internal/text"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// fts is a full-text table that shows which tokens it stored.
type fts struct {
	db             *sqlite3.Conn
	insert, tokens *sqlite3.Stmt
}

func openFTS(t testing.TB) *fts {
	t.Helper()
	db, err := sqlite3.Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := fts5.Register(db); err != nil {
		t.Fatal(err)
	}
	f := &fts{db: db}
	f.exec(t, `CREATE VIRTUAL TABLE t USING fts5(body, tokenize = "`+text.Tokenize+`");
		CREATE VIRTUAL TABLE v USING fts5vocab(t, instance)`)
	if f.insert, _, err = db.Prepare(`INSERT INTO t(rowid, body) VALUES (1, ?)`); err != nil {
		t.Fatal(err)
	}
	if f.tokens, _, err = db.Prepare(`SELECT term, offset FROM v`); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.insert.Close(); _ = f.tokens.Close() })
	return f
}

func (f *fts) exec(t testing.TB, sql string) {
	t.Helper()
	if err := f.db.Exec(sql); err != nil {
		t.Fatal(err)
	}
}

// tokenize returns what FTS5 makes of an indexed text, in text order.
func (f *fts) tokenize(t testing.TB, body string) []string {
	t.Helper()
	f.exec(t, `DELETE FROM t`)
	if err := f.insert.BindText(1, body); err != nil {
		t.Fatal(err)
	}
	if err := f.insert.Exec(); err != nil {
		t.Fatal(err)
	}
	byOffset := map[int]string{}
	for f.tokens.Step() {
		byOffset[f.tokens.ColumnInt(1)] = f.tokens.ColumnText(0)
	}
	if err := f.tokens.Reset(); err != nil {
		t.Fatal(err)
	}
	out := make([]string, len(byOffset))
	for i := range out {
		out[i] = byOffset[i]
	}
	return out
}

func (f *fts) check(t testing.TB, s string) {
	t.Helper()
	// FTS5 takes pictures for separators: they are found by the posting lists alone.
	terms := slices.DeleteFunc(text.Terms(s), picture)
	want := make([]string, len(terms))
	for i, term := range terms {
		want[i] = text.Stem(term)
	}
	got := slices.DeleteFunc(f.tokenize(t, strings.Join(terms, " ")), picture)
	if slices.Equal(want, got) { // cmp is slow on long slices
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("FTS5 stored other tokens for %q than Stem of Terms (-ours +FTS5):\n%s", s, diff)
	}
}

func picture(term string) bool {
	return !strings.ContainsFunc(term, func(r rune) bool { return r < 0x2600 || r > 0x27BF && r < 0x1F300 || r > 0x1FAFF })
}

func TestFTS5StoresEachTermAsOneToken(t *testing.T) {
	if testing.Short() {
		t.Skip("every code point, one goroutine: nothing for -race")
	}
	f := openFTS(t)
	for _, s := range samples {
		f.check(t, s)
	}
	t.Run("every code point", func(t *testing.T) { // outside CI those below 10000, which are most letters
		var b strings.Builder
		for r := rune(0); r <= rune(rounds.Of(0xFFFF, unicode.MaxRune)); r++ {
			if r == 0xD800 {
				r = 0xE000
			}
			b.WriteString("x" + string(r) + "y " + string(r) + " ")
			if r%0x1000 == 0xFFF {
				f.check(t, b.String())
				b.Reset()
			}
		}
	})
	t.Run("random", func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(1, 2))
		alphabet := []rune("abcSTyedings019.-_/:'\"*^%°μΩ,+()= \n\x00抓取力夹爪的ァア한글ไทยकिéÉßſςΣİǠ½²①ﬁA１�́̈")
		for range rounds.Of(1000, 3000) {
			s := make([]rune, rnd.IntN(40))
			for i := range s {
				s[i] = alphabet[rnd.IntN(len(alphabet))]
			}
			f.check(t, string(s))
		}
	})
}

func TestStemIsThatOfFTS5(t *testing.T) {
	if testing.Short() {
		t.Skip("a whole vocabulary, one goroutine: nothing for -race")
	}
	f := openFTS(t)
	heads := strings.Fields(`a e o y b ab tr oa by fly cry sky hop hopp fall fil hiss fizz tan fail troubl
		siz conflat run cav relat rat adopt hom conn feud agre contr roll tre syzyg say dy 12.5 v1.2 grip_forc яб ø`)
	tails := strings.Fields(`s es ss sses ies ied eed eedly ed ing y ly al ational tional enci anci izer bli logi alli
		entli eli ousli ization ation ator alism iveness fulness ousness aliti iviti biliti icate ative alize iciti ical
		ful ness ance ence er ic able ible ant ement ment ent ion sion tion ou ism ate iti ous ive ize e ll lle yed ying`)
	var words []string
	for _, h := range heads {
		words = append(words, h)
		for _, a := range tails {
			words = append(words, h+a, a)
			for _, b := range tails[:20] {
				words = append(words, h+a+b)
			}
		}
	}
	words = append(words, strings.Repeat("a", 61)+"ing", strings.Repeat("a", 62)+"ing", strings.Repeat("ab", 31)+"ed")
	words = append(words, slices.DeleteFunc(corpusWords(t), picture)...)
	for len(words) > 0 {
		n := min(len(words), 5000)
		want := make([]string, n)
		for i, w := range words[:n] {
			want[i] = text.Stem(w)
		}
		got := f.tokenize(t, strings.Join(words[:n], " "))
		if len(got) != n {
			t.Fatalf("FTS5 made %d tokens of %d words", len(got), n)
		}
		for i, w := range words[:n] {
			if got[i] != want[i] {
				t.Errorf("Stem(%q) = %q, FTS5 stores %q", w, want[i], got[i])
			}
		}
		words = words[n:]
	}
}

// corpusWords are the words of the text collections in the folder that
// ROBOTMEM_BEIR names, as they are not part of the source.
func corpusWords(t *testing.T) []string {
	files, err := filepath.Glob(filepath.Join(os.Getenv("ROBOTMEM_BEIR"), "*", "corpus.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var out []string
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range text.Terms(string(b)) {
			if !seen[w] {
				seen[w] = true
				out = append(out, w)
			}
		}
	}
	return out
}

func FuzzTerms(f *testing.F) {
	for _, s := range samples {
		f.Add(s)
	}
	db := openFTS(f)
	f.Fuzz(func(t *testing.T, s string) {
		for _, term := range text.Terms(s) {
			if term == "" || len(term) > 64 || !utf8.ValidString(term) || strings.ContainsAny(term, "\"' \x00\t\n*()^+") {
				t.Fatalf("Terms(%q) holds %q", s, term)
			}
			if low := strings.ToLower(term); low != term {
				t.Fatalf("Terms(%q) holds %q, which is not lower case", s, term)
			}
		}
		db.check(t, s)
		content, stop := text.Query(s)
		if len(content)+len(stop) == 0 && len(text.Terms(s)) > 0 {
			t.Fatalf("Query(%q) is empty, Terms is not", s)
		}
		indexed := map[string]bool{}
		for _, term := range text.Terms(s) {
			indexed[term] = true
		}
		for _, term := range append(content, stop...) {
			if !indexed[term] {
				t.Fatalf("Query(%q) asks for %q, which its own text does not hold", s, term)
			}
		}
		for _, q := range text.Quantities(s) {
			if q.Value == "" || strings.ContainsAny(q.Value, " +,") {
				t.Fatalf("Quantities(%q) holds %+v", s, q)
			}
		}
		if n := text.Negations(s); n < 0 || n > len(s) {
			t.Fatalf("Negations(%q) = %d", s, n)
		}
	})
}
