package record

import (
	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
)

// PerceptionRecord is what a perception brings beside its row.
type PerceptionRecord struct {
	Declared string // media type as the caller gave it
	Origin   string
	Stored   *payload.Written // nil without a payload
	Features *Features        // nil leaves them to the background
	Later    bool             // those that do not come with the summary are left so
}

const MaxMetadata = 64 << 10

// Features is what a perception is compared by; only equal kinds compare. An
// empty kind compares with nothing.
type Features struct {
	Kind   string
	Vector []float32
	Self   int64 // the memory they come from, left out of the answer
}

// ItemOf is a payload as perception reads it: whole up to DecodeLimit, else its
// beginning.
func ItemOf(perceptionType, mediaType string, metadata robotmem.Object, data []byte, size int64) perception.Item {
	if size > int64(len(data)) {
		data = data[:min(len(data), HeadLimit)]
	}
	return perception.Item{Type: perceptionType, MediaType: mediaType, Data: data, Size: size, Metadata: metadata}
}

func FeaturesOf(item perception.Item) *Features {
	kind, vector, _ := perception.Features(item)
	return &Features{Kind: kind, Vector: vector}
}

// A payload passes through here as a stream. Up to InlinePayload it ends in the
// file, above that in the folder beside it; what is decoded for a summary, for
// likeness and for a picture is at most DecodeLimit of it.

const (
	// InlinePayload is the size up to which the file is as fast as a folder;
	// above it the log would be written twice over.
	InlinePayload = 256 << 10
	// DecodeLimit is the largest payload that is decoded.
	DecodeLimit = 32 << 20
	// HeadLimit is what is looked at of a larger one.
	HeadLimit = 64 << 10
)
