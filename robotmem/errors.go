package robotmem

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Kind is the class of an error. A Kind is itself an error, so that callers can
// write errors.Is(err, robotmem.NotFound). REST and MCP send the text.
type Kind string

// The kinds of errors.
const (
	Invalid     Kind = "invalid"     // a field is wrong; Field names it
	Forbidden   Kind = "forbidden"   // not allowed for this caller or path
	NotFound    Kind = "not_found"   // no such memory or session
	Conflict    Kind = "conflict"    // the state does not allow it
	TooLarge    Kind = "too_large"   // over a limit
	Unavailable Kind = "unavailable" // disk full, locked, deadline; retrying may help
	Corrupt     Kind = "corrupt"     // the file is damaged or not a robotmem file
	Internal    Kind = "internal"    // a bug in robotmem
)

func (k Kind) Error() string { return string(k) }

// Error is the error that every Service method returns.
type Error struct {
	Op    string // the operation, "learn"
	Kind  Kind
	Field string // the invalid request field, "" if none
	Err   error  // what failed, the allowed range, the next step
}

func (e *Error) Error() string {
	where := slices.DeleteFunc([]string{e.Op, e.Field}, func(s string) bool { return s == "" })
	return strings.Join(append(where, e.Detail()), ": ")
}

// Detail returns the error text without operation and field.
func (e *Error) Detail() string {
	if e.Err == nil {
		return string(e.Kind)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error        { return e.Err }
func (e *Error) Is(target error) bool { k, ok := target.(Kind); return ok && k == e.Kind }

// KindOf returns the Kind of err, or Internal if err is not an *Error.
func KindOf(err error) Kind {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// Errorf returns an *Error without an operation. Op.Call and Validate add it.
func Errorf(kind Kind, field, format string, args ...any) *Error {
	return &Error{Kind: kind, Field: field, Err: fmt.Errorf(format, args...)}
}

// inOp sets the operation of an *Error that has none.
func inOp(op string, err error) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		named := *e
		if named.Op == "" {
			named.Op = op
		}
		return &named
	}

	return err
}
