package tokens

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/web"
)

// serve opens the tokens of a memory in a folder.
func serve(home string, failed func(error)) (*File, error) {
	f, err := Of(filepath.Join(home, "memory.db"), "")
	if err != nil {
		return nil, err
	}
	return f, f.Serve("", failed)
}

// What kept the file from being read may pass without a trace on the file: it is
// tried again, and said once.
func TestTokensAreReadAgainAfterAFailure(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "memory.db.tokens")
	hash := strings.Repeat("ab", 32)
	good := "tokens:\n- name: second\n  sha256: " + hash + "\n"
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		when := time.Unix(1_700_000_000, 0)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	write("tokens:\n- name: one\n  sha256: " + hash + "\n")
	var told []error
	f, err := serve(home, func(err error) { told = append(told, err) })
	if err != nil {
		t.Fatal(err)
	}
	names := func() (all []string) {
		for _, token := range f.Tokens() {
			all = append(all, token.Name)
		}
		return all
	}
	write("broken" + good[6:])
	for range 3 {
		if got := names(); len(got) != 1 || got[0] != "one" {
			t.Errorf("while it is broken: %q", got)
		}
	}
	if len(told) != 1 {
		t.Errorf("told %q", told)
	}
	write(good)
	if got := names(); len(got) != 1 || got[0] != "second" {
		t.Errorf("after it was mended: %q", got)
	}
}

// A list that is removed under a running node takes no token away and opens nothing. Only the
// revocation of the last token does.
func TestARemovedListOpensNothing(t *testing.T) {
	home := t.TempDir()
	var told []error
	f, err := serve(home, func(err error) { told = append(told, err) })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Create(t.Context(), web.Token{Name: "arm-7"}); err != nil {
		t.Fatal(err)
	}
	count := func(when string, want int) {
		t.Helper()
		if got := f.Tokens(); len(got) != want {
			t.Errorf("%s: %d tokens, want %d", when, len(got), want)
		}
	}
	count("after the first", 1)
	path := filepath.Join(home, "memory.db.tokens")
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	count("while the list is away", 1)
	count("while the list is away", 1)
	if len(told) != 1 {
		t.Errorf("told %q", told)
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	count("when it is back", 1)
	if err := f.Revoke(t.Context(), "arm-7"); err != nil {
		t.Fatal(err)
	}
	count("after the last was revoked", 0)
}

func TestTheSettingIsTheUsersOfTheProcess(t *testing.T) {
	f, err := Of(filepath.Join(t.TempDir(), "memory.db"), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Serve("a-secret-of-this-test", nil); err != nil {
		t.Fatal(err)
	}
	if got := f.Tokens(); len(got) != 1 || got[0].Name != local.OSUser() || got[0].Name == "" {
		t.Errorf("got %v, want one token named %q", got, local.OSUser())
	}
}
