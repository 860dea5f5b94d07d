package message_test

import (
	"encoding/binary"
	"fmt"

	"github.com/robotmem/robotmem-go/perception/importers/message"
)

func Example() {
	schema, err := message.Parse("demo_msgs/msg/Force", "ros2msg", []byte("float64 x\nfloat64 z\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	data := []byte{0, 1, 0, 0} // CDR, little-endian
	data, _ = binary.Append(data, binary.LittleEndian, []float64{0.5, -62})
	v, err := schema.Decode(data)
	fmt.Println(v.At("z").Float, err)
	// Output: -62 <nil>
}
