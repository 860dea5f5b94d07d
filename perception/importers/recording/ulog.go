package recording

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/perception/segment"
)

// ulogFile is a log of PX4. Each topic and instance is a channel, and what the logger itself says has four more:
// its lines, the parameters, the facts about the vehicle and the dropouts.
type ulogFile struct {
	name string
	file io.ReaderAt
	size int64
	// source is the file as it is stored, whose bytes make the ID.
	source contents
	budget *segment.Budget
	closer func() error

	channels map[string]*Channel // by topic and definition, so that every pass yields the same ones
	foreign  uint64              // records of unknown kinds that the last pass has left out
}

var _ Source = (*ulogFile)(nil)

// The channels of the logger.
const (
	ulogLog        = "Log"        // level, message
	ulogParameters = "Parameters" // initial: name and value; changed: as rcl_interfaces/ParameterEvent
	ulogInfo       = "Info"       // info: name and value
	ulogDropout    = "Dropout"    // duration_ms
)

// openULog opens a log. It refuses one that says that it cannot be read by those who do not know its features.
func openULog(name string, file io.ReaderAt, size int64, source contents, budget *segment.Budget, closer func() error) (Source, error) {
	u := &ulogFile{name: name, file: file, size: size, source: source, budget: budget, closer: closer, channels: map[string]*Channel{}}
	pass := newULogPass(u, nil)
	kind, body, err := pass.record()
	if err != nil || kind != 'B' {
		// The pass over the messages reports what is wrong.
		return u, nil
	}
	if err := pass.flags(body); err != nil {
		return nil, fmt.Errorf("%s %w", name, err)
	}

	return u, nil
}

func (u *ulogFile) Name() string { return u.name }

func (u *ulogFile) Close() error { return u.closer() }

func (u *ulogFile) ID(ctx context.Context) (string, error) { return u.source.id(ctx) }

// Info counts the messages. [ulogFile.Messages] reports where the file breaks.
func (u *ulogFile) Info(ctx context.Context) (*Info, error) {
	info, counts, err := countAll(ctx, u)
	if err != nil {
		return nil, err
	}
	info.Format, info.UnknownRecords = "ulog", u.foreign

	for _, key := range slices.Sorted(maps.Keys(u.channels)) {
		if c := u.channels[key]; counts[c] > 0 {
			info.Channels = append(info.Channels, ChannelInfo{Channel: c, Messages: counts[c]})
		}
	}
	info.sort()

	return info, nil
}

// Messages reads in the order of the file. The times of one topic rise, those of different topics are mixed.
func (u *ulogFile) Messages(ctx context.Context) iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		if u.size < ulogHead {
			yield(nil, &BreakError{Offset: u.size, Err: fmt.Errorf("the head of a ULog takes %d bytes where %d are left", ulogHead, u.size)})
			return
		}

		u.foreign = 0

		pass := newULogPass(u, yield)
		for pass.next(ctx) {
		}
	}
}

// ulogPass is one reading of a log.
type ulogPass struct {
	*ulogFile
	yield func(*Message, error) bool
	r     *bufio.Reader
	at    int64

	types    ulogTypes
	topics   map[uint16]*ulogTopic
	appended []int64 // where data was appended, in the order of the file
	inData   bool    // the definitions are over
	started  uint64  // µs
	last     uint64  // µs, the latest time of a message
	noSync   bool    // no sync follows
	damaged  bool    // within damage that was reported
	broken   bool
	initial  object // parameters
	defaults object // of parameters
	info     object
	parts    map[string][]string // infos of several parts by their keys, each whole
	partSize int                 // bytes of them
	msg      Message
}

func newULogPass(u *ulogFile, yield func(*Message, error) bool) *ulogPass {
	p := &ulogPass{
		ulogFile: u, yield: yield, types: ulogTypes{}, topics: map[uint16]*ulogTopic{}, initial: object{}, info: object{},
		defaults: object{}, parts: map[string][]string{},
	}

	var head [ulogHead]byte
	if _, err := u.file.ReadAt(head[:], 0); err == nil || err == io.EOF {
		p.started = binary.LittleEndian.Uint64(head[len(ulogMagic)+1:])
		p.last = p.started
	}
	p.seek(ulogHead)

	return p
}

// ulogWindow holds the longest record.
const ulogWindow = 128 << 10

func (p *ulogPass) seek(at int64) {
	p.at = at
	p.r = bufio.NewReaderSize(io.NewSectionReader(p.file, at, max(p.size-at, 0)), ulogWindow)
}

func (p *ulogPass) skip(n int) {
	skipped, _ := p.r.Discard(n)
	p.at += int64(skipped)
}

