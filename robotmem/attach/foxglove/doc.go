// Package foxglove is the Foxglove WebSocket protocol: a [Client], which reads the topics of a live robot
// from foxglove_bridge or any program with the SDK of Foxglove, and a [Server], which shows messages in
// Foxglove or Lichtblick.
//
// A server advertises channels: topics with the format of their messages. A client subscribes to some of
// them, and receives their messages with the times at which the server had them. With the capabilities of
// a server, clients also publish, read and set parameters, and control the playback of recorded data.
//
// A client that prints what a robot says:
//
//	client, err := foxglove.Dial(ctx, "ws://robot:8765", foxglove.Options{
//		Subscribe: func(c *foxglove.Channel) bool { return c.Topic == "/rosout" },
//		Handler: foxglove.Handler{
//			Message: func(c *foxglove.Channel, logTime uint64, data []byte) {
//				fmt.Println(c.Topic, c.SchemaName, logTime, len(data))
//			},
//		},
//	})
//	if err != nil {
//		return err
//	}
//
//	return client.Run(ctx)
//
// A server that has one channel:
//
//	server := foxglove.NewServer(foxglove.ServerOptions{Name: "robotmem"})
//	defer server.Close()
//	go http.ListenAndServe("127.0.0.1:8765", server)
//	err := server.Advertise(&foxglove.Channel{ID: 1, Channel: segment.Channel{Topic: "/text", MessageEncoding: "json"}})
//	…
//	err = server.Publish(1, uint64(time.Now().UnixNano()), []byte(`{"text":"hello"}`))
//
// The protocol is specified at https://github.com/foxglove/ws-protocol/blob/main/docs/spec.md. The SDK calls
// it foxglove.sdk.v1, and has added the control of playback. Its messages are otherwise those of
// foxglove.websocket.v1, and both sides here speak either.
//
// # Malformed messages
//
// What the other side sends is not trusted. A message that makes no sense is counted by its [Reason], and the
// connection goes on; bytes that are no WebSocket frames end it. A peer may have 20,000 channels whose
// definitions take 64 MiB. Messages over the limit of the options are read past.
//
// # Caveats
//
// A client does not connect again, and what it asked for ends with its connection.
//
// Servers drop messages for clients that read too slowly, and do not say so: a handler has to return at
// once.
//
// The last messages of a channel may come after its end: the SDK sends both as it likes.
//
// Services, assets and the graph of connections are not supported. The protocol compresses nothing.
//
// A server asks for no password. The origins of web pages are checked, which keeps pages that a person visits
// from connecting. It does not keep out other programs that reach the port.
package foxglove
