package salvage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"

	"github.com/robotmem/robotmem-go/robotmem/pagesum"
)

const (
	magic       = "SQLite format 3\x00"
	headerSize  = 100
	minPageSize = 512
	maxPageSize = 64 << 10
	usualSize   = 4096
)

// File is a damaged file with its log. It is used by one goroutine at a time.
type File struct {
	db      io.ReaderAt
	size    int64
	log     *wal
	closers []io.Closer
	info    Info
	late    bool // read the late pages of the log, too

	pageSize, usable int
}

// Info is what the head of a file says, or, where it is damaged, what the rest
// of the file makes likely.
type Info struct {
	HeaderWhole   bool // the first bytes are those of a SQLite file, and its sizes are possible
	PageSize      int
	Reserved      int  // bytes at the end of each page
	Checksums     bool // each page ends with a checksum
	Pages         uint32
	MissingPages  uint32 // that the head counts and the file has not
	ApplicationID uint32
	UserVersion   uint32
	LogFrames     int // whole and committed
	DamagedFrames int
}

// Open opens a file and, when there is one, the log beside it.
func Open(name string) (*File, error) {
	db, size, err := openFile(name)
	if err != nil {
		return nil, err
	}
	log, logSize, err := openFile(name + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		f := New(db, size, nil, 0)
		f.closers = []io.Closer{db}
		return f, nil
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	f := New(db, size, log, logSize)
	f.closers = []io.Closer{db, log}
	return f, nil
}

func openFile(name string) (*os.File, int64, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// New reads a file of size bytes and its log, which may be nil.
func New(db io.ReaderAt, size int64, log io.ReaderAt, logSize int64) *File {
	f := &File{db: db, size: size}
	head := make([]byte, headerSize)
	readAt(db, head, 0)
	f.readHead(head)
	if log != nil {
		if size := logPageSize(log); size != 0 && !f.info.HeaderWhole {
			f.setSizes(size, f.info.Reserved)
		}
		f.log = readLog(log, logSize, f.pageSize)
		f.info.LogFrames, f.info.DamagedFrames = f.log.frames, f.log.damaged
		// The log's first page is newer than the file's.
		if p := make([]byte, f.pageSize); f.log.page(1, p) && headWhole(p) {
			f.readHead(p)
			f.setSizes(f.pageSize, int(p[20])) // its frame has a sum
			f.info.Checksums = pagesum.Known(int(p[20]))
		}
	}
	f.countPages(head)
	return f
}

// readHead takes the head's word where the pages bear it out.
func (f *File) readHead(head []byte) {
	f.info.HeaderWhole = headWhole(head)
	f.info.UserVersion = binary.BigEndian.Uint32(head[60:])
	f.info.ApplicationID = binary.BigEndian.Uint32(head[68:])
	size, reserved := sizeOf(head), int(head[20])
	for try := range layouts(size, reserved) {
		if f.summed(try.size, try.reserved) {
			f.info.HeaderWhole = f.info.HeaderWhole && try == layout{size, reserved}
			f.info.Checksums = true
			f.setSizes(try.size, try.reserved)
			return
		}
	}
	guess, sure := f.guessSize()
	if !f.info.HeaderWhole || sure && guess != size {
		f.info.HeaderWhole, size = false, guess
	}
	reserved, f.info.Checksums = f.guessReserved(size, reserved)
	f.setSizes(size, reserved)
}

// headWhole looks at what is the same in every file, and at the sizes.
func headWhole(head []byte) bool {
	size := sizeOf(head)
	return bytes.HasPrefix(head, []byte(magic)) && validSize(size) && size-int(head[20]) >= 480 &&
		head[21] == 64 && head[22] == 32 && head[23] == 32
}

func sizeOf(head []byte) int {
	if n := int(binary.BigEndian.Uint16(head[16:])); n != 1 {
		return n
	}
	return maxPageSize
}

func (f *File) setSizes(size, reserved int) {
	f.pageSize, f.usable = size, size-reserved
	f.info.PageSize, f.info.Reserved = size, reserved
}

func (f *File) countPages(head []byte) {
	// A page that the file ends within is read as far as it goes.
	n := uint32(min((f.size+int64(f.pageSize)-1)/int64(f.pageSize), 1<<32-2))
	if f.log != nil {
		n = max(n, f.log.last)
	}
	f.info.Pages = n
	if counted := binary.BigEndian.Uint32(head[28:]); f.info.HeaderWhole && counted > n && f.log.empty() {
		f.info.MissingPages = counted - n
	}
}

func validSize(n int) bool { return n >= minPageSize && n <= maxPageSize && n&(n-1) == 0 }

// samplesToJudge is how many pages must be looked at before they count for more
// than the head.
const samplesToJudge = 8

// guessSize finds the page size: the smallest under which nearly as many pages
// begin as a page of a tree does as under any. sure is false when few do, as
// where most pages hold large payloads.
func (f *File) guessSize() (size int, sure bool) {
	var sizes []int
	var scores []float64
	enough := false
	buf := make([]byte, 12)
	for size := minPageSize; size <= maxPageSize; size *= 2 {
		looked, found := 0, 0
		for at := range samples(f.size, size) {
			readAt(f.db, buf, at)
			looked++
			if plausible(buf, size) {
				found++
			}
		}
		enough = enough || looked >= samplesToJudge && size >= usualSize
		if looked > 0 {
			sizes, scores = append(sizes, size), append(scores, float64(found)/float64(looked))
		}
	}
	if len(scores) == 0 || slices.Max(scores) == 0 {
		return usualSize, false
	}
	best := slices.Max(scores)
	at := slices.IndexFunc(scores, func(s float64) bool { return s >= 0.75*best })
	return sizes[at], enough && best >= 0.3
}

// layout is how a file is divided into pages.
type layout struct{ size, reserved int }

// layouts are those that pages with checksums can have, that which the head
// claims before all.
func layouts(size, reserved int) iter.Seq[layout] {
	return func(yield func(layout) bool) {
		if validSize(size) && pagesum.Known(reserved) && !yield(layout{size, reserved}) {
			return
		}
		for _, reserved := range []int{pagesum.Reserved, pagesum.ReservedBySQLite} {
			for size := minPageSize; size <= maxPageSize; size *= 2 {
				if !yield(layout{size, reserved}) {
					return
				}
			}
		}
	}
}

// summed reports whether most pages have their checksum under a layout. What
// pages look like says less: where most hold large payloads it is misleading.
func (f *File) summed(size, reserved int) bool {
	looked, fit := 0, 0
	page := make([]byte, size)
	for at := range samples(f.size, size) {
		if readAt(f.db, page, at); zeros(page) {
			continue // SQLite's fits, whatever it was
		}
		looked++
		if pagesum.Fits(page, uint32(at/int64(size))+1, reserved) {
			fit++
		}
	}
	return 2*fit > looked
}

// guessReserved finds how many bytes of each page are reserved, and whether for a
// checksum that can be believed: as many as most pages have one for, or else what
// the head claims. That is believed unless hardly any page has such a sum while
// rows lie where it should be; another program leaves its place empty.
func (f *File) guessReserved(size, claimed int) (reserved int, sums bool) {
	kinds := []int{pagesum.Reserved, pagesum.ReservedBySQLite}
	fit := map[int]int{}
	looked, empty := 0, 0
	page := make([]byte, size)
	for at := range samples(f.size, size) {
		readAt(f.db, page, at)
		if zeros(page) {
			continue // SQLite's fits, whatever it was
		}
		looked++
		if zeros(page[size-claimed:]) {
			empty++
		}
		for _, kind := range kinds {
			if pagesum.Fits(page, uint32(at/int64(size))+1, kind) {
				fit[kind]++
			}
		}
	}
	for _, kind := range kinds {
		if 2*fit[kind] > looked {
			return kind, true
		}
	}
	switch {
	case 2*empty > looked && claimed > 0:
		return claimed, false
	case !pagesum.Known(claimed) && looked > 0, fit[claimed] == 0 && looked >= samplesToJudge:
		return 0, false
	}
	return claimed, pagesum.Known(claimed)
}

func zeros(p []byte) bool { return bytes.Count(p, []byte{0}) == len(p) }

// samples yields the places of some pages, spread over the file.
func samples(size int64, pageSize int) func(func(int64) bool) {
	const most = 512
	return func(yield func(int64) bool) {
		pages := size / int64(pageSize)
		step := max(1, pages/most)
		for n := int64(1); n < pages; n += step {
			if !yield(n * int64(pageSize)) {
				return
			}
		}
	}
}

// plausible reports whether a page may begin like this.
func plausible(head []byte, size int) bool {
	if !treeKind(head[0]) || head[7] > 60 {
		return false
	}
	cells := int(binary.BigEndian.Uint16(head[3:]))
	start := int(binary.BigEndian.Uint16(head[5:]))
	if start == 0 {
		start = maxPageSize
	}
	return cells > 0 && start <= size && 8+2*cells <= start
}

// Info returns what is known of the file as a whole.
func (f *File) Info() Info { return f.info }

// page reads page n, as the log has it or else the file, into p. ok is false
// when there is none or its checksum is wrong; what could be read is there.
func (f *File) page(n uint32, p []byte) (ok bool) {
	clear(p)
	if n == 0 || n > f.info.Pages {
		return false
	}
	if f.late && f.log.latePage(n, p) || f.log.page(n, p) {
		return true // its checksum is that of the frame; a page gets its own with its place in the file
	}
	return readAt(f.db, p, int64(n-1)*int64(f.pageSize)) && (!f.info.Checksums || pagesum.Fits(p, n, f.info.Reserved))
}

// readAt reads as much of p as there is. A bad sector is as good as none.
func readAt(r io.ReaderAt, p []byte, at int64) (whole bool) {
	n, err := r.ReadAt(p, at)
	clear(p[max(0, min(n, len(p))):])
	return n == len(p) && (err == nil || err == io.EOF)
}

// Close closes what Open has opened.
func (f *File) Close() error {
	var errs []error
	for _, c := range f.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
