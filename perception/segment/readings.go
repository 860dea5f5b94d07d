package segment

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/perception/importers/message"
	"github.com/robotmem/robotmem-go/perception/media"
)

// reading is one number of a message.
type reading struct {
	name, unit string
	value      float64
}

type readings []reading

// appendTo appends the values in the order of the names; NaN if one is missing.
func (r readings) appendTo(values []float64, names []string) []float64 {
	for c, name := range names {
		at, value := c, math.NaN()
		// Messages of one type usually have their numbers at the same places. Search only if the order differs, as
		// of joints.
		if c >= len(r) || r[c].name != name {
			at = slices.IndexFunc(r, func(other reading) bool { return other.name == name })
		}
		if at >= 0 {
			value = r[at].value
		}
		values = append(values, value)
	}

	return values
}

const (
	// maxChannels is more than a plot can show.
	maxChannels = 64
	// maxArray is the longest array that is a set of channels. A longer one is a scan or a picture.
	maxArray = 16
)

// selection lists the readings of a message.
type selection func(v *message.Value) readings

// measured lists the numbers of a message by which it is compared and summarised: without its header and its
// covariances, which are not measurements. Of joint states it lists the positions by the names of the joints, or else
// the velocities or the efforts.
func measured(v *message.Value) (out readings) {
	joints, width := jointsOf(v)
	if width > 0 {
		return joints[:width]
	}
	out.walk(v, make([]string, 0, 16), nil)

	return out
}

// shown lists the numbers of a message that a person may want to see: those that are measured, all quantities of
// joints, booleans as 0 and 1, and the numbers in lists of structures.
func shown(v *message.Value) (out readings) {
	if joints, width := jointsOf(v); width > 0 {
		return joints
	}
	out.walk(v, make([]string, 0, 16), out.walkDetails)

	return out
}

// quantities are those of joints.
var quantities = []struct{ name, unit string }{{"position", "rad"}, {"velocity", "rad/s"}, {"effort", "Nm"}}

// jointsOf lists the quantities of a sensor_msgs/JointState, or of a foxglove.JointStates, whose joints have their
// values beside their names. The first quantity has the names of the joints; width is how many there are.
func jointsOf(v *message.Value) (out readings, width int) {
	names, joints := v.At("name"), v.At("joints")

	for _, q := range quantities {
		before := len(out)
		add := func(name string, value float64) {
			if width > 0 {
				name += "." + q.name
			}
			if len(out) < maxChannels {
				out = append(out, reading{name, q.unit, value})
			}
		}

		values := v.At(q.name).Numbers
		for i := range names.List[:min(len(names.List), len(values))] {
			add(names.List[i].Text, values[i])
		}

		for i := range joints.List {
			name, value := joints.List[i].At("name").Text, joints.List[i].At(q.name)
			if name != "" && value.IsNumber() {
				add(name, value.Float)
			}
		}

		if before == 0 {
			width = len(out)
		}
	}

	return out, width
}

// details lists what a walk leaves out of a field.
type details func(r *readings, child *message.Value, path []string)

// walkDetails lists a boolean, and the numbers in the elements of a list. An element that has a name is called by it,
// since the next message may have another order.
func (readings) walkDetails(r *readings, child *message.Value, path []string) {
	if child.Kind == message.Bool && len(*r) < maxChannels {
		*r = append(*r, reading{channelName(path), "", child.Float})
	}
	if child.Kind != message.List || len(child.List) > maxArray {
		return
	}

	for i := range child.List {
		element := &child.List[i]
		if element.Kind != message.Struct {
			return
		}
		name := cmp.Or(element.At("name").Text, element.At("child_frame_id").Text, strconv.Itoa(i))
		at := slices.Clone(path)
		at[len(at)-1] += "[" + media.Clean(name, media.MaxName) + "]"
		r.walk(element, at, r.walkDetails)
	}
}

func (r *readings) walk(v *message.Value, path []string, rest details) {
	for i := range v.List {
		if i >= len(v.Names) || len(*r) >= maxChannels {
			return
		}
		name, child := v.Names[i], &v.List[i]
		if name == "header" || name == "stamp" || name == "timestamp" || strings.HasSuffix(name, "covariance") {
			continue
		}
		// Its parent has used what this overwrites.
		at := append(path, name)

		switch {
		case child.Kind == message.Struct:
			r.walk(child, at, rest)
		case child.IsNumber() && child.Kind != message.Bool:
			*r = append(*r, reading{channelName(at), channelUnit(at), child.Float})
		case child.Kind == message.Numbers && len(child.Numbers) <= maxArray:
			for j, n := range child.Numbers {
				if len(*r) < maxChannels {
					*r = append(*r, reading{channelName(at) + "[" + strconv.Itoa(j) + "]", channelUnit(at), n})
				}
			}
		case rest != nil:
			rest(r, child, at)
		}
	}
}

// channelName joins the path without the parts that all messages of a type have: Fz for
// wrench.force.z, position.x for pose.pose.position.x.
func channelName(path []string) string {
	if n := len(path); n > 1 && len(path[n-1]) == 1 && (path[n-2] == "force" || path[n-2] == "torque") {
		return strings.ToUpper(path[n-2][:1]) + path[n-1]
	}

	for len(path) > 1 && (path[0] == "pose" || path[0] == "twist" || path[0] == "transform" || path[0] == "accel") {
		path = path[1:]
	}

	return strings.Join(path, ".")
}

// units are the units that the ROS interfaces (REP 103) define for fields of these names.
// In a twist linear is a velocity, in an accel an acceleration.
var units = map[string]string{
	"force": "N", "torque": "Nm", "position": "m", "translation": "m", "point": "m",
	"linear": "m/s", "angular": "rad/s", "angular_velocity": "rad/s", "linear_acceleration": "m/s²",
	"temperature": "°C", "fluid_pressure": "Pa", "voltage": "V", "current": "A", "range": "m",
	"min_range": "m", "max_range": "m", "field_of_view": "rad", "magnetic_field": "T", "latitude": "°",
	"longitude": "°", "altitude": "m", "illuminance": "lx", "charge": "Ah", "capacity": "Ah", "design_capacity": "Ah",
}

func channelUnit(path []string) string {
	for i, name := range slices.Backward(path) {
		unit, ok := units[name]
		if ok && i > 0 && path[i-1] == "accel" {
			return unit + "²"
		}
		if ok {
			return unit
		}
	}

	return ""
}
