package local_test
import ("testing";"path/filepath";"github.com/robotmem/robotmem-go/robotmem/local")
func BenchmarkOpenNew(b *testing.B){ for b.Loop(){ e,err:=local.Open(b.Context(), filepath.Join(b.TempDir(),"m.db"), local.Options{Durability: local.DurabilityNormal}); if err!=nil{b.Fatal(err)}; e.Close()}}
func BenchmarkOpenNewFull(b *testing.B){ for b.Loop(){ e,err:=local.Open(b.Context(), filepath.Join(b.TempDir(),"m.db"), local.Options{}); if err!=nil{b.Fatal(err)}; e.Close()}}
func BenchmarkOpenOld(b *testing.B){ d:=b.TempDir(); for b.Loop(){ e,err:=local.Open(b.Context(), filepath.Join(d,"m.db"), local.Options{}); if err!=nil{b.Fatal(err)}; e.Close()}}
