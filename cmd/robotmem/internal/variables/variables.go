// Package variables finds misspelt settings in the environment. A flag or a key of the file of settings that is unknown
// is an error, but a variable with another name is read by nobody: ROBOTMEM_OIDC_ISUER would leave a node open.
package variables

import (
	"slices"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem/spelling"
)

const prefix = "ROBOTMEM_"

// others have the prefix and are no settings.
var others = []string{"home", "config"}

// Misspelt returns the first variable that is no setting but is spelt like one, and what it may mean; "" if there is
// none. The environment is as [os.Environ] gives it. Variables with the prefix that are not spelt like a setting may be
// of other programs.
func Misspelt(environ, settings []string) (name, meant string) {
	known := append(slices.Clone(settings), others...)

	for _, one := range slices.Sorted(slices.Values(environ)) {
		variable, value, _ := strings.Cut(one, "=")
		rest, ours := strings.CutPrefix(strings.ToUpper(variable), prefix)
		rest = strings.ToLower(rest)
		if !ours || value == "" || slices.Contains(known, rest) && variable == strings.ToUpper(variable) {
			continue
		}
		if near := spelling.Nearest(rest, known); len(near) > 0 {
			return variable, prefix + strings.ToUpper(near[0])
		}
	}

	return "", ""
}
