package postgres

import (
	_ "embed"
	"slices"
	"sync"

	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

//go:embed queries.sql
var queriesFile string

// texts returns the texts of all queries.
var texts = sync.OnceValues(func() (map[store.Query]store.Statement, error) { return store.ParseTexts(queriesFile) })

// Heads of queries, see queries.sql.
const (
	headOnce  = "once"
	headParts = "rows in parts"
	headID    = "id of "
)

// onceAsked returns the queries that most transactions ask more than once. They have no parameters.
var onceAsked = sync.OnceValue(func() (asked []store.Query) {
	// Connect has failed if there are no texts.
	all, _ := texts()
	for _, q := range store.Queries {
		if slices.Contains(all[q].Heads, headOnce) {
			asked = append(asked, q)
		}
	}

	return asked
})
