package attach

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// FollowWarnings calls each with the warnings that a [Hub] at an address such as http://127.0.0.1:8767 sends, as they
// come, until ctx ends. It connects again for as long as that takes, with waits of up to half a minute, and calls
// lost once for each time that the connection could not be made or broke. Warnings of the time without a connection
// are not repeated.
func FollowWarnings(ctx context.Context, address string, each func(Warning), lost func(error)) {
	const shortest, longest = time.Second, 30 * time.Second

	wait := shortest

	for ctx.Err() == nil {
		connected, err := followOnce(ctx, address, each)
		if ctx.Err() != nil {
			return
		}
		if connected {
			wait = shortest
		}
		lost(err)

		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		wait = min(2*wait, longest)
	}
}

// followOnce reads one stream of events to its end, which is never a good one.
func followOnce(ctx context.Context, address string, each func(Warning)) (connected bool, err error) {
	url := strings.TrimRight(address, "/") + "/events"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false, err
	}
	request.Header.Set("Accept", "text/event-stream")

	// The hub sends a comment every quarter of a minute. A connection without any is dead.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(3*keepAlive, func() { cancel(errors.New("nothing came for 45 s")) })
	defer silence.Stop()

	res, err := http.DefaultClient.Do(request.WithContext(ctx))
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	if kind := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "text/event-stream") {
		return false, fmt.Errorf("%s answers %s, %s; give the address that robotmem attach --listen prints", url, res.Status, kind)
	}

	const longestLine = 1 << 20
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, longestLine)
	name := ""

	for lines.Scan() {
		silence.Reset(3 * keepAlive)
		field, value, _ := bytes.Cut(lines.Bytes(), []byte(": "))

		switch string(field) {
		case "event":
			name = string(value)
		case "data":
			var w Warning
			if name == "warning" && json.Unmarshal(value, &w) == nil {
				each(w)
			}
		case "":
			name = ""
		}
	}

	err = lines.Err()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err == nil {
		err = io.EOF
	}

	return true, fmt.Errorf("%s: %w", url, err)
}

// CheckAddress refuses what is no address of a [Hub].
func CheckAddress(address string) error {
	if !strings.HasPrefix(address, "http://") && !strings.HasPrefix(address, "https://") {
		return robotmem.Errorf(robotmem.Invalid, "warnings", "%q is no address; give the one that robotmem attach --listen prints, such as http://127.0.0.1:8767", address)
	}
	return nil
}
