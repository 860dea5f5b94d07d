package record

import (
	"fmt"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

func TestStaleValues(t *testing.T) {
	for _, tt := range []struct{ name, context, before, after, want string }{
		{"a quantity", `{"params":{"grip_force":"12.5 N"}}`, "grip_force=12.5 N held", "grip_force=13 N held", "[{params.grip_force 12.5 N 13 N}]"},
		{"in another unit", `{"params":{"grip_force":{"value":0.0125,"unit":"kN"}}}`, "held at 12.5 N", "held at 13 N", "[{params.grip_force 0.0125 kN 13 N}]"},
		{"a named number", `{"params":{"tries":3,"n":3}}`, "tries=3 then held", "tries=4 then held", "[{params.tries 3 4}]"},
		{"a number of another name", `{"params":{"n":3}}`, "tries=3 then held", "tries=4 then held", "[]"},
		{"the context is right", `{"params":{"grip_force":"13 N"}}`, "grip_force=12.5 N held", "grip_force=13 N held", "[]"},
		{"the number stays", `{"params":{"grip_force":"12.5 N"}}`, "grip_force=12.5 N held", "grip_force=12.5 N held well", "[]"},
		{"the text states it no more", `{"params":{"grip_force":"12.5 N"}}`, "grip_force=12.5 N held", "it held", "[]"},
		{"of another dimension", `{"params":{"width":"12.5 mm"}}`, "grip_force=12.5 N held", "grip_force=13 N held", "[]"},
		{"no context", `{}`, "grip_force=12.5 N held", "grip_force=13 N held", "[]"},
	} {
		if got := fmt.Sprint(StaleIn(robotmem.ParseObject(tt.context), tt.before, tt.after)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}
