package repair
import ("testing";"os";"bufio")
func TestDebug(t *testing.T){ f,err:=os.Open("/tmp/team/tmp-json/dbg"); if err!=nil {return}; sc:=bufio.NewScanner(f); for sc.Scan(){ g:=Args{Type:planType, Envelope: func(k string)bool{return k=="name"||k=="id"}}; l:=g.Read(sc.Text()); t.Log(sc.Text()); for _,r:=range l {t.Logf("%+v",r)}}}
