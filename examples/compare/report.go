package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
)

// report holds all results of a run.
type report struct {
	Machine machine  `json:"machine"`
	Rows    int      `json:"rows"`
	Dims    int      `json:"dims"`
	Results []result `json:"results"`
	LeftOut []string `json:"left_out,omitempty"`
}

// machine describes the computer of the measurement.
type machine struct {
	CPU   string `json:"cpu"`
	Cores int    `json:"cores"`
	Go    string `json:"go"`
	OS    string `json:"os"`
	// Load is the load average of the last minute before the run, empty if it cannot
	// be read. Above about 0.5, other programs affect the measurement.
	Load string `json:"load,omitempty"`
}

func thisMachine() machine {
	m := machine{CPU: runtime.GOARCH, Cores: runtime.NumCPU(), Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH}
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				m.CPU = strings.TrimSpace(value)
				break
			}
		}
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load, _, _ = strings.Cut(string(load), " ")
	}
	return m
}

// residentBytes returns the resident memory of the process, 0 if it cannot be read.
func residentBytes() int64 {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(statm), &size, &resident); err != nil {
		return 0
	}
	return resident * int64(os.Getpagesize())
}

func (r *report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// writeText writes the table.
func (r *report) writeText(w io.Writer) error {
	m := r.Machine
	load := ""
	if m.Load != "" {
		load = ", load " + m.Load + " before"
	}
	if _, err := fmt.Fprintf(w, "%d rows, %d dimensions; %s, %d cores, %s, %s%s\n\n", r.Rows, r.Dims, m.CPU, m.Cores, m.Go, m.OS, load); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "engine\twhat\tload s\tfirst ms\tp50 ms\tp95 ms\tfound\tMB\ttimes slower\tasked")
	last := ""
	for _, l := range r.Results {
		name, loaded, held := "", "", ""
		if l.Engine != last {
			name, loaded, held = l.Engine, fmt.Sprintf("%.1f", l.LoadS), "-"
			if l.Bytes > 0 {
				held = fmt.Sprintf("%.0f", float64(l.Bytes)/1e6)
			}
		}
		last = l.Engine
		slower := "-"
		switch {
		case l.Slower >= 1:
			slower = fmt.Sprintf("%.1f", l.Slower)
		case l.Slower > 0:
			slower = fmt.Sprintf("%.2f", l.Slower)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%.2f\t%.2f\t%.2f\t%.1f %%\t%s\t%s\t%d\n", name, l.What, loaded, l.FirstMS, l.P50MS, l.P95MS, 100*l.Found, held, slower, l.Questions)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, s := range r.LeftOut {
		if _, err := fmt.Fprintf(w, "\nleft out: %s\n", s); err != nil {
			return err
		}
	}
	return nil
}
