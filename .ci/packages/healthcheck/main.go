// Command healthcheck says whether the node of its container is ready: it ends with 0 if /readyz answers 200.
// The image has no shell and no curl.
package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	if err := check(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func check() error {
	_, port, err := net.SplitHostPort(cmp.Or(os.Getenv("ROBOTMEM_ADDR"), "127.0.0.1:7878"))
	if err != nil {
		return fmt.Errorf("ROBOTMEM_ADDR: %w", err)
	}
	scheme := "http"
	if os.Getenv("ROBOTMEM_TLS_CERT") != "" {
		scheme = "https"
	}

	client := &http.Client{
		Timeout: 4 * time.Second,
		// Within the container, where its certificate names another host.
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
	}
	address := scheme + "://" + net.JoinHostPort("127.0.0.1", port) + "/readyz"
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}

	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()

	if res.StatusCode != http.StatusOK {
		reason, _ := io.ReadAll(io.LimitReader(res.Body, 1000))
		return fmt.Errorf("%s: %s", res.Status, reason)
	}

	return nil
}
