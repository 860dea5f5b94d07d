package site

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres"
)

// TokenSpec says what the holder of a new token may do.
type TokenSpec struct {
	Name  string
	Role  string // robotmem.RoleAdmin, RoleOperator, RoleRobot or RoleReader
	Robot string // of RoleRobot, the robot that it is
	// Collections are those that a robot or a reader has. A robot needs one or more, and "*" is
	// all of the tenant; a reader without any has all. The other roles have all.
	Collections []string
}

// Token is a token of a tenant, without its secret.
type Token struct {
	Name        string    `json:"name"`
	Role        string    `json:"role"`
	Robot       string    `json:"robot,omitempty"`
	Collections []string  `json:"collections"`
	Created     time.Time `json:"created"`
	LastUsed    time.Time `json:"last_used,omitzero"` // to the minute
}

// Limits are the quotas of a tenant, and its rule for conflicts; nil is no limit.
type Limits struct {
	Memories     *int64 `json:"max_memories,omitempty"`      // of any status
	PayloadBytes *int64 `json:"max_payload_bytes,omitempty"` // a payload of several perceptions counts once
	// RequestsPerSecond is for each node that serves the tenant.
	RequestsPerSecond *float64 `json:"max_requests_per_second,omitempty"`
	// ConflictRule settles what a robot and the site have both changed: ask leaves it to an operator, site and both are
	// those of [Settle], and newest keeps the state that was changed last by the clock of its side.
	ConflictRule string `json:"conflict_rule,omitempty"`
}

// Tenant is a tenant of a site.
type Tenant struct {
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
	Limits
}

const (
	// tokenLife is how long a node trusts what it knows of a token or of the limits of a tenant. A
	// token that another node has revoked is refused after that.
	tokenLife    = time.Second
	knownTokens  = 20_000
	knownTenants = 10_000
	secretPrefix = "rmt_" // as web.NewSecret
	secretBytes  = 32
)

var accessName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

type knownToken struct {
	caller robotmem.Caller
	until  time.Time
}

func (t *TokenSpec) check() error {
	roles := []string{robotmem.RoleAdmin, robotmem.RoleOperator, robotmem.RoleRobot, robotmem.RoleReader}
	switch {
	case !accessName.MatchString(t.Name):
		return robotmem.Errorf(robotmem.Invalid, "name",
			"must be 1 to 64 letters, digits, dots, dashes and underscores, not %.100q", t.Name)
	case !slices.Contains(roles, t.Role):
		return robotmem.Errorf(robotmem.Invalid, "role", "must be %s, not %.100q", strings.Join(roles, ", "), t.Role)
	case t.Role == robotmem.RoleRobot && (t.Robot == "" || record.CleanName(t.Robot, record.MaxRobot) != t.Robot):
		return robotmem.Errorf(robotmem.Invalid, "robot",
			"must be the name of the robot, 1 to 64 characters on one line, not %.100q", t.Robot)
	case t.Role != robotmem.RoleRobot && t.Robot != "":
		return robotmem.Errorf(robotmem.Invalid, "robot", "is for the role robot, not for %s", t.Role)
	case t.Role == robotmem.RoleRobot && len(t.Collections) == 0:
		return robotmem.Errorf(robotmem.Invalid, "collections",
			"is required for the role robot: the collections that it reads and writes, or * for all")
	case (t.Role == robotmem.RoleAdmin || t.Role == robotmem.RoleOperator) && len(t.Collections) > 0:
		return robotmem.Errorf(robotmem.Invalid, "collections", "is for the roles robot and reader; %s has all", t.Role)
	case len(t.Collections) == 0:
		t.Collections = []string{robotmem.AllCollections}
	}

	t.Collections = slices.Compact(slices.Sorted(slices.Values(t.Collections)))
	if set := strings.Join(t.Collections, ","); !robotmem.ValidCollections(set) {
		return robotmem.Errorf(robotmem.Invalid, "collections",
			"must be names of 1 to 64 of A-Z a-z 0-9 . _ -, or * alone, not %.100q", set)
	}

	return nil
}

