# make run     build and serve on 127.0.0.1:11435, with the tools of the sample company, which the examples ask for
# make install toolnorm and toolrun into Go's bin folder, or BINDIR
# make release  archives, .deb packages, checksums and the SBOM, into dist
# make release-lane  the same for a platform of each system, then each is installed and run: a lane of CI
# make image   the container image, called toolnorm, with Docker
# make page    the admin page, with Node; without it the binary has none, and says so at /admin. build and install begin with it
# make test    unit tests; they need nothing but Go. Those of the admin page run where Node is
# make race    the same under the race detector, with a sample of the decoder's cases: it is one goroutine's
# make e2e     the lane with a real Ollama and real clients; installs what it needs outside the tree
# make e2e-models   real small models: who calls the right tool; writes docs/evidence/models.md. About an hour; ROWS=regexp for some
# make upstreams  which strategy each set-up of each server gets, and how well each does; writes docs/internal/upstreams.md
# make guarantee  what became of defective replies; writes docs/evidence/guarantee.md
# make e2e-agents   the lane's agents with the large ones, which it installs
# make clients   what every client does, with them; writes docs/clients.md
# make turns     what each turn of real agents finds in the server's cache, beside Ollama alone; writes docs/evidence/turns.md. Half an hour
# make fleet   what conversations find in the caches of 2, 4 and 8 Ollamas, by how requests are spread; writes docs/evidence/scale.md. Hours; FLEET_SERVERS=2 FLEET_TURNS=6 for less
# make balance  a simulation of thirty servers, for the factor of pools; writes a table there, too
# make soak    a million streams through three replicas that are killed and restarted; STREAMS=20000 for less, SOAK_CLIENTS=64 for more than 16 at once
# make openwebui  a real Open WebUI driven in Chromium: chat, MCP tools, @agent, a knowledge base. It installs 5 GB
# make first-hour   the fifteen tasks of a new user, by README and one more page; writes docs/evidence/first-hour.md. Two minutes
# make faces   each API beside Ollama's own, by the scripts; writes docs/evidence/faces.md
# make by-default  a real model behind a toolnorm without settings: small talk, answers in a form; writes docs/evidence/by-default.md. About an hour
# make tasks   fifty tasks for a real model's agent over the sample company; writes docs/evidence/tasks.md. About an hour
# make doctor  what toolnorm doctor says of the scripted models; writes e2e/doctor
# make bench   benchmarks beside peers; writes docs/evidence/benchmarks.md
# make slips   calls with slips, cut calls, real files as arguments, made-up results; writes docs/evidence/slips.md
# make slips-sample   the same in half a minute, against limits: a lane of CI
# make forms   answers under response_format by 363 schemas of real APIs, checked by another validator; writes docs/evidence/structured.md
# make forms-sample   some of them, in seconds: a lane of CI
# make arena   the same inputs for toolnorm and other readers of tool calls; writes docs/arena. Half an hour
# make arena-sample   a part of it in a minute, which fails when toolnorm is not first: a lane of CI
# make canitoolcall   a public suite of replies, by its own runner
# make hostile  hostile requests, each to a fresh server: what they cost it
# make eval    how well the knowledge base finds what its questions ask for, and searches of tools; writes docs/evidence/retrieval.md and finding-tools.md
# make fuzz    every fuzz target, FUZZTIME each
# make lint    gofmt, go vet, staticcheck, and the structure test

FUZZTIME ?= 30s
# Run by version, so that the product's go.mod knows nothing of it.
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: run build programs release release-lane image page install test race e2e e2e-agents turns clients fleet balance soak openwebui first-hour upstreams guarantee faces by-default tasks doctor e2e-models bench slips slips-sample forms forms-sample arena arena-sample canitoolcall hostile eval search fuzz lint

# The one spelling of a build: of make, of a release and of the container image. The version is the tag's; git's own stamp is
# left out, since the image is built without .git, and the same commit must give the same bytes there.
VERSION ?= $(shell ./internal/release/version.sh)
BIN ?= bin
BUILD = CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w $(if $(VERSION),-X toolnorm/internal/version.release=$(VERSION))'
PROGRAMS = ./cmd/toolnorm ./cmd/toolrun

run: build
	./bin/toolnorm serve --sample=always

build: page programs

