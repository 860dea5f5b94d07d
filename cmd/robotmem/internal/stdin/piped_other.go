//go:build !linux && !darwin

package stdin

import "os"

// isReadable is false where a pipe cannot be asked.
func isReadable(*os.File) bool { return false }
