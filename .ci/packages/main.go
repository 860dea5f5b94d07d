// Command packages makes the rest of a release out of its archives: .deb and .rpm, the container image,
// the list of parts (SBOM), the Homebrew formula, the sums of all files and their signature.
//
//	go -C .ci/packages run . -in ../../artifacts/release [-key FILE]
//
// It makes the same bytes from the same archives. It is a module of its own, so that its libraries stay
// out of the program's go.mod.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

const (
	homepage    = "https://github.com/robotmem/robotmem-go"
	license     = "Apache-2.0"
	maintainer  = "The robotmem authors <robotmem@users.noreply.github.com>"
	summary     = "memory for robots that records what happened and recalls what worked"
	description = summary + "\nIt keeps facts and sensor data with place, time, parameters and outcome in one SQLite\nfile, and finds them by words, meaning, place and similarity. It needs no network."
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	in := flag.String("in", "artifacts/release", "folder with the archives, where the rest is written")
	key := flag.String("key", os.Getenv("MINISIGN_KEY"), "secret key of minisign, which signs SHA256SUMS (MINISIGN_KEY; its password in MINISIGN_PASSWORD)")
	only := flag.Bool("sums", false, "only write the sums, and sign them")
	flag.Parse()

	if err := run(ctx, *in, *key, *only); err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir, key string, onlySums bool) error {
	// Before hours of work: a key that cannot be read.
	signer, err := readKey(key)
	if err != nil {
		return err
	}

	if !onlySums {
		if err := packages(ctx, dir); err != nil {
			return err
		}
	}

	if err := sums(dir); err != nil {
		return err
	}
	if signer == nil {
		fmt.Println("not signed: -key or MINISIGN_KEY names the key")
		return nil
	}

	return sign(dir, signer)
}

func packages(ctx context.Context, dir string) error {
	programs, err := readArchives(dir)
	if err != nil {
		return err
	}

	for i := range programs {
		p := &programs[i]
		if err := checkNotices(p); err != nil {
			return fmt.Errorf("%s: %w", p.archive, err)
		}
		if err := sbom(dir, p); err != nil {
			return fmt.Errorf("the list of parts of %s: %w", p.archive, err)
		}
		if p.goos != "linux" {
			continue
		}

		for _, format := range []string{"deb", "rpm"} {
			if err := linuxPackage(dir, format, p); err != nil {
				return fmt.Errorf("%s of %s: %w", format, p.archive, err)
			}
		}
	}

	if err := image(ctx, dir, programs); err != nil {
		return fmt.Errorf("the image: %w", err)
	}

	return formula(dir, programs)
}

// write puts a file into the release and says so.
func write(dir, name string, data []byte) error {
	fmt.Printf("%9d  %s\n", len(data), name)
	return os.WriteFile(filepath.Join(dir, name), data, 0o644)
}

const sumsName = "SHA256SUMS"

// sums writes SHA256SUMS as sha256sum --check reads it.
func sums(dir string) error {
	entries, err := os.ReadDir(dir) // in order
	if err != nil {
		return err
	}

	var b strings.Builder

	for _, e := range entries {
		if strings.HasPrefix(e.Name(), sumsName) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s  %s\n", sumOf(data), e.Name())
	}

	return write(dir, sumsName, []byte(b.String()))
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
