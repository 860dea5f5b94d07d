package foxglove

import (
	"github.com/coder/websocket"
	"github.com/go-json-experiment/json/jsontext"
)

// receiveText does what a client asks for in a text message.
func (p *peer) receiveText(text []byte) {
	op, err := opOf(text)
	if err != nil {
		p.refuse(BadJSON, "%v", err)
		return
	}

	switch op {
	case "subscribe", "unsubscribe", "advertise", "unadvertise":
		var m struct {
			Subscriptions   jsontext.Value `json:"subscriptions"`
			SubscriptionIDs jsontext.Value `json:"subscriptionIds"`
			Channels        jsontext.Value `json:"channels"`
			ChannelIDs      jsontext.Value `json:"channelIds"`
		}
		if err := unmarshal(text, &m); err != nil {
			p.refuse(BadJSON, "%s: %v", op, err)
			return
		}

		switch op {
		case "subscribe":
			p.subscribe(m.Subscriptions)
		case "unsubscribe":
			p.unsubscribe(m.SubscriptionIDs)
		case "advertise":
			p.advertise(m.Channels)
		default:
			p.unadvertise(m.ChannelIDs)
		}

	case "getParameters", "subscribeParameterUpdates", "unsubscribeParameterUpdates":
		var m parameterNames
		if err := unmarshal(text, &m); err != nil {
			p.refuse(BadJSON, "%s: %v", op, err)
			return
		}
		p.nameParameters(&m)

	case "setParameters":
		var m parameterValues
		if err := unmarshal(text, &m); err != nil {
			p.refuse(BadJSON, "%s: %v", op, err)
			return
		}
		p.setParameters(&m)

	case "subscribeConnectionGraph", "unsubscribeConnectionGraph", "fetchAsset":
		p.refuse(NotSupported, "the server does not support %s", op)

	default:
		p.refuse(UnknownOp, "a message %.80q", op)
	}
}

func (p *peer) subscribe(list jsontext.Value) {
	s := p.server

	var begun []*Channel
	err := eachElement(list, func(v jsontext.Value) bool {
		var w subscription
		if err := unmarshal(v, &w); err != nil || w.ID == nil || w.Channel == nil {
			p.refuse(BadSubscription, "a subscription needs an id and a channelId")
			return true
		}

		s.mu.Lock()
		defer s.mu.Unlock()
		c := s.channels[*w.Channel]
		if c == nil {
			// The channel may have ended while the client asked.
			p.refuse(UnknownChannel, "there is no channel %d", *w.Channel)
			return true
		}
		_, again := c.subscribers[p]
		_, used := p.subscriptions[*w.ID]
		if again || used {
			p.refuse(BadSubscription, "the client has subscribed to channel %d already, or uses the id %d", *w.Channel, *w.ID)
			return true
		}

		c.subscribers[p] = *w.ID
		p.subscriptions[*w.ID] = *w.Channel
		begun = append(begun, c.Channel)
		if c.last != nil {
			p.queue.addData(message{*w.ID, c.last.logTime, c.last.data}.encode())
		}

		return true
	})
	if err != nil {
		p.refuse(BadJSON, "the subscriptions: %v", err)
	}
	if call := s.options.Handler.Subscribed; call != nil {
		for _, c := range begun {
			call(p.id, c)
		}
	}
}

func (p *peer) unsubscribe(list jsontext.Value) {
	s := p.server

	var ended []subscriber
	err := eachElement(list, func(v jsontext.Value) bool {
		var id uint32
		if err := unmarshal(v, &id); err != nil {
			p.refuse(BadSubscription, "the id of a subscription: %v", err)
			return true
		}

		s.mu.Lock()
		defer s.mu.Unlock()
		channel, ok := p.subscriptions[id]
		if !ok {
			// Clients end the subscriptions of channels that have ended, which are gone already.
			return true
		}
		c := s.channels[channel]
		delete(p.subscriptions, id)
		delete(c.subscribers, p)
		ended = append(ended, subscriber{p.id, c.Channel})

		return true
	})
	if err != nil {
		p.refuse(BadJSON, "the ids of subscriptions: %v", err)
	}
	s.callUnsubscribed(ended)
}

func (p *peer) advertise(list jsontext.Value) {
	if !p.require(CapabilityClientPublish) {
		return
	}

	replaced, added := p.published.add(list, &p.server.problems)

	h := &p.server.options.Handler
	for _, c := range replaced {
		if h.Unadvertised != nil {
			h.Unadvertised(p.id, c)
		}
	}

	for _, c := range added {
		if h.Advertised != nil {
			h.Advertised(p.id, c)
		}
	}
}

func (p *peer) unadvertise(list jsontext.Value) {
	if !p.require(CapabilityClientPublish) {
		return
	}

	for _, c := range p.published.removeAll(list, &p.server.problems) {
		if call := p.server.options.Handler.Unadvertised; call != nil {
			call(p.id, c)
		}
	}
}

func (p *peer) nameParameters(m *parameterNames) {
	if m.Op == "getParameters" {
		if !p.require(CapabilityParameters) {
			return
		}

		var found []Parameter
		if call := p.server.options.Handler.GetParameters; call != nil {
			found = call(m.Names)
		}
		p.sendParameters(found, m.ID)

		return
	}
	if !p.require(CapabilityParametersSubscribe) {
		return
	}

	s := p.server
	s.mu.Lock()
	defer s.mu.Unlock()
	subscribe := m.Op == "subscribeParameterUpdates"
	if len(m.Names) == 0 {
		p.allParameters = subscribe
		clear(p.parameters)
	}

	for _, name := range m.Names {
		if !subscribe {
			delete(p.parameters, name)
		} else if len(p.parameters) < maxParameters {
			p.parameters[name] = true
		} else {
			p.refuse(BadParameter, "the parameter %.80q is after the first %d", name, maxParameters)
		}
	}
}

func (p *peer) setParameters(m *parameterValues) {
	if !p.require(CapabilityParameters) {
		return
	}
	call := p.server.options.Handler.SetParameters
	if call == nil {
		p.refuse(NotSupported, "the parameters cannot be set")
		return
	}

	now := call(decodeParameters(m.Parameters, &p.server.problems))
	if m.ID != "" {
		p.sendParameters(now, m.ID)
	}
	if err := p.server.PublishParameters(now); err != nil {
		p.refuse(BadParameter, "%v", err)
	}
}

func (p *peer) sendParameters(parameters []Parameter, id string) {
	text, err := encodeParameters("parameterValues", parameters, id)
	if err != nil {
		p.refuse(BadParameter, "%v", err)
		return
	}
	p.send(websocket.MessageText, text)
}
