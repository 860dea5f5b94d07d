package documents

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// line is a line of a page as it is printed.
type line struct {
	text string
	x, y float64 // where its first letter stands, in points from the lower left corner
	size float64 // of its letters, in points
}

// entry is one of the outline of a document.
type entry struct {
	title string
	level int
	page  int
	y     float64 // on the page, -1 if it is not told
}

// layout makes blocks of the lines of pages: it leaves out what is repeated on each page, finds the headings, and joins
// the lines of a paragraph.
type layout struct {
	pages    [][]line
	outline  []entry
	contents []int // pages of a table of contents without leaders, whose lines are left out
}

// hyphens are the marks that PDFium puts where a word was divided at the end of a line.
var hyphens = strings.NewReplacer("\x02\r\n", "", "\x02", "", "\ufffe\r\n", "", "\ufffe", "", "\u00ad\r\n", "")

// leaders matches a line of a table of contents, which repeats a heading.
var leaders = pattern(`(?:\.\s?){4,}\s*(?:\d+|[ivxlc]+)?$|(?:…\s?){2,}\s*\d+$`)

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// isGarbage reports whether a text is made of characters that mean nothing.
func isGarbage(text string) bool {
	bad, all := 0, 0

	for _, r := range text {
		if unicode.IsSpace(r) {
			continue
		}
		all++
		if r == unicode.ReplacementChar || r >= 0xe000 && r <= 0xf8ff || r < ' ' || r >= 0x80 && r < 0xa0 {
			bad++
		}
	}

	return all > 20 && bad > all*3/10
}

// ranges returns numbers as "1-3, 7".
func ranges(numbers []int) string {
	var parts []string

	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, fmt.Sprint(numbers[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", numbers[i], numbers[j]))
		}
		if i = j + 1; len(parts) == 20 && i < len(numbers) {
			parts = append(parts, "…")
			break
		}
	}

	return strings.Join(parts, ", ")
}

var digits = pattern(`\d+|\b[ivxlc]+\b`)

// edges are the lines of a page that may be a header or a footer, by their place from the top or from the bottom.
const edges = 2 // running goes through them

// running returns, for each page, which of its lines are headers and footers: lines at the same place from an edge whose
// text comes again, whatever its numbers, on other pages, or that stand where most pages have such a line.
func (l *layout) running() []map[int]bool {
	type place struct {
		edge int // 0 and 1 from the top, -1 and -2 from the bottom
		text string
	}

	type spot struct{ edge, y int }

	at := func(page []line, edge int) (int, bool) {
		i := edge
		if edge < 0 {
			i += len(page)
		}
		// The lines in the middle of a short page are neither.
		return i, len(page) >= 2*edges || len(page) > 1 && (edge == 0 || edge == -1)
	}

	out := make([]map[int]bool, len(l.pages))
	texts, spots, repeated := map[place]int{}, map[spot]int{}, map[spot]int{}

	each := func(f func(page, index, edge int, key string)) {
		for n, page := range l.pages {
			for _, edge := range []int{0, 1, -1, -2} {
				if i, ok := at(page, edge); ok {
					f(n, i, edge, digits().ReplaceAllString(strings.ToLower(page[i].text), "#"))
				}
			}
		}
	}

	each(func(_, _, edge int, key string) { texts[place{edge, key}]++ })
	each(func(n, i, edge int, key string) {
		s := spot{edge, int(math.Round(l.pages[n][i].y / 2))}
		spots[s]++
		if texts[place{edge, key}] >= 2 {
			repeated[s]++
		}
	})

	enough := max(3, len(l.pages)/50)

	each(func(n, i, edge int, key string) {
		s := spot{edge, int(math.Round(l.pages[n][i].y / 2))}
		band := spots[s]*4 >= len(l.pages) && repeated[s] >= enough && repeated[s]*10 >= spots[s]*6
		outer := edge == 0 || edge == -1 || edge == 1 && out[n][i-1] || edge == -2 && out[n][i+1]
		number := outer && strings.Trim(key, "#-–. ") == ""

		if number || texts[place{edge, key}] >= enough && len(key) > 1 || band {
			if out[n] == nil {
				out[n] = map[int]bool{}
			}
			out[n][i] = true
		}
	})

	return out
}

var numberAtEnd = pattern(`^\D.*\s(\d{1,4})$`)

// isContents reports whether a page is one of a table of contents: it is among the first ones, and half of its lines end
// with numbers of later pages, which grow.
func (l *layout) isContents(n int, page []line) bool {
	const least = 8 // lines

	if n > max(4, len(l.pages)/10) || len(page) < least {
		return false
	}

	entries, grow, last := 0, 0, 0

	for _, one := range page {
		m := numberAtEnd().FindStringSubmatch(one.text)
		if m == nil {
			continue
		}

		number, _ := strconv.Atoi(m[1]) // of at most four digits
		if number > len(l.pages) {
			continue
		}
		entries++
		if number >= last {
			grow++
		}
		last = number
	}

	return entries >= least && entries*2 >= len(page) && grow*10 >= entries*9 && last > n
}

