// Package amounts reads the sizes, budgets, limits and schedules that a user writes.
package amounts

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// Retention reads rules such as "visual 10GB 30d" and a size.
func Retention(rules []string, free string) (out admin.Retention, err error) {
	for _, rule := range rules {
		b, err := parseBudget(rule)
		if err != nil {
			return out, err
		}
		out.Budgets = append(out.Budgets, b)
	}
	if free != "" {
		if out.MinFreeBytes, err = Size(free); err != nil {
			return out, robotmem.Errorf(robotmem.Invalid, "min-free", "must be a size such as 2GB, not %q", free)
		}
	}

	return out, nil
}

func parseBudget(rule string) (b admin.Budget, err error) {
	words := strings.Fields(rule)
	bad := robotmem.Errorf(robotmem.Invalid, "keep", "must be [COLLECTION/]TYPE with a size, an age or both, such as \"visual 10GB 30d\", \"arm7/tactile 500MB\" or \"* 20GB\", not %q", rule)
	if len(words) < 2 {
		return b, bad
	}

	b.PerceptionType = words[0]
	if collection, kind, ok := strings.Cut(words[0], "/"); ok {
		b.Collection, b.PerceptionType = collection, kind
	}
	if b.PerceptionType == "*" {
		b.PerceptionType = ""
	}

	for _, word := range words[1:] {
		if days, ok := strings.CutSuffix(word, "d"); ok {
			if b.MaxAgeDays, err = strconv.ParseFloat(days, 64); err != nil || !(b.MaxAgeDays > 0) {
				return b, bad
			}
		} else if b.MaxBytes, err = Size(word); err != nil {
			return b, bad
		}
	}

	return b, nil
}

// Size reads "500MB", "1.5GiB", "1048576".
func Size(s string) (int64, error) {
	n, err := humanize.ParseBytes(s)
	if err != nil || n == 0 || n > math.MaxInt64/2 {
		return 0, fmt.Errorf("%q is no size", s)
	}
	return int64(n), nil
}
