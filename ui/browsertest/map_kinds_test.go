package browsertest

import (
	"fmt"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// landmarks plants places in the plane and in space, in one frame: the collection floor has 30
// in the plane, shelf has 12 in space, lone has two failures apart, and crowd has five at each of
// the same places, of which the last failed.
func (p *planter) landmarks() {
	put := func(collection string, i int, success bool, xyz ...any) {
		do(p, p.m.Learn, &robotmem.LearnRequest{
			Insight: fmt.Sprintf("attempt %d in %s", i, collection), Collection: collection,
			Context: robotmem.Object{"spatial": map[string]any{"position": xyz, "frame_id": "hall"}, "task": map[string]any{"success": success}},
		})
	}
	for i := range 30 {
		put("floor", i, true, float64(i%6), float64(i/6))
	}
	for i := range 12 {
		put("shelf", i, true, 8+0.1*float64(i%4), float64(i/4), 0.5+0.1*float64(i))
	}
	for spot := range 2 {
		x := 2 + 3*float64(spot)
		put("lone", spot, false, x, 1.0)
		for i := range 5 {
			put("crowd", 5*spot+i, i < 4, x, 1.0)
		}
	}
}

// coloured counts the pixels of the map that are nearly the colour of a variable of the style.
const coloured = `((name) => {
	const c = document.querySelector("main .map-figure canvas");
	const own = new OffscreenCanvas(c.width, c.height).getContext("2d");
	own.drawImage(c, 0, 0);
	const one = new OffscreenCanvas(1, 1).getContext("2d");
	one.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	one.fillRect(0, 0, 1, 1);
	const want = one.getImageData(0, 0, 1, 1).data, all = own.getImageData(0, 0, c.width, c.height).data;
	let n = 0;
	for (let i = 0; i < all.length; i += 4) n += Math.abs(all[i] - want[0]) + Math.abs(all[i + 1] - want[1]) + Math.abs(all[i + 2] - want[2]) < 40;
	return n;
})(%s)`

// inked pixels of heat: those that are neither grid nor marks have the colour of a ramp.
const heated = `(() => {
	const c = document.querySelector("main .map-figure canvas");
	const own = new OffscreenCanvas(c.width, c.height).getContext("2d");
	own.drawImage(c, 0, 0);
	const all = own.getImageData(0, 0, c.width, c.height).data;
	let n = 0;
	for (let i = 0; i < all.length; i += 4) n += all[i + 3] > 0 && Math.max(all[i], all[i + 1], all[i + 2]) - Math.min(all[i], all[i + 1], all[i + 2]) > 60;
	return n;
})()`

// mapOfKinds: places with and without a height are drawn together, failures lie on top, and a
// cell of one memory is no area.
func (w *world) mapOfKinds(t *testing.T) {
	n := w.serve(t, w.plant(t, (*planter).landmarks))
	p := w.open(t, n, wide)
	p.goTo("/map")
	p.see(".map-caption", "Memories shown: 54") // 30, 12, 2 and 10
	keep(t, "map-kinds", w.picture(p))
	p.choose("Collection", "shelf")
	p.see(".map-caption", "Memories shown: 12")
	p.until(coloured+` > 20`, "--good")
	p.choose("Collection", "all")
	p.see(".map-caption", "Memories shown: 54")
	p.click(".map-controls label", "x z")
	p.see(".map-caption", "Memories shown: 12")
	p.see(".map-caption", "42 without a height")

	p.goTo("/map?collection=crowd")
	p.see(".map-caption", "Memories shown: 10")
	p.until(coloured+` > 10`, "--bad")
	p.goTo("/map?collection=crowd&heat=failures")
	p.see(".map-caption", "Memories shown: 10")
	p.until(heated + ` > 20`)
	crowd := eval[int](p, heated)
	keep(t, "map-heat-crowd", w.picture(p))
	p.goTo("/map?collection=lone&heat=failures")
	p.see(".map-caption", "Memories shown: 2")
	p.until(heated + ` > 20`)
	if lone := eval[int](p, heated); lone > crowd/2 {
		t.Errorf("two cells of one memory each take %d pixels, those of five take %d: want outlines", lone, crowd)
	}
	keep(t, "map-heat-lone", w.picture(p))
}
