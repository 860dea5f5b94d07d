package local_test

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

func TestMain(m *testing.M) {
	rounds.SideBySide(2)
	debug.SetGCPercent(400) // the tests hold little
	os.Exit(m.Run())
}
