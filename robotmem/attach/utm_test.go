package attach

import (
	"math"
	"testing"
)

// The numbers are those of pyproj 3 (EPSG 32632, 32733 and 32631).
func TestUTM(t *testing.T) {
	for _, tt := range []struct {
		lat, lon, x, y float64
		zone           int
	}{
		{48, 11, 649187.8749610233, 5318235.613882185, 32},
		{-33.9, 17.5, 731167.7004159468, 6246117.788051337, 33},
		{59.3, 5.9, 665126.3543890829, 6577052.370534246, 31},
	} {
		x, y, zone := utm(tt.lat, tt.lon)
		if zone != tt.zone || math.Abs(x-tt.x) > 1e-3 || math.Abs(y-tt.y) > 1e-3 {
			t.Errorf("%v, %v: %.4f, %.4f in zone %d; want %.4f, %.4f in %d", tt.lat, tt.lon, x, y, zone, tt.x, tt.y, tt.zone)
		}
	}
}
