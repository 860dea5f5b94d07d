package local_test

import (
	"os"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

func TestMain(m *testing.M) {
	rounds.SideBySide(2)
	os.Exit(m.Run())
}
