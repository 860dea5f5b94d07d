// Package sitetokens lets the dashboard of a site manage its tokens.
package sitetokens

import (
	"context"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/site"
	"github.com/robotmem/robotmem-go/web"
)

// tokens manages the tokens of the caller's tenant. Package web admits its admins alone.
type tokens struct{ *site.Site }

var _ web.TokenManager = tokens{}

// Of returns the tokens of a site.
func Of(s *site.Site) web.TokenManager { return tokens{s} }

func (s tokens) List(ctx context.Context) ([]web.Token, error) {
	tenant := robotmem.CallerOf(ctx).Tenant
	known, err := s.Tokens(ctx, tenant)

	list := make([]web.Token, len(known))
	for i, t := range known {
		list[i] = web.Token{
			Name: t.Name, ReadOnly: t.Role == robotmem.RoleReader, Tenant: tenant, Role: t.Role, Robot: t.Robot,
			Collections: strings.Join(t.Collections, ","), Created: t.Created, LastUsed: t.LastUsed,
		}
	}

	return list, err
}

// Create takes read_only without a role, as the dashboard sends it, for the role reader.
func (s tokens) Create(ctx context.Context, t web.Token) (string, error) {
	spec := site.TokenSpec{Name: t.Name, Role: t.Role, Robot: t.Robot}
	if t.Collections != "" {
		spec.Collections = strings.Split(t.Collections, ",")
	}

	switch {
	case t.ReadOnly && (t.Role == "" || t.Role == robotmem.RoleReader):
		spec.Role = robotmem.RoleReader
	case t.ReadOnly:
		return "", robotmem.Errorf(robotmem.Invalid, "read_only", "is for the role reader, not for %q", t.Role)
	case t.Role == "":
		spec.Role = robotmem.RoleOperator
	}

	return s.CreateToken(ctx, robotmem.CallerOf(ctx).Tenant, spec)
}

func (s tokens) Revoke(ctx context.Context, name string) error {
	return s.RevokeToken(ctx, robotmem.CallerOf(ctx).Tenant, name)
}

// Used does nothing: the site notes the use when it looks a token up.
func (tokens) Used(web.Token) {}