programs:
	$(BUILD) -o $(BIN)/ $(PROGRAMS)

# Both programs go to BINDIR; a terminal finds toolrun there when the folder is on its path.
BINDIR ?= $(or $(shell go env GOBIN),$(shell go env GOPATH)/bin)

page:
	@./admin/web/build.sh

install: page
	$(BUILD) -o $(abspath $(BINDIR))/ $(PROGRAMS)
	@case ":$$PATH:" in *":$(abspath $(BINDIR)):"*) ;; *) echo "$(abspath $(BINDIR)) is not on the path yet: export PATH=\"\$$PATH:$(abspath $(BINDIR))\"" ;; esac

# A release without the admin page, or of files that are not in the commit, is none: CI=true makes the first a failure, and the
# second stands in the version (-dirty). SOURCE_DATE_EPOCH is the time of every packed file.
TARGETS = linux_amd64 linux_arm64 darwin_amd64 darwin_arm64 windows_amd64 windows_arm64
DIST ?= dist
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct)
# What the Debian packages say of who made them, and of a homepage; the same everywhere unless told.
MAINTAINER ?=
HOMEPAGE ?=

release:
	CI=true ./admin/web/build.sh
	rm -rf $(DIST)
	@for target in $(TARGETS); do \
		echo "$$target"; \
		GOOS=$${target%_*} GOARCH=$${target#*_} $(MAKE) --no-print-directory --silent programs BIN=$(DIST)/programs/$$target || exit 1; \
	done
	SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) go run ./internal/release --version '$(VERSION)' --maintainer '$(MAINTAINER)' --homepage '$(HOMEPAGE)' $(DIST)

# A platform costs minutes on a machine that builds for the first time: one of each system, and both processors, show what the
# others would.
release-lane:
	$(MAKE) --no-print-directory release TARGETS='linux_amd64 darwin_arm64 windows_amd64'
	./internal/release/lane.sh $(DIST)

image:
	docker build --build-arg VERSION=$(VERSION) -t toolnorm .

# The real lane is e2e's alone: elsewhere it finds nothing installed, and says so.
WITHOUT_REAL = TOOLNORM_E2E= TOOLNORM_E2E_CACHE=/nonexistent

test:
	@./admin/web/build.sh test
	$(WITHOUT_REAL) go test -timeout 20m ./...

# Packages of one goroutine have nothing to race: those that read texts, statements and files, and the tests of the tree
# itself. Of the readers and of the guard of statements, the tests run that do things side by side.
ONE_GOROUTINE = toolnorm|toolnorm/adapters(/derive|/internal/.*)?|toolnorm/tools/kb/chunk|toolnorm/internal/(lexical|pyexpr/.*|sqlsafe)|toolnorm/e2e(/gguf)?
# Long tests of the other packages that do one thing after the other.
ONE_BY_ONE = TestADamagedIndexIsMadeAnew TestTheIndexOnDiskFindsWhatTheOneInMemoryFinds TestCopiesHideNoAnswer \
	TestAMovedDocumentIsFoundInItsNewBase TestTheDocumentsCommandsPrintWhatTheyShow TestTheHelpOfACommandIsItsOwn \
	TestCommandsDoWhatTheirTranscriptsSay TestDemoOfEveryOddName TestEachRightOpensItsRoutes TestEveryRouteSaysWhoMayAsk \
	TestDoctorEndsAsItFinds TestDoctorsSettingsAreTaken TestDoctorPrintsJSON TestDoctorKnowsTheUsersOwnFamilies \
	TestThePageExamines TestOneOddThingTakesNothingElseDown TestThePlanOfAnAgentIsThatOfItsModel TestWrongSettings \
	TestKnowledgeBasesFromTheCommandLine TestCustomToolsAsFiles TestAnswersDoNotTellOfHiddenDocuments TestEvaluation \
	TestWordsAreLinear TestDocumentsAreAnswers TestSloppyCuts TestRepliesHeldOut TestEachTurnsPromptGoesOnFromTheLast \
	TestDemoCallsFitAnySchema TestDemoOfEveryFormat TestNoForeignDocument TestNoForeignPassage TestADeletedBaseLeavesNoIndex \
	TestAnOddRowHidesNoOther TestAnOddRowStopsNoOther TestTheSchemaAndTheReaderAgree TestWhatSQLiteGetsIsWhatWasSent \
	TestTextsOfFilesComeBackTheSame TestExamplesInFilesComeBackTheSame TestASaveLeavesWhatAReadingOfAllGives \
	TestWhatIsProperPassesAsItIs TestSloppy$$ TestTheNamedToolIsCalled
