package record_test

import (
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/internal/record"
)

func TestNamesChange(t *testing.T) {
	for text, want := range map[string]bool{
		"the base station moved to the parking lot": true,
		"chute 17 reassigned to Porto":              true,
		"Sperrlager nach S-15 verlegt":              true,
		"充电桩搬到三号库了":                                 true,
		"充電台は2階に変更":                                 true,
		"the base station stands at the gate":       false,
		"he knows the newton and the renewal":       false,
		"Taktzeit Zelle 12 gemessen: 58,3 s":        false,
	} {
		if got := record.NamesChange(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
