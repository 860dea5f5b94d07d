package record

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
)

// Call identifies a call that stores a memory. If a call is repeated with the same ID, its first answer is returned.
type Call struct {
	ID     string // chosen by the caller; "" for a call that is not recognised when it is repeated
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

// WithPayload returns the call with a digest that includes the SHA-256 of its payload, which is given in
// hexadecimal.
func (c Call) WithPayload(payloadSum string) Call {
	if c.ID != "" && payloadSum != "" {
		// Without a spare capacity append copies, so the digest of the other call keeps its bytes.
		before := slices.Clip(c.Digest)
		digest := sha256.Sum256(append(before, payloadSum...))
		c.Digest = digest[:]
	}

	return c
}
