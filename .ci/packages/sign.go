package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"aead.dev/minisign"
)

// readKey reads a secret key as `minisign -G` makes it, with or without a password; nil without a file.
func readKey(path string) (*minisign.PrivateKey, error) {
	if path == "" {
		return nil, nil
	}

	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the key: %w", err)
	}

	var key minisign.PrivateKey
	if !minisign.IsEncrypted(text) {
		err := key.UnmarshalText(text)
		if err != nil {
			return nil, fmt.Errorf("%s is no secret key of minisign: %w; make one with minisign -G", path, err)
		}
		return &key, nil
	}

	password, ok := os.LookupEnv("MINISIGN_PASSWORD")
	if !ok {
		return nil, fmt.Errorf("%s has a password; set MINISIGN_PASSWORD", path)
	}
	if key, err = minisign.DecryptKey(password, text); err != nil {
		return nil, fmt.Errorf("%s: %w; is MINISIGN_PASSWORD right?", path, err)
	}

	return &key, nil
}

// sign signs the sums, and so every file. minisign -V -P KEY -m SHA256SUMS verifies it.
func sign(dir string, key *minisign.PrivateKey) error {
	data, err := os.ReadFile(filepath.Join(dir, sumsName))
	if err != nil {
		return err
	}

	// The comments have no time: the same key makes the same bytes.
	signature := minisign.SignWithComments(*key, data, "file:"+sumsName, "signature of the robotmem release")
	public, ok := key.Public().(minisign.PublicKey)
	if !ok || !minisign.Verify(public, data, signature) {
		return errors.New("the signature does not verify")
	}
	fmt.Println("signed; the public key is", public)

	return write(dir, sumsName+".minisig", signature)
}
