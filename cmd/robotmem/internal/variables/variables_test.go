package variables_test

import (
	"testing"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/variables"
)

func TestMisspelt(t *testing.T) {
	settings := []string{"addr", "allow_path", "db", "key", "key_file", "memory", "oidc_issuer", "read_only", "rate", "reranker", "token", "url"}
	for variable, want := range map[string]string{
		"ROBOTMEM_OIDC_ISUER=https://id.example": "ROBOTMEM_OIDC_ISSUER",
		"ROBOTMEM_OIDCISSUER=https://id.example": "ROBOTMEM_OIDC_ISSUER",
		"ROBOTMEM_READONLY=1":                    "ROBOTMEM_READ_ONLY",
		"ROBOTMEM_TOKENS=x":                      "ROBOTMEM_TOKEN",
		"ROBOTMEM_KEYFILE=/mnt/key":              "ROBOTMEM_KEY_FILE",
		"robotmem_db=x.db":                       "ROBOTMEM_DB",
		"ROBOTMEM_HOM=/tmp":                      "ROBOTMEM_HOME",

		"ROBOTMEM_OIDC_ISSUER=https://id.example": "",
		"ROBOTMEM_HOME=/tmp":                      "",
		"ROBOTMEM_CONFIG=c.yaml":                  "",
		"ROBOTMEM_OIDC_ISUER=":                    "", // it is not given
		"OIDC_ISUER=x":                            "",
		"DB=x":                                    "",
		// Of tests, and of the Python package.
		"ROBOTMEM_BINARY=/usr/bin/robotmem": "",
		"ROBOTMEM_BEIR=/data":               "",
		"ROBOTMEM_PICTURES=x":               "",
		"ROBOTMEM_FRAMEWORKS=x":             "",
		"ROBOTMEM_WHEEL_TAG=x":              "",
		"ROBOTMEM_TEST_READER=x":            "",
		"ROBOTMEM_ARTIFACTS=x":              "",
	} {
		name, meant := variables.Misspelt([]string{"HOME=/root", variable, "PATH=/bin"}, settings)
		if meant != want || (name == "") != (want == "") {
			t.Errorf("%s: got %q, %q, want %q", variable, name, meant, want)
		}
	}
}
