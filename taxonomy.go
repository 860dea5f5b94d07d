// Package taxonomy holds the tag tree and the classification rules that ship
// with robotmem. It is the module's root package only because go:embed cannot
// reach a file in a parent folder. Package classify parses the file.
package taxonomy

import _ "embed"

// YAML is the content of taxonomy.yaml, whose first lines describe the format. A node passes it
// to classify.Parse unless the user names another file. Callers must not modify it.
//
//go:embed taxonomy.yaml
var YAML []byte
