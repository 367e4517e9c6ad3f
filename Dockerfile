# A static binary in an image that holds nothing else, run by a user without rights. It listens on every address, so it wants
# keys: docker run -e TOOLNORM_API_KEYS=… -p 127.0.0.1:11435:11435 toolnorm; or TOOLNORM_INSECURE_NO_KEYS=true.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /toolnorm ./cmd/toolnorm && mkdir /data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /toolnorm /toolnorm
COPY --from=build --chown=65532:65532 /data /data
USER 65532:65532
ENV TOOLNORM_LISTEN=0.0.0.0:11435 TOOLNORM_DATA=/data HOME=/data
VOLUME /data
EXPOSE 11435
ENTRYPOINT ["/toolnorm"]
CMD ["serve"]
