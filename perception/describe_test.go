package perception_test

import (
	"bytes"
	"image/jpeg"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/perception"
)

// What Describe brings is what the two others say one by one.
func TestDescribeIsSummaryAndFeatures(t *testing.T) {
	t.Parallel()
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, scene(1, 97, 61), nil); err != nil {
		t.Fatal(err)
	}
	items := map[string]perception.Item{
		"nothing":          {},
		"photo":            {Data: photo.Bytes()},
		"photo cut":        {Data: photo.Bytes()[:photo.Len()/2]},
		"head of a photo":  {Data: photo.Bytes()[:photo.Len()/2], Size: int64(photo.Len())},
		"trace":            csvItem("1,2\n3,4\n"),
		"photo in a trace": {MediaType: "text/csv", Data: photo.Bytes()},
	}
	paths, err := filepath.Glob("testdata/*/*.*")
	if err != nil || len(paths) == 0 {
		t.Fatalf("got %d files, %v", len(paths), err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		items[path] = perception.Item{Data: data}
	}
	withFeatures := 0
	for name, it := range items {
		summary, kind, vector := perception.Describe(it)
		if want := perception.Summarize(it); summary != want {
			t.Errorf("%s: got %q, want %q", name, summary, want)
		}
		wantKind, wantVector, _ := perception.Features(it)
		if kind == "" { // Features is to be asked
			continue
		}
		withFeatures++
		if kind != wantKind || !cmp.Equal(vector, wantVector) {
			t.Errorf("%s: got %s %v, want %s %v", name, kind, vector, wantKind, wantVector)
		}
	}
	if withFeatures == 0 {
		t.Error("nothing came with features")
	}
}
