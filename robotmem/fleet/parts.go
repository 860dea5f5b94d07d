package fleet

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
)

// A push is sent in parts that the site takes. The number of the last change comes with the last part, so that a push that
// is interrupted is sent again from its beginning, and the site stores each change once.

// mostUnpacked bounds a part before it is compressed, well below what a site unpacks.
const mostUnpacked = MaxRequest / 2

// part is a push, or a part of one, and its compressed form.
type part struct {
	*PushRequest
	body []byte
}

// split divides a push into parts within the limits of a site: sessions before the memories in them, and these before what
// links and purges them. What does not fit alone is named in aside.
func split(p *PushRequest) (parts []part, aside []SyncNote, err error) {
	body, fits, err := packed(p)
	if err != nil {
		return nil, nil, err
	}
	if fits {
		return []part{{p, body}}, nil, nil
	}

	if n := p.size(); n > 1 {
		// The second half follows the first, and the number of the last change comes with it.
		first, second := p.cut(0, n/2), p.cut(n/2, n)
		first.Prev, first.Link = p.Prev, newLink()
		second.Prev, second.Link, second.Upto = first.Link, p.Link, p.Upto

		for _, half := range []*PushRequest{first, second} {
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

// splitOne sends the past states of a single memory apart from it. What does not fit even so is left out.
func splitOne(p *PushRequest) ([]part, []SyncNote, error) {
	switch {
	case len(p.Memories) == 1 && len(p.Memories[0].Versions) > 0:
		m := p.Memories[0]
		past := PastStates{m.UID, m.Versions}
		m.Versions = nil

		one := *p
		one.Memories, one.Past = []NumberedMemory{m}, []PastStates{past}

		return split(&one)
	case len(p.Past) == 1 && len(p.Past[0].Versions) > 1:
		uid, versions := p.Past[0].UID, p.Past[0].Versions
		half := len(versions) / 2

		two := *p
		two.Past = []PastStates{{uid, versions[:half]}, {uid, versions[half:]}}

		return split(&two)
	}

	reason := fmt.Sprintf("is larger than the %d MiB that a site takes, and stays here", MaxPush>>20)
	name := ""

	switch {
	case len(p.Memories) > 0:
		name = p.Memories[0].UID
	case len(p.Sessions) > 0:
		name = p.Sessions[0].SessionID
	case len(p.Past) > 0:
		name, reason = p.Past[0].UID, "a past state of it "+reason
	}

	// The push without it keeps the chain of links, and the number that comes with it.
	none := &PushRequest{Protocol: p.Protocol, Replica: p.Replica, Robot: p.Robot, Prev: p.Prev, Link: p.Link, Upto: p.Upto}
	body, _, err := packed(none)

	return []part{{none, body}}, []SyncNote{{UID: name, Reason: reason}}, err
}

// size is the number of the changes in a push.
func (p *PushRequest) size() int {
	return len(p.Sessions) + len(p.Memories) + len(p.Past) + len(p.Links) + len(p.Purged) + len(p.Credits)
}

// cut returns the changes from a to b in the order in which they are sent.
func (p *PushRequest) cut(a, b int) *PushRequest {
	out := &PushRequest{Protocol: p.Protocol, Replica: p.Replica, Robot: p.Robot}
	out.Sessions, a, b = cutList(p.Sessions, a, b)
	out.Memories, a, b = cutList(p.Memories, a, b)
	out.Past, a, b = cutList(p.Past, a, b)
	out.Links, a, b = cutList(p.Links, a, b)
	out.Purged, a, b = cutList(p.Purged, a, b)
	out.Credits, _, _ = cutList(p.Credits, a, b)

	return out
}

func cutList[T any](list []T, a, b int) (cut []T, afterA, afterB int) {
	n := len(list)
	return list[min(max(a, 0), n):min(max(b, 0), n)], a - n, b - n
}

// packed compresses a push and reports whether a site takes it.
func packed(p *PushRequest) (body []byte, fits bool, err error) {
	data, err := json.Marshal(p)
	if err != nil || len(data) > mostUnpacked || p.CheckBounds() != nil || CheckBounds(data) != nil {
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
