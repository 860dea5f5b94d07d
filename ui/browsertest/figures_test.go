package browsertest

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const (
	bundleLimit = 130 << 10 // bytes as they travel, without the lazy 3-D chunk
	firstView   = 5000.0    // milliseconds: far more than it takes, for busy machines
	loads       = 5         // of which the median counts
)

// figures measures the first view as Lighthouse would: from the beginning of the
// navigation, in a browser that has nothing of the page yet.
func (w *world) figures(t *testing.T) {
	type load struct {
		Paint   float64 `json:"first_contentful_paint_ms"`
		Content float64 `json:"home_content_ms"`
	}
	var all []load
	wire := map[string]float64{}
	for range loads {
		t.Run("", func(t *testing.T) {
			p := w.open(t, w.node, wide)
			p.watchFor("[data-incident] .row-title")
			p.goTo("/")
			p.see("[data-incident] .row-title", "")
			p.until(`performance.getEntriesByName("first-contentful-paint").length > 0`)
			all = append(all, eval[load](p, `((paint) => ({
				first_contentful_paint_ms: paint?.startTime ?? 0,
				home_content_ms: window.contentAt,
			}))(performance.getEntriesByName("first-contentful-paint")[0])`))
			wire = p.wire()
		})
	}
	median := func(of func(load) float64) float64 {
		slices.SortFunc(all, func(a, b load) int { return cmp.Compare(of(a), of(b)) })
		return of(all[len(all)/2])
	}
	out := struct {
		Paint   float64            `json:"first_contentful_paint_ms"`
		Content float64            `json:"home_content_ms"`
		Loads   []load             `json:"loads"`
		Bundle  float64            `json:"bundle_bytes"`
		Files   map[string]float64 `json:"files"`
	}{Files: wire}
	out.Paint = median(func(l load) float64 { return l.Paint })
	out.Content = median(func(l load) float64 { return l.Content })
	out.Loads = all
	for name, size := range wire {
		if name != "/view3d.js" {
			out.Bundle += size
		}
	}
	t.Logf("first contentful paint %.0f ms, the view's content %.0f ms after navigation began (median of %d)", out.Paint, out.Content, loads)
	t.Logf("%.1f KiB travel for the first view: %v", out.Bundle/1024, wire)
	if out.Paint == 0 || out.Paint > firstView || out.Content > firstView {
		t.Errorf("the first view takes %.0f and %.0f ms", out.Paint, out.Content)
	}
	if out.Bundle == 0 || out.Bundle > bundleLimit {
		t.Errorf("%.0f bytes travel, want at most %d", out.Bundle, bundleLimit)
	}
	data, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.artifacts, "figures.json"), data, 0o644); err != nil {
		t.Fatal(err)
	}
}
