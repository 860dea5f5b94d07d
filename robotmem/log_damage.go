package robotmem

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/pagesum"
)

// SQLite's log (sqlite.org/walformat.html) is a header of 32 bytes and frames:
// 24 bytes of header and a page each. A frame belongs to the log while it bears
// the header's two salts and its sum goes on from that of the frame before; the
// last of a transaction, its commit, says how many pages the file has. At the
// first frame that does not fit SQLite ends the log, and what follows is gone
// without a word. As a rule nothing follows: the rest is of an older log, with
// other salts, or the one transaction that a loss of power tore. What follows
// otherwise was acknowledged, and the frame before it has been damaged since.

const (
	logHeader   = 32
	frameHeader = 24
	logMagic    = 0x377f0682 // its last bit: sums are of big-endian words
	logVersion  = 3007000
)

// logDamage is what scanLog has found; none if lost is 0.
type logDamage struct {
	frame int // the first that SQLite does not take, from 1; 0 is the header
	lost  int // commits from there on
	salts uint64
}

// logScan walks over a log.
type logScan struct {
	r     *bufio.Reader
	order binary.ByteOrder
	buf   []byte // the present frame
	salts uint64
	sum   logSum // up to the frame before
	pages int64  // that the file can have by now: each frame adds one at most
}

// logSum is the checksum of a log: each pair of words goes into both halves.
type logSum struct{ a, b uint32 }

func (s logSum) over(p []byte, order binary.ByteOrder) logSum {
	s.a, s.b = pagesum.Fletcher(order, s.a, s.b, p)
	return s
}

func storedSum(p []byte) logSum {
	return logSum{binary.BigEndian.Uint32(p), binary.BigEndian.Uint32(p[4:])}
}

func (s logSum) bitsFrom(o logSum) int { return bits.OnesCount32(s.a^o.a) + bits.OnesCount32(s.b^o.b) }

// oneBit reports whether a single flipped bit of p explains that its sum is got
// rather than want. A bit counts for its place, times what the pairs behind it
// make of it.
func oneBit(p []byte, order binary.ByteOrder, got, want logSum) bool {
	da, db := got.a-want.a, got.b-want.b
	first, second := logSum{1, 1}, logSum{0, 1}
	for end := len(p); end >= 8; end -= 8 {
		for i, v := range []logSum{first, second} {
			word := order.Uint32(p[end-8+4*i:])
			for bit := range 32 {
				d := uint32(1) << bit // what the flip added
				if word&d == 0 {
					d = -d
				}
				if d*v.a == da && d*v.b == db {
					return true
				}
			}
		}
		first, second = logSum{first.a + first.b, first.a + 2*first.b}, logSum{second.a + second.b, second.a + 2*second.b}
	}
	return false
}

// scanLog looks for damage in a log beside a file of so many pages, of such a
// size. A transaction that may have been torn is no damage, unless one flipped
// bit explains it.
func scanLog(in io.Reader, filePages int64, pageSize int) (logDamage, error) {
	s := &logScan{r: bufio.NewReaderSize(in, 1<<20), order: binary.LittleEndian, pages: filePages}
	head := make([]byte, logHeader)
	if _, err := io.ReadFull(s.r, head); err != nil {
		return logDamage{}, endOfLog(err)
	}
	magic := binary.BigEndian.Uint32(head)
	if magic == logMagic|1 {
		s.order = binary.BigEndian
	}
	s.salts = binary.BigEndian.Uint64(head[16:])
	stored := storedSum(head[24:])
	s.sum = logSum{}.over(head[:24], s.order)
	claimed := int(binary.BigEndian.Uint32(head[8:]))
	if magic&^1 == logMagic && binary.BigEndian.Uint32(head[4:]) == logVersion && s.sum == stored && validPageSize(claimed) {
		s.buf = make([]byte, frameHeader+claimed)
		return s.walk()
	}
	s.buf = make([]byte, frameHeader+pageSize)
	return s.headless(head, s.sum, stored)
}

