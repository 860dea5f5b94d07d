// Package notices holds the licences of what the program is built of, which every copy of it must carry.
package notices

import _ "embed"

// Text has each licence once, below the names of the parts that it is of. .ci/licences/run writes it.
//
//go:embed THIRD_PARTY_NOTICES
var Text string
