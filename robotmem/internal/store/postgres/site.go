package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The tables of a site, which no tenant sees: its tenants with their limits, and their tokens.

var (
	// ErrNone says that there is no such tenant or token.
	ErrNone = errors.New("there is none")
	// ErrExists says that the name is taken.
	ErrExists = errors.New("the name is taken")
	// ErrLimit says that a limit has a value that no limit can have.
	ErrLimit = errors.New("this is no limit")
)

// The codes of constraints that a statement violates.
const (
	uniqueViolation = "23505"
	checkViolation  = "23514"
)

// siteError gives an error of a statement of the site one of the errors above, or a text for callers.
func siteError(err error) error {
	told := (*pgconn.PgError)(nil)
	errors.As(err, &told)

	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return ErrNone
	case told != nil && told.Code == uniqueViolation:
		return ErrExists
	case told != nil && told.Code == checkViolation:
		return ErrLimit
	}

	return Explain(err)
}

// Token is a row of tokens. A token that was revoked stays.
type Token struct {
	Name, Role, Robot string
	Collections       []string
	Created           time.Time
	LastUsed          *time.Time // to the minute; nil if it was never used
}

// InsertToken stores a token of a tenant with the SHA-256 of its secret. It fails with ErrNone without such a tenant,
// with ErrExists if the tenant has a token of that name.
func (s *Server) InsertToken(ctx context.Context, tenant string, t Token, hash []byte) error {
	made := false
	err := s.Pool.QueryRow(ctx, "SELECT robotmem.insert_token($1, $2, $3, $4, $5, $6)",
		tenant, t.Name, t.Role, t.Robot, t.Collections, hash).Scan(&made)
	if err == nil && !made {
		return ErrNone
	}

	return siteError(err)
}

// Tokens returns the tokens of a tenant that are not revoked, oldest first.
func (s *Server) Tokens(ctx context.Context, tenant string) ([]Token, error) {
	rows, err := s.Pool.Query(ctx, "SELECT name, role, robot, collections, created_at, last_used FROM robotmem.tokens_of($1)", tenant)
	if err != nil {
		return nil, siteError(err)
	}
	list, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (t Token, err error) {
		err = r.Scan(&t.Name, &t.Role, &t.Robot, &t.Collections, &t.Created, &t.LastUsed)
		return t, err
	})

	return list, siteError(err)
}

// HasTokens reports whether a tenant has a token that is not revoked, or with an empty name any tenant.
func (s *Server) HasTokens(ctx context.Context, tenant string) (found bool, err error) {
	err = s.Pool.QueryRow(ctx, "SELECT robotmem.has_tokens($1)", tenant).Scan(&found)
	return found, siteError(err)
}

// RevokeToken takes a token away and returns the SHA-256 of its secret. It fails with ErrNone without such a token.
func (s *Server) RevokeToken(ctx context.Context, tenant, name string) (hash []byte, err error) {
	err = s.Pool.QueryRow(ctx, "SELECT hash FROM robotmem.revoke_token($1, $2)", tenant, name).Scan(&hash)
	return hash, siteError(err)
}

// TokenOf returns the token with the SHA-256 of a secret, its tenant, and whether it was used in the last minute. It
// fails with ErrNone without such a token.
func (s *Server) TokenOf(ctx context.Context, hash []byte) (t Token, tenant string, usedLately bool, err error) {
	err = s.Pool.QueryRow(ctx, "SELECT name, role, robot, collections, tenant, used_lately FROM robotmem.token_of($1)", hash).Scan(
		&t.Name, &t.Role, &t.Robot, &t.Collections, &tenant, &usedLately)
	return t, tenant, usedLately, siteError(err)
}

// TouchToken notes that a token was used now.
func (s *Server) TouchToken(ctx context.Context, hash []byte) error {
	_, err := s.Pool.Exec(ctx, "SELECT robotmem.touch_token($1)", hash)
	return siteError(err)
}

// Tenant is a row of tenants.
type Tenant struct {
	ID      int64
	Name    string
	Created time.Time
	Limits
}

// Limits are what an operator sets of a tenant. A limit that is nil bounds nothing.
type Limits struct {
	Memories, PayloadBytes *int64
	RequestsPerSecond      *float64
	ConflictRule           string // ask, site, newest or both
}

const tenantColumns = "id, name, created_at, max_memories, max_payload_bytes, max_requests_per_second, conflict_rule"

func scanTenant(r pgx.CollectableRow) (t Tenant, err error) {
	err = r.Scan(&t.ID, &t.Name, &t.Created, &t.Memories, &t.PayloadBytes, &t.RequestsPerSecond, &t.ConflictRule)
	t.Created = t.Created.UTC()
	return t, err
}

