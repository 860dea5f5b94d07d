package web

import (
	"context"
	"fmt"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/robotmem/robotmem-go/robotmem"
)

// TokenManager keeps the tokens that Options.Tokens returns. Its errors are *robotmem.Error.
type TokenManager interface {
	// List returns the tokens in the order of their creation; on a site those of the caller's
	// tenant, as the other methods do.
	List(context.Context) ([]Token, error)
	// Create makes a token with the name and the rights of another, and returns its secret, which
	// is not kept.
	Create(context.Context, Token) (secret string, err error)
	// Revoke removes a token.
	Revoke(ctx context.Context, name string) error
	// Used notes that a token was shown now. It must not wait for a disk.
	Used(Token)
}

// requireAdmin refuses a caller whose role has no tokens to manage.
func requireAdmin(op string, next echo.HandlerFunc) echo.HandlerFunc {
	return requireRight(&robotmem.Op{Name: op}, func(c echo.Context) error {
		if role := robotmem.CallerOf(c.Request().Context()).Role; role != "" && role != robotmem.RoleAdmin {
			err := fmt.Errorf("the token has the role %s, and tokens are for the role admin", role)
			return &robotmem.Error{Op: op, Kind: robotmem.Forbidden, Err: err}
		}
		return next(c)
	})
}

func (s *server) listTokens(c echo.Context) error {
	list, err := s.opts.ManageTokens.List(c.Request().Context())
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
		Name        string   `json:"name"`
		ReadOnly    bool     `json:"read_only"`
		Role        string   `json:"role"`
		Robot       string   `json:"robot"`
		Collections []string `json:"collections"`
	}
	if err := tokenBody(c, &robotmem.Op{Name: "create_token"}, "name", &req); err != nil {
		return err
	}

	t := Token{
		Name:        req.Name,
		ReadOnly:    req.ReadOnly,
		Role:        req.Role,
		Robot:       req.Robot,
		Collections: strings.Join(req.Collections, ","),
	}

	secret, err := s.opts.ManageTokens.Create(c.Request().Context(), t)
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
	if err := s.opts.ManageTokens.Revoke(c.Request().Context(), c.Param("name")); err != nil {
		return err
	}
	return s.listTokens(c)
}
