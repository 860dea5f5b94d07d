package secrets

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The tokens are put together here, so that no scanner of this repository takes them for real ones.
var (
	github = "ghp_" + "x7Qd29LmVbKpRt5WzYcNfHs83JgTaE4uDqXo"
	aws    = "AKIA" + "Z7QX4MNB2VTRPLKD"
	word   = "Vt7k" + "Qz92mXw4"
	slack  = "xoxb-" + "123456789012-1234567890123-" + "AbCdEfGhIjKlMnOpQrStUvWx"
	pem    = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq1Zr0Qk3mYw8nX2vLpTfHsGdJeRcUaNbKiWoVyMxPz\nQh5tSgFjDkLwEnBrCuAiOpYvXmZq" +
		strings.Repeat("Ab3dE9fG7h", 12) + "\n-----END RSA PRIVATE KEY-----"
)

func TestSecretsAreFound(t *testing.T) {
	for name, tt := range map[string]struct{ text, rule string }{
		"a token of GitHub": {"push with " + github + " to the fork", "github-pat"},
		"a key of AWS":      {"export AWS_ACCESS_KEY_ID=" + aws, "aws-access-token"},
		"a token of Slack":  {"the bot says hello with " + slack, "slack-bot-token"},
		"a private key":     {"the key of arm 7 is\n" + pem, "private-key"},
		"over two lines":    {"push with " + github[:20] + "\\\n   " + github[20:] + " to the fork", "github-pat"},
		"in an address":     {`"db":"postgres://dash:` + word + `@db.internal/fleet"`, "password-in-url"},
		"of curl":           {"curl https://u:" + word + "@host/x", "password-in-url"},
		"of mysql":          {"mysql -u root -p" + word + " fleet", "password-argument"},
		"of sshpass":        {"sshpass -p " + word + " ssh arm7", "password-argument"},
		"of docker":         {"docker login -u ada -p " + word + " registry", "password-argument"},
		"in a header":       {`echo "Authorization: Bearer ` + word + `Ab3dE9"`, "bearer-token"},
		"in a file":         {"user: ada\npassword: " + word, "password"},
		"in JSON":           {`{"password":"` + word + `"}`, "password"},
		"in a sentence":     {"the db password is " + word, "password"},
		"in Chinese":        {"数据库密码是 " + word, "password"},
		"a value of a key":  {`api_key = "` + "q8Zt4Lm2Xw9Rb6Nc3Vd7" + `"`, "generic-api-key"},
	} {
		t.Run(name, func(t *testing.T) {
			found := Find(tt.text)
			if len(found) != 1 || found[0].Rule != tt.rule || found[0].About == "" {
				t.Fatalf("%q: %+v", tt.text, found)
			}
			masked, _ := Mask(tt.text)
			if !strings.Contains(masked, "[secret: "+tt.rule+"]") || strings.Contains(masked, github[20:]) || strings.Contains(masked, word) || Find(masked) != nil {
				t.Errorf("masked is %q", masked)
			}
		})
	}
}

func TestWhatRobotsWriteIsNoSecret(t *testing.T) {
	for _, text := range []string{
		"grip_force=12.5 N holds wet glass", "token=12.5", "key frame 0.25, 1.75, 3.5 s", "joint_key: 1.5707963267948966",
		"api_key_position=[1.25, 3.5, 0.75]", "session token 018f0000-0000-7000-8000-000000000000 of the arm",
		"secret_sha256=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"the auth topic is /robot/arm7/auth_status", "password of the door: ask the guard", "token: ${GITHUB_TOKEN}",
		"the access key of rack 4 turns left at 3 Nm", "commit 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12 broke the key map",
		"the password is required at boot", "password: ask the guard", "the password was wrong", "password is in /etc/robot/secrets",
		"mysql -p fleet", "docker run -p 8080:80 nav", "mkdir -p build/arm7", "pwd: /home/u/arm7", "basic calibration of arm7 takes 12 s",
		"http://localhost:7878/api/search", "ws://robot:8765", "the passphrase is hidden ****", "ssh ada@arm7:22",
		"credential check took 0.35 s at 48.137154, 11.576124", "机械臂 7 的密钥在抽屉里",
	} {
		if found := Find(text); found != nil {
			t.Errorf("%q: %+v", text, found)
		}
		if masked, _ := Mask(text); masked != text {
			t.Errorf("%q became %q", text, masked)
		}
	}
}

func TestTheRulesAreThoseOfGitleaks(t *testing.T) {
	dir := t.TempDir()
	data, err := os.ReadFile("gitleaks.toml")
	if err == nil {
		err = os.WriteFile(dir+"/gitleaks.toml", data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	program := dir + "/generate"
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./internal/generate").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	made := exec.CommandContext(t.Context(), program)
	made.Dir = dir
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want, err := os.ReadFile(dir + "/rules.go")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("rules.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("rules.go is not made of gitleaks.toml: run go generate ./classify/secrets")
	}
	if len(rules) < 200 {
		t.Errorf("%d rules", len(rules))
	}
}

func BenchmarkAFact(b *testing.B) {
	for b.Loop() {
		Find("grip_force=12.5 N holds wet glass at station 12, after the wrist has settled for 0.4 s")
	}
}

func FuzzMask(f *testing.F) {
	f.Add("push with " + github + " to\nthe fork")
	f.Add(pem)
	f.Fuzz(func(t *testing.T, text string) {
		masked, found := Mask(text)
		if found == nil && masked != text {
			t.Errorf("%q became %q", text, masked)
		}
		for i, s := range found {
			if s.Start >= s.End || s.End > len(text) || i > 0 && s.Start < found[i-1].End {
				t.Errorf("%q: %+v", text, found)
			}
		}
	})
}
