package timeparse_test

import (
	"fmt"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/internal/timeparse"
)

func Example() {
	now := time.Date(2026, 5, 14, 9, 0, 0, 0, time.UTC)
	r := timeparse.Parse("slips before the crash at 14:05 yesterday", now)
	fmt.Println(r.Before)
	fmt.Println(r.Phrases[0].Text)
	fmt.Println(r.Rest)
	// Output:
	// 2026-05-13 14:05:00 +0000 UTC
	// before the crash at 14:05 yesterday
	// slips the crash
}