// record returns the kind and the body of the next record, which it does not pass. The error at the end is io.EOF.
func (p *ulogPass) record() (kind byte, body []byte, err error) {
	head, err := p.r.Peek(ulogRecordHead)
	if len(head) == 0 && err == io.EOF {
		return 0, nil, io.EOF
	}
	if len(head) < ulogRecordHead {
		return 0, nil, fmt.Errorf("the head of a record takes %d bytes where %d are left", ulogRecordHead, len(head))
	}
	// The next peek may move the bytes of this one.
	length, kind := int(binary.LittleEndian.Uint16(head)), head[2]
	all, _ := p.r.Peek(ulogRecordHead + length)
	if len(all) < ulogRecordHead+length {
		return kind, nil, fmt.Errorf("a record takes %d bytes where %d are left", length, len(all)-ulogRecordHead)
	}

	return kind, all[ulogRecordHead:], nil
}

// next reads a record and delivers its message. It returns false at the end.
func (p *ulogPass) next(ctx context.Context) bool {
	if err := ctx.Err(); err != nil {
		p.yield(nil, err)
		return false
	}

	kind, body, err := p.record()
	// A record that was cut by a crash ends where data was appended afterwards.
	if len(p.appended) > 0 && (err != nil || p.at+int64(ulogRecordHead+len(body)) > p.appended[0]) {
		return p.passCut(kind)
	}
	if err == io.EOF {
		return p.startData() && p.tell() && false
	}
	if err != nil {
		return p.startData() && p.tell() && p.report(err) && false
	}

	more, known := p.read(kind, body)
	if !known {
		return more && p.unknown(kind, body)
	}
	// The length of a record that holds a sync is damaged. That of a message was compared with its format.
	p.damaged = false
	if more && kind != 'D' && string(body) != ulogSync && p.syncIn(body) >= 0 {
		more = p.damage(fmt.Errorf("a record of the kind %q has an end of another in it", kind))
	}
	p.skip(ulogRecordHead + len(body))

	return more
}

// read reads a record of a known kind. It returns false for more if nothing more is wanted.
func (p *ulogPass) read(kind byte, body []byte) (more, known bool) {
	var err error

	switch kind {
	case 'B':
		err = p.flags(body)
	case 'F':
		err = p.types.add(string(body))
	case 'I':
		err = p.addInfo(body)
	case 'P':
		if p.inData {
			return p.parameter(body), true
		}
		err = p.addParameter(body)
	case 'M':
		err = p.addPart(body)
	case 'Q':
		err = p.addDefault(body)
	case 'S', 'R':
		// Sync, and ends of subscriptions.
		if want := map[byte]int{'S': len(ulogSync), 'R': 2}[kind]; len(body) != want {
			err = fmt.Errorf("a record of the kind %q has %d bytes; it takes %d", kind, len(body), want)
		}
	case 'A':
		if !p.startData() {
			return false, true
		}
		err = p.subscribe(body)
	case 'L', 'C':
		return p.startData() && p.text(kind, body), true
	case 'D':
		return p.data(body), true
	case 'O':
		return p.dropout(body), true
	default:
		return true, false
	}

	return err == nil || p.report(err), true
}

// unknown passes a record of an unknown kind. A newer logger may have written it, or the file is damaged.
func (p *ulogPass) unknown(kind byte, body []byte) bool {
	if kind != 0 && len(body) > 0 && len(body) <= maxULogRecord {
		at := p.syncIn(body)
		if at < 0 {
			p.foreign++
			p.skip(ulogRecordHead + len(body))
			return true
		}
		more := p.damage(fmt.Errorf("a record of the kind %q has an end of another in it", kind))
		p.skip(ulogRecordHead + at + len(ulogSync))

		return more
	}

	more := p.damage(fmt.Errorf("the kind %q and the length %d are those of no record", kind, len(body)))
	if p.inData && !p.noSync {
		if at := p.findSync(p.at + 1); at >= 0 {
			p.seek(at)
			return more
		}
		p.noSync = true
	}
	// Without a sync the next record is looked for byte by byte.
	p.skip(1)

	return more
}

// syncIn returns where a sync begins in the body of a record, -1 if there is none.
func (p *ulogPass) syncIn(body []byte) int {
	if !p.inData || p.noSync {
		return -1
	}
	return bytes.Index(body, []byte(ulogSync))
}

// passCut passes a record that a crash has cut before data was appended. If there is more than a record, its length
// is damaged.
func (p *ulogPass) passCut(kind byte) bool {
	to := max(p.appended[0], p.at)
	at := p.findSync(p.at + 1)
	whole := at >= 0 && at < to

	if head, err := p.r.Peek(ulogRecordHead + 2); err == nil && kind == 'D' {
		topic := p.topics[binary.LittleEndian.Uint16(head[ulogRecordHead:])]
		whole = whole || topic != nil && to-p.at >= int64(ulogRecordHead+2+topic.padded)
	}
	more := !whole || p.damage(fmt.Errorf("the length of a record of the kind %q is damaged, and what follows is lost", kind))
	p.seek(to)
	p.appended = p.appended[1:]

	return more
}