// CreateToken makes a token of a tenant and returns its secret, which is not kept. It fails with
// NotFound without such a tenant, with Conflict if the tenant has a token of that name.
func (s *Site) CreateToken(ctx context.Context, tenant string, t TokenSpec) (secret string, err error) {
	if err := t.check(); err != nil {
		return "", err
	}

	// The default tenant needs no command that makes it.
	if tenant == DefaultTenant {
		if _, err := s.server.MakeTenant(ctx, tenant); err != nil {
			return "", postgres.Explain(err)
		}
	}

	random := make([]byte, secretBytes)
	_, _ = rand.Read(random) // never fails
	secret = secretPrefix + base64.RawURLEncoding.EncodeToString(random)

	// The table holds the hash only, so a copy of the database contains no secret.
	hash := sha256.Sum256([]byte(secret))

	err = s.server.InsertToken(ctx, tenant, postgres.Token{
		Name: t.Name, Role: t.Role, Robot: t.Robot, Collections: t.Collections,
	}, hash[:])
	switch {
	case errors.Is(err, postgres.ErrExists):
		return "", robotmem.Errorf(robotmem.Conflict, "name",
			"the tenant %s has a token %q; take another name, or revoke it first", tenant, t.Name)
	case errors.Is(err, postgres.ErrNone):
		return "", noTenant(tenant)
	case err != nil:
		return "", err
	}

	return secret, nil
}

// Tokens returns the tokens of a tenant that are not revoked, oldest first.
func (s *Site) Tokens(ctx context.Context, tenant string) ([]Token, error) {
	if err := s.known(ctx, tenant); err != nil {
		return nil, err
	}

	rows, err := s.server.Tokens(ctx, tenant)
	if err != nil {
		return nil, err
	}

	var list []Token

	for _, r := range rows {
		t := Token{Name: r.Name, Role: r.Role, Robot: r.Robot, Collections: r.Collections, Created: r.Created.UTC()}
		if r.LastUsed != nil {
			t.LastUsed = r.LastUsed.UTC()
		}
		list = append(list, t)
	}

	return list, nil
}

// HasTokens reports whether a tenant has a token, or with an empty name any tenant.
func (s *Site) HasTokens(ctx context.Context, tenant string) (bool, error) {
	return s.server.HasTokens(ctx, tenant)
}

// RevokeToken takes a token away. This node refuses it at once, every other one within two seconds.
func (s *Site) RevokeToken(ctx context.Context, tenant, name string) error {
	hash, err := s.server.RevokeToken(ctx, tenant, name)
	if errors.Is(err, postgres.ErrNone) {
		return robotmem.Errorf(robotmem.NotFound, "name",
			"the tenant %.100q has no token %.100q; robotmem fleet token list shows them", tenant, name)
	}
	if err == nil {
		// The caches of the other nodes still hold the token until their entries expire.
		s.tokens.Remove([sha256.Size]byte(hash))
	}

	return err
}

// Caller returns who the holder of the secret with a hash is; ok is false without such a token, or
// if it was revoked more than a second ago.
func (s *Site) Caller(ctx context.Context, hash [sha256.Size]byte) (c robotmem.Caller, ok bool, err error) {
	// The time is taken before the question, so that the answer is not trusted longer than tokenLife after a
	// revocation.
	asked := time.Now()
	if have, ok := s.tokens.Get(hash); ok && asked.Before(have.until) {
		return have.caller, true, nil
	}

	t, tenant, used, err := s.server.TokenOf(ctx, hash[:])
	switch {
	case errors.Is(err, postgres.ErrNone):
		// A token that another node has revoked must not stay in the cache.
		s.tokens.Remove(hash)
		return robotmem.Caller{}, false, nil
	case err != nil:
		return robotmem.Caller{}, false, err
	}

	// On a standby the time of use cannot be stored, and the token is still valid.
	if !used {
		_ = s.server.TouchToken(ctx, hash[:])
	}

	c = robotmem.Caller{
		Who: t.Name, Role: t.Role, Robot: t.Robot, Tenant: tenant,
		ReadOnly: t.Role == robotmem.RoleReader, Collections: strings.Join(t.Collections, ","),
	}
	s.tokens.Add(hash, knownToken{c, asked.Add(tokenLife)})

	return c, true, nil
}

