package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// lines are the messages of a log, without their times.
func lines(log *bytes.Buffer) (out []string) {
	for line := range strings.Lines(log.String()) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), "level=")
		out = append(out, line)
	}
	return out
}

func TestAChangeOfTheServerIsOneLine(t *testing.T) {
	refused := &pgconn.ConnectError{}
	standby := &pgconn.PgError{Code: readOnly}
	full := &pgconn.PgError{Code: "53300", Message: "too many"}
	password := &pgconn.PgError{Code: "28P01", Message: "wrong"}

	// A step is an error of a connection, or a wait in seconds after which the server answers.
	answers := time.Duration(0)
	for name, c := range map[string]struct {
		steps []any
		want  []string
	}{
		"all is well":      {[]any{answers, time.Hour, answers}, nil},
		"away and back":    {[]any{refused, refused, 45 * time.Second, refused, answers, answers, time.Minute}, []string{"ERROR " + problemAway, "WARN the database answers again after=45s"}},
		"not yet back":     {[]any{refused, 2 * time.Second, time.Second}, []string{"ERROR " + problemAway}},
		"now and then":     {[]any{refused, answers, time.Second, refused, answers, time.Second, refused, answers, time.Second, refused}, []string{"ERROR " + problemAway}},
		"a failover":       {[]any{refused, time.Second, standby, standby, 5 * time.Second, time.Minute}, []string{"ERROR " + problemAway, "ERROR " + problemReadOnly, "WARN the database answers again after=6s"}},
		"connections":      {[]any{full, full}, []string{"ERROR " + problemFull}},
		"a wrong password": {[]any{password, password}, []string{"ERROR " + problemRefuses}},
		"twice":            {[]any{refused, answers, time.Minute, refused, answers, time.Minute}, []string{"ERROR " + problemAway, "WARN the database answers again after=0s", "ERROR " + problemAway, "WARN the database answers again after=0s"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := &bytes.Buffer{}
				h := &health{log: slog.New(slog.NewTextHandler(log, nil))}
				h.TraceConnectEnd(t.Context(), pgx.TraceConnectEndData{Err: refused}) // told to who connects
				h.watch()
				for _, step := range c.steps {
					switch step := step.(type) {
					case error:
						h.TraceConnectEnd(t.Context(), pgx.TraceConnectEndData{Err: step})
						h.TraceAcquireEnd(t.Context(), nil, pgxpool.TraceAcquireEndData{Err: step})
					case time.Duration:
						time.Sleep(step)
						synctest.Wait()
						h.TraceAcquireEnd(t.Context(), nil, pgxpool.TraceAcquireEndData{})
					}
				}

				got := lines(log)
				for i, line := range got {
					level, text, _ := strings.Cut(line, " msg=")
					text, _, _ = strings.Cut(text, " err=")
					got[i] = level + " " + strings.ReplaceAll(text, `"`, "")
				}
				if fmt.Sprint(got) != fmt.Sprint(c.want) {
					t.Errorf("got %q, want %q", got, c.want)
				}
				h.close()
			})
		})
	}
}

// A caller that gives up tells nothing of the server.
func TestACancelledCallerIsNoProblem(t *testing.T) {
	log := &bytes.Buffer{}
	h := &health{log: slog.New(slog.NewTextHandler(log, nil)), watched: true}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h.TraceConnectEnd(ctx, pgx.TraceConnectEndData{Err: &pgconn.ConnectError{}})
	if log.Len() > 0 {
		t.Error(log)
	}
}

func TestLinesOfAKnownProblemAreForDebugging(t *testing.T) {
	gone := Explain(&pgconn.PgError{Code: "57P01"})
	full := Explain(&pgconn.PgError{Code: "53100"})
	elsewhere := robotmem.Errorf(robotmem.Unavailable, "", "the embedder is away")
	for name, c := range map[string]struct {
		err               error
		whenAway, whenFit bool // it is logged
	}{
		"a lost connection":            {gone, false, false},
		"wrapped":                      {fmt.Errorf("loading: %w", errors.Join(errors.New("x"), gone)), false, false},
		"a full disk of the server":    {full, false, true},
		"an undecided commit":          {errUndecided, false, true},
		"its cause":                    {store.ErrUndecided, false, true},
		"a deadline":                   {context.DeadlineExceeded, false, true},
		"another service":              {elsewhere, true, true},
		"a connection of another one":  {fmt.Errorf("embedder: %w", &pgconn.ConnectError{}), true, true},
		"a bug":                        {Explain(&pgconn.PgError{Code: "42601"}), true, true},
		"what is no error of a server": {errors.New("odd"), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, away := range []bool{false, true} {
				for _, level := range []slog.Level{slog.LevelWarn, slog.LevelDebug} {
					log := &bytes.Buffer{}
					s := &Server{health: &health{}}
					if away {
						s.health.problem = problemAway
					}
					s.Quiet(slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: level}))).With("tenant", 1).Warn("a step failed", "err", c.err)

					want := c.whenFit
					if away {
						want = c.whenAway
					}
					got := lines(log)
					switch {
					case level == slog.LevelDebug && (len(got) != 1 || strings.HasPrefix(got[0], "WARN") != want):
						t.Errorf("away %v, for debugging: %q", away, got)
					case level == slog.LevelWarn && (len(got) == 1) != want:
						t.Errorf("away %v: %q", away, got)
					}
				}
			}
		})
	}
}
