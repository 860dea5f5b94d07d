package site

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres"
)

// limits are the limits of a tenant as a node knows them for tokenLife.
type limits struct {
	Limits
	tenant int64
	until  time.Time
}

// limitsOf returns the limits of a tenant. It fails with Forbidden without such a tenant.
func (s *Site) limitsOf(ctx context.Context, tenant string) (l limits, err error) {
	now := time.Now()
	if have, ok := s.limits.Get(tenant); ok && now.Before(have.until) {
		return have, nil
	}
	r, err := s.server.TenantNamed(ctx, tenant)
	if errors.Is(err, postgres.ErrNone) {
		return l, robotmem.Errorf(robotmem.Forbidden, "tenant",
			"there is no tenant %.100q; robotmem fleet tenant create makes one", tenant)
	}
	if err != nil {
		return l, err
	}
	l.tenant, l.Limits = r.ID, limitsIn(r)
	l.until = now.Add(tokenLife)
	s.limits.Add(tenant, l)

	return l, nil
}

// Rate returns how many requests a second a tenant may make on one node, 0 for any number. It fails
// with Forbidden without such a tenant.
func (s *Site) Rate(ctx context.Context, tenant string) (float64, error) {
	l, err := s.limitsOf(ctx, tenant)
	if err != nil || l.RequestsPerSecond == nil {
		return 0, err
	}
	return *l.RequestsPerSecond, nil
}

// usage counts what a tenant holds: the last count plus what this node has admitted since. Writes through other nodes
// are not seen before the next count, so the nodes of a site together may exceed a quota by what they store in between.
type usage struct {
	mu              sync.Mutex // guards the fields below
	memories, bytes int64
	until           time.Time // of the count
}

// countShare bounds the share of the time that counting takes.
const countShare = 50

// current counts again if the last count is too old. The caller holds the lock.
func (u *usage) current(ctx context.Context, s *Site, tenant int64) error {
	began := time.Now()
	if began.Before(u.until) {
		return nil
	}
	memories, bytes, err := s.server.Usage(ctx, tenant)
	if err != nil {
		return err
	}
	u.memories, u.bytes = memories, bytes

	// Counting may take long for a large tenant. The longer it takes, the less often it is repeated.
	u.until = began.Add(max(tokenLife, countShare*time.Since(began)))

	return nil
}

// admit takes room for what a request stores. It fails with TooLarge over a quota.
func (a *access) admit(ctx context.Context, memories, bytes int64) error {
	_, err := a.room(ctx, memories, bytes)
	return err
}

// room is admit, and returns how many bytes of payloads are left, -1 for any number.
func (a *access) room(ctx context.Context, memories, bytes int64) (left int64, err error) {
	l, err := a.guard.site.limitsOf(ctx, a.Tenant)
	if err != nil || l.Memories == nil && l.PayloadBytes == nil {
		return -1, err
	}

	// Check and reservation are one step under the lock: otherwise two requests could both take the last room.
	u := &a.open.usage
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.current(ctx, a.guard.site, l.tenant); err != nil {
		return 0, err
	}
	if l.Memories != nil && u.memories+memories > *l.Memories {
		return 0, robotmem.Errorf(robotmem.TooLarge, "",
			"the tenant %s holds %d memories, and its quota max_memories is %d; purge some, or have the operator of the site raise it",
			a.Tenant, u.memories, *l.Memories)
	}

	left = -1
	if l.PayloadBytes != nil {
		if left = *l.PayloadBytes - u.bytes; bytes > left {
			return 0, a.overPayload(*l.PayloadBytes)
		}
		left -= bytes
	}

	// The room is taken before the memory is stored. A request that fails later gives it back with the next count.
	u.memories, u.bytes = u.memories+memories, u.bytes+bytes

	return left, nil
}

func (a *access) overPayload(quota int64) error {
	return robotmem.Errorf(robotmem.TooLarge, "",
		"the payloads of the tenant %s would exceed its quota max_payload_bytes of %d bytes; purge some perceptions, or have the operator of the site raise it",
		a.Tenant, quota)
}

// within checks what a request stores against the quotas.
func (a *access) within(ctx context.Context, r any) error {
	switch r := r.(type) {
	case *robotmem.LearnRequest:
		return a.admit(ctx, 1, 0)
	case *robotmem.LearnBatchRequest:
		return a.admit(ctx, int64(len(r.Items)), 0)
	case *robotmem.SaveDocumentRequest:
		return a.admit(ctx, int64(len(r.Passages)), 0)
	case *robotmem.SavePerceptionRequest:
		return a.admit(ctx, 1, int64(len(r.Data)+len(r.DataBase64)))
	}

	return nil
}

// refusePath refuses a payload that is a file of the site's machine. A request with a second payload
// is refused for that.
func refusePath(r *robotmem.SavePerceptionRequest, data io.Reader) error {
	if r.Path == "" || r.Data != "" || r.DataBase64 != nil || data != nil {
		return nil
	}
	return robotmem.Errorf(robotmem.Forbidden, "path", "a site reads no files of its own machine; send the bytes")
}

// metered is a payload that fails when it exceeds the quota of its tenant.
type metered struct {
	io.Reader
	access *access
	left   int64 // bytes
	over   error // why it was ended
}

func (a *access) metered(ctx context.Context, data io.Reader) (io.Reader, error) {
	// The size of a stream is unknown before its end, so only the room is read here and each Read takes its share.
	left, err := a.room(ctx, 0, 0)
	if err != nil || left < 0 || data == nil {
		return data, err
	}
	return &metered{Reader: data, access: a, left: left}, nil
}

func (m *metered) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if m.left -= int64(n); m.left < 0 {
		quota := int64(0)
		if l, ok := m.access.guard.site.limits.Peek(m.access.Tenant); ok && l.PayloadBytes != nil {
			quota = *l.PayloadBytes
		}
		m.over = m.access.overPayload(quota)
		return n, m.over
	}
	if u := &m.access.open.usage; n > 0 {
		u.mu.Lock()
		u.bytes += int64(n)
		u.mu.Unlock()
	}

	return n, err
}
