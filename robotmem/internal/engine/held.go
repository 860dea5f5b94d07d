package engine

// Held is embedded, under a name that is not exported, in the nodes that users of the module see. They
// show no internal type, and the packages of the module take the engine out of them.
type Held struct{ engine *Engine }

// Holder is a node with an engine in it.
type Holder interface{ held() *Held }

func (h *Held) held() *Held { return h }

// Hold puts an engine into a node, and returns the node.
func Hold[Node Holder](n Node, e *Engine) Node {
	n.held().engine = e
	return n
}

// Of returns the engine of a node.
func Of(n Holder) *Engine { return n.held().engine }
