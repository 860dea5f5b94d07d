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
	// staleKeysLife is how long the keys are used while the provider cannot be reached.
	staleKeysLife = 10 * time.Minute
	maxKeys       = 100
	// maxDocument is the largest answer of the provider in bytes. The keys of large providers take some KB.
	maxDocument = 1 << 20
	// failureLife is the pause after a failed attempt. sharedWait is how long a request waits for the attempt of
	// another request.
	failureLife = 5 * time.Second
	sharedWait  = 500 * time.Millisecond
)

// fetchCache caches a value that is fetched. It runs one attempt at a time. Other callers wait a moment for it. After a
// failure they are answered at once for failureLife.
type fetchCache[T any] struct {
	clock func() time.Time

	mu      sync.Mutex    // guards the fields below
	running chan struct{} // closed at the end of the present attempt, nil without one
	value   T
	at      time.Time // when value was obtained, zero before
	failed  time.Time // when the last attempt failed, zero after a success
}

// get returns the value and the time when it was obtained. It makes a new attempt if the value is older than life. If
// the attempt fails, it returns the last value. The time is zero if there is no value.
func (a *fetchCache[T]) get(ctx context.Context, life time.Duration, attempt func() (T, error)) (T, time.Time) {
	a.mu.Lock()
	now := a.clock()

	// A time in the future comes from a clock that was set back, and does not count.
	isFresh := !a.at.IsZero() && now.Sub(a.at) < life && !now.Before(a.at)
	hasFailed := !a.failed.IsZero() && now.Sub(a.failed) < failureLife && !now.Before(a.failed)
	if isFresh || hasFailed {
		defer a.mu.Unlock()
		return a.value, a.at
	}

	// The caller that starts the attempt waits for all of it. Others wait only a moment, so that a slow provider does not
	// hold the connections of all clients.
	running, patience := a.running, sharedWait
	if running == nil {
		running, patience = make(chan struct{}), providerTime
		a.running = running

		// The attempt has no context of a caller, so it goes on when the caller leaves.
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

// keySet holds the signing keys of a provider. It implements oidc.KeySet. The implementation of the library never asks
// the provider again while it knows a key, accepts keys for encryption and reads documents of any length.
type keySet struct {
	client *http.Client
	url    string
	clock  func() time.Time
	keys   fetchCache[[]jose.JSONWebKey]
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

	// If no known key fits, the provider may have a new one, so the second round fetches the keys again.
	// providerRequests limits how often.
	for _, life := range []time.Duration{keysLife, 0} {
		keys, at := k.keys.get(ctx, life, k.fetch)
		if at.IsZero() || k.clock().Sub(at) > staleKeysLife {
			k.reportFailure(ctx, errNoKeys)
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

// failureKey is the context key of a pointer to an error. The library passes on only the text of an error of the keys,
// so reportFailure stores the error there.
type failureKey struct{}

func (k *keySet) reportFailure(ctx context.Context, err error) {
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
	// The client has a time limit, and the request belongs to no caller.
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, k.url, http.NoBody)
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
			// Providers may add keys of a type that is not known here. The others still count.
			continue
		}

		var more struct {
			Ops []string `json:"key_ops"`
		}

		// jose does not read key_ops. A key for encryption, or a shared secret, must not verify a token. If key_ops has
		// another form, the key names no operations.
		_ = json.Unmarshal(raw, &more)
		isOther := key.Use != "" && key.Use != "sig" || more.Ops != nil && !slices.Contains(more.Ops, "verify")
		if isOther || !key.Valid() || !key.IsPublic() {
			continue
		}

		keys = append(keys, key)
	}

	return keys, nil
}
