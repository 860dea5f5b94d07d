//go:build nopdf

package documents

import (
	"context"
	"fmt"
)

type pdfProgram struct{}

func (*pdfProgram) close() error { return nil }

func (r *Reader) readPDF(context.Context, []byte, *Document, *blocks) error {
	return fmt.Errorf("%w: this program was built with -tags nopdf; import the text that pdftotext makes of it, or use a program with PDF",
		ErrUnsupported)
}
