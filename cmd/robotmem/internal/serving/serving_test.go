package serving

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// web speaks TLS 1.2 and later.
func TestOldTLSIsRefused(t *testing.T) {
	pair := httptest.NewUnstartedServer(nil)
	pair.StartTLS() // makes a certificate
	defer pair.Close()
	key, err := x509.MarshalPKCS8PrivateKey(pair.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config, err := TLS(write("cert.pem", "CERTIFICATE", pair.Certificate().Raw), write("key.pem", "PRIVATE KEY", key))
	if err != nil {
		t.Fatal(err)
	}
	node := httptest.NewUnstartedServer(http.NotFoundHandler())
	node.TLS = config
	node.StartTLS()
	defer node.Close()
	roots := x509.NewCertPool()
	roots.AddCert(pair.Certificate())
	for version, spoken := range map[uint16]bool{tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		c, err := tls.Dial("tcp", node.Listener.Addr().String(), &tls.Config{RootCAs: roots, ServerName: "example.com", MinVersion: version, MaxVersion: version})
		if (err == nil) != spoken {
			t.Errorf("%s: %v", tls.VersionName(version), err)
		}
		if err == nil {
			_ = c.Close()
		}
	}
}
