package tokens

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

const secretBytes = 32

// Secret returns the secret of a memory. If there is none it makes one, with mode 0600. With the secret a
// node proves to clients of the same user that it serves the file. The secret is of no use to anybody else and
// gives no access to the node.
func Secret(path string) ([]byte, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := makeSecret(path); err != nil {
			return nil, err
		}
	}

	info, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", path, err)
	}
	// A secret that others can read proves nothing. Windows has no bits for others.
	othersMayRead := runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
	if othersMayRead || !info.Mode().IsRegular() {
		return nil, robotmem.Errorf(robotmem.Invalid, "secret", "%s can be read by others, or is no file; remove it, and the node makes another one", path)
	}

	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", path, err)
	}

	secret, err := hex.DecodeString(strings.TrimSpace(string(data)))
	if err != nil || len(secret) != secretBytes {
		return nil, robotmem.Errorf(robotmem.Invalid, "secret", "%s holds no secret of %d bytes; remove it, and the node makes another one", path, secretBytes)
	}

	return secret, nil
}

// makeSecret makes the file whole or not at all. If several processes try, the file is that of one of them.
func makeSecret(path string) error {
	secret := make([]byte, secretBytes)
	_, _ = rand.Read(secret)                                              // never fails
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // with mode 0600
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	temporary := f.Name()
	defer func() { _ = os.Remove(temporary) }()
	_, err = f.WriteString(hex.EncodeToString(secret) + "\n")
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	// A link fails if the name exists, unlike a rename, so the first of several processes wins and all use its
	// secret.
	if err := os.Link(temporary, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}

	return nil
}
