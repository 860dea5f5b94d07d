// Package mavlink reads and writes frames of MAVLink, versions 1 and 2, with the messages of the common
// dialect (https://mavlink.io/en/guide/serialization.html). Frames of other messages, and signatures, are passed over.
//
// messages.txt has the definitions; testdata/make.py writes it.
package mavlink

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
)

//go:embed messages.txt
var definitions string

// Message is a decoded message. Numbers are int64, uint64 or float64, texts end before their first zero
// byte, and arrays of numbers are []any. A number that is not finite is left out.
type Message struct {
	System, Component byte
	ID                uint32
	Name              string // as in MAVLink: GLOBAL_POSITION_INT
	Fields            map[string]any
}

// Number returns a numeric field, 0 if the message lacks it.
func (m *Message) Number(name string) float64 {
	switch v := m.Fields[name].(type) {
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	case float64:
		return v
	}

	return 0
}

// definition is a kind of message.
type definition struct {
	id     uint32
	extra  byte // of the checksum
	name   string
	fields []field
	size   int // bytes of all fields
}

// field is one in the order of the wire.
type field struct {
	name   string
	kind   byte // u, i, f or c
	size   int
	length int // of an array, 0 without
}

// byID and byName are the definitions of the common dialect.
var tables = sync.OnceValues(func() (byID map[uint32]*definition, byName map[string]*definition) {
	byID, byName = map[uint32]*definition{}, map[string]*definition{}

	for line := range strings.Lines(definitions) {
		words := strings.Fields(line)
		id, err := strconv.ParseUint(words[0], 10, 24)
		extra, err2 := strconv.ParseUint(words[1], 10, 8)
		if errors.Join(err, err2) != nil {
			panic("messages.txt: " + line) // it is a part of the program, and its tests read it
		}

		d := &definition{id: uint32(id), extra: byte(extra), name: words[2]}
		for _, word := range words[3:] {
			parts := strings.Split(word, ":")
			f := field{name: parts[1], kind: parts[0][0], size: int(parts[0][1] - '0')}
			if len(parts) > 2 {
				f.length, _ = strconv.Atoi(parts[2]) // 0 is no array
			}
			d.fields = append(d.fields, f)
			d.size += f.size * max(1, f.length)
		}
		byID[d.id], byName[d.name] = d, d
	}

	return byID, byName
})

// The first bytes of frames, and the lengths of their heads.
const (
	magic1, head1 = 0xfe, 6
	magic2, head2 = 0xfd, 10
	checksum      = 2
	signature     = 13
	signed        = 1 // of the incompatible flags
)

// Decoder finds frames in a stream of bytes. Bytes that belong to none are passed over.
type Decoder struct {
	buffer []byte

	// Damaged counts frames whose checksum is wrong, Unknown those of messages that the dialect lacks.
	Damaged, Unknown uint64
}

// Write adds bytes and returns the messages that are complete now.
func (d *Decoder) Write(b []byte) []*Message {
	d.buffer = append(d.buffer, b...)

	var out []*Message

	for {
		m, used := d.next(d.buffer)
		if used == 0 {
			break
		}
		if m != nil {
			out = append(out, m)
		}
		d.buffer = d.buffer[used:]
	}
	// What is left is less than a frame, and must not keep the array of what was read.
	d.buffer = bytes.Clone(d.buffer)

	return out
}

