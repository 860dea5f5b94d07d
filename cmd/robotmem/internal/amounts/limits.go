package amounts

import (
	"strconv"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/site"
)

// MaxRate is the highest limit of requests a second.
const MaxRate = 1_000_000

// Limits reads the limits of a tenant. An empty one stays as it is, none takes it away.
func Limits(memories, payloadBytes, perSecond string) (l site.Limits, err error) {
	count := func(s string) (int64, error) {
		n, err := strconv.ParseInt(s, 10, 64)
		if n < 0 {
			err = strconv.ErrRange
		}
		return n, err
	}
	if l.Memories, err = limit(memories, -1, count); err != nil {
		return l, robotmem.Errorf(robotmem.Invalid, "memories", "must be a number of memories or none, not %q", memories)
	}
	if l.PayloadBytes, err = limit(payloadBytes, -1, Size); err != nil {
		return l, robotmem.Errorf(robotmem.Invalid, "payload-bytes", "must be a size such as 200GB or none, not %q", payloadBytes)
	}

	rate := func(s string) (float64, error) {
		n, err := strconv.ParseFloat(s, 64)
		if !(n > 0 && n <= MaxRate) {
			err = strconv.ErrRange
		}
		return n, err
	}
	if l.RequestsPerSecond, err = limit(perSecond, -1, rate); err != nil {
		return l, robotmem.Errorf(robotmem.Invalid, "per-second", "must be more than 0 to %d requests or none, not %q", MaxRate, perSecond)
	}

	return l, nil
}

// limit parses a limit: nil if it is not given, none if it is to be taken away.
func limit[N int64 | float64](s string, none N, parse func(string) (N, error)) (*N, error) {
	switch s {
	case "":
		return nil, nil
	case "none":
		return &none, nil
	}
	n, err := parse(s)

	return &n, err
}
