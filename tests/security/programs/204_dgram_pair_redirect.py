# NAME: dgram_pair_redirect
# ATTEMPTS: where `socket` is refused but socket pairs are not: send datagrams of an AF_UNIX SOCK_DGRAM pair to a host socket by path and by abstract name (sendto, sendmsg, connect on the pair), bind a reply address
# DETECT: host:dgram
# UNSANDBOXED: harmless
import json, os, socket
P = json.load(open("params.json"))
def win(x): print("ESCAPED", x, flush=True)
targets = [P.get("dgram_path"), P.get("dgram_dir_path"), "/dev/log", "/run/systemd/journal/dev-log", "/run/systemd/notify"]
names = [b"\0" + P["dgram_abs"].encode()] if P.get("dgram_abs") else []
for t in [x.encode() for x in targets if x] + names:
    for how in ("sendto", "connect"):
        try:
            a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            if how == "sendto": a.sendto(b"hello from the sandbox", t)
            else: a.connect(t); a.send(b"hello from the sandbox")
            win(f"{how} {t!r}")
        except OSError as e: print(how, t, e)
try:
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.bind("reply.sock")
    print("bound a reply address", os.path.exists("reply.sock"))
except OSError as e: print("bind", e)
