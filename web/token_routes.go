package web

import (
	"github.com/labstack/echo/v4"

	"github.com/robotmem/robotmem-go/robotmem"
)

// TokenManager keeps the tokens that Options.Tokens returns. Its errors are *robotmem.Error.
type TokenManager interface {
	// List returns the tokens in the order of their creation.
	List() ([]Token, error)
	// Create makes a token and returns its secret, which is not kept.
	Create(name string, readOnly bool) (secret string, err error)
	// Revoke removes a token.
	Revoke(name string) error
	// Used notes that a token was shown now. It must not wait for a disk.
	Used(Token)
}

func (s *server) listTokens(c echo.Context) error {
	list, err := s.opts.ManageTokens.List()
	if err != nil {
		return err
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return writeJSON(c, struct {
		Tokens []Token `json:"tokens"`
	}{append([]Token{}, list...)})
}

// createToken answers the secret, which nobody can read again.
func (s *server) createToken(c echo.Context) error {
	var req struct {
		Name     string `json:"name"`
		ReadOnly bool   `json:"read_only"`
	}
	if err := tokenBody(c, &robotmem.Op{Name: "create_token"}, "name", &req); err != nil {
		return err
	}
	secret, err := s.opts.ManageTokens.Create(req.Name, req.ReadOnly)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return writeJSON(c, struct {
		Name     string `json:"name"`
		ReadOnly bool   `json:"read_only"`
		Secret   string `json:"secret"`
	}{req.Name, req.ReadOnly, secret})
}

// revokeToken answers the tokens that are left.
func (s *server) revokeToken(c echo.Context) error {
	if err := s.opts.ManageTokens.Revoke(c.Param("name")); err != nil {
		return err
	}
	return s.listTokens(c)
}
