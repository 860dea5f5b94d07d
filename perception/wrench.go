package perception

import "strings"

// wrenchAxes are the axes of a wrench: three forces, then three torques.
var wrenchAxes = [6]string{"Fx", "Fy", "Fz", "Tx", "Ty", "Tz"}

// wrenchForces is how many of the axes are forces.
const wrenchForces = 3

// isWrench tells that metadata calls the six channels a wrench.
func (s *series) isWrench() bool { return s.kind == "wrench" && s.width == len(wrenchAxes) }

// wrenchOrder returns the axis (0 to 5, as in wrenchAxes) of each channel, and
// whether the channels are a wrench: by their names, in any order, or in the
// usual order because metadata says so.
func (s *series) wrenchOrder() (axes [6]int, ok bool) {
	if s.width != len(axes) {
		return axes, false
	}
	var seen [6]bool
	found := 0
	for c, name := range s.channels {
		if axis, ok := wrenchAxis(name); ok && !seen[axis] {
			seen[axis], axes[c] = true, axis
			found++
		}
	}
	if found == len(axes) {
		return axes, true
	}
	return [6]int{0, 1, 2, 3, 4, 5}, s.isWrench()
}

// wrenchAxis knows Fx, fx, force.x, force_x and /ft/wrench/force/x, and the same
// of torques, which are also written Mx (moment).
func wrenchAxis(name string) (int, bool) {
	if len(name) > 2*maxNameRunes {
		return 0, false
	}
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("._/- []", r) })
	if len(parts) == 0 {
		return 0, false
	}
	last := parts[len(parts)-1]
	quantity, axis := last[:1], last[1:]
	if len(last) == 1 && len(parts) > 1 {
		quantity, axis = parts[len(parts)-2], last
	}
	i := strings.Index("xyz", axis)
	if i < 0 || len(axis) != 1 {
		return 0, false
	}
	switch quantity {
	case "f", "force":
		return i, true
	case "t", "m", "torque", "moment":
		return wrenchForces + i, true
	}
	return 0, false
}

func wrenchQuantity(axis int) string {
	if axis < wrenchForces {
		return "force"
	}
	return "torque"
}
