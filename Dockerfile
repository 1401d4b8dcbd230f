# Swarm-Evo in a container:   docker build -t swarm-evo . && docker run --rm -v "$PWD:/work" swarm-evo --search.max_steps=14
# Which walls candidates get in a container, and the flags for stronger ones: docs/tracking.md
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-venv make git ca-certificates bubblewrap && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/swarm-evo
COPY . .
RUN make install
WORKDIR /work
ENTRYPOINT ["/opt/swarm-evo/.venv/bin/python", "/opt/swarm-evo/main.py"]
