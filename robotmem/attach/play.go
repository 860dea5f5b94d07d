package attach

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/perception/importers/recording"
	"github.com/robotmem/robotmem-go/perception/importers/timeline"
	"github.com/robotmem/robotmem-go/robotmem/attach/foxglove"
)

// PlayOptions choose how a recording is played. The zero value plays it once, at its own speed, as soon as a
// client subscribes.
type PlayOptions struct {
	Name   string
	Speed  float64 // 1 is that of the recording; 0 is 1
	Loop   bool    // begin again at the end
	Paused bool    // wait for a client that says play
	Log    *slog.Logger
}

// Player plays a recording on a Foxglove WebSocket server, so that Foxglove and Lichtblick show it. Clients
// that know playback control can pause, seek and change the speed.
type Player struct {
	timeline *timeline.Timeline
	server   *foxglove.Server
	ids      map[*recording.Channel]uint64
	o        PlayOptions
	start    uint64
	end      uint64

	mu      sync.Mutex
	playing bool
	ended   bool
	speed   float64
	at      uint64 // log time
	seek    bool   // at has jumped
	changed chan struct{}
	waits   bool // for the first client
}

// NewPlayer returns a player of a file. Server is its HTTP handler.
func NewPlayer(recorded *timeline.Timeline, o PlayOptions) (*Player, error) {
	start, end, messages := recorded.Span()
	if messages == 0 {
		return nil, errors.New("there are no messages to play")
	}
	if o.Speed == 0 {
		o.Speed = 1
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	p := &Player{
		timeline: recorded, o: o, start: start, end: end, ids: map[*recording.Channel]uint64{}, speed: o.Speed,
		at: start, changed: make(chan struct{}, 1), waits: !o.Paused,
	}
	p.server = foxglove.NewServer(foxglove.ServerOptions{
		Name: o.Name, SessionID: fmt.Sprint(time.Now().UnixNano()), Playback: &foxglove.Range{Start: start, End: end},
		Capabilities: []foxglove.Capability{foxglove.CapabilityTime}, Latch: true,
		Handler: foxglove.ServerHandler{Playback: p.control, Subscribed: p.subscribed},
	})

	var channels []*foxglove.Channel

	for i, c := range recorded.Channels() {
		p.ids[c] = uint64(i + 1)
		channels = append(channels, &foxglove.Channel{Channel: *c, ID: uint64(i + 1)})
	}

	return p, p.server.Advertise(channels...)
}

// Server is what clients connect to.
func (p *Player) Server() *foxglove.Server { return p.server }

// subscribed begins to play when the first client listens.
func (p *Player) subscribed(foxglove.ClientID, *foxglove.Channel) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waits {
		p.waits, p.playing = false, true
		p.wake()
	}
}

// wake has Run look at the state. The lock is held.
func (p *Player) wake() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// control does what a client wants.
func (p *Player) control(r *foxglove.PlaybackRequest) *foxglove.PlaybackState {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.waits = false
	p.playing = r.Command == foxglove.Play
	if r.Speed > 0 && r.Speed <= 1000 {
		p.speed = float64(r.Speed)
	}
	if r.SeekTime != nil {
		p.at, p.seek, p.ended = min(max(*r.SeekTime, p.start), p.end), true, false
	} else if p.playing && p.ended {
		p.at, p.seek, p.ended = p.start, true, false
	}
	p.wake()

	state := p.state()
	state.RequestID, state.DidSeek = r.ID, r.SeekTime != nil

	return state
}

// state is what clients are told. The lock is held.
func (p *Player) state() *foxglove.PlaybackState {
	status := foxglove.Paused

	switch {
	case p.ended:
		status = foxglove.Ended
	case p.playing:
		status = foxglove.Playing
	}

	return &foxglove.PlaybackState{Status: status, Time: p.at, Speed: float32(p.speed)}
}

// Run plays until ctx ends.
func (p *Player) Run(ctx context.Context) error {
	for {
		p.mu.Lock()
		playing := p.playing && !p.ended
		p.mu.Unlock()

		if !playing {
			select {
			case <-ctx.Done():
				return nil
			case <-p.changed:
			}
			continue
		}

		if err := p.pass(ctx); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

// timeEvery is how often clients are told the time while no message is due.
const timeEvery = 50 * time.Millisecond

// pass plays from the present time, until the end or until something changes.
func (p *Player) pass(ctx context.Context) error {
	p.mu.Lock()
	from := p.at
	p.seek = false
	p.mu.Unlock()

	clock := &pace{began: time.Now(), from: from, speed: p.currentSpeed()}

	for m, err := range p.timeline.From(ctx, from) {
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("playing: %w", err)
		}
		if !p.await(ctx, clock, m.LogTime) {
			return nil
		}
		if err := p.server.Publish(p.ids[m.Channel], m.LogTime, m.Data); err != nil {
			p.o.Log.Warn("a message was not played", "topic", m.Topic, "err", err)
		}
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seek {
		return nil
	}
	if p.at = p.end; p.o.Loop {
		p.at = p.start
		return nil
	}
	p.ended = true

	return p.server.PublishPlayback(p.state())
}

func (p *Player) currentSpeed() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.speed
}

// pace says when a log time is due.
type pace struct {
	began time.Time
	from  uint64
	speed float64
}

func (c *pace) due(logTime uint64) time.Time {
	return c.began.Add(time.Duration(float64(logTime-min(logTime, c.from)) / c.speed))
}

func (c *pace) now() uint64 { return c.from + uint64(float64(time.Since(c.began))*c.speed) }

// await waits until a message is due, and tells clients the time meanwhile. It returns false if another
// time is to be played, or none.
func (p *Player) await(ctx context.Context, clock *pace, logTime uint64) bool {
	for {
		p.mu.Lock()
		if p.seek || !p.playing {
			p.mu.Unlock()
			return false
		}
		wait := time.Until(clock.due(logTime))
		p.at = min(logTime, clock.now())
		if p.speed != clock.speed {
			clock.from, clock.began, clock.speed = p.at, time.Now(), p.speed
			wait = time.Until(clock.due(logTime))
		}
		at := p.at
		p.mu.Unlock()

		if wait <= 0 {
			return true
		}
		if err := p.server.PublishTime(at); err != nil {
			p.o.Log.Debug("the time was not told", "err", err)
		}

		select {
		case <-ctx.Done():
			return false
		case <-p.changed:
		case <-time.After(min(wait, timeEvery)):
		}
	}
}