func validPageSize(n int) bool { return n >= 512 && n <= 1<<16 && n&(n-1) == 0 }

func endOfLog(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

func (s *logScan) next() (ok bool, err error) {
	_, err = io.ReadFull(s.r, s.buf)
	s.pages++
	return err == nil, endOfLog(err)
}

func (s *logScan) frameSalts() uint64 { return binary.BigEndian.Uint64(s.buf[8:]) }
func (s *logScan) stored() logSum     { return storedSum(s.buf[16:]) }

// commits reports whether the present frame ends a transaction. The mark may be
// what a torn sector has left: it is none if the file cannot have so many pages.
func (s *logScan) commits() bool {
	page, pages := binary.BigEndian.Uint32(s.buf), binary.BigEndian.Uint32(s.buf[4:])
	return 0 < page && page <= pages && int64(pages) <= s.pages
}

// computed is the sum that the present frame should have.
func (s *logScan) computed() logSum {
	return s.sum.over(s.buf[:8], s.order).over(s.buf[frameHeader:], s.order)
}

// walk follows the log to its end or its damage.
func (s *logScan) walk() (logDamage, error) {
	for frame := 1; ; frame++ {
		ok, err := s.next()
		if !ok {
			return logDamage{}, err
		}
		sum := s.computed()
		if s.frameSalts() == s.salts && sum == s.stored() {
			s.sum = sum
			continue
		}
		return s.judge(frame, s.flippedBit(sum))
	}
}

// judge counts the commits from the present frame on. One may be the
// transaction that was under way, unless a flipped bit explains its end.
func (s *logScan) judge(frame int, flipped bool) (logDamage, error) {
	d := logDamage{frame: frame, salts: s.salts}
	for at := frame; ; at++ {
		switch {
		case at == frame && flipped: // the number of pages may be what was flipped
			if binary.BigEndian.Uint32(s.buf[4:]) != 0 {
				d.lost++
			}
		case s.frameSalts() == s.salts && s.commits():
			d.lost++
		}
		ok, err := s.next()
		switch {
		case ok:
			continue
		case flipped:
			d.lost = max(d.lost, 1) // the mark may be what was flipped
		case d.lost == 1:
			d.lost = 0
		}
		return d, err
	}
}

// flippedBit reports whether one flipped bit explains that the present frame
// does not fit.
func (s *logScan) flippedBit(sum logSum) bool {
	switch bits.OnesCount64(s.frameSalts() ^ s.salts) {
	case 0:
		body := append(slices.Clone(s.buf[:8]), s.buf[frameHeader:]...)
		return sum.bitsFrom(s.stored()) == 1 || oneBit(body, s.order, sum, s.stored())
	case 1:
		return sum == s.stored()
	}
	return false
}

// headless looks at the frames behind a header that SQLite does not take, and
// with it none of them. A header is synced before its first frame is written.
func (s *logScan) headless(head []byte, sum, stored logSum) (logDamage, error) {
	flipped := sum.bitsFrom(stored) == 1
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		flipped = flipped || oneBit(head[:24], order, logSum{}.over(head[:24], order), stored)
	}
	ok, err := s.next()
	s.salts = s.frameSalts()
	if !ok || s.salts == 0 {
		return logDamage{}, err
	}
	d, err := s.judge(0, false)
	if flipped && d.lost == 0 {
		d.lost = 1
	}
	return d, err
}

