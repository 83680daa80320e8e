# The image as docker or podman build it. `npm run image` makes the same without an engine, in
# reproducible bytes; releases are made that way.
#
#     podman build --tag dreamdb .
ARG BUN_IMAGE=docker.io/oven/bun:1.4.5-slim
ARG RUNTIME_IMAGE=gcr.io/distroless/base-nossl-debian12:nonroot

FROM ${BUN_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json bunfig.toml ./
RUN bun install --production --ignore-scripts
COPY scripts/build.ts scripts/
COPY src src
RUN bun scripts/build.ts /out/dreamdb

FROM ${RUNTIME_IMAGE}
COPY --from=build /out/dreamdb /usr/local/bin/dreamdb
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["/usr/local/bin/dreamdb"]
CMD ["--help"]
