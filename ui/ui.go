// Package ui holds the dashboard and the API reference as a browser gets them. Their sources are
// in src and public, what is built from them in dist: make ui builds it again.
package ui

import (
	"embed"
	"io/fs"
)

//go:embed dist/*.*
var dashboard embed.FS

//go:embed dist/reference
var reference embed.FS

// Files is the dashboard: index.html and the files that it loads.
func Files() fs.FS { return sub(dashboard, "dist") }

// Reference is the API reference: index.html and the files that it loads from /api/reference/.
func Reference() fs.FS { return sub(reference, "dist/reference") }

func sub(files fs.FS, folder string) fs.FS {
	inside, err := fs.Sub(files, folder)
	// Cannot happen: the folder is embedded above.
	if err != nil {
		panic(err)
	}
	return inside
}
