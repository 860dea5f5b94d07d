package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
)

// machine is what figures are measured on.
type machine struct {
	CPU      string `json:"cpu"`
	Cores    int    `json:"cores"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (m machine) String() string {
	return fmt.Sprintf("%s, %d cores, %s, %s", m.CPU, m.Cores, m.Go, m.Platform)
}

func thisMachine() machine {
	return machine{
		CPU: procValue("/proc/cpuinfo", "model name", "unknown CPU"), Cores: runtime.NumCPU(),
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
}

// memoryFigures are bytes.
type memoryFigures struct {
	RSSBytes  int64 `json:"rss_bytes"`  // of the process; off Linux, what Go holds
	HeapBytes int64 `json:"heap_bytes"` // live objects
	FileBytes int64 `json:"file_bytes"` // with the log beside it
}

func processMemory() memoryFigures {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	m := memoryFigures{
		HeapBytes: int64(samples[0].Value.Uint64()),
		RSSBytes:  int64(samples[1].Value.Uint64() - samples[2].Value.Uint64()),
	}
	kib, _, _ := strings.Cut(procValue("/proc/self/status", "VmRSS", ""), " ")
	if n, err := strconv.ParseInt(kib, 10, 64); err == nil {
		m.RSSBytes = n << 10
	}
	return m
}

// procValue is the value of the first "key : value" line of a file of /proc,
// or without one the fallback.
func procValue(path, key, fallback string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return fallback
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), ":")
		if ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return fallback
}
