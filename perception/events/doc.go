// Package events turns the messages of a robot into what happened: facts, the outcomes of goals and the
// episodes that these goals are. The rules are data: events.yaml, and files of the same format that
// extend it.
//
// # Nouns
//
//   - A [Rule] names topics and types of messages, a condition on their fields, and what they mean.
//   - A [Machine] applies the rules to the messages of one source and keeps the state that they need:
//     which condition holds, which goals are active, which parameters are set.
//   - An [Event] is what a rule found in one message.
//   - A [Journal] counts events together: ten thousand equal warnings at one place are one [Fact] with a
//     count, and the first and the last time.
//
// # Memory
//
// What a machine and a journal keep is bounded. A rule that finds too many different things is limited,
// and [Journal.Limited] names it.
package events
