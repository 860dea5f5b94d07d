package postgres

import (
	"context"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

func TestConnectionsInTheClear(t *testing.T) {
	t.Setenv("PGSSLMODE", "")
	for _, tt := range []struct {
		url, env string
		clear    bool
	}{
		{"postgres://robotmem@127.0.0.1/robotmem", "", true},
		{"postgres://robotmem@localhost/robotmem", "", true},
		{"postgres://robotmem@/robotmem?host=/run/postgresql", "", true},
		{"postgres://robotmem@db1,db2/robotmem", "", false},
		{"postgres://robotmem@10.0.0.7/robotmem", "", false},
		{"postgres://robotmem@127.0.0.1,db2/robotmem", "", true}, // to the first alone
		{"postgres://robotmem@db1/robotmem?sslmode=disable", "", true},
		{"postgres://robotmem@db1/robotmem?sslmode=prefer", "", true},
		{"postgres://robotmem@db1/robotmem?sslmode=verify-full", "", false},
		{"postgres://robotmem@db1/robotmem", "disable", true},
	} {
		t.Setenv("PGSSLMODE", tt.env)
		c, err := pgxpool.ParseConfig(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		requireTLS(&c.ConnConfig.Config, tt.url)
		clear := c.ConnConfig.TLSConfig == nil
		for _, f := range c.ConnConfig.Fallbacks {
			clear = clear || f.TLSConfig == nil
			if f.TLSConfig == nil && f.Host == "db2" {
				t.Errorf("%s: db2 is reached in the clear", tt.url)
			}
		}
		if clear != tt.clear {
			t.Errorf("%s (%s): in the clear %t, want %t", tt.url, tt.env, clear, tt.clear)
		}
	}
}

// A server without TLS is named with what to do.
func TestServerWithoutTLS(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.ReadFull(c, make([]byte, 8)) // SSLRequest
			_, _ = c.Write([]byte("N"))
			_ = c.Close()
		}
	}()
	_, err = Connect(context.Background(), "postgres://robotmem@"+l.Addr().String()+"/robotmem?sslmode=require", slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "sslmode=disable") {
		t.Error(err)
	}
}
