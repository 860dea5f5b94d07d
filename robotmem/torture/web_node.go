package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem/client"
)

// webNode asks a robotmem web over REST.
type webNode struct {
	*spawned
	*client.Client
}

// startWeb starts a robotmem web on a file and waits until it can be asked.
func (r *rig) startWeb(ctx context.Context, db string) (*webNode, error) {
	s, err := r.startProgram(ctx, db, "web", "--addr", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address, err := s.stdout.ReadString('\n')
	if err != nil {
		s.kill()
		return nil, fmt.Errorf("robotmem web did not begin: %s", s.stderr)
	}
	// A transport of its own: what is left of connections ends with it.
	asker := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	return &webNode{s, client.New(strings.TrimSpace(address), client.Options{HTTP: asker})}, nil
}
