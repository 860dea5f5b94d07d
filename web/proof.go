package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/robotmem/robotmem-go/robotmem"
)

// proofPath serves the proof that this node may read the secret beside its file. It needs no token, because a
// client asks for the proof before it sends its token. Without the proof, a program that takes the port of a
// node that has ended would get the token and the facts of clients that come back.
const proofPath = "/api/proof"

const (
	proofPurpose = "robotmem node proof 1\n"
	minNonce     = 32 // hexadecimal digits
	maxNonce     = 128
)

// Proof returns HMAC-SHA256 of a nonce and the address host:port that was connected to. With the address,
// a program on another port cannot pass on the proof of the node.
func Proof(secret []byte, nonce, address string) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(proofPurpose + nonce + "\n" + address))
	return mac.Sum(nil)
}

// proof answers a nonce.
func (s *server) proof(c echo.Context) error {
	nonce := c.QueryParam("nonce")
	if _, err := hex.DecodeString(nonce); err != nil || len(nonce) < minNonce || len(nonce) > maxNonce {
		err := errors.New("must be 32 to 128 hexadecimal digits of the caller's own choice")
		return invalid(&robotmem.Op{Name: "proof"}, "nonce", err)
	}

	local, ok := c.Request().Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return &robotmem.Error{
			Op: "proof", Kind: robotmem.Unavailable, Err: errors.New("the connection has no address"),
		}
	}
	c.Response().Header().Set("Cache-Control", "no-store")

	return writeJSON(c, struct {
		Proof string `json:"proof"`
	}{hex.EncodeToString(Proof(s.opts.Secret, nonce, local.AddrPort().String()))})
}
