// Package shell knows what a POSIX shell does with a command line.
package shell

import "strings"

// Quote makes s one word of a POSIX shell.
func Quote(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
