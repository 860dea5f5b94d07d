package keys

import (
	"crypto/rand"
	"errors"
	"io"

	"filippo.io/age"
	"golang.org/x/crypto/chacha20poly1305"
	"lukechampine.com/adiantum"

	"github.com/robotmem/robotmem-go/perception/payload"
)

// Payloads is the cipher of the folder of payloads; nil for payloads in clear.
func (k *Keys) Payloads() payload.Cipher {
	if k == nil {
		return nil
	}
	return payloads{k}
}

// payloads writes each file in the format of age, with a random key that the key of all payloads wraps.
type payloads struct{ *Keys }

// Name implements [payload.Cipher].
func (p payloads) Name(sum [32]byte) [32]byte {
	adiantum.New(p.names).Encrypt(sum[:], nil)
	return sum
}

// Sum implements [payload.Cipher].
func (p payloads) Sum(name [32]byte) [32]byte {
	adiantum.New(p.names).Decrypt(name[:], nil)
	return name
}

// Seal implements [payload.Cipher].
func (p payloads) Seal(w io.Writer) (io.WriteCloser, error) {
	return age.Encrypt(w, wrapping(p.bodies))
}

// Open implements [payload.Cipher].
func (p payloads) Open(r io.ReaderAt, length int64) (io.ReaderAt, int64, error) {
	plain, size, err := age.DecryptReaderAt(r, length, wrapping(p.bodies))
	return exact{plain}, size, err
}

// exact reads as a file does: without io.EOF after a read that ends exactly at the end.
type exact struct{ io.ReaderAt }

func (e exact) ReadAt(p []byte, at int64) (int, error) {
	n, err := e.ReaderAt.ReadAt(p, at)
	if n == len(p) {
		err = nil
	}
	return n, err
}

// wrapping is a symmetric key that wraps the keys of files.
type wrapping []byte

var (
	_ age.Recipient = wrapping{}
	_ age.Identity  = wrapping{}
)

const stanzaType = "robotmem-payload"

// Wrap implements [age.Recipient].
func (k wrapping) Wrap(fileKey []byte) ([]*age.Stanza, error) {
	aead, err := chacha20poly1305.NewX(k)
	if err != nil {
		return nil, err
	}

	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(fileKey)+aead.Overhead())
	_, _ = rand.Read(nonce) // it never fails

	return []*age.Stanza{{Type: stanzaType, Body: aead.Seal(nonce, nonce, fileKey, nil)}}, nil
}

// Unwrap implements [age.Identity].
func (k wrapping) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	aead, err := chacha20poly1305.NewX(k)
	if err != nil {
		return nil, err
	}

	for _, s := range stanzas {
		if s.Type != stanzaType || len(s.Body) < aead.NonceSize() {
			continue
		}
		nonce, body := s.Body[:aead.NonceSize()], s.Body[aead.NonceSize():]
		if fileKey, err := aead.Open(nil, nonce, body, nil); err == nil {
			return fileKey, nil
		}
	}

	return nil, errors.Join(age.ErrIncorrectIdentity, errors.New("the payload is encrypted with another key"))
}
