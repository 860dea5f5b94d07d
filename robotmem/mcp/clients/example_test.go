package clients_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/robotmem/robotmem-go/robotmem/mcp/clients"
)

func Example() {
	client, err := clients.ByName("cursor")
	if err != nil {
		fmt.Println(err)
		return
	}
	home, _ := os.MkdirTemp("", "home")
	defer os.RemoveAll(home)
	path := filepath.Join(home, "mcp.json") // client.File(os.LookupEnv) is the user's own
	change, err := client.Set(path, client.Local("/usr/local/bin/robotmem", []string{"mcp"}, nil))
	if err == nil {
		err = change.Apply()
	}
	fmt.Println(err)
	// Output: <nil>
}
