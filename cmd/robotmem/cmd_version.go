package main

import (
	"runtime"
	"runtime/debug"
)

type versionCmd struct {
	JSON bool `name:"json" help:"Print it as JSON."`
}

// released is the version of a published build; the linker sets it.
var released string

type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (c *versionCmd) Run(a *app) error {
	b := buildInfo()
	return a.show(c.JSON, b, func(w *lines) {
		text := "robotmem " + b.Version
		if b.Revision != "" {
			text += " " + b.Revision
		}
		w.line("%s (%s, %s)", text, b.Go, b.Platform)
	})
}

func version() string { return buildInfo().Version }

func buildInfo() build {
	b := build{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; released != "" {
		b.Version = released
	} else if v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}
