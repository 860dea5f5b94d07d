// Flight-recorder lets two carts drive through a hall with a wet floor. Each is a Foxglove WebSocket
// server, as foxglove_bridge is on a robot, and robotmem is attached to it.
//
// The first drive knows nothing: the cart is too fast for the wet floor, slips and gives up its goal.
// robotmem stores the incident with the minute before it. From the second drive on the cart is warned before
// the place, and slows down. A cart that was never there is warned, too, with the speed that worked. After two
// successes it is quiet for carts that drive so.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/archive/sensors"
	"github.com/robotmem/robotmem-go/robotmem/attach"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

func main() {
	log.SetFlags(0)
	db := flag.String("db", "", "keep the memory in this new file (default: a temporary one)")
	speed := flag.Float64("times", 10, "how many times as fast as the clock the carts drive")
	flag.Parse()
	if err := run(context.Background(), *db, *speed); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, db string, times float64) (err error) {
	if !(times > 0 && times <= 20) {
		return errors.New("-times must be above 0 and at most 20")
	}
	kept := db != ""
	if !kept {
		dir, err := os.MkdirTemp("", "robotmem-flight-recorder-")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		db = filepath.Join(dir, "memory.db")
	} else if _, err := os.Stat(db); err == nil {
		return fmt.Errorf("%s exists already, and the first drive must know nothing; pass a new file", db)
	}

	memory, err := local.Open(ctx, db, local.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()

	drives := []struct {
		cart, says string
		speed      float64
		warned     bool
		arrives    bool
	}{
		{"cart-1", "it knows nothing", fast, false, false},
		{"cart-1", "it was here before", fast, true, true},
		{"cart-2", "it was never here", fast, true, true},
		{"cart-2", "it drives as advised from the start", slow, false, true},
		{"cart-1", "it is fast again", fast, true, true},
	}
	for i, d := range drives {
		fmt.Printf("\nDrive %d, %s: %s.\n", i+1, d.cart, d.says)
		cart := newCart(d.speed, times, time.Date(2026, 3, 2+i, 8, 0, 0, 0, time.UTC))
		report, err := follow(ctx, memory, d.cart, cart)
		if err != nil {
			return err
		}

		fmt.Printf("  %s: %s, %d messages, %d warnings, %d incidents\n", d.cart, cart.result(), report.Messages, report.Warnings, report.Incidents)
		if cart.arrived != d.arrives || (report.Warnings > 0) != d.warned {
			return fmt.Errorf("drive %d: the cart arrived: %v, want %v; %d warnings", i+1, cart.arrived, d.arrives, report.Warnings)
		}
	}

	if kept {
		fmt.Printf("\nLook at it: robotmem web --db %s, then Incidents and Map\n", db)
	}

	return nil
}

// follow attaches the memory to a cart until that has driven.
func follow(ctx context.Context, memory *local.Node, name string, c *cart) (*attach.Report, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}

	web := &http.Server{Handler: c.server, ReadHeaderTimeout: time.Second}
	go func() { _ = web.Serve(listener) }() // ends with Close
	defer func() { _ = errors.Join(c.server.Close(), web.Close()) }()

	driving, arrive := context.WithCancel(ctx)
	defer arrive()

	go func() {
		c.drive(driving)
		arrive()
	}()

	return attach.Run(driving, attach.NewFoxglove("ws://"+listener.Addr().String(), attach.FoxgloveOptions{}), attach.Options{
		Node: memory, Sink: &sensors.Sink{Node: memory}, Robot: name, MapID: "hall",
		OnWarning:  func(w attach.Warning) { fmt.Printf("  %s  WARNING  %s\n", w.Time.Format("15:04:05"), w.Text) },
		OnIncident: func(i attach.Incident) { fmt.Printf("  %s  INCIDENT %s\n", i.Time.Format("15:04:05"), i.Text) },
	})
}