// damage reports damage once, however many bytes it takes.
func (p *ulogPass) damage(err error) bool {
	if p.damaged {
		return true
	}
	p.damaged = true

	return p.report(err)
}

// findSync returns where the first sync from a place on ends; -1 is nowhere.
func (p *ulogPass) findSync(from int64) int64 {
	window := make([]byte, ulogWindow)
	for from < p.size {
		n, err := p.file.ReadAt(window, from)
		if at := bytes.Index(window[:n], []byte(ulogSync)); at >= 0 {
			return from + int64(at+len(ulogSync))
		}
		if err != nil || n < len(ulogSync) {
			return -1
		}
		from += int64(n - len(ulogSync) + 1)
	}

	return -1
}

func (p *ulogPass) report(err error) bool {
	p.broken = true
	return p.yield(nil, &BreakError{Offset: p.at, LastLogTime: ulogTime(p.last), Err: err})
}

// ulogTime returns a time in ns; the last one for one that is too late.
func ulogTime(us uint64) uint64 {
	if us > math.MaxUint64/1000 {
		return math.MaxUint64
	}
	return us * 1000
}

// flags reads which features the file uses.
func (p *ulogPass) flags(body []byte) error {
	const flags, offsets = 16, 3
	if len(body) < flags+8*offsets {
		return errors.New("has flags that are cut")
	}
	// The compatible flags come first. Of the others the first bit means that data was appended.
	if body[8]&^1 != 0 || !bytes.Equal(body[9:flags], make([]byte, 7)) {
		return fmt.Errorf("is a ULog with features that are not known (%x), so that it cannot be read", body[8:flags])
	}
	if body[8]&1 == 0 {
		return nil
	}

	for i := range offsets {
		at := binary.LittleEndian.Uint64(body[flags+8*i:])
		if at > uint64(p.at) && at < uint64(p.size) {
			p.appended = append(p.appended, int64(at))
		}
	}
	slices.Sort(p.appended)

	return nil
}

// addInfo keeps a fact about the vehicle.
func (p *ulogPass) addInfo(body []byte) error {
	key, value, err := ulogValue(body)
	if err == nil && value != nil && len(p.info) < maxULogTypes {
		p.info[key] = value
	}
	return err
}

// maxULogParts bounds the infos of several parts, in bytes. A logger writes some kilobytes.
const maxULogParts = 1 << 20

// addPart keeps a part of an info that is longer than a record, or one of several infos of the same key.
func (p *ulogPass) addPart(body []byte) error {
	if len(body) == 0 {
		return errors.New("a part of an info is empty")
	}

	key, value, err := ulogValue(body[1:])
	text := fmt.Sprint(value)
	if _, isText := value.(string); isText {
		// Parts meet within a line.
		text = strings.ToValidUTF8(strings.TrimRight(string(body[2+int(body[1]):]), "\x00"), "")
	}
	if p.partSize += len(text) + len(key); err != nil || value == nil || p.partSize > maxULogParts {
		return err
	}

	all := p.parts[key]
	if goesOn := body[0] != 0; goesOn && len(all) > 0 {
		all[len(all)-1] += text
	} else if len(p.parts) < maxULogTypes {
		p.parts[key] = append(all, text)
	}

	return nil
}

// addDefault keeps the default of a parameter: that of the vehicle if the record has both.
func (p *ulogPass) addDefault(body []byte) error {
	if len(body) == 0 {
		return errors.New("a default of a parameter is empty")
	}

	key, value, err := ulogValue(body[1:])
	if err == nil && len(p.defaults) < maxULogTypes {
		p.defaults[key] = value
	}

	return err
}

func (p *ulogPass) addParameter(body []byte) error {
	key, value, err := ulogValue(body)
	if err == nil && len(p.initial) < maxULogTypes {
		p.initial[key] = value
	}
	return err
}

// startData ends the definitions, and delivers what they say of the vehicle.
func (p *ulogPass) startData() bool {
	if p.inData {
		return true
	}
	p.inData = true
	if !p.tell() {
		return false
	}

	said := object{}
	if len(p.initial) > 0 {
		said["initial"] = p.initial
	}
	if len(p.defaults) > 0 {
		said["defaults"] = p.defaults
	}

	return len(said) == 0 || p.own(ulogParameters, p.started, said)
}

// tell delivers what was said of the vehicle since it was last told. A logger may say more at the end of a flight.
func (p *ulogPass) tell() bool {
	said := object{}
	if len(p.info) > 0 {
		said["info"] = p.info
	}
	if len(p.parts) > 0 {
		said["multiple"] = p.parts
	}
	if len(said) == 0 {
		return true
	}
	p.info, p.parts = object{}, map[string][]string{}

	return p.own(ulogInfo, p.last, said)
}

