package archive_test

import (
	"context"
	"os"

	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

func Example() {
	export := func(ctx context.Context, node *local.Node) error {
		f, err := os.Create("kitchen.tar")
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = node.Export(ctx, archive.NewWriter(f, false), archive.ExportOptions{})
		return err
	}
	_ = export
}
