package trajectory

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
)

var errNotJSON = errors.New("the data is not valid JSON")

// jsonPose is a pose, or a ROS PoseStamped, whose pose and header are objects.
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
	if !bytes.HasPrefix(text, []byte("{")) {
		return json.Unmarshal(text, (*float64)(s))
	}
	var o struct{ Sec, Secs, Nanosec, Nsec, Nsecs float64 }
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	*s = jsonStamp(o.Sec + o.Secs + (o.Nanosec+o.Nsec+o.Nsecs)*1e-9)
	return nil
}

// readJSON reads pose by pose, so that it takes little more memory than the poses.
func (t *Trajectory) readJSON(data []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		var object struct {
			Poses json.RawMessage `json:"poses"`
		}
		if json.Unmarshal(data, &object) != nil {
			return errNotJSON
		}
		if data = object.Poses; data == nil {
			return errors.New("the JSON object has no poses")
		}
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if open, err := d.Token(); err != nil {
		return errNotJSON
	} else if open != json.Delim('[') {
		return errors.New("the poses are not a list")
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
		pose := Pose{Time: (*float64)(cmp.Or(p.Stamp, p.Header.Stamp)), Position: [3]float64(p.Position.values[:3])}
		if p.Orientation != nil && p.Orientation.count == 4 {
			pose.Orientation = &p.Orientation.values
		}
		t.Add(pose)
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("the list of poses does not end: %w", err)
	}
	return nil
}
