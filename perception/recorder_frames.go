package perception

import (
	"maps"
	"time"
)

// FrameOptions is what is known of a source of frames. The zero value works.
type FrameOptions struct {
	MediaType   string // of every frame; sniffed when it is empty
	Type        string // the sense, visual if empty
	Description string // in words; "recording of" the source if empty
	Context     map[string]any
	// Metadata goes with every frame, beside source, seq and missed (frames never
	// offered since the one before).
	Metadata map[string]any
	// QueueBytes is the room for frames that wait, each with 32 bytes besides; 0
	// is a quarter of the recorder's. A larger frame is always dropped.
	QueueBytes int
}

// FrameSource takes images or other payloads that come one by one, each an item
// of its own.
type FrameSource struct{ s *recordSource }

// Frames adds a source of frames. The error says that the name is taken or no
// name, or that QueueBytes is not to be had.
func (r *Recorder) Frames(name string, o FrameOptions) (*FrameSource, error) {
	if o.Type == "" {
		o.Type = "visual"
	}
	if o.QueueBytes <= 0 {
		o.QueueBytes = max(r.o.QueueBytes/4, headerBytes)
	}
	metadata := maps.Clone(o.Metadata)
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata["source"] = name
	s, err := r.add(name, o.QueueBytes, sourceAbout{
		sense: o.Type, mediaType: o.MediaType, description: o.Description,
		context: maps.Clone(o.Context), metadata: metadata,
	}, nil)
	if err != nil {
		return nil, err
	}
	return &FrameSource{s}, nil
}

// Push takes a copy of a frame; at is by the sensor's clock, in the years 1678
// to 2261. It never waits and allocates nothing. False says that the frame was
// dropped, and that is counted.
//
// One goroutine pushes at a time; what a second one pushes meanwhile is dropped.
func (f *FrameSource) Push(seq uint64, at time.Time, data []byte) bool {
	s := f.s
	if !s.begin() {
		return false
	}
	s.number(seq)
	need := headerBytes + len(data)
	pos, ok := s.admit(at, need)
	if !ok {
		return s.end(0)
	}
	h := s.header(seq, at, len(data))
	s.queue.put(pos, h[:])
	s.queue.put(pos+headerBytes, data)
	return s.end(need)
}

// frame is the item of a record.
func (s *recordSource) frame(h recordHeader, data []byte) Recorded {
	metadata := maps.Clone(s.about.metadata)
	metadata["seq"], metadata["missed"] = h.seq, h.missed
	return s.recorded(h.at, data, metadata)
}

func (s *recordSource) recorded(at int64, data []byte, metadata map[string]any) Recorded {
	return Recorded{
		Item:        Item{Type: s.about.sense, MediaType: s.about.mediaType, Data: data, Metadata: metadata},
		Description: s.about.description,
		Source:      s.name,
		Context:     s.about.context,
		ObservedAt:  time.Unix(0, at).UTC(),
	}
}