// CreateTenant makes a tenant. It fails with Conflict if there is one of that name.
func (s *Site) CreateTenant(ctx context.Context, name string) error {
	if !accessName.MatchString(name) {
		return robotmem.Errorf(robotmem.Invalid, "tenant",
			"must be 1 to 64 letters, digits, dots, dashes and underscores, not %.100q", name)
	}

	// MakeTenant also returns an existing tenant, so the name is looked up first.
	switch err := s.known(ctx, name); {
	case err == nil:
		return robotmem.Errorf(robotmem.Conflict, "tenant", "there is a tenant %q", name)
	case !errors.Is(err, robotmem.NotFound):
		return err
	}
	_, err := s.server.MakeTenant(ctx, name)

	return postgres.Explain(err)
}

func tenantOf(r postgres.Tenant) Tenant {
	return Tenant{Name: r.Name, Created: r.Created, Limits: limitsIn(r)}
}

func limitsIn(r postgres.Tenant) Limits {
	return Limits(r.Limits)
}

// Tenants returns all tenants with their limits, by name.
func (s *Site) Tenants(ctx context.Context) ([]Tenant, error) {
	rows, err := s.server.Tenants(ctx)
	if err != nil {
		return nil, err
	}

	var list []Tenant
	for _, r := range rows {
		list = append(list, tenantOf(r))
	}

	return list, nil
}

// Limit changes limits of a tenant: a nil one and an empty rule stay, a negative one is taken away. Running nodes
// follow within two seconds; the rule is for conflicts that come later. It returns the tenant with its limits.
func (s *Site) Limit(ctx context.Context, tenant string, l Limits) (Tenant, error) {
	if !slices.Contains([]string{"", RuleAsk, KeepSite, RuleNewest, KeepBoth}, l.ConflictRule) {
		return Tenant{}, robotmem.Errorf(robotmem.Invalid, "conflicts", "must be ask, site, newest or both, not %.40q", l.ConflictRule)
	}

	r, err := s.server.LimitTenant(ctx, tenant, postgres.Limits(l))
	switch {
	case errors.Is(err, postgres.ErrNone):
		return Tenant{}, noTenant(tenant)
	case errors.Is(err, postgres.ErrLimit):
		return Tenant{}, robotmem.Errorf(robotmem.Invalid, "requests_per_second",
			"must be more than 0; a negative number takes the limit away")
	case err != nil:
		return Tenant{}, err
	}

	s.limits.Remove(tenant)

	return tenantOf(r), nil
}

// known fails with NotFound without such a tenant.
func (s *Site) known(ctx context.Context, tenant string) error {
	_, err := s.server.TenantNamed(ctx, tenant)
	if errors.Is(err, postgres.ErrNone) {
		return noTenant(tenant)
	}
	return err
}

func noTenant(name string) error {
	return robotmem.Errorf(robotmem.NotFound, "tenant",
		"there is no tenant %.100q; robotmem fleet tenant create makes one", name)
}

// Ready fails with Unavailable if no server that takes writes is reached.
func (s *Site) Ready(ctx context.Context) error {
	standby, err := s.server.IsStandby(ctx)
	if err == nil && standby {
		return robotmem.Errorf(robotmem.Unavailable, "db", "the PostgreSQL server is a standby, which is read-only")
	}
	return err
}
