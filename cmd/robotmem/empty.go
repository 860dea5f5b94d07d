package main

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/hints"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/operations"
	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/rows"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// hint says what is missing if an answer lists nothing, and that a name near those that exist has begun a collection.
func (a *app) hint(ctx context.Context, c *operations.Command, m robotmem.Node, request json.RawMessage, res any) {
	var asked struct {
		Collection string `json:"collection"`
	}
	_ = json.Unmarshal(request, &asked) // "" if it is no text

	v := reflect.Indirect(reflect.ValueOf(res))
	f, isList := rows.ListOf(v.Type())
	if advice, ok := res.(*robotmem.AdviseResponse); ok && advice.Attempts > 0 {
		return // its notes say why there is no parameter
	}
	isEmpty := isList && v.FieldByIndex(f.Index).Len() == 0 && hints.Known(c.Op.Name) && !a.asJSON
	stores := asked.Collection != "" && hints.Begins(c.Op.Name)
	if a.quiet || !isEmpty && !stores {
		return
	}

	all, err := m.Collections(ctx, &admin.CollectionsRequest{})
	if err != nil {
		return // the answer is there, and only the hint is missing
	}

	if isEmpty {
		a.note("%s", hints.Empty(c.Op.Name, asked.Collection, all.Collections))
	} else if text := hints.NewCollection(asked.Collection, all.Collections); text != "" {
		a.note("%s", text)
	}
}