// parameter delivers the change of a parameter.
func (p *ulogPass) parameter(body []byte) bool {
	key, value, err := ulogValue(body)
	if err != nil {
		return p.report(err)
	}
	return p.own(ulogParameters, p.last, object{"changed": []any{ulogParameter(key, value)}})
}

func (p *ulogPass) dropout(body []byte) bool {
	if len(body) != 2 {
		return p.report(fmt.Errorf("a dropout has %d bytes; it takes 2", len(body)))
	}
	return p.own(ulogDropout, p.last, object{"duration_ms": binary.LittleEndian.Uint16(body)})
}

// text delivers a line of the log.
func (p *ulogPass) text(kind byte, body []byte) bool {
	out := object{}
	if kind == 'C' && len(body) >= 3 {
		out["tag"] = binary.LittleEndian.Uint16(body[1:])
		body = append([]byte{body[0]}, body[3:]...)
	}
	if len(body) < 9 {
		return p.report(fmt.Errorf("a line of the log has %d bytes; it takes 9 before its text", len(body)))
	}

	level := int(body[0])
	if '0' <= level && level <= '7' {
		level -= '0'
	}
	out["level"], out["message"] = level, importers.Cut(string(body[9:]), len(body))

	return p.own(ulogLog, binary.LittleEndian.Uint64(body[1:]), out)
}

// own delivers a message of the logger.
func (p *ulogPass) own(kind string, us uint64, value object) bool {
	ns := ulogTime(us)
	value["timestamp"] = object{"sec": ns / 1e9, "nsec": ns % 1e9}
	data, err := json.Marshal(value) // the keys are sorted
	if err != nil {
		return p.report(err)
	}
	topics := map[string]string{ulogLog: "/ulog/log", ulogParameters: "/ulog/parameters", ulogInfo: "/ulog/info", ulogDropout: "/ulog/dropouts"}
	c := &Channel{
		Topic: topics[kind], SchemaName: "ulog." + kind, SchemaEncoding: "jsonschema", SchemaData: []byte(`{"type":"object"}`), MessageEncoding: "json",
	}

	return p.deliver(p.channel(c), ns, data)
}

// channel returns the channel that equals the given one.
func (u *ulogFile) channel(c *Channel) *Channel {
	key := c.Topic + "\x00" + string(c.SchemaData)
	if known := u.channels[key]; known != nil {
		return known
	}
	u.channels[key] = c

	return c
}

// subscribe adds a topic.
func (p *ulogPass) subscribe(body []byte) error {
	if len(body) < 4 {
		return errors.New("a subscription has no name")
	}
	instance, id, name := body[0], binary.LittleEndian.Uint16(body[1:]), string(body[3:])
	layout, err := p.types.layout(name)
	if err != nil {
		return err
	}

	topic := "/" + name
	if instance > 0 {
		topic += "/" + strconv.Itoa(int(instance))
	}
	c := &Channel{Topic: topic, SchemaName: ulogSchema(name), SchemaEncoding: "ros1msg", SchemaData: []byte(layout.definition), MessageEncoding: "ros1"}
	known := p.channels[c.Topic+"\x00"+layout.definition] != nil
	if !known {
		// The instances of a topic share their definition.
		if c.SchemaData, err = p.budget.Text(c.SchemaData); err != nil {
			return fmt.Errorf("topic %.80s: %w", topic, err)
		}
	}
	p.topics[id] = &ulogTopic{p.channel(c), layout}

	return nil
}

// data delivers a message of a topic.
func (p *ulogPass) data(body []byte) bool {
	if len(body) < 2 {
		return p.report(errors.New("a message has no topic"))
	}
	id := binary.LittleEndian.Uint16(body)
	topic := p.topics[id]
	if topic == nil {
		return p.report(fmt.Errorf("a message names topic %d, which the log does not have", id))
	}
	body = body[2:]
	if len(body) < topic.size || len(body) > topic.padded {
		return p.report(fmt.Errorf("a message of %.80s has %d bytes; it takes %d", topic.Topic, len(body), topic.size))
	}

	us := p.last
	if topic.time >= 0 {
		us = binary.LittleEndian.Uint64(body[topic.time:])
	}
	// What the logger itself says takes the latest time, which must be one.
	if possible(ulogTime(us)) {
		p.last = max(p.last, us)
	}

	return p.deliver(topic.Channel, ulogTime(us), body[:topic.size])
}

func (p *ulogPass) deliver(c *Channel, ns uint64, data []byte) bool {
	p.msg = Message{c, segment.Message{LogTime: ns, PublishTime: ns, Data: data}}
	return p.yield(&p.msg, nil)
}
