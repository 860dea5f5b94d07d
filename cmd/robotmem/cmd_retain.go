package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

type retainCmd struct {
	Keep    []string `name:"keep" sep:"none" placeholder:"RULE" help:"What perceptions may take: [COLLECTION/]TYPE with a size, an age in days or both, such as \"visual 10GB 30d\", \"arm7/tactile 500MB\" or \"* 20GB\"; repeatable. Those of the settings (retention) unless given."`
	MinFree string   `name:"min-free" placeholder:"SIZE" help:"How much of the disk stays free, such as 2GB."`
	Apply   bool     `name:"apply" help:"Do it. Otherwise what would go is listed, and stays."`
	JSON    bool     `name:"json" help:"Print the answer as JSON, as REST gives it."`
}

func (c *retainCmd) Run(ctx context.Context, a *app) error {
	limits := a.Config.retention
	if len(c.Keep) > 0 || c.MinFree != "" {
		var err error
		if limits, err = parseRetention(c.Keep, c.MinFree); err != nil {
			return err
		}
	}
	if len(limits.Budgets) == 0 && limits.MinFreeBytes == 0 && a.Config.URL == "" {
		return invalid("keep", "no budget is given, nor set as retention or min_free; name one, such as --keep \"visual 10GB 30d\" or --min-free 2GB")
	}
	ctx = a.watched(ctx)

	return a.Use(ctx, func(m robotmem.Node) error {
		res, err := m.Retain(ctx, &admin.RetainRequest{Budgets: limits.Budgets, MinFreeBytes: limits.MinFreeBytes, Apply: c.Apply})
		return a.showResult(c.JSON, res, err)
	})
}

// parseRetention reads rules such as "visual 10GB 30d" and a size.
func parseRetention(rules []string, free string) (out admin.Retention, err error) {
	for _, rule := range rules {
		b, err := parseBudget(rule)
		if err != nil {
			return out, err
		}
		out.Budgets = append(out.Budgets, b)
	}
	if free != "" {
		if out.MinFreeBytes, err = parseSize(free); err != nil {
			return out, invalid("min-free", "must be a size such as 2GB, not %q", free)
		}
	}

	return out, nil
}

func parseBudget(rule string) (b admin.Budget, err error) {
	words := strings.Fields(rule)
	bad := invalid("keep", "must be [COLLECTION/]TYPE with a size, an age or both, such as \"visual 10GB 30d\", \"arm7/tactile 500MB\" or \"* 20GB\", not %q", rule)
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
		} else if b.MaxBytes, err = parseSize(word); err != nil {
			return b, bad
		}
	}

	return b, nil
}

// parseSize reads "500MB", "1.5GiB", "1048576".
func parseSize(s string) (int64, error) {
	n, err := humanize.ParseBytes(s)
	if err != nil || n == 0 || n > math.MaxInt64/2 {
		return 0, fmt.Errorf("%q is no size", s)
	}
	return int64(n), nil
}
