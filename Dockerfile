# Swarm-Evo in a container:   docker build -t swarm-evo . && docker run --rm -v "$PWD:/work" swarm-evo --search.max_steps=14
# Which walls candidates get in a container, the flags for stronger ones, and the page: docs/tracking.md
FROM node:22-bookworm-slim AS page
WORKDIR /page
COPY dashboard/web/package.json dashboard/web/package-lock.json ./
RUN npm ci --no-fund --no-audit
COPY dashboard/web .
RUN npm run build

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-venv make git ca-certificates bubblewrap && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/swarm-evo
COPY . .
COPY --from=page /page/dist dashboard/web/dist
RUN make install
WORKDIR /work
ENTRYPOINT ["/opt/swarm-evo/.venv/bin/python", "/opt/swarm-evo/main.py"]