race:
	$(WITHOUT_REAL) go test -race -short -skip "$$(echo $(ONE_BY_ONE) | tr ' ' '|')" -timeout 20m $$(go list ./... | grep -vxE '$(ONE_GOROUTINE)')
	$(WITHOUT_REAL) go test -race -short -run 'TestWhatAppendPrintsIsInTheGrammar|TestAnySplitGivesTheSameEvents' ./adapters
	$(WITHOUT_REAL) go test -race -short -run 'AtOnce|Replaced|Bounded|ValuesStayValues' ./internal/sqlsafe

e2e:
	./e2e/run.sh

e2e-models:
	./e2e/models/run.sh

guarantee:
	TOOLNORM_E2E_GUARANTEE=write ./e2e/run.sh -run TestTheGuarantee

e2e-agents:
	./e2e/install.sh agents
	TOOLNORM_E2E_AGENTS=all ./e2e/run.sh -run 'TestAgents|TestEditors'

turns:
	./e2e/install.sh agents
	TOOLNORM_E2E_TURNS=write ./e2e/run.sh -run TestTurns

clients:
	./e2e/install.sh agents
	TOOLNORM_E2E_AGENTS=all TOOLNORM_E2E_CLIENTS=write ./e2e/run.sh -run 'TestAgents|TestStockClients'

fleet:
	TOOLNORM_E2E_FLEET=write ./e2e/run.sh -timeout 12h -run TestFleetCaches

balance:
	TOOLNORM_BALANCE=write go test -count=1 -run TestTheBalanceFactor ./engine

STREAMS ?= 1000000
soak:
	TOOLNORM_E2E_FLEET=write TOOLNORM_E2E_SOAK=$(STREAMS) ./e2e/run.sh -timeout 12h -run TestSoak

openwebui:
	./e2e/openwebui/run.sh

first-hour: build
	./e2e/firsthour/run.sh

faces:
	TOOLNORM_E2E_FACES=write ./e2e/run.sh -run TestNoFaceIsWorse

by-default:
	./e2e/models/install.sh
	TOOLNORM_E2E_BY_DEFAULT=everyday,forms ./e2e/run.sh -timeout 3h -run TestByDefault

tasks:
	./e2e/models/install.sh
	TOOLNORM_E2E_TASKS=all ./e2e/run.sh -timeout 4h -run 'TestTasks$$'

doctor:
	TOOLNORM_E2E_DOCTOR=write ./e2e/run.sh -run TestDoctorsReports

upstreams:
	TOOLNORM_E2E_UPSTREAMS=write ./e2e/run.sh -run TestUpstreamsPage

bench:
	./bench/run.sh

hostile:
	./bench/run.sh hostile

slips:
	./bench/slips/run.sh

slips-sample:
	./bench/slips/run.sh sample

forms:
	./bench/forms/run.sh

forms-sample:
	./bench/forms/run.sh sample

arena:
	./bench/arena/run.sh

arena-sample:
	./bench/arena/run.sh sample

canitoolcall:
	./e2e/canitoolcall/run.sh

# Without models their stages say that they were skipped; docs/evidence/retrieval.md names what sets them.
eval:
	TOOLNORM_EVAL=write go test -count=1 -v -run 'TestEvaluation|TestPublicSets' ./tools/kb/retrieval ./tools/find

# Other search engines on the same questions: HANDBOOK is the html folder of the package debian-handbook, SETS one of files in
# the form of SQuAD, POSTGRES the URL of a database.
search:
	go run -C bench ./search -handbook '$(HANDBOOK)' -sets '$(SETS)' -postgres '$(POSTGRES)'

fuzz:
	@for pkg in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "$$pkg $$target"; \
			go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
		done; \
	done

lint:
	@out=$$(find . -name node_modules -prune -o -name '*.go' -exec gofmt -l {} +); if [ -n "$$out" ]; then echo "not gofmt'd:"; echo "$$out"; exit 1; fi
	go vet ./...
	go run $(STATICCHECK) ./...
	go test -count=1 -run . .
