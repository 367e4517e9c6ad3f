package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// readsCompose is a program that validates a compose file: SCHEMA FILE.
const readsCompose = `import json, sys, jsonschema, yaml
jsonschema.validate(yaml.safe_load(open(sys.argv[2])), json.load(open(sys.argv[1])))`

// deployTools returns the folder of what install.sh's install_deploy installs, and a Python that
// knows Kubernetes' schemas.
func deployTools(t *testing.T) (folder, python string) {
	t.Helper()
	missing := locateFolders()
	cache, err := cacheFolder()
	if err == nil && missing == nil {
		folder = filepath.Join(cache, "deploy-"+installed.version["KUSTOMIZE"]+"-"+installed.version["COMPOSE"])
		python, err = sdkPython("deploy")
	}
	if err == nil {
		_, err = os.Stat(folder)
	}
	if missing == nil {
		missing = err
	}
	demand(t, missing, nil)
	return folder, python
}

// TestDeployFitsItsSchemas validates what folder deploy has for other programs to read: compose
// files, and what kustomize makes of folder kubernetes, each by the schema of its API.
func TestDeployFitsItsSchemas(t *testing.T) {
	tools, python := deployTools(t)
	for _, file := range []string{"../docker-compose.yml", "../deploy/compose.fleet.yml"} {
		if out, err := exec.Command(python, "-c", readsCompose, filepath.Join(tools, "compose-spec.json"), file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
	made := must.Have(exec.Command(filepath.Join(tools, "kustomize"), "build", "../deploy/kubernetes").Output())(t)
	file := filepath.Join(t.TempDir(), "kubernetes.yaml")
	must.Write(t, file, made)
	out, err := exec.Command(python, "-m", "kubernetes_validate", "--strict", file).CombinedOutput()
	if passed := strings.Count(string(out), " passed "); err != nil || passed != 11 {
		t.Errorf("%d of 11 resources fit, %v\n%s", passed, err, out)
	}
}

// TestBalancersTakeTheirConfigurations has HAProxy and nginx read the files that docs/scale.md
// names.
func TestBalancersTakeTheirConfigurations(t *testing.T) {
	for _, file := range []string{"../deploy/fleet/haproxy.cfg", "../deploy/kubernetes/haproxy.cfg"} {
		if out, err := exec.Command(balancer(t, "haproxy"), "-c", "-f", fleetFile(t, file, loopback{})).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
	dir := t.TempDir()
	test := exec.Command(balancer(t, "nginx"), "-t", "-p", dir, "-c", fleetFile(t, "../deploy/fleet/nginx.conf", loopback{}), "-g", "pid "+dir+"/pid; error_log stderr;")
	if out, err := test.CombinedOutput(); err != nil {
		t.Errorf("nginx.conf: %v\n%s", err, out)
	}
}
