package record

import (
	"crypto/sha256"
	"encoding/json"
)

// Call names a call that stores a memory. Repeated with the same ID it is answered again.
type Call struct {
	ID     string // the caller's; "" for a call that cannot be told from another one
	Digest []byte // of the operation and its request, without the bytes of a payload
}

// CallOf returns the call of an operation. The request must not hold the ID, nor a payload.
func CallOf(op, id string, request any) (Call, error) {
	if id == "" {
		return Call{}, nil
	}
	body, err := json.Marshal(request)
	if err != nil {
		return Call{}, err
	}
	digest := sha256.Sum256(append([]byte(op+" "), body...))

	return Call{ID: id, Digest: digest[:]}, nil
}

// With returns the call with the SHA-256 of its payload, in hexadecimal, as a part of it.
func (c Call) With(payload string) Call {
	if c.ID != "" && payload != "" {
		digest := sha256.Sum256(append(c.Digest[:len(c.Digest):len(c.Digest)], payload...))
		c.Digest = digest[:]
	}
	return c
}
