package web_test

import (
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

func TestMain(m *testing.M) {
	rounds.SideBySide(4)
	m.Run()
}