// examineLog looks at the log that an earlier process left, before SQLite takes
// from it what it can, and keeps a copy of one that is damaged. It looks twice:
// another process may be writing.
func (e *Engine) examineLog(path string) {
	if !mayBeOurs(path) {
		return
	}
	found, err := damageOf(path+"-wal", path)
	if err == nil && found.lost > 0 {
		var again logDamage
		again, err = damageOf(path+"-wal", path)
		if again != found {
			return
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && found.lost == 0:
		return
	case err != nil:
		e.log.Warn("the log of the file cannot be read", "err", err)
		return
	}
	e.log.Error("the log of the file is damaged: commits that were acknowledged are lost", "commits", found.lost, "frame", found.frame)
	if e.readOnly != "" {
		e.lostCommits = found.lost
		return
	}
	if err := keepLog(path, e.now()); err != nil {
		e.log.Error("no copy of the damaged log was kept", "err", err)
	}
}

// mayBeOurs is false for another program's file, beside which nothing is put. A
// file whose first page is still in the log has no name yet.
func mayBeOurs(path string) bool {
	var id [4]byte
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	const idAt = 68
	_, err = f.ReadAt(id[:], idAt)
	app := binary.BigEndian.Uint32(id[:])
	return err != nil || app == 0 || app == applicationID
}

// damageOf scans a log that belongs to the file at path.
func damageOf(log, path string) (logDamage, error) {
	f, err := os.Open(log)
	if err != nil {
		return logDamage{}, err
	}
	defer f.Close()
	size, pages := sizesOf(path)
	if log != path+"-wal" {
		pages = math.MaxUint32 // a copy: the file may have been written anew since
	}
	return scanLog(f, pages, size)
}

// sizesOf are the size of a file's pages, or that which new files have, and how
// many it has or should have.
func sizesOf(path string) (pageSize int, pages int64) {
	const common = 4096
	f, err := os.Open(path)
	if err != nil {
		return common, 0
	}
	defer f.Close()
	head := make([]byte, 32)
	if _, err := f.ReadAt(head, 0); err != nil {
		return common, 0
	}
	pageSize = cmp.Or(headerPageSize(head), common)
	if info, err := f.Stat(); err == nil {
		pages = info.Size() / int64(pageSize)
	}
	return pageSize, max(pages, int64(binary.BigEndian.Uint32(head[28:])))
}

// headerPageSize is the size of a page as the head of a file says, 0 if it
// cannot be.
func headerPageSize(head []byte) int {
	n := int(binary.BigEndian.Uint16(head[16:]))
	if n == 1 {
		n = 1 << 16
	}
	if !validPageSize(n) {
		return 0
	}
	return n
}

const (
	damagedLog = "-wal.damaged-"
	// damagedLogs is how many copies are kept: a disk that damages every log
	// must not be filled by them.
	damagedLogs = 8
)

// damagedLogsOf lists the copies beside a file, oldest first.
func damagedLogsOf(path string) []string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(path)+damagedLog) {
			names = append(names, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	return names
}

// keepLog copies the log aside, once.
func keepLog(path string, now time.Time) error {
	data, err := os.ReadFile(path + "-wal")
	if err != nil {
		return err
	}
	kept := damagedLogsOf(path)
	for _, name := range kept {
		if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, data) {
			return nil
		}
	}
	if len(kept) >= damagedLogs {
		return fmt.Errorf("%d are kept already", len(kept))
	}
	f, err := os.OpenFile(path+damagedLog+now.Format("20060102T150405.000Z"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// examineLogs tells of the copies that lie beside the file.
func (e *Engine) examineLogs(d *DoctorResponse) {
	kept := damagedLogsOf(e.path)
	lost := e.lostCommits
	if lost > 0 {
		d.add("log", checkFail, fmt.Sprintf("the log is damaged: up to %d commits that were acknowledged cannot be read", lost),
			"copy the file and its -wal away before anything writes to them, and compare with a backup what was learnt last")
		return
	}
	if len(kept) == 0 {
		return
	}
	for _, name := range kept {
		if found, err := damageOf(name, e.path); err == nil {
			lost += found.lost
		}
	}
	status := checkFail
	if e.options.Durability == DurabilityNormal { // a loss of power may do that
		status = checkWarn
	}
	d.add("log", status, fmt.Sprintf("%d damaged logs were met at an opening and copied aside; up to %d commits that were acknowledged are lost", len(kept), lost),
		"compare with a backup what was learnt last; then move the files that end in "+damagedLog+"… elsewhere, and this is over")
}
