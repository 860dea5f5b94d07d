package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// The import of an archive is killed again and again, each time a little later,
// and completed in the end: the node is then what one import makes of it.
func TestImportKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), t.TempDir()
	open := func(name string) *local.Node {
		t.Helper()
		e, err := local.Open(ctx, filepath.Join(dir, name), local.Options{Durability: local.DurabilityNormal})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	hashes := func(e *local.Node) string {
		t.Helper()
		var b bytes.Buffer
		if _, err := e.Export(ctx, archive.NewWriter(&b, false), archive.ExportOptions{}); err != nil {
			t.Fatal(err)
		}
		// Of all parts and payloads, after that of the manifest, which has a time.
		_, sums, _ := strings.Cut(b.String()[strings.LastIndex(b.String(), "  manifest.json\n"):], "\n")
		return sums
	}
	const payloads = 12
	a := open("a.db")
	noise := make([]byte, 300_000) // each in a file of its own
	for i := range payloads {
		_, _ = rand.NewChaCha8([32]byte{byte(i)}).Read(noise) // never fails
		if _, err := a.SavePerception(ctx, &robotmem.SavePerceptionRequest{Description: fmt.Sprintf("frame %d of the hall", i), DataBase64: noise}); err != nil {
			t.Fatal(err)
		}
		items := make([]robotmem.LearnRequest, 100)
		for j := range items {
			items[j] = robotmem.LearnRequest{Insight: fmt.Sprintf("joint %d turns at %d.5 Nm", j, i), Collection: "arm"}
		}
		if _, err := a.LearnBatch(ctx, &robotmem.LearnBatchRequest{Items: items, KeepDuplicates: true}); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "a.tar")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Export(ctx, archive.NewWriter(f, false), archive.ExportOptions{}); err != nil {
		t.Fatal(err)
	}
	want := hashes(a)
	for _, err := range []error{f.Close(), a.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	written := func() int {
		found, err := filepath.Glob(filepath.Join(dir, "b.db.payloads", "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	start := func() (*exec.Cmd, chan error) {
		t.Helper()
		cmd := exec.Command(os.Args[0], "import", file, "--db", filepath.Join(dir, "b.db"), "--embedder", "none")
		cmd.Args[0] = "robotmem" // the test's program is robotmem under this name
		cmd.Env = append(os.Environ(), "ROBOTMEM_HOME="+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		return cmd, ended
	}
	killed := 0
	for target := 1; target < payloads; target += 2 {
		cmd, ended := start()
		for done := false; !done; {
			select {
			case err := <-ended:
				t.Logf("it ended before it wrote %d payloads: %v", target, err)
				done = true
			case <-time.After(time.Millisecond):
				if written() >= target {
					_ = cmd.Process.Kill() // it may just have ended
					if err := <-ended; err != nil {
						killed++
					}
					done = true
				}
			}
		}
	}
	if killed == 0 {
		t.Fatal("no import was killed in the middle")
	}
	if _, ended := start(); <-ended != nil {
		t.Fatal("the last import failed")
	}
	b := open("b.db")
	defer b.Close()
	if hashes(b) != want {
		t.Error("the import that was killed and completed is not what one import makes")
	}
	res, err := b.Doctor(ctx, &admin.DoctorRequest{})
	if err != nil || !res.Healthy {
		t.Errorf("doctor: %+v (%v)", res, err)
	}
}
