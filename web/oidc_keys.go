package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
)

const (
	// keysLife is how long the keys of the provider count as present. With verifiedLife it bounds how long
	// a key that the provider withdraws is accepted.
	keysLife = 30 * time.Second
	// keysAway is how long they are used while the provider cannot be asked.
	keysAway = 10 * time.Minute
	maxKeys  = 100
	// maxDocument is the largest answer of the provider in bytes. The keys of large providers take some KB.
	maxDocument = 1 << 20
	// failureLife is how long an attempt that failed is not repeated, and othersWait how long a request
	// waits for the attempt of another one.
	failureLife = 5 * time.Second
	othersWait  = 500 * time.Millisecond
)

// attempts runs one attempt at a time. Others wait a moment for it; after a failure they are answered at
// once until it is old.
type attempts[T any] struct {
	clock func() time.Time

	mu      sync.Mutex    // guards what follows
	running chan struct{} // closed at the end of the present attempt, nil without one
	value   T
	at      time.Time // when value was obtained, zero before
	failed  time.Time // when the last attempt failed, zero after a success
}

// get returns the value if it is younger than life; else of a new attempt. Without one it returns the
// last value with when it was obtained, which is zero if there is none.
func (a *attempts[T]) get(ctx context.Context, life time.Duration, attempt func() (T, error)) (T, time.Time) {
	a.mu.Lock()
	now := a.clock()
	if !a.at.IsZero() && now.Sub(a.at) < life && !now.Before(a.at) || !a.failed.IsZero() && now.Sub(a.failed) < failureLife && !now.Before(a.failed) {
		defer a.mu.Unlock()
		return a.value, a.at
	}

	running, patience := a.running, othersWait
	if running == nil {
		running, patience = make(chan struct{}), providerTime
		a.running = running

		// A caller who leaves does not end it.
		go func() {
			value, err := attempt()
			a.mu.Lock()
			defer a.mu.Unlock()
			if a.failed = a.clock(); err == nil {
				a.value, a.at, a.failed = value, a.failed, time.Time{}
			}
			a.running = nil
			close(running)
		}()
	}

	a.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()

	select {
	case <-running:
	case <-timer.C:
	case <-ctx.Done():
	}

	a.mu.Lock()
	defer a.mu.Unlock()

	return a.value, a.at
}

// keySet has the signing keys of a provider. It implements oidc.KeySet, of which the usual implementation
// never asks again while it knows a key, takes keys for encryption and reads documents of any length.
type keySet struct {
	client *http.Client
	url    string
	clock  func() time.Time
	keys   attempts[[]jose.JSONWebKey]
}

var _ oidc.KeySet = (*keySet)(nil)

var (
	errNoKeys    = errors.New("the keys of the provider are not known")
	errSignature = errors.New("no key of the provider has signed it")
)

// VerifySignature implements oidc.KeySet.
func (k *keySet) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	signed, err := jose.ParseSignedCompact(jwt, signatureAlgorithms())
	if err != nil || len(signed.Signatures) != 1 {
		return nil, errSignature
	}

	// Once more for a key that may be new; providerRequests limits that.
	for _, life := range []time.Duration{keysLife, 0} {
		keys, at := k.keys.get(ctx, life, k.fetch)
		if at.IsZero() || k.clock().Sub(at) > keysAway {
			k.tell(ctx, errNoKeys)
			return nil, errNoKeys
		}
		head := signed.Signatures[0].Header

		for i := range keys {
			key := &keys[i]
			if head.KeyID != "" && head.KeyID != key.KeyID || key.Algorithm != "" && key.Algorithm != head.Algorithm {
				continue
			}
			if payload, err := signed.Verify(key); err == nil {
				return payload, nil
			}
		}
	}

	return nil, errSignature
}

// failureKey is of a pointer in a context to the error of the keys: oidc passes only its text on.
type failureKey struct{}

func (k *keySet) tell(ctx context.Context, err error) {
	if to, ok := ctx.Value(failureKey{}).(*error); ok {
		*to = err
	}
}

func signatureAlgorithms() (all []jose.SignatureAlgorithm) {
	for _, name := range algorithms {
		all = append(all, jose.SignatureAlgorithm(name))
	}
	return all
}

// fetch asks the provider for its keys.
func (k *keySet) fetch() ([]jose.JSONWebKey, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, k.url, http.NoBody) // the client has a limit
	if err != nil {
		return nil, err
	}

	res, err := k.client.Do(req)
	if err != nil {
		return nil, err
	}

	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the provider answered %s", res.Status)
	}

	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.NewDecoder(res.Body).Decode(&set); err != nil {
		return nil, err
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("the provider has more than %d keys", maxKeys)
	}

	keys := []jose.JSONWebKey{}

	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if json.Unmarshal(raw, &key) != nil {
			// Of a type that is not known here.
			continue
		}

		var more struct {
			Ops []string `json:"key_ops"`
		}
		// Else it names no operations.
		_ = json.Unmarshal(raw, &more)
		if key.Use != "" && key.Use != "sig" || more.Ops != nil && !slices.Contains(more.Ops, "verify") || !key.Valid() || !key.IsPublic() {
			continue
		}
		keys = append(keys, key)
	}

	return keys, nil
}
