// Package ui holds the dashboard as a browser gets it. Its sources are in src,
// what is built from them in dist: make ui builds it again.
package ui

import (
	"embed"
	"io/fs"
)

//go:embed dist
var dist embed.FS

// Files is the dashboard: index.html, and what it loads, by names relative to it.
func Files() fs.FS {
	sub, err := fs.Sub(dist, "dist")
	if err != nil { // unreachable: dist is embedded above
		panic(err)
	}
	return sub
}