// next reads a frame, and returns how many bytes are done with; 0 if more are needed.
func (d *Decoder) next(b []byte) (m *Message, used int) {
	start := 0
	for ; start < len(b) && b[start] != magic1 && b[start] != magic2; start++ {
	}
	if start > 0 {
		return nil, start
	}
	if len(b) < 2 {
		return nil, 0
	}

	head, total := head1, head1+int(b[1])+checksum
	if b[0] == magic2 {
		if len(b) < 3 {
			return nil, 0
		}
		head, total = head2, head2+int(b[1])+checksum
		if b[2]&signed != 0 {
			total += signature
		}
	}
	if len(b) < total {
		return nil, 0
	}

	m = &Message{System: b[3], Component: b[4], ID: uint32(b[5])}
	if b[0] == magic2 {
		m.System, m.Component = b[5], b[6]
		m.ID = uint32(b[7]) | uint32(b[8])<<8 | uint32(b[9])<<16
	}

	byID, _ := tables()
	def := byID[m.ID]
	end := head + int(b[1])
	if def == nil {
		// Without its extra byte the checksum cannot be compared, so the length is believed.
		d.Unknown++
		return nil, total
	}
	if crc(crc(crcStart, b[1:end]), []byte{def.extra}) != binary.LittleEndian.Uint16(b[end:]) {
		d.Damaged++
		return nil, 1
	}
	m.Name, m.Fields = def.name, def.decode(b[head:end])

	return m, total
}

// decode reads the fields of a payload. Version 2 leaves out zeros at its end.
func (d *definition) decode(payload []byte) map[string]any {
	if len(payload) < d.size {
		payload = append(bytes.Clone(payload), make([]byte, d.size-len(payload))...)
	}

	out := map[string]any{}

	for _, f := range d.fields {
		if f.kind == 'c' && f.length > 0 {
			text, _, _ := bytes.Cut(payload[:f.length], []byte{0})
			out[f.name] = strings.ToValidUTF8(string(text), "?")
			payload = payload[f.length:]
			continue
		}

		var list []any
		for range max(1, f.length) {
			list = append(list, f.number(payload))
			payload = payload[f.size:]
		}
		if f.length > 0 {
			out[f.name] = list
		} else if list[0] != nil {
			out[f.name] = list[0]
		}
	}

	return out
}

func (f *field) number(b []byte) any {
	var raw [8]byte
	copy(raw[:], b[:f.size])
	bits := binary.LittleEndian.Uint64(raw[:])

	switch {
	case f.kind == 'f':
		v := math.Float64frombits(bits)
		if f.size == 4 {
			v = float64(math.Float32frombits(uint32(bits)))
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}

		return v
	case f.kind == 'i':
		shift := 64 - 8*f.size
		return int64(bits<<shift) >> shift
	}

	return bits
}

// Encode returns a frame of version 2. Numbers of other fields than those given are 0.
func Encode(system, component, sequence byte, name string, fields map[string]any) ([]byte, error) {
	_, byName := tables()
	d := byName[name]
	if d == nil {
		return nil, fmt.Errorf("the common dialect has no message %.50q", name)
	}

	var payload []byte

	for _, f := range d.fields {
		part := make([]byte, f.size*max(1, f.length))
		switch v := fields[f.name].(type) {
		case string:
			copy(part, v)
		case int: // of a field of whole numbers
			var raw [8]byte
			binary.LittleEndian.PutUint64(raw[:], uint64(int64(v)))
			copy(part, raw[:f.size])
		}
		payload = append(payload, part...)
	}
	payload = bytes.TrimRight(payload, "\x00")
	if len(payload) == 0 {
		payload = []byte{0} // the first byte is always sent
	}

	frame := append([]byte{
		magic2, byte(len(payload)), 0, 0, sequence, system, component, byte(d.id), byte(d.id >> 8), byte(d.id >> 16),
	}, payload...)

	return binary.LittleEndian.AppendUint16(frame, crc(crc(crcStart, frame[1:]), []byte{d.extra})), nil
}

// crcStart is the first value of the checksum.
const crcStart = 0xffff

// crc is the checksum of ITU X.25 (CRC-16/MCRF4XX).
func crc(sum uint16, b []byte) uint16 {
	for _, c := range b {
		c ^= byte(sum)
		c ^= c << 4
		sum = sum>>8 ^ uint16(c)<<8 ^ uint16(c)<<3 ^ uint16(c)>>4
	}
	return sum
}
