// Package syncing lets a running program sync the memory of a robot with the site that it has joined.
package syncing

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/client"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// Joined returns a memory with its site, if it has joined one. The memory of a site is returned as it is.
func Joined(m robotmem.Node, ofSite bool) robotmem.Node {
	n, ok := m.(*local.Node)
	if !ok || ofSite {
		return m
	}
	if p, err := fleet.PeerOf(n); err == nil && p != nil {
		return &fleet.Joined{Node: n, Site: client.New(p.URL, client.Options{Token: p.Token})}
	}

	return m
}

// Sync is the sync of a program. The zero value has not begun.
type Sync struct {
	running atomic.Pointer[fleet.Replicator]
}

// Run sends the changes of a memory to its site until ctx ends, if it has joined one. version is that of the program.
func (s *Sync) Run(ctx context.Context, m robotmem.Node, ofSite bool, version string, log *slog.Logger) {
	n, ok := m.(*local.Node)
	if !ok || ofSite || n.ReadOnly() != "" {
		return
	}
	p, err := fleet.PeerOf(n)
	if err != nil {
		log.Error("nothing is sent to the site", "err", err)
	}
	if p == nil {
		return
	}
	// An earlier version joined: from now on a copy of the file is noticed.
	if p.FileID == "" {
		if err := p.Save(n); err != nil {
			log.Warn("the file of the site is not noted to be of this memory", "err", err)
		}
	}

	r := fleet.NewReplicator(n, *p, nil, log)
	r.Version = version
	s.running.Store(r)
	r.Run(ctx)
	s.running.Store(nil)
}

// Metrics returns the state of the sync with the site, nothing without one.
func (s *Sync) Metrics(ctx context.Context) ([]admin.Metric, error) {
	if r := s.running.Load(); r != nil {
		return r.Metrics(ctx)
	}
	return nil, nil
}
