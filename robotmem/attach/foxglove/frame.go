package foxglove

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// Binary messages begin with an opcode. All integers are little-endian.
//
//	from the server
//	 1 message data      uint32 subscription, uint64 log time, data
//	 2 time              uint64 time
//	 3 service response  not used here
//	 4 asset             not used here
//	 5 playback state    uint8 status, uint64 time, float32 speed, uint8 did seek, uint32 length, request id
//	from the client
//	 1 message data      uint32 channel, data
//	 2 service request   not used here
//	 3 playback control  uint8 command, float32 speed, uint8 had seek, uint64 seek time, uint32 length, request id
//
// Times are ns since 1970. Opcodes 5 and 3 are of foxglove.sdk.v1, and their source is
// foxglove-sdk/rust/foxglove/src/protocol/common.
const (
	opMessage         = 1
	opTime            = 2
	opServiceResponse = 3
	opAsset           = 4
	opPlaybackState   = 5

	opClientMessage   = 1
	opServiceRequest  = 2
	opPlaybackControl = 3
)

const (
	messageHead         = 1 + 4 + 8
	clientMessageHead   = 1 + 4
	playbackStateHead   = 1 + 1 + 8 + 4 + 1 + 4
	playbackControlHead = 1 + 1 + 4 + 1 + 8 + 4
)

// errTruncated is of a binary message that ends before its fields do.
var errTruncated = errors.New("the message ends before its fields do")

// message is a message of a subscription. Its data are part of the frame.
type message struct {
	subscription uint32
	logTime      uint64
	data         []byte
}

func decodeMessage(frame []byte) (message, error) {
	if len(frame) < messageHead {
		return message{}, errTruncated
	}

	return message{binary.LittleEndian.Uint32(frame[1:]), binary.LittleEndian.Uint64(frame[5:]), frame[messageHead:]}, nil
}

func (m message) encode() []byte {
	frame := make([]byte, 0, messageHead+len(m.data))
	frame = append(frame, opMessage)
	frame = binary.LittleEndian.AppendUint32(frame, m.subscription)
	frame = binary.LittleEndian.AppendUint64(frame, m.logTime)

	return append(frame, m.data...)
}

func decodeTime(frame []byte) (uint64, error) {
	if len(frame) < 1+8 {
		return 0, errTruncated
	}

	return binary.LittleEndian.Uint64(frame[1:]), nil
}

func encodeTime(ns uint64) []byte { return binary.LittleEndian.AppendUint64([]byte{opTime}, ns) }

// clientMessage is a message that a client publishes. Its data are part of the frame.
type clientMessage struct {
	channel uint32
	data    []byte
}

func decodeClientMessage(frame []byte) (clientMessage, error) {
	if len(frame) < clientMessageHead {
		return clientMessage{}, errTruncated
	}

	return clientMessage{binary.LittleEndian.Uint32(frame[1:]), frame[clientMessageHead:]}, nil
}

func (m clientMessage) encode() []byte {
	frame := make([]byte, 0, clientMessageHead+len(m.data))
	frame = append(frame, opClientMessage)
	frame = binary.LittleEndian.AppendUint32(frame, m.channel)

	return append(frame, m.data...)
}

// PlaybackStatus is what a server that plays recorded data does.
type PlaybackStatus uint8

// The states of playback.
const (
	Playing PlaybackStatus = iota
	Paused
	Buffering
	Ended
)

// PlaybackState is how far a server has played recorded data. A server sends it for each
// [PlaybackRequest], and when playback changes by itself.
type PlaybackState struct {
	Status    PlaybackStatus
	Time      uint64  // of the data, in ns since 1970
	Speed     float32 // 1 is the speed of the recording
	DidSeek   bool    // whether Time jumped
	RequestID string  // of the request that this answers, or ""
}

func (s *PlaybackState) encode() []byte {
	frame := make([]byte, 0, playbackStateHead+len(s.RequestID))
	frame = append(frame, opPlaybackState, byte(s.Status))
	frame = binary.LittleEndian.AppendUint64(frame, s.Time)
	frame = binary.LittleEndian.AppendUint32(frame, math.Float32bits(s.Speed))
	frame = append(frame, asByte(s.DidSeek))

	return appendString(frame, s.RequestID)
}

func decodePlaybackState(frame []byte) (*PlaybackState, error) {
	if len(frame) < playbackStateHead {
		return nil, errTruncated
	}

	s := &PlaybackState{
		Status:  PlaybackStatus(frame[1]),
		Time:    binary.LittleEndian.Uint64(frame[2:]),
		Speed:   math.Float32frombits(binary.LittleEndian.Uint32(frame[10:])),
		DidSeek: frame[14] != 0,
	}
	if s.Status > Ended {
		return nil, fmt.Errorf("the status %d is unknown", s.Status)
	}

	var err error
	s.RequestID, err = decodeString(frame[15:])
	if err != nil {
		return nil, err
	}

	return s, nil
}

// PlaybackCommand is what a client wants of a server that plays recorded data.
type PlaybackCommand uint8

// The commands.
const (
	Play PlaybackCommand = iota
	Pause
)

// PlaybackRequest is the wish of a client that recorded data are played in another way.
type PlaybackRequest struct {
	Command  PlaybackCommand
	Speed    float32 // 1 is the speed of the recording
	SeekTime *uint64 // ns since 1970; nil to go on where playback is
	ID       string  // which the state that answers repeats
}

func (r *PlaybackRequest) encode() []byte {
	var seek uint64
	if r.SeekTime != nil {
		seek = *r.SeekTime
	}

	frame := make([]byte, 0, playbackControlHead+len(r.ID))
	frame = append(frame, opPlaybackControl, byte(r.Command))
	frame = binary.LittleEndian.AppendUint32(frame, math.Float32bits(r.Speed))
	frame = append(frame, asByte(r.SeekTime != nil))
	frame = binary.LittleEndian.AppendUint64(frame, seek)

	return appendString(frame, r.ID)
}

func decodePlaybackRequest(frame []byte) (*PlaybackRequest, error) {
	if len(frame) < playbackControlHead {
		return nil, errTruncated
	}

	r := &PlaybackRequest{
		Command: PlaybackCommand(frame[1]),
		Speed:   math.Float32frombits(binary.LittleEndian.Uint32(frame[2:])),
	}
	if r.Command > Pause {
		return nil, fmt.Errorf("the command %d is unknown", r.Command)
	}
	if speed := float64(r.Speed); math.IsNaN(speed) || math.IsInf(speed, 0) || speed < 0 {
		return nil, fmt.Errorf("%g is no speed", speed)
	}
	if frame[6] != 0 {
		seek := binary.LittleEndian.Uint64(frame[7:])
		r.SeekTime = &seek
	}

	var err error
	r.ID, err = decodeString(frame[15:])
	if err != nil {
		return nil, err
	}

	return r, nil
}

// playbackReason is the reason of an error of the two functions that decode playback.
func playbackReason(err error) Reason {
	if errors.Is(err, errTruncated) {
		return Truncated
	}

	return BadPlayback
}

func asByte(b bool) byte {
	if b {
		return 1
	}

	return 0
}

func appendString(frame []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint32(frame, uint32(len(s))), s...)
}

// decodeString reads a string after its length, of which there are at least four bytes.
func decodeString(b []byte) (string, error) {
	length := binary.LittleEndian.Uint32(b)
	b = b[4:]
	if uint64(length) > uint64(len(b)) {
		return "", errTruncated
	}
	if b = b[:length]; !utf8.Valid(b) {
		return "", errors.New("the id of the request is not UTF-8")
	}

	return string(b), nil
}
