package trajectory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/robotmem/robotmem-go/perception/importers/message"
)

// posePaths are where messages have a pose, the deepest first: Odometry and
// PoseWithCovarianceStamped, PoseStamped, TransformStamped, Pose.
var posePaths = [][]string{{"pose", "pose"}, {"pose"}, {"transform"}, nil}

// PoseOf returns the pose of a message without its time. Its position has at least x and y, each
// vector as a list or by its names. ok is false if there is none.
func PoseOf(v *message.Value) (p Pose, ok bool) {
	for _, path := range posePaths {
		at := v.At(path...)
		for _, names := range [][2]string{{"position", "orientation"}, {"translation", "rotation"}} {
			position, orientation := vector(at.At(names[0])), vector(at.At(names[1]))
			if len(position) < 2 || len(position) > 4 {
				continue
			}
			copy(p.Position[:], position)
			if len(orientation) == 4 {
				p.Orientation = (*[4]float64)(orientation)
			}

			return p, true
		}
	}

	return p, false
}

// vector returns the numbers of a list, or the fields x, y, z and w up to the first that is none.
func vector(v *message.Value) []float64 {
	if v.Kind == message.Numbers {
		return v.Numbers
	}

	var out []float64

	for _, axis := range []string{"x", "y", "z", "w"} {
		f := v.Field(axis)
		if !f.IsNumber() {
			break
		}
		out = append(out, f.Float)
	}

	return out
}

// stampOf returns seconds, which are a number or a ROS time; nil if there are none.
func stampOf(v *message.Value) *float64 {
	for _, stamp := range []*message.Value{v.At("stamp"), v.At("header", "stamp")} {
		switch stamp.Kind {
		case message.Float64:
			return &stamp.Float
		// ROS 1 has secs and nsecs, ROS 2 sec and nanosec, Foxglove sec and nsec. The missing ones are 0.
		case message.Struct:
			seconds := stamp.At("sec").Float + stamp.At("secs").Float
			return new(seconds + (stamp.At("nanosec").Float+stamp.At("nsec").Float+stamp.At("nsecs").Float)*1e-9)
		}
	}

	return nil
}

// readJSON reads pose by pose, so that it takes little more memory than the poses.
func (t *Trajectory) readJSON(data []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		var object struct {
			Poses json.RawMessage `json:"poses"`
		}
		if err := json.Unmarshal(data, &object); err != nil {
			return fmt.Errorf("the JSON object is not a trajectory: %w", err)
		}
		if data = object.Poses; data == nil {
			return errors.New("the JSON object has no poses")
		}
	}

	dec := message.NewJSONDecoder(data)
	if open, err := dec.ReadToken(); err != nil || open.Kind() != '[' {
		return errors.New("the poses are not a list")
	}

	for n := 1; dec.PeekKind() != ']'; n++ {
		v, err := message.ReadJSON(dec)
		if err != nil {
			return fmt.Errorf("pose %d is no JSON, or the list does not end: %w", n, err)
		}
		pose, ok := PoseOf(v)
		if !ok {
			return fmt.Errorf("pose %d has no position of two or three numbers, or more than four", n)
		}
		pose.Time = stampOf(v)
		t.Add(pose)
	}

	return nil
}
