package robotmem

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
)

// internalText stands for errors whose text may name SQL or paths.
const internalText = "an internal error; see the node's log"

// Explain gives an error of a lower layer its kind and a text for callers: what failed and what to do next, without
// SQL or paths. A layer whose errors need one implements Explain() *Error on them; an *Error is returned as it is.
func Explain(err error) *Error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return Errorf(Unavailable, "", "the deadline passed before it was done; allow more time")
	}
	if errors.Is(err, context.Canceled) {
		return Errorf(Unavailable, "", "cancelled by the caller before it was done")
	}
	if known := (interface{ Explain() *Error })(nil); errors.As(err, &known) {
		return known.Explain()
	}

	return &Error{Kind: Internal, Err: Hide(internalText, err)}
}

// Wrap gives err its operation. An error that is not an *Error gets its kind from Explain, so that no SQL, path or
// stack reaches a caller.
func Wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return inOp(op, Explain(err))
}

// hidden is an error with a text for callers and a cause for the log.
type hidden struct {
	text  string
	cause error
}

func (h *hidden) Error() string { return h.text }
func (h *hidden) Unwrap() error { return h.cause }

// Hide returns an error whose text is for callers. errors.Is, errors.As and Cause find its cause.
func Hide(text string, cause error) error { return &hidden{text, cause} }

// Cause returns what Hide keeps from callers, for the log and the doctor: it may name paths.
func Cause(err error) string {
	if h := (*hidden)(nil); errors.As(err, &h) {
		return h.cause.Error()
	}
	return err.Error()
}

// Reason returns the innermost cause of a file error, without its path.
func Reason(err error) string {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err.Error()
	}
	if l := (*os.LinkError)(nil); errors.As(err, &l) {
		return l.Err.Error()
	}

	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}

	return err.Error()
}

// Detail returns the text of an error, without its kind and operation.
func Detail(err error) string {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Detail()
	}
	return strings.TrimSpace(err.Error())
}
