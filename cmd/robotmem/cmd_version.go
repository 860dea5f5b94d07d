package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/printed"
)

type versionCmd struct {
	JSON bool `name:"json" help:"Print it as JSON."`
}

// released is the version of a published build; the linker sets it.
var released string

type build struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (c *versionCmd) Run(a *app) error {
	b := thisBuild()
	return a.show(c.JSON, b, func(w *printed.Lines) { w.Line("%s", b) })
}

func thisBuild() build {
	return build{version(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
}

func (b build) String() string {
	return fmt.Sprintf("robotmem %s (%s, %s)", b.Version, b.Go, b.Platform)
}

// version returns the version of the release, or else that of the module, which names the commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	switch {
	case released != "":
		return released
	case ok && info.Main.Version != "" && info.Main.Version != "(devel)":
		return info.Main.Version
	}

	return "devel"
}
