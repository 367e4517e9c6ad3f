# A static binary in an image that holds nothing else, run by a user without rights. It listens on every address, so it wants
# keys: docker run -e TOOLNORM_API_KEYS=… -p 127.0.0.1:11435:11435 toolnorm; or TOOLNORM_PUBLISHED=127.0.0.1, if that is true.
# "make image" builds it with the version of the checkout; the binary comes from the same line of Makefile as a release's.
FROM --platform=$BUILDPLATFORM node:24 AS page
WORKDIR /page
COPY admin/web .
RUN CI=true ./build.sh

FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
COPY --from=page /page/dist admin/web/dist
ARG TARGETOS TARGETARCH VERSION
RUN GOOS=$TARGETOS GOARCH=$TARGETARCH make programs BIN=/bin/built VERSION=$VERSION && mkdir /data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /bin/built/toolnorm /toolnorm
COPY --from=build --chown=65532:65532 /data /data
USER 65532:65532
ENV TOOLNORM_LISTEN=0.0.0.0:11435 TOOLNORM_DATA=/data HOME=/data
VOLUME /data
EXPOSE 11435
ENTRYPOINT ["/toolnorm"]
CMD ["serve"]
