package units_test

import (
	"fmt"

	"github.com/robotmem/robotmem-go/robotmem/internal/units"
)

func Example() {
	limit, _ := units.Parse("15 N")
	held, _ := units.Parse("0.0125 kN")
	apart, _ := units.Of(12.5, "N") // of {"value": 12.5, "unit": "N"}
	fmt.Println(limit, held, apart == held)
	_, ok := units.Parse("12 N wet glass")
	fmt.Println(ok)
	symbol, _ := units.WordSymbol("毫米")
	value, unit := units.Base("1000", "mm")
	fmt.Println(symbol, value, unit)
	// Output:
	// {15 N} {12.5 N} true
	// false
	// mm 1 m
}