// Tenants returns all tenants, by name.
func (s *Server) Tenants(ctx context.Context) ([]Tenant, error) {
	rows, err := s.Pool.Query(ctx, "SELECT "+tenantColumns+" FROM robotmem.tenants ORDER BY name")
	if err != nil {
		return nil, siteError(err)
	}
	list, err := pgx.CollectRows(rows, scanTenant)
	return list, siteError(err)
}

// TenantNamed returns a tenant. It fails with ErrNone without such a tenant.
func (s *Server) TenantNamed(ctx context.Context, name string) (Tenant, error) {
	return s.oneTenant(ctx, "SELECT "+tenantColumns+" FROM robotmem.tenants WHERE name = $1", name)
}

// LimitTenant changes limits of a tenant: a nil one and an empty rule stay, a negative one is taken away. It fails with
// ErrNone without such a tenant, with ErrLimit for a rate of 0 or another rule.
func (s *Server) LimitTenant(ctx context.Context, name string, l Limits) (Tenant, error) {
	return s.oneTenant(ctx, `UPDATE robotmem.tenants SET
		max_memories = CASE WHEN $2::bigint < 0 THEN NULL ELSE coalesce($2, max_memories) END,
		max_payload_bytes = CASE WHEN $3::bigint < 0 THEN NULL ELSE coalesce($3, max_payload_bytes) END,
		max_requests_per_second = CASE WHEN $4::double precision < 0 THEN NULL ELSE coalesce($4, max_requests_per_second) END,
		conflict_rule = coalesce(nullif($5, ''), conflict_rule)
		WHERE name = $1 RETURNING `+tenantColumns, name, l.Memories, l.PayloadBytes, l.RequestsPerSecond, l.ConflictRule)
}

func (s *Server) oneTenant(ctx context.Context, sql string, args ...any) (Tenant, error) {
	rows, err := s.Pool.Query(ctx, sql, args...)
	if err != nil {
		return Tenant{}, siteError(err)
	}
	t, err := pgx.CollectOneRow(rows, scanTenant)
	return t, siteError(err)
}

// DropTenant deletes a tenant with all that it holds, also its audit log, and returns its id. It fails with ErrNone
// without such a tenant.
func (s *Server) DropTenant(ctx context.Context, name string) (id int64, err error) {
	err = pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, "DELETE FROM robotmem.tenants WHERE name = $1 RETURNING id", name).Scan(&id)
		if err != nil {
			return err
		}

		// Deleting a large tenant takes longer than the limit of other statements.
		_, err = tx.Conn().PgConn().Exec(ctx, fmt.Sprintf(`SET LOCAL statement_timeout = 0;
			SELECT set_config('robotmem.tenant', '%d', true);
			DO $$ DECLARE name text;
			BEGIN
				FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'robotmem'::regnamespace AND relkind = 'p' LOOP
					EXECUTE format('DELETE FROM robotmem.%%I WHERE tenant = %[1]d', name);
				END LOOP;
			END $$`, id)).ReadAll()

		return err
	})

	return id, siteError(err)
}

// Usage counts the memories of a tenant, of any status, and the bytes of its payloads.
func (s *Server) Usage(ctx context.Context, tenant int64) (memories, bytes int64, err error) {
	err = pgx.BeginTxFunc(ctx, s.Pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		// Row-level security shows the rows of this tenant only.
		if _, err := tx.Exec(ctx, "SELECT set_config('robotmem.tenant', $1, true)",
			strconv.FormatInt(tenant, 10)); err != nil {
			return err
		}
		return tx.QueryRow(ctx, "SELECT (SELECT count(*) FROM memories), "+
			"(SELECT coalesce(sum(bytes), 0)::bigint FROM payloads)").Scan(&memories, &bytes)
	})

	return memories, bytes, siteError(err)
}

// Size returns the bytes of all tenants in the database, with indexes.
func (s *Server) Size(ctx context.Context) (n int64, err error) {
	err = s.Pool.QueryRow(ctx, "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class "+
		"WHERE relnamespace = 'robotmem'::regnamespace AND relkind = 'r'").Scan(&n)
	return n, siteError(err)
}

// DatabaseID tells this database from every other one, also from a clone on another server.
func (s *Server) DatabaseID(ctx context.Context) (id string, err error) {
	err = s.Pool.QueryRow(ctx, `SELECT (SELECT system_identifier FROM pg_control_system())::text || '-' || oid::text
		FROM pg_database WHERE datname = current_database()`).Scan(&id)
	return id, siteError(err)
}

// IsStandby reports whether the server is a standby, which is read-only.
func (s *Server) IsStandby(ctx context.Context) (standby bool, err error) {
	err = s.Pool.QueryRow(ctx, "SELECT pg_is_in_recovery()").Scan(&standby)
	return standby, siteError(err)
}
