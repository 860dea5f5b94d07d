package engine_test

import (
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

func TestMain(m *testing.M) {
	rounds.SideBySide(2)
	m.Run()
}
