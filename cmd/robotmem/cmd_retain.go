package main

import (
	"context"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/amounts"
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
		if limits, err = amounts.Retention(c.Keep, c.MinFree); err != nil {
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
