package browsertest

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// planAt is the colour of the map view at a place of the world, as the name of what it means: free, occupied, unknown or
// another colour. The view shows so many units from left to right around a middle.
const planAt = `((u, v, u0, v0, span) => {
	const c = document.querySelector("main .map-figure canvas"), box = document.querySelector("main .plane-frame");
	const n = (name) => Number(box.getAttribute(name)), dense = c.width / c.clientWidth, scale = n("width") / span;
	const x = n("x") + n("width") / 2 + (u - u0) * scale, y = n("y") + n("height") / 2 - (v - v0) * scale;
	const own = new OffscreenCanvas(c.width, c.height).getContext("2d");
	own.drawImage(c, 0, 0);
	const got = own.getImageData(Math.round(x * dense), Math.round(y * dense), 1, 1).data;
	const style = getComputedStyle(document.documentElement);
	const rgb = (name) => [1, 3, 5].map((i) => parseInt(style.getPropertyValue(name).trim().slice(i, i + 2), 16));
	const [card, ink] = [rgb("--card"), rgb("--ink")];
	const meanings = { free: card, occupied: card.map((v, i) => v + (ink[i] - v) * 0.72), unknown: rgb("--line") };
	if (got[3] === 0) return "nothing";
	const near = Object.entries(meanings).find(([, want]) => want.every((v, i) => Math.abs(v - got[i]) < 6));
	return near?.[0] ?? [...got].join();
})(%s, %s, %s, %s, %s)`

// mapBeneath: a map.yaml lies beneath the points of its map at its place, turned as its origin says, in both themes.
func (w *world) mapBeneath(t *testing.T) {
	const (
		width, height  = 8, 4
		resolution     = 0.5
		x0, y0, yaw    = -1.0, 2.0, 0.5
		u0, v0, across = 0.5, 3.5, 10.0
	)
	dir := t.TempDir()
	db := filepath.Join(dir, "memory.db")
	// The top row of the picture has the largest y. One corner is a wall, another unknown.
	pixels := make([]byte, width*height)
	for i := range pixels {
		pixels[i] = 254
	}
	pixels[(height-1)*width+width-1] = 0
	pixels[0] = 205
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "hall.pgm"), append(fmt.Appendf(nil, "P5 %d %d 255\n", width, height), pixels...), 0o600),
		os.WriteFile(filepath.Join(dir, "hall.yaml"), fmt.Appendf(nil, "image: hall.pgm\nresolution: %v\norigin: [%v, %v, %v]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.196\n", resolution, x0, y0, yaw), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	w.run(t, "import", filepath.Join(dir, "hall.yaml"), "--map-id", "hall", "--db", db)
	for i, at := range []string{"[0,3]", "[2,4]", "[1,3.2]"} {
		for _, name := range []string{"hall", "yard"} {
			w.run(t, "learn", fmt.Sprintf("the door %d of the %s sticks", i, name), "--db", db,
				"--context", fmt.Sprintf(`{"spatial":{"position":%s,"frame_id":"map","map_id":%q}}`, at, name))
		}
	}

	n := w.serve(t, db)
	at := func(column, row float64) (u, v float64) {
		x, y := (column+0.5)*resolution, (row+0.5)*resolution
		return x0 + x*math.Cos(yaw) - y*math.Sin(yaw), y0 + x*math.Sin(yaw) + y*math.Cos(yaw)
	}
	for _, l := range []look{wide, {name: "wide-dark", width: 1440, height: 900, dark: true}, narrow} {
		p := w.open(t, n, l)
		span := across
		p.goTo(fmt.Sprintf("/map?field=spatial.position&frame=map&map=hall&dims=2&view=%v,%v,%v", u0, v0, span))
		p.see(".map-underlay", "4 × 2 m")
		for _, tt := range []struct {
			column, row float64
			want        string
		}{{7, 0, "occupied"}, {0, 3, "unknown"}, {5, 2.2, "free"}, {8.2, 0, "nothing"}, {7, -0.7, "nothing"}} {
			u, v := at(tt.column, tt.row)
			p.until(planAt+` === %s`, u, v, u0, v0, span, tt.want)
		}
		w.audit(p, l.name+"-map-underlay")

		// The switch hides it, and the address says so. Another map has none.
		u, v := at(7, 0)
		p.click(".map-underlay .button", "Floor plan")
		p.until(planAt+` !== "occupied"`, u, v, u0, v0, span)
		p.until(`new URLSearchParams(location.search).get("plan") === "off"`)
		p.click(".map-underlay .button", "Floor plan")
		p.until(planAt+` === "occupied"`, u, v, u0, v0, span)
		p.goTo(fmt.Sprintf("/map?field=spatial.position&frame=map&map=yard&dims=2&view=%v,%v,%v", u0, v0, span))
		p.see(".map-caption", "Memories shown: 3")
		p.gone(".map-underlay", "")
	}
}
