package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A node that serves an agent keeps the indexes of a large memory ready. Hooks ask it through a socket that only its
// user can open, in a folder of short names: paths of sockets have at most 104 bytes.

// sockets is the folder of the sockets of this user.
func sockets() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "robotmem")
	}
	return filepath.Join(os.TempDir(), "robotmem-"+strconv.Itoa(os.Getuid()))
}

// Key names the sockets and the journals of a memory.
func Key(memory string) string {
	sum := sha256.Sum256([]byte(memory))
	return hex.EncodeToString(sum[:8])
}

// ownFolder makes the folder of the sockets. Somebody else's is not used: who owns it could answer in our place.
func ownFolder() (string, error) {
	dir := sockets()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if !info.IsDir() || !ownedByUs(info) {
		return "", fmt.Errorf("%s belongs to somebody else; set XDG_RUNTIME_DIR to a folder of your own", dir)
	}

	return dir, nil
}

// Listen opens the socket of this process for a memory, which is named by the path of its file.
func Listen(memory string) (net.Listener, error) {
	dir, err := ownFolder()
	if err != nil {
		return nil, err
	}

	at := filepath.Join(dir, Key(memory)+"-"+strconv.Itoa(os.Getpid())+".sock")
	// What has our process id is left by a process that ended.
	if err := os.Remove(at); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", at)
	if err != nil {
		return nil, err
	}

	return l, os.Chmod(at, 0o600)
}

// Dial returns a client of a node that serves a memory, nil if none does. A socket that nobody listens on is removed.
func Dial(ctx context.Context, memory string) *http.Client {
	const patience = 50 * time.Millisecond

	dir, err := ownFolder()
	if err != nil {
		return nil
	}
	all, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}

	for _, file := range all {
		if !strings.HasPrefix(file.Name(), Key(memory)+"-") {
			continue
		}
		at := filepath.Join(dir, file.Name())
		limited, cancel := context.WithTimeout(ctx, patience)
		conn, err := (&net.Dialer{}).DialContext(limited, "unix", at)
		cancel()
		if errors.Is(err, syscall.ECONNREFUSED) {
			_ = os.Remove(at) // its process was killed
		}
		if err != nil {
			continue
		}

		return &http.Client{Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				if c := conn; c != nil {
					conn = nil
					return c, nil
				}
				return (&net.Dialer{}).DialContext(ctx, "unix", at)
			},
			MaxConnsPerHost: 1,
		}}
	}

	return nil
}
