package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

func printPaths(w *lines, r *robotmem.PathsResponse) {
	w.table("PATH\tMEMORIES\tKINDS\tRANGE", len(r.Paths), func(i int) string {
		p := r.Paths[i]
		span := ""
		if p.Min != nil && p.Max != nil {
			span = strings.TrimSpace(fmt.Sprintf("%.6g to %.6g %s", *p.Min, *p.Max, p.Unit))
		}
		return fmt.Sprintf("%s\t%d\t%s\t%s", clip(oneLine(p.Path), maxCell), p.Memories, strings.Join(p.Kinds, ", "), span)
	})
	for _, p := range r.Paths {
		for _, v := range p.Values {
			text, err := json.Marshal(v.Value)
			if err != nil {
				text = []byte("?")
			}
			w.line("%8d  %s", v.Memories, clip(oneLine(string(text)), maxCell))
		}
	}
	if r.Total > len(r.Paths) {
		w.line("%d of %d paths; name a prefix to see the others", len(r.Paths), r.Total)
	}
}

func printPlaces(w *lines, r *robotmem.PlacesResponse) {
	if len(r.Points) == 0 {
		w.table("FIELD\tFRAME\tMAP\tDIMS\tMEMORIES\tFROM\tTO", len(r.Fields), func(i int) string {
			f := r.Fields[i]
			return fmt.Sprintf("%s\t%s\t%s\t%d\t%d\t%.6g\t%.6g", clip(oneLine(f.Field), maxCell), orDash(f.FrameID), orDash(f.MapID), f.Dims, f.Memories, f.Min, f.Max)
		})
		return
	}
	w.table("ID\tX\tY\tZ\tSUCCESS\tSUMMARY", len(r.Points), func(i int) string {
		p := r.Points[i]
		z, success := "-", "-"
		if p.Z != nil {
			z = fmt.Sprintf("%.6g", *p.Z)
		}
		if p.Success != nil {
			success = fmt.Sprint(*p.Success)
		}
		return fmt.Sprintf("%d\t%.6g\t%.6g\t%s\t%s\t%s", p.MemoryID, p.X, p.Y, z, success, clip(oneLine(p.Summary), maxCell))
	})
	for _, c := range r.Cells {
		w.line("cell at %.6g, %.6g (%.6g wide): %d memories, %d succeeded, %d failed", c.X, c.Y, r.Cell, c.Memories, c.Successes, c.Failures)
	}
	w.line("%d of %d points", len(r.Points), r.Total)
}
