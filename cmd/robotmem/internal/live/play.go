package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/robotmem/robotmem-go/perception/importers/timeline"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/attach"
)

// PlayFlags are those of the command play.
type PlayFlags struct {
	Host   string  `name:"host" default:"127.0.0.1" help:"Address to listen on. On another than a loopback address everybody in the network sees what is played."`
	Port   int     `name:"port" default:"8765" help:"Port to listen on, 0 for a free one."`
	Speed  float64 `name:"speed" default:"1" help:"Times as fast as the recording."`
	Loop   bool    `name:"loop" help:"Begin again at the end."`
	Paused bool    `name:"paused" help:"Wait until a client says play."`
}

// Play serves a recording until ctx ends. It says through started where it listens.
func (f *PlayFlags) Play(ctx context.Context, path, name string, log *slog.Logger, started func(address string)) error {
	if !(f.Speed > 0 && f.Speed <= 1000) {
		return robotmem.Errorf(robotmem.Invalid, "speed", "is %g; give more than 0, at most 1000", f.Speed)
	}

	recorded, err := timeline.Open(path)
	if err != nil {
		return robotmem.Errorf(robotmem.Invalid, "recording", "%v", err)
	}
	defer func() { _ = recorded.Close() }() // it was only read

	player, err := attach.NewPlayer(recorded, attach.PlayOptions{
		Name: name, Speed: f.Speed, Loop: f.Loop, Paused: f.Paused, Log: log,
	})
	if err != nil {
		return robotmem.Errorf(robotmem.Invalid, "recording", "%v", err)
	}

	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(f.Host, fmt.Sprint(f.Port)))
	if err != nil {
		return robotmem.Errorf(robotmem.Unavailable, "port", "%v; choose another with --port", err)
	}
	web := &http.Server{Handler: player.Server(), ReadHeaderTimeout: 10 * time.Second}

	serving := make(chan error, 1)
	go func() { serving <- web.Serve(listener) }()
	started("ws://" + listener.Addr().String())

	err = player.Run(ctx)
	err = errors.Join(err, player.Server().Close(), web.Close())
	if served := <-serving; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}

	return err
}