// blocks adds the blocks of all pages.
func (l *layout) blocks(out *blocks) error {
	running := l.running()
	for n := range l.pages {
		kept := l.pages[n][:0:0]
		for i, one := range l.pages[n] {
			if !running[n][i] && !leaders().MatchString(one.text) {
				kept = append(kept, one)
			}
		}
		if l.isContents(n, kept) {
			l.contents = append(l.contents, n+1)
			kept = slices.DeleteFunc(kept, func(one line) bool { return numberAtEnd().MatchString(one.text) })
		}
		l.pages[n] = kept
	}

	p := &pager{out: out, body: l.bodySize()}
	p.leading = l.leading(p.body)
	p.levels = l.sizesOfHeadings(p.body)

	next := 0
	slices.SortStableFunc(l.outline, func(a, b entry) int { return a.page - b.page })

	for n, page := range l.pages {
		p.page, out.page = n+1, n+1

		from := next
		for next < len(l.outline) && l.outline[next].page <= n+1 {
			next++
		}
		if err := p.lines(page, l.outline[from:next], len(l.outline) > 0); err != nil {
			return err
		}
	}

	return p.flush()
}

// bodySize returns the size of most letters.
func (l *layout) bodySize() float64 {
	letters := map[float64]int{}

	for _, page := range l.pages {
		for _, one := range page {
			letters[round(one.size)] += len(one.text)
		}
	}

	return most(letters)
}

// leading returns the distance of most lines of that size.
func (l *layout) leading(body float64) float64 {
	gaps := map[float64]int{}

	for _, page := range l.pages {
		for i := 1; i < len(page); i++ {
			if gap := page[i-1].y - page[i].y; gap > 0 && gap < 4*body && round(page[i].size) == body {
				gaps[round(gap)]++
			}
		}
	}

	return most(gaps)
}

func round(f float64) float64 { return math.Round(f*2) / 2 }

func most(counts map[float64]int) (best float64) {
	n := 0
	for v, count := range counts {
		if count > n || count == n && v < best {
			best, n = v, count
		}
	}

	return best
}

// sizesOfHeadings returns the levels of the sizes that are larger than that of the body.
func (l *layout) sizesOfHeadings(body float64) map[float64]int {
	var sizes []float64

	for _, page := range l.pages {
		for _, one := range page {
			if s := round(one.size); s > body*1.1 && !slices.Contains(sizes, s) {
				sizes = append(sizes, s)
			}
		}
	}
	slices.SortFunc(sizes, func(a, b float64) int { return int(b*2) - int(a*2) })

	levels := map[float64]int{}
	for i, s := range sizes {
		levels[s] = min(i+1, 6)
	}

	return levels
}

// pager joins the lines of pages into blocks. A paragraph may go on over the end of a page.
type pager struct {
	out     *blocks
	body    float64
	leading float64
	levels  map[float64]int
	page    int

	one     block
	text    strings.Builder
	last    line // of the block
	longest int  // bytes of a long line of the page
}

func (p *pager) flush() error {
	p.one.text = p.text.String()
	p.text.Reset()
	one := p.one
	p.one = block{}

	if one.text == "" {
		return nil
	}

	return p.out.append(one)
}

// lines adds the lines of a page. entries are those of the outline that begin on it.
func (p *pager) lines(page []line, entries []entry, outlined bool) error {
	heads := matchOutline(page, entries)

	for _, h := range heads[0] {
		if len(page) > 0 {
			break
		}
		if err := p.out.add(heading, h.level, h.title); err != nil {
			return err
		}
	}

	// Some lines are longer than the page is wide, because words were joined that were divided.
	var lengths []int
	for _, l := range page {
		lengths = append(lengths, len(l.text))
	}
	slices.Sort(lengths)
	if len(lengths) > 0 {
		p.longest = lengths[len(lengths)*3/4]
	}

	for i := 0; i < len(page); i++ {
		l := page[i]

		if here := heads[i]; len(here) > 0 {
			if err := p.flush(); err != nil {
				return err
			}

			printed := 0

			for _, h := range here {
				if err := p.out.add(heading, h.level, h.title); err != nil {
					return err
				}
				printed = max(printed, h.lines)
			}
			if i += printed; printed > 0 {
				i-- // these lines are the heading itself
				continue
			}
		}

		if !outlined {
			if level := p.headingLevel(l); level > 0 {
				// A heading of several lines is one.
				if p.one.kind == heading && p.one.level == level && p.last.y-l.y < 2.2*l.size && p.last.y > l.y {
					p.text.WriteString(" " + l.text)
					p.last = l
					continue
				}
				if err := p.flush(); err != nil {
					return err
				}
				p.begin(heading, l)
				p.one.level = level
				continue
			}
		}

		if err := p.line(l, i == 0); err != nil {
			return err
		}
	}

	return nil
}

