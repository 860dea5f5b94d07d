package perception

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// jsonPose is a pose in short form, or a ROS PoseStamped, whose pose and header
// are objects of their own.
type jsonPose struct {
	Position    *jsonVector `json:"position"`
	Orientation *jsonVector `json:"orientation"`
	Stamp       *jsonStamp  `json:"stamp"`
	Header      struct {
		Stamp *jsonStamp `json:"stamp"`
	} `json:"header"`
	Pose *struct {
		Position    *jsonVector `json:"position"`
		Orientation *jsonVector `json:"orientation"`
	} `json:"pose"`
}

// jsonVector is [x, y, z] or {"x": …, "y": …, "z": …}, with w for a quaternion.
type jsonVector struct {
	values [4]float64
	count  int
}

func (v *jsonVector) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(text, []byte("[")) {
		if bytes.Count(text, []byte(",")) >= len(v.values) {
			return errors.New("a position or an orientation has more than four numbers")
		}
		var list []float64
		if err := json.Unmarshal(text, &list); err != nil {
			return err
		}
		v.count = copy(v.values[:], list)
		return nil
	}
	var o struct{ X, Y, Z, W *float64 }
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	for i, p := range []*float64{o.X, o.Y, o.Z, o.W} {
		if p == nil {
			break
		}
		v.values[i], v.count = *p, i+1
	}
	return nil
}

// jsonStamp is seconds, or a ROS time.
type jsonStamp float64

func (s *jsonStamp) UnmarshalJSON(text []byte) error {
	var o struct {
		Sec, Secs            float64
		Nanosec, Nsec, Nsecs float64
	}
	if bytes.HasPrefix(text, []byte("{")) {
		if err := json.Unmarshal(text, &o); err != nil {
			return err
		}
		*s = jsonStamp(o.Sec + o.Secs + (o.Nanosec+o.Nsec+o.Nsecs)*1e-9)
		return nil
	}
	return json.Unmarshal(text, (*float64)(s))
}

// isPoseJSON is cheap: what only looks so is told apart by reading it.
func isPoseJSON(data []byte) bool {
	return bytes.Contains(data, []byte(`"position"`)) || bytes.Contains(data, []byte(`"steps"`))
}

// readJSON reads pose by pose, so that it takes little more than the poses do.
func (t *Trajectory) readJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if err := enterList(d, "poses"); err != nil {
		return err
	}
	for n := 1; d.More(); n++ {
		var p jsonPose
		if err := d.Decode(&p); err != nil {
			return fmt.Errorf("pose %d: %w", n, err)
		}
		if p.Pose != nil {
			p.Position, p.Orientation = p.Pose.Position, p.Pose.Orientation
		}
		if p.Position == nil || p.Position.count < 2 {
			return fmt.Errorf("pose %d has no position of two or three numbers", n)
		}
		if p.Stamp == nil {
			p.Stamp = p.Header.Stamp
		}
		var time float64
		if p.Stamp != nil {
			time = float64(*p.Stamp)
		}
		q := jsonVector{}
		if p.Orientation != nil {
			q = *p.Orientation
		}
		t.add(time, p.Stamp != nil, [3]float64(p.Position.values[:3]), q.values, q.count == 4)
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("the list of poses does not end: %w", err)
	}
	return nil
}

// enterList moves to the first element of the list: that of the whole document,
// or of an object's key.
func enterList(d *json.Decoder, key string) error {
	open, err := d.Token()
	if err != nil {
		return errNotJSON
	}
	if open == json.Delim('{') {
		for {
			if !d.More() {
				return fmt.Errorf("the JSON object has no %s", key)
			}
			name, err := d.Token()
			if err != nil {
				return errNotJSON
			}
			if name == key {
				break
			}
			var skipped json.RawMessage
			if d.Decode(&skipped) != nil {
				return errNotJSON
			}
		}
		if open, err = d.Token(); err != nil {
			return errNotJSON
		}
	}
	if open != json.Delim('[') {
		return fmt.Errorf("%s is no list", key)
	}
	return nil
}

// namedSteps is how many actions a summary names.
const namedSteps = 8

// summarizeSteps writes "12 steps: reach, grasp, lift, …" of a procedure, a JSON
// object with steps, each an object with an action.
func summarizeSteps(it Item) string {
	if it.encoding() != jsonText || !bytes.HasPrefix(bytes.TrimSpace(it.Data), []byte("{")) {
		return ""
	}
	d := json.NewDecoder(bytes.NewReader(it.Data))
	if enterList(d, "steps") != nil {
		return ""
	}
	var names []string
	n := uint64(0)
	for ; d.More(); n++ {
		var step struct {
			Action string `json:"action"`
		}
		if d.Decode(&step) != nil || step.Action == "" {
			return ""
		}
		if n < namedSteps {
			names = append(names, clean(step.Action, maxNameRunes/2))
		}
	}
	if n == 0 {
		return ""
	}
	if _, err := d.Token(); err != nil {
		return ""
	}
	if n > namedSteps {
		names = append(names, "…")
	}
	return plural(n, "step") + ": " + strings.Join(names, ", ")
}
