package oauth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
)

// Hash is the SHA-256 of a secret. Every secret here has at least 128 random bits, so a fast hash is enough.
type Hash [sha256.Size]byte

// HashOf returns the hash of a secret.
func HashOf(secret string) Hash { return sha256.Sum256([]byte(secret)) }

// MarshalText implements encoding.TextMarshaler.
func (h Hash) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(h[:])), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) != 2*len(h) {
		return fmt.Errorf("a hash has %d hexadecimal digits, not %d", 2*len(h), len(text))
	}
	_, err := hex.Decode(h[:], text)

	return err
}

func (h Hash) is(other Hash) bool { return subtle.ConstantTimeCompare(h[:], other[:]) == 1 }

// State is what is stored. The zero State has neither clients nor grants.
type State struct {
	Clients []Client `json:"clients"`
	Grants  []Grant  `json:"grants"`
}

// Client is a program that registered itself.
type Client struct {
	ID           string    `json:"id"`
	Name         string    `json:"name"`
	RedirectURIs []string  `json:"redirect_uris"`
	Created      time.Time `json:"created"`
	// Granted is when a grant of the client was made or refreshed last; zero without one.
	Granted time.Time `json:"granted,omitzero"`
}

// Grant is what a login allowed a client.
type Grant struct {
	// ID names the grant to its operator. It is no secret.
	ID         string `json:"id"`
	ClientID   string `json:"client_id"`
	ClientName string `json:"client_name"`
	Redirect   string `json:"redirect"` // scheme and host, as the person saw them
	// Login is the hash of the token that consented, and LoginName its name.
	Login     Hash   `json:"login"`
	LoginName string `json:"login_name"`
	// ReadOnly and Everywhere are what was allowed. Without Everywhere the grant is for the MCP endpoint alone.
	ReadOnly   bool      `json:"read_only"`
	Everywhere bool      `json:"everywhere"`
	Created    time.Time `json:"created"`
	Refreshed  time.Time `json:"refreshed"`
	// Until is when the grant ends unless it is refreshed.
	Until       time.Time `json:"until"`
	Access      Hash      `json:"access_sha256"`
	AccessUntil time.Time `json:"access_until"`
	// AccessReadOnly: a client may ask for less with a refresh.
	AccessReadOnly bool `json:"access_read_only"`
	// Family is the hash of the part that all refresh tokens of the grant share, Refresh that of the present one.
	Family  Hash `json:"family_sha256"`
	Refresh Hash `json:"refresh_sha256"`
}

// Clone returns a copy whose lists can be changed.
func (s *State) Clone() *State {
	return &State{Clients: slices.Clone(s.Clients), Grants: slices.Clone(s.Grants)}
}

func (s *State) client(id string) *Client {
	at := slices.IndexFunc(s.Clients, func(c Client) bool { return c.ID == id })
	if at < 0 {
		return nil
	}

	return &s.Clients[at]
}

// grant returns the first grant that match accepts. It always looks at all of them, so that its duration does not tell
// which one it was.
func (s *State) grant(match func(*Grant) bool) *Grant {
	found := -1

	for i := range s.Grants {
		if match(&s.Grants[i]) && found < 0 {
			found = i
		}
	}
	if found < 0 {
		return nil
	}

	return &s.Grants[found]
}

func (s *State) grantByID(id string) *Grant {
	return s.grant(func(g *Grant) bool { return g.ID == id })
}

// End removes the grant with the ID and reports whether there was one.
func (s *State) End(id string) bool {
	before := len(s.Grants)
	s.Grants = slices.DeleteFunc(s.Grants, func(g Grant) bool { return g.ID == id })

	return len(s.Grants) < before
}

const (
	// MaxClients and MaxGrants bound the file and the time to search it.
	MaxClients = 500
	MaxGrants  = 1000
	maxOfLogin = 100 // grants of one login, of which a new one ends the one refreshed longest ago
	// A client that nobody has allowed anything may be removed after unusedLife, and for a new one after freshLife, in
	// which a person can read the consent page.
	unusedLife = 24 * time.Hour
	freshLife  = time.Hour
	// A client whose grants have ended is known for longer, because programs keep the ID that they got.
	endedLife = 90 * 24 * time.Hour
)

// prune removes what has expired: grants that were not refreshed or whose login is gone, and unused clients.
func (s *State) prune(now time.Time, logins []Login) {
	s.Grants = s.Living(now, logins)

	living := s.granted()
	s.Clients = slices.DeleteFunc(s.Clients, func(c Client) bool {
		if c.Granted.IsZero() {
			return !living[c.ID] && now.After(c.Created.Add(unusedLife))
		}
		return !living[c.ID] && now.After(c.Granted.Add(endedLife))
	})
}

// Living returns the grants that have not expired and whose login exists.
func (s *State) Living(now time.Time, logins []Login) (living []Grant) {
	for _, g := range s.Grants {
		if _, ok := loginOf(logins, g.Login); ok && !now.After(g.Until) {
			living = append(living, g)
		}
	}

	return living
}

// granted returns the IDs of the clients with a grant.
func (s *State) granted() map[string]bool {
	ids := map[string]bool{}
	for _, g := range s.Grants {
		ids[g.ClientID] = true
	}

	return ids
}

// makeRoom removes clients without a grant until another fits, the one used longest ago first. ok is false if
// the list is full of clients that have a grant or may get one soon.
func (s *State) makeRoom(now time.Time) (ok bool) {
	living := s.granted()

	for len(s.Clients) >= MaxClients {
		oldest := -1

		for i, c := range s.Clients {
			if living[c.ID] || now.Before(c.Created.Add(freshLife)) {
				continue
			}
			// Clients that nobody has allowed anything go before those that had a grant.
			if oldest < 0 || c.Granted.Before(s.Clients[oldest].Granted) ||
				c.Granted.Equal(s.Clients[oldest].Granted) && c.Created.Before(s.Clients[oldest].Created) {
				oldest = i
			}
		}
		if oldest < 0 {
			return false
		}
		s.Clients = slices.Delete(s.Clients, oldest, oldest+1)
	}

	return true
}

// addGrant adds a grant. Over a limit it ends the grant of the same login that was refreshed longest ago.
func (s *State) addGrant(g *Grant) error {
	var own []int

	for i := range s.Grants {
		if s.Grants[i].Login.is(g.Login) {
			own = append(own, i)
		}
	}

	if len(own) >= maxOfLogin || len(s.Grants) >= MaxGrants && len(own) > 0 {
		oldest := slices.MinFunc(own, func(a, b int) int { return s.Grants[a].Refreshed.Compare(s.Grants[b].Refreshed) })
		s.Grants = slices.Delete(s.Grants, oldest, oldest+1)
	}
	if len(s.Grants) >= MaxGrants {
		return fmt.Errorf("this node has %d grants; end some with robotmem token grants", MaxGrants)
	}
	s.Grants = append(s.Grants, *g)

	return nil
}
