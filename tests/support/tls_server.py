#!/usr/bin/env python3
"""Answers every request over TLS: tls_server.py CERTIFICATE_AND_KEY_FILE. Prints its port."""
import http.server, ssl, sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1])
server.handle_error = lambda *_: None  # clients that refuse the certificate
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print("port", server.server_address[1], flush=True)
server.serve_forever()
