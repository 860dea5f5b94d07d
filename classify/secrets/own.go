package secrets

import (
	"regexp"
	"slices"
)

// ours are rules for passwords in addresses, in arguments of programs and in sentences, which have no form of their own.
var ours = []*rule{
	{
		id: "password-in-url", about: "A password in an address.",
		pattern:  `\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s:/@'"]{0,64}:([^\s@/'"]{3,128})@[^\s@]`,
		keywords: []string{"://"},
	},
	{
		id: "password-argument", about: "A password among the arguments of a program.",
		pattern:  `(?i)(?:\bsshpass\s+-p\s*|\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;&]{0,120}?\s-p|\bdocker\s+login\b[^\n|;&]{0,120}?\s(?:-p|--password)[= ]|\s--(?:password|passwd|passphrase)[= ])["']?([^\s"'|;&$-][^\s"'|;&]{2,127})`,
		keywords: []string{"sshpass", "mysql", "mariadb", "docker", "--pass"},
	},
	{
		id: "bearer-token", about: "A token in a header.",
		pattern:  `(?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/-]{12,}=*)`,
		keywords: []string{"bearer", "basic"}, entropy: 2.5,
	},
	{
		id: "password", about: "The value of a password.",
		pattern: `(?i)(?:\b|_)(?:password|passwd|passphrase|passwort|kennwort|pwd)["']?\s*(?:[:=]|=>|\bis\b|\bist\b|\bwas\b|\bwar\b)\s*["']?([^\s"',;<>{}()\[\]$]{5,128})` +
			`|(?:密码|口令)\s*(?:[:：=]|是|为)\s*([^\s"'，。；]{5,128})`,
		keywords: []string{"passw", "passphrase", "kennwort", "pwd", "密码", "口令"},
	},
}

// spoken matches words and paths, which stand behind "password is" more often than passwords do: a password that is
// found this way has a digit, or signs, or capitals in its midst.
var spoken = regexp.MustCompile(`^(?:[A-Z]?[a-z]+[.!?]?|[A-Z]+[.!?]?|/.*|~.*|\*+|x+|X+|<.*|%.*)$`)

// every rule, those of gitleaks first: they name what they find more exactly.
var every = slices.Concat(rules, ours)
