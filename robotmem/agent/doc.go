// Package agent remembers for coding agents, which would otherwise have to remember to remember. The hooks of a client
// such as Claude Code tell it what happens ([Read]); [Hooks] answers with what the memory knows, keeps a journal of what was
// done, and stores the lessons of each turn.
//
//	client -> stdin of "robotmem hook" -> Read -> Hooks.Handle -> Answer -> stdout -> client
//	                                               |    ^
//	                                       journal v    | recall, start_session
//	                                       lessons, work -> learn, save_perception, end_session
//
// A hook never stops the client: what cannot be understood or stored is logged, and the answer is empty. The journal, a
// file for each conversation, is written before anything else, so that a client that is killed loses nothing: what
// is not stored yet is stored by a later hook.
package agent
