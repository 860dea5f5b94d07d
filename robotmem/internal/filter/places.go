package filter

import (
	"math"
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Place is a coordinate in a context with its frame and map. Latitude and longitude have
// the frame [robotmem.WGS84].
type Place struct {
	Path         string
	XYZ          []float64
	Frame, MapID string
	Quaternion   []float64 // the orientation there, x, y, z, w; nil if none is given
}

// mostListed is how many objects of a list are places of a memory.
const mostListed = 64

// Places lists the coordinates of a context that are wanted, by path. Those of a list of objects have one path, and
// the order of the list.
func Places(context robotmem.Object, wanted func(path string, v any) bool) (places []Place) {
	walk(context, mostListed, func(n *node) {
		if !wanted(n.path, n.value) {
			return
		}
		if xyz, earth := robotmem.Coordinates(n.value); xyz != nil {
			if earth {
				n.frame = robotmem.WGS84
			}
			places = append(places, Place{n.path, xyz, n.frame, n.mapID, robotmem.Orientation(n.value, n.beside)})
		}
	})
	slices.SortStableFunc(places, func(a, b Place) int { return strings.Compare(a.Path, b.Path) })

	return places
}

// PlacePaths are the paths at which a question for a field finds coordinates: its own, and
// those of a pose with or without a header, a covariance or a velocity.
func PlacePaths(field string) []string {
	return []string{
		field, field + ".position", field + ".pose", field + ".pose.position", field + ".pose.pose",
		field + ".pose.pose.position",
	}
}

// PlacesFor returns the coordinates of a context that a question compares.
func PlacesFor(s *robotmem.SpatialSort, context robotmem.Object) []Place {
	paths := PlacePaths(s.Field)
	places := Places(context, func(path string, _ any) bool { return slices.Contains(paths, path) })
	return slices.DeleteFunc(places, func(p Place) bool {
		return !ComparesDims(s, len(p.XYZ)) || !ComparesFrame(s, p.Frame, p.MapID) || Turned(s) && !Faces(s, p.Quaternion)
	})
}

// Turned reports whether a question narrows by orientation.
func Turned(s *robotmem.SpatialSort) bool { return s.Heading != nil || s.Orientation != nil }

// Faces reports whether an orientation, a unit quaternion, is within the largest angle of a question: of its heading,
// the angle about z, or of its orientation, by the angle of the rotation between the two.
func Faces(s *robotmem.SpatialSort, q []float64) bool {
	if q == nil {
		return false
	}

	angle := 0.0
	if s.Heading != nil {
		x, y, z, w := q[0], q[1], q[2], q[3]
		angle = math.Abs(math.Remainder(math.Atan2(2*(w*z+x*y), 1-2*(y*y+z*z))-*s.Heading, 2*math.Pi))
	} else {
		dot, norm := 0.0, 0.0
		for i, v := range s.Orientation {
			dot += v * q[i]
			norm += v * v
		}
		// q and -q are the same rotation.
		angle = 2 * math.Acos(min(1, math.Abs(dot)/math.Sqrt(norm)))
	}

	// Angles such as pi/2 are written with few digits.
	const rounding = 1e-6

	most := robotmem.UsualMaxAngle
	if s.MaxAngle != nil {
		most = *s.MaxAngle
	}

	return angle <= most+rounding
}

// ComparesDims reports whether coordinates with so many numbers are asked for: as many as
// the target has. Points in the plane and in space are compared in x and y.
func ComparesDims(s *robotmem.SpatialSort, dims int) bool {
	const plane, space = 2, 3
	return dims == len(s.Target) || min(dims, len(s.Target)) == plane && max(dims, len(s.Target)) == space
}

// ComparesFrame reports whether coordinates of a frame and a map are asked for.
func ComparesFrame(s *robotmem.SpatialSort, frame, mapID string) bool {
	return (s.FrameID == "" || s.FrameID == frame) && (s.MapID == "" || s.MapID == mapID)
}

// DistanceTo is Euclidean over the numbers that both have, of angles by the shorter way round, and in metres for
// latitude and longitude; ok is false beyond the largest distance.
func DistanceTo(s *robotmem.SpatialSort, xyz []float64, frame string) (d float64, ok bool) {
	if frame == robotmem.WGS84 && len(s.Target) <= 3 && !s.Angular {
		d = onEarth(s.Target, xyz)
	} else {
		sum := 0.0

		for i, t := range s.Target[:min(len(s.Target), len(xyz))] {
			difference := xyz[i] - t
			if s.Angular {
				difference = math.Remainder(difference, 2*math.Pi)
			}
			sum += difference * difference
		}
		d = math.Sqrt(sum)
	}
	if math.IsInf(d, 0) {
		d = math.MaxFloat64 // JSON has no infinity
	}

	return d, s.MaxDistance == nil || d <= *s.MaxDistance
}

// earthRadius is the mean radius R1 of the WGS 84 ellipsoid, in metres. The distance along a
// great circle differs from that on the ellipsoid by at most 0.6 %.
const earthRadius = 6_371_008.8

// onEarth is the distance by the haversine formula, with the difference of altitudes if both
// are given.
func onEarth(a, b []float64) float64 {
	const degree = math.Pi / 180
	lat, lon := math.Sin((a[0]-b[0])*degree/2), math.Sin((a[1]-b[1])*degree/2)
	h := lat*lat + math.Cos(a[0]*degree)*math.Cos(b[0]*degree)*lon*lon
	d := 2 * earthRadius * math.Asin(min(1, math.Sqrt(h)))
	if len(a) == 3 && len(b) == 3 {
		d = math.Hypot(d, a[2]-b[2])
	}

	return d
}
