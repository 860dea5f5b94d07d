package fleet

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/robotmem/robotmem-go/robotmem/archive"
)

// A push is sent in parts that the site takes. The number of the last change comes with the last part, so that a push that
// is interrupted is sent again from its beginning, and the site stores each change once.

// mostUnpacked bounds a part before it is compressed, well below what a site unpacks.
const mostUnpacked = MaxUnpacked / 2

// part is a push, or a part of one, and its compressed form.
type part struct {
	*PushRequest
	body []byte
}

// split divides a push into parts within the limits of a site: sessions before the memories in them, and these before what
// links and purges them. What does not fit alone is named in aside: the oldest past states of a memory, or all of it.
func split(p *PushRequest) (parts []part, aside []SyncNote, err error) {
	body, fits, err := packed(p)
	if err != nil {
		return nil, nil, err
	}
	if fits {
		return []part{{p, body}}, nil, nil
	}

	if n := p.size(); n > 1 {
		for _, half := range []*PushRequest{p.cut(0, n/2), p.cut(n/2, n)} {
			some, left, err := split(half)
			if err != nil {
				return nil, nil, err
			}
			parts, aside = append(parts, some...), append(aside, left...)
		}

		return parts, aside, nil
	}

	return splitOne(p)
}

// splitOne makes room for a single memory by leaving out its oldest past states.
func splitOne(p *PushRequest) ([]part, []SyncNote, error) {
	if len(p.Memories) == 0 {
		name := ""
		if len(p.Sessions) > 0 {
			name = p.Sessions[0].SessionID
		}
		return nil, []SyncNote{{UID: name, Reason: fmt.Sprintf("is larger than the %d MiB that a site takes, and stays here", MaxPush>>20)}}, nil
	}

	whole := p.Memories[0]
	for keep := len(whole.Versions) / 2; ; keep /= 2 {
		m := whole
		m.Versions = append([]archive.Version{}, whole.Versions[len(whole.Versions)-keep:]...)
		one := *p
		one.Memories = []NumberedMemory{m}

		body, fits, err := packed(&one)
		if err != nil {
			return nil, nil, err
		}
		if fits {
			return []part{{&one, body}}, []SyncNote{{UID: m.UID, Reason: fmt.Sprintf(
				"its oldest %d past states stay here: with them it is larger than the %d MiB that a site takes", len(whole.Versions)-keep, MaxPush>>20)}}, nil
		}
		if keep == 0 {
			return nil, []SyncNote{{UID: m.UID, Reason: fmt.Sprintf("is larger than the %d MiB that a site takes, and stays here", MaxPush>>20)}}, nil
		}
	}
}

// size is the number of the changes in a push.
func (p *PushRequest) size() int {
	return len(p.Sessions) + len(p.Memories) + len(p.Links) + len(p.Purged)
}

// cut returns the changes from a to b in the order in which they are sent. The number of the last one is left out: it comes
// with the last part.
func (p *PushRequest) cut(a, b int) *PushRequest {
	out := &PushRequest{Replica: p.Replica, Robot: p.Robot}
	out.Sessions, a, b = cutList(p.Sessions, a, b)
	out.Memories, a, b = cutList(p.Memories, a, b)
	out.Links, a, b = cutList(p.Links, a, b)
	out.Purged, _, _ = cutList(p.Purged, a, b)

	return out
}

func cutList[T any](list []T, a, b int) (cut []T, afterA, afterB int) {
	n := len(list)
	return list[min(max(a, 0), n):min(max(b, 0), n)], a - n, b - n
}

// packed compresses a push and reports whether a site takes it.
func packed(p *PushRequest) (body []byte, fits bool, err error) {
	data, err := json.Marshal(p)
	if err != nil || len(data) > mostUnpacked {
		return nil, false, err
	}

	body, err = gzipped(data)

	return body, len(body) <= MaxPush, err
}

func gzipped(data []byte) ([]byte, error) {
	var b bytes.Buffer

	z := gzip.NewWriter(&b)
	_, err := z.Write(data)
	err = errors.Join(err, z.Close())

	return b.Bytes(), err
}
