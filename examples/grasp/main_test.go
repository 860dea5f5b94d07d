package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// A short life already separates the policies.
func TestAdviceHelps(t *testing.T) {
	results, err := compare(t.Context(), 60, 2)
	if err != nil {
		t.Fatal(err)
	}
	rates := map[string]float64{}
	for _, r := range results {
		rates[r.name], _ = r.mean(40, 60)
	}
	if rates["advise"] < rates["without memory"]+15 || rates["advise"] > rates["best possible"]+5 {
		t.Errorf("got %v", rates)
	}
	for d := xml.NewDecoder(strings.NewReader(draw(results))); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
