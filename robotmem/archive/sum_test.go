package archive_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/archive"
)

func sumOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// The content hash is of canonical JSON: the order of keys and the spelling of
// white space count for nothing, the spelling of numbers does.
func TestHash(t *testing.T) {
	hash := func(context string) string {
		t.Helper()
		sum, err := (&archive.Memory{UID: "u", Context: []byte(context)}).Hash()
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	want := sumOf(`{"category":"","collection":"","confidence":0,"content":"","context":{"a":1.50,"b":"<é>"},"created_at":"","decay_rate":0,"observed_at":"","sightings":0,"status":"","summary":"","type":"","uid":"u","updated_at":"","valid_from":"","version":0}`)
	if got := hash(`{"b":"<é>", "a":1.50}`); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
	if hash(`{"b":"<é>","a":1.5}`) == want {
		t.Error("12.50 and 12.5 are one number and two spellings; the hash does not tell them apart")
	}
}
