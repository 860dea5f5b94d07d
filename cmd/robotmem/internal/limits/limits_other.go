//go:build !linux && !darwin

package limits

// MaxConns is the default where there is no limit of open files.
func MaxConns() (int, error) { return 0, nil }
