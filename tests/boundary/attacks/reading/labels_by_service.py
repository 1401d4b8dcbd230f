# asks a service on loopback that trusts whoever can reach it
# KINDS: script competition command arena
# WINS: said score
import socket


def strike():
    with socket.create_connection(("127.0.0.1", int("@PORT@")), 5) as door:
        text = b""
        while part := door.recv(65536):
            text += part
    return text
