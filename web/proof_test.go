package web_test

import (
	"crypto/hmac"
	"encoding/hex"
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/web"
)

func TestANodeProvesItsSecret(t *testing.T) {
	secret := []byte(strings.Repeat("s", 32))
	known := &list{}
	known.add("arm-7", false)
	start := func(secret []byte) string {
		srv := httptest.NewServer(web.NewServer(&stub{}, web.Options{Tokens: known.tokens, Secret: secret}).Handler)
		t.Cleanup(srv.Close)
		return srv.URL
	}
	node, other := start(secret), start([]byte(strings.Repeat("x", 32)))
	nonce := strings.Repeat("0a", 16)
	proof := func(at string) []byte {
		t.Helper()
		res, body := askBody(t, "GET", at+"/api/proof?nonce="+nonce, "") // without a token
		var got struct{ Proof string }
		if err := json.Unmarshal([]byte(body), &got); err != nil || res.StatusCode != 200 {
			t.Fatalf("%s %s", res.Status, body)
		}
		sum, _ := hex.DecodeString(got.Proof)
		return sum
	}
	at, _ := url.Parse(node)
	if want := web.Proof(secret, nonce, at.Host); !hmac.Equal(proof(node), want) {
		t.Error("the node does not prove its secret")
	} else if hmac.Equal(proof(other), want) {
		t.Error("another secret proves the same")
	}
	// A program that passes the question on to the node gets the proof of another address.
	there, _ := url.Parse(start(secret))
	if hmac.Equal(web.Proof(secret, nonce, there.Host), proof(node)) {
		t.Error("the proof is of any address")
	}
	for _, nonce := range []string{"", "zz", strings.Repeat("0", 31), strings.Repeat("0a", 65)} {
		if res, _ := askBody(t, "GET", node+"/api/proof?nonce="+nonce, ""); res.StatusCode != 400 {
			t.Errorf("nonce %q: %s", nonce, res.Status)
		}
	}
	if res, _ := askBody(t, "GET", start(nil)+"/api/proof?nonce="+nonce, ""); res.StatusCode == 200 {
		t.Errorf("without a secret: %s", res.Status)
	}
}
