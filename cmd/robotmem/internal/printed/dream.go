package printed

import (
	"fmt"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem/agent/workers"
)

// Dream prints what a dream has done.
func Dream(w *Lines, r *workers.Report) {
	ids := func(what string, ids []int64) {
		if len(ids) > 0 {
			w.Line("%s %s", what, strings.Trim(fmt.Sprint(ids), "[]"))
		}
	}
	ids("stored", r.Added)
	ids("stored, with links to what it is drawn from:", r.Linked)
	ids("superseded", r.Replaced)

	if len(r.Added)+len(r.Linked)+len(r.Replaced) == 0 {
		w.Line("nothing new")
	}
	if r.Asked > 0 {
		w.Line("asked the model %d times; %d answers could not be read, and %d of %d statements were refused", r.Asked, r.Failed, r.Refused, r.Offered)
	}

	for _, why := range r.Why {
		w.Line("  %s", why)
	}

	if r.Remaining > 0 {
		w.Line("%d pieces of work are left for the next dream", r.Remaining)
	}
}