// headingLevel guesses the level of a line that is larger than the text or has a number; 0 if it is no heading.
func (p *pager) headingLevel(l line) int {
	if len(l.text) > 120 || strings.IndexFunc(l.text, unicode.IsLetter) < 0 {
		return 0
	}

	size := round(l.size)
	if size > p.body*1.1 {
		if level := numberedLevel(l.text); level > 0 {
			return level
		}
		return p.levels[size]
	}

	return 0
}

func (p *pager) begin(k kind, l line) {
	p.one = block{kind: k, marks: []mark{{0, p.page}}}
	p.text.WriteString(l.text)
	p.last = l
}

// line appends a line to the block, or begins another block.
func (p *pager) line(l line, first bool) error {
	listed := bullet().MatchString(l.text)

	if p.text.Len() == 0 || p.one.kind == heading || listed || p.ends(l, first) {
		if err := p.flush(); err != nil {
			return err
		}

		k := paragraph
		if listed {
			k = item
		}
		p.begin(k, l)

		return nil
	}

	before := p.last.text

	switch {
	case strings.HasSuffix(before, "-") && startsLower(l.text) && len(before) > 1 && unicode.IsLetter(rune(before[len(before)-2])):
		// A word that was divided. Its hyphen may be a part of it, which is the rarer case.
		whole := strings.TrimSuffix(p.text.String(), "-")
		p.text.Reset()
		p.text.WriteString(whole)
	case spaceless(before):
	case len(before) < p.longest*55/100:
		p.text.WriteByte('\n')
	default:
		p.text.WriteByte(' ')
	}

	if first {
		p.one.marks = append(p.one.marks, mark{p.text.Len(), p.page})
	}
	p.text.WriteString(l.text)
	p.last = l

	return nil
}

// ends reports whether a line begins a new paragraph.
func (p *pager) ends(l line, first bool) bool {
	closed := endsSentence(p.last.text)
	if first {
		return closed || round(l.size) != round(p.last.size)
	}

	// A line whose last word was divided has the whole line below in its text.
	gap := p.last.y - l.y
	if len(p.last.text) > p.longest*13/10 {
		gap -= p.leading
	}

	switch {
	case gap > 1.35*p.leading && gap > 1.35*p.body:
		return true
	case gap < -p.leading: // another column
		return closed
	case math.Abs(l.size-p.last.size) > 0.15*p.body && math.Abs(gap) > 0.5*p.body:
		return true
	case closed && l.x-p.last.x > 0.8*p.body && l.x-p.last.x < 5*p.body && gap > 0.5*p.body:
		return true // indented
	}

	return false
}

func startsLower(s string) bool {
	for _, r := range s {
		return unicode.IsLower(r)
	}
	return false
}

func endsSentence(s string) bool {
	s = strings.TrimRight(s, ` )"'”’»]`)
	return s == "" || strings.HasSuffix(s, "。") || strings.HasSuffix(s, "！") || strings.HasSuffix(s, "？") ||
		strings.ContainsAny(s[len(s)-1:], ".!?:")
}

// head is an entry of the outline at a line. lines is how many lines its title takes, 0 if it is not printed there.
type head struct {
	title string
	level int
	lines int
}

// matchOutline finds the lines that are the titles of entries of a page, in their order.
func matchOutline(page []line, entries []entry) map[int][]head {
	heads := map[int][]head{}
	from := 0

	for _, e := range entries {
		want := letters(e.title)
		found, taken := -1, 0

		for i := from; i < len(page) && found < 0; i++ {
			joined := ""
			for j := i; j < min(i+3, len(page)); j++ {
				joined += letters(page[j].text)
				if sameTitle(joined, want) {
					found, taken = i, j-i+1
					break
				}
				if len(joined) > len(want)+20 {
					break
				}
			}
		}

		switch {
		case found >= 0:
			from = found + taken
		case e.y >= 0:
			// The title is printed otherwise: the place on the page tells where its section begins.
			found = from
			for found < len(page)-1 && page[found].y > e.y {
				found++
			}
		default:
			found = from
		}
		if len(page) == 0 {
			found = 0
		}

		heads[found] = append(heads[found], head{e.title, e.level, taken})
	}

	return heads
}

// letters returns what two spellings of a title have in common.
func letters(s string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if isLetter(r) {
			return r
		}
		return -1
	}, ligatures.Replace(s)))
}

// chapterNumber is what one of a printed title and an entry may have before the words.
var chapterNumber = pattern(`^(?:chapter|appendix|part|section|kapitel|第)?(?:\d+|[a-z])(?:章|部)?`)

func sameTitle(a, b string) bool {
	if a == b {
		return a != ""
	}
	bare := func(s string) string { return chapterNumber().ReplaceAllString(s, "") }

	return len(a) > 3 && len(b) > 3 && (bare(a) == b || a == bare(b))
}
