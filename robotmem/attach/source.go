package attach

import (
	"context"

	"github.com/robotmem/robotmem-go/perception/segment"
)

// Source is a connection to a robot.
type Source interface {
	// Name says where the messages come from, such as ws://robot:8765.
	Name() string
	// Run connects and hands on what the robot sends, until the connection ends or ctx does. It returns
	// why the connection ended.
	Run(ctx context.Context, to Receiver) error
	// Publish sends a message in JSON to a topic of the robot. It fails with [ErrNoPublish] if the robot takes none.
	Publish(ctx context.Context, topic, schema string, message []byte) error
}

// Receiver gets what a source sends. Calls return soon, those of Message come in the order of the robot, and none
// come after Run has returned.
type Receiver interface {
	// Connected is called when the connection stands, with the properties of the robot that are known.
	Connected(properties map[string]string)
	// Wants reports whether the messages of a channel are of use.
	Wants(c *segment.Channel) bool
	// Message gets a message, whose data belongs to the receiver. The channel is the same pointer for all
	// messages of a channel of this connection.
	Message(c *segment.Channel, logTime uint64, data []byte)
	// Parameter gets the value of a parameter: a number, a truth value, a text, or a list.
	Parameter(name string, value any)
	// Problem counts something that the source could not use, by its reason.
	Problem(reason string, n uint64)
}
