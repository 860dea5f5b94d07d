package robotmem

import (
	"context"
	"reflect"
)

type readOnlyKey struct{}

// WithReadOnly marks the calls of a caller who may read and change nothing.
// Op.Call refuses such a caller every operation that is not Hints.ReadOnly, and
// what a recall finds for it is no credit to a memory or an episode.
func WithReadOnly(ctx context.Context) context.Context {
	return context.WithValue(ctx, readOnlyKey{}, true)
}

// Allowed returns a Forbidden error if the caller may not use the operation.
func (o *Op) Allowed(ctx context.Context) error {
	if ReadOnly(ctx) && !o.Hints.ReadOnly {
		return inOp(o.Name, Errorf(Forbidden, "", "the token is for reading only; use one that may write, which `robotmem token create NAME` makes"))
	}
	return nil
}

// offered refuses a model what its tool does not show: a field with tool:"-",
// which destroys for good and is for people and their programs.
func (o *Op) offered(ctx context.Context, req any) error {
	if CallerOf(ctx).Tool != ToolMCP {
		return nil
	}
	v := reflect.ValueOf(req).Elem()
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.Tag.Get("tool") == "-" && !v.Field(i).IsZero() {
			return inOp(o.Name, Errorf(Invalid, jsonName(f), "is not offered to models; a person does it with `robotmem forget %s` or over REST", "--"+jsonName(f)))
		}
	}
	return nil
}

// ReadOnly reports whether WithReadOnly has marked ctx.
func ReadOnly(ctx context.Context) bool {
	marked, _ := ctx.Value(readOnlyKey{}).(bool)
	return marked
}
