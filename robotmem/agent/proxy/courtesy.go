package proxy

import (
	"regexp"
	"strings"
)

// What people put around a question. No memory has these words, so that they would make one that answers look unfit.
var (
	before = regexp.MustCompile(`(?i)^(?:(?:hi|hello|hey|good (?:morning|afternoon|evening))\b(?: there| again)?[\s,.!]+|` +
		`(?:please,? )?(?:can|could|would|will) you (?:please )?(?:tell|show|remind) me (?:please )?|` +
		`(?:please,? )?(?:tell|show|remind) me (?:please )?|(?:你好|您好)[，,。！!\s]*|请问[，,\s]*)`)
	after = regexp.MustCompile(`(?i)[\s,.!?，。！？]*(?:\b(?:please|thanks(?: a lot)?|thank you(?: very much| so much)?)|谢谢(?:你|您)?)[\s,.!?。！？]*$`)
)

// asked is a message without its courtesies, "" if nothing else is in it.
func asked(text string) string {
	rest := strings.TrimSpace(text)

	for changed := true; changed; {
		shorter := after.ReplaceAllString(before.ReplaceAllString(rest, ""), "")
		changed, rest = shorter != rest, shorter
	}

	return rest
}
