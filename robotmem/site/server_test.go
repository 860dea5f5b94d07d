package site

import (
	"fmt"
	"os"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(killedVariable); path != "" {
		if err := replicateUntilKilled(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(postgrestest.Run(m))
}

// skipShort leaves a test out of short runs, such as those with -race: it mostly waits for servers and
// processes, or runs the node of a file, which has tests of its own.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes long and shares little between goroutines: nothing for -race")
	}
}
