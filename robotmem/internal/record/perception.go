package record

import (
	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
)

// PerceptionRecord holds the data of a perception that is not in its row.
type PerceptionRecord struct {
	Declared string // media type as the caller gave it
	Origin   string
	Stored   *payload.Written // nil without a payload
	Features *Features        // nil if a background worker computes them
	Later    bool             // leave features to the worker unless the summary computes them
}

// MaxMetadata is the largest metadata of a perception, in bytes of JSON.
const MaxMetadata = 64 << 10

// Features is the feature vector of a perception, for search by similarity. Vectors
// of different kinds are not compared. An empty kind means no features.
type Features struct {
	Kind   string
	Vector []float32
	Self   int64 // the memory of the features, which the results exclude
}

// ItemOf returns a payload for package perception: all of it if data holds it, else
// the first HeadLimit bytes.
func ItemOf(perceptionType, mediaType string, metadata robotmem.Object, data []byte, size int64) perception.Item {
	if size > int64(len(data)) {
		data = data[:min(len(data), HeadLimit)]
	}
	return perception.Item{Type: perceptionType, MediaType: mediaType, Data: data, Size: size, Metadata: metadata}
}

// FeaturesOf computes the features of a payload.
func FeaturesOf(item perception.Item) *Features {
	kind, vector, _ := perception.Features(item)
	return &Features{Kind: kind, Vector: vector}
}

const (
	// InlinePayload is the largest payload that is stored in the database file. A
	// larger one goes to the folder beside it, because the database would write it
	// twice, to the log and to the file.
	InlinePayload = 256 << 10
	// DecodeLimit is the largest payload that is decoded for a summary, features or a picture.
	DecodeLimit = 32 << 20
	// HeadLimit is the number of bytes that are read of a payload over DecodeLimit.
	HeadLimit = 64 << 10
)
