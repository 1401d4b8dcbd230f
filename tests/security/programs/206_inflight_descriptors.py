# NAME: inflight_fds
# ATTEMPTS: fill the user's count of descriptors in flight (SCM_RIGHTS never received): where candidates share the host user's id, the host's own send_fds fail with ETOOMANYREFS, so that the next job cannot start
# DETECT: host:slots
import array, json, os, socket, time
P = json.load(open("params.json"))
n = 0; keep = []
f = os.open("/dev/null", os.O_RDONLY)
for r in range(40):
    try: a, b = socket.socketpair()
    except OSError as e: print(e); break
    keep += [a, b]; a.setblocking(False)
    while True:
        try: a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [f] * 250))]); n += 250
        except OSError as e: last = e; break
    if n > 20000: break
print("in flight", n, last, flush=True)
time.sleep(30)
