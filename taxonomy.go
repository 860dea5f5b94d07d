// Package taxonomy holds the tag tree and the classification rules that ship
// with robotmem. It is the module's root package only because go:embed cannot
// reach a file in a parent folder; package classify gives the bytes a meaning.
package taxonomy

import _ "embed"

// YAML is taxonomy.yaml as it stood when the program was built, in the format
// that its first lines describe. It is what classify.Parse gets unless a user
// names an own file. Treat it as read-only.
//
//go:embed taxonomy.yaml
var YAML []byte
