package clients

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Clients write their settings while they run.
func TestSettingsThatChangedMeanwhileAreLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := ByName("cursor")
	if err != nil {
		t.Fatal(err)
	}
	change, err := c.Set(path, testFields)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(`{"new":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := change.Apply(); !errors.Is(err, robotmem.Conflict) {
		t.Errorf("got %v, want a conflict", err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != `{"new":1}` {
		t.Errorf("the file holds %s, %v", data, err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("%v is left, %v", left, err)
	}
}
