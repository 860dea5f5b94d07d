package eval_test

import (
	"context"
	"fmt"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/eval"
)

func Example() {
	measure := func(ctx context.Context, empty robotmem.Service) error {
		set, err := eval.Load("beir/xquad-en")
		if err != nil {
			return err
		}
		result, err := eval.Run(ctx, empty, set, eval.Options{})
		if err == nil {
			fmt.Printf("hit@1 %.3f\n", result.Hit1)
		}
		return err
	}
	_ = measure
}
