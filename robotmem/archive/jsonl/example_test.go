package jsonl_test

import (
	"context"
	"os"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive/jsonl"
)

func Example() {
	read := func(ctx context.Context, m robotmem.Service) error {
		f, err := os.Open("facts.jsonl")
		if err != nil {
			return err
		}
		defer f.Close()
		state, err := jsonl.OpenState(f, "memory.db", "")
		if err != nil {
			return err
		}
		if _, err = jsonl.Import(ctx, m, f, jsonl.Options{State: state}); err == nil {
			err = state.Remove()
		}
		return err
	}
	_ = read
}
