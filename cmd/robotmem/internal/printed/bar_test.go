package printed

import (
	"bytes"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/progress"
)

func TestBarOfAnOperation(t *testing.T) {
	var out bytes.Buffer
	bar := NewBar(&out)
	for _, tt := range []struct {
		p    progress.Report
		want string
	}{
		{progress.Report{Stage: "checking the file"}, "checking the file …"},
		{progress.Report{Stage: "reading payloads", Unit: "bytes", Done: 1 << 20, Total: 4 << 20}, "reading payloads [#####...............] 25 % of 4.0 MiB"},
		{progress.Report{Stage: "rebuilding", Unit: "memories", Done: 50, Total: 100}, "rebuilding [##########..........] 50 % of 100"},
		{progress.Report{Stage: "learning", Unit: "items", Done: 7}, "learning 7"},
	} {
		out.Reset()
		bar.Draw(tt.p)
		if line := strings.TrimPrefix(out.String(), "\r\x1b[K"); line != tt.want {
			t.Errorf("%+v: drew %q, want %q", tt.p, line, tt.want)
		}
	}
	bar.End()
	if !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Errorf("the bar stays: %q", out.String())
	}
	out.Reset()
	bar.Draw(progress.Report{Stage: "late"})
	if out.Len() > 0 {
		t.Errorf("drawn after its end: %q", out.String())
	}
}
