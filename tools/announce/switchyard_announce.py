#!/usr/bin/env python3
"""Announces a vLLM engine to a Switchyard router: `switchyard announce` as one file for engine images.

Needs Python 3.8+, pyzmq and msgpack. Pings every 3 s while the engine's /health answers. On SIGTERM it drains the
engine first (with --admin and --token), pinging on, and exits 0 when drained, 3 when that took too long, 1 when refused.
"""
import argparse
import json
import math
import os
import re
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from urllib.parse import urlsplit

import msgpack
import zmq

PING_SECS = 3.0
HEALTH_TIMEOUT_SECS = 2.0
FACT_TIMEOUT_SECS = 0.5
METRICS_BYTES = 4 * 1024 * 1024
DRAIN_SLICE_SECS = 10.0
PASSING_REFUSALS = ("store_unavailable", "shutting_down", "internal_error", None)
START_TIME = re.compile(rb"^process_start_time_seconds(?:\{[^}]*\})?\s+(\S+)")


def log(line):
    print("announce: " + line, file=sys.stderr, flush=True)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args, **kwargs):
        return None


# Engines and routers are asked directly, whatever proxy the environment names.
HTTP = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirect())


class EngineIdentity:
    """Names the engine process: by its start time, else anew after /health refused a connection; at first not at all."""

    def __init__(self):
        self.instance = None
        self.started_at = None
        self._refused = False

    def refused(self):
        self._refused = True

    def answered(self, started_at):
        if started_at is None:
            if not self._refused:
                return
            self.instance = "drawn-" + uuid.uuid4().hex[:16]
            self.started_at = None
        elif self._names_another(started_at):
            self.instance = "started-%d" % math.floor(started_at * 1000 + 0.5)
            self.started_at = started_at
        elif self.started_at is None:
            self.started_at = started_at
        self._refused = False

    def _names_another(self, started_at):
        # A drawn name stays when its process turns out to have a start time: same process, same name.
        if self.started_at is None:
            return self.instance is None or self._refused
        later = started_at - self.started_at
        return later > 2 or (self._refused and later < -2)


def ask_health(engine):
    """'ok', 'refused' or 'silent'."""
    try:
        with HTTP.open(engine + "/health", timeout=HEALTH_TIMEOUT_SECS) as answer:
            return "ok" if 200 <= answer.status < 300 else "silent"
    except urllib.error.URLError as error:
        return "refused" if isinstance(error.reason, ConnectionRefusedError) else "silent"
    except (OSError, ValueError):
        return "silent"
    except Exception:  # http.client's own errors: an answer that is not HTTP
        return "silent"


def ask_start_time(engine):
    """Unix seconds, or None when the engine does not tell."""
    end = time.monotonic() + FACT_TIMEOUT_SECS
    try:
        with HTTP.open(engine + "/metrics", timeout=FACT_TIMEOUT_SECS) as answer:
            read = 0
            while read < METRICS_BYTES and time.monotonic() < end:
                line = answer.readline(65536)
                if not line:
                    return None
                read += len(line)
                match = START_TIME.match(line)
                if match:
                    secs = float(match.group(1))
                    return secs if math.isfinite(secs) and secs > 0 else None
    except Exception:  # whatever is wrong with it, the start time stays unknown
        return None
    return None


class Pinger:
    def __init__(self, options):
        self.options = options
        self.identity = EngineIdentity()
        self._state = None
        host, port = options.router
        self._socket = zmq.Context.instance().socket(zmq.DEALER)
        identity = "announce:%s:%s" % (options.role, options.http_address)
        self._socket.setsockopt(zmq.IDENTITY, identity.encode()[:255])
        self._socket.setsockopt(zmq.LINGER, 0)
        # Without a connection nothing is queued: a router must not hear of an engine from the past.
        self._socket.setsockopt(zmq.IMMEDIATE, 1)
        self._socket.setsockopt(zmq.SNDTIMEO, 1000)
        self._socket.setsockopt(zmq.HEARTBEAT_IVL, 10000)
        self._socket.setsockopt(zmq.HEARTBEAT_TIMEOUT, 30000)
        try:
            families = {family for family, *_ in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
        except OSError:
            families = set()
        self._socket.setsockopt(zmq.IPV6, 1 if families == {socket.AF_INET6} else 0)
        self._socket.connect("tcp://%s:%d" % ("[%s]" % host if ":" in host else host, port))

    def ping(self):
        health = ask_health(self.options.engine)
        if health == "refused":
            self.identity.refused()
        if health != "ok":
            self._enter("engine", "%s does not answer /health (%s); not announced until it does" % (self.options.engine, health))
            return
        self.identity.answered(ask_start_time(self.options.engine))
        try:
            self._socket.send(msgpack.packb(self._message()))
            self._enter("announcing", "announcing %s as %s" % (self.options.http_address, self.options.role))
        except zmq.Again:
            self._enter("router", "no connection to the router at %s:%d" % self.options.router)

    def close(self):
        self._socket.close()

    def _message(self):
        options = self.options
        address = options.http_address
        message = {
            "type": "P" if options.role == "prefill" else "D",
            "http_address": address[len("http://"):] if address.startswith("http://") else address,
            "zmq_address": options.zmq_address,
            "instance": self.identity.instance,
            "connector": options.connector,
            "group": options.group,
            "started_at": self.identity.started_at,
        }
        return {key: value for key, value in message.items() if value is not None}

    def _enter(self, state, line):
        if self._state != state:
            log(line)
        self._state = state


def drain(options):
    """Exit code: 0 drained or unknown to the router, 3 not in time, 1 refused."""
    deadline = time.monotonic() + options.drain_wait_secs
    told = None
    while True:
        wait = min(DRAIN_SLICE_SECS, max(0.0, deadline - time.monotonic()))
        body = {"endpoint": options.http_address, "role": options.role, "force": True, "waitSecs": wait,
                "reason": "the engine is being stopped"}
        request = urllib.request.Request(
            options.admin + "/api/v1/endpoints/drain", data=json.dumps(body).encode(), method="POST",
            headers={"Content-Type": "application/json", "Authorization": "Bearer " + options.token})
        try:
            with HTTP.open(request, timeout=wait + 15) as answer:
                if json.load(answer).get("drained") is True:
                    return 0
        except Exception as error:  # everything between a closed port and a refusal, told apart by its code
            code, message = refusal_of(error)
            if code == "unknown_endpoint":
                return 0
            if message != told:
                log("the admin API at %s: %s" % (options.admin, message))
            told = message
            if code not in PASSING_REFUSALS:
                return 1
            time.sleep(min(1.0, max(0.0, deadline - time.monotonic())))
        if time.monotonic() >= deadline:
            return 3


def refusal_of(error):
    if not isinstance(error, urllib.error.HTTPError):
        return None, str(getattr(error, "reason", error))
    try:
        told = json.load(error)["error"]
        return told["code"], "%s (%s)" % (told["message"], told["code"])
    except Exception:  # an answer of something else than the admin API
        return ("unauthorized" if error.code in (401, 403) else None), "answered %d" % error.code


def endpoint(text):
    """Scheme and host lower-case, port explicit, no path."""
    parts = urlsplit(text if "://" in text else "http://" + text)
    port = parts.port or ({"http": 80, "https": 443}.get(parts.scheme) if "://" in text else None)
    if parts.scheme not in ("http", "https") or not parts.hostname or not port or parts.path not in ("", "/"):
        raise ValueError(text)
    if parts.query or parts.fragment or parts.username or parts.password:
        raise ValueError(text)
    host = parts.hostname.lower()
    return "%s://%s:%d" % (parts.scheme, "[%s]" % host if ":" in host else host, port)


def host_port(text):
    parts = urlsplit(endpoint(text))
    return parts.hostname, parts.port


def form(pattern):
    def check(text):
        if not re.fullmatch(pattern, text):
            raise ValueError(text)
        return text
    return check


def secret(text, file):
    if text or not file:
        return text
    with open(file, encoding="utf-8") as opened:
        return opened.read().strip()


def read_options(argv):
    env = os.environ
    parser = argparse.ArgumentParser(prog="switchyard_announce.py", description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--engine", required=True, type=endpoint, help="URL of the engine beside which this runs")
    parser.add_argument("--role", required=True, choices=("prefill", "decode"))
    parser.add_argument("--router", required=True, type=host_port, help="HOST:PORT, the router's discovery address")
    parser.add_argument("--http-address", type=endpoint, help="HOST:PORT or URL by which the router calls the engine [--engine]")
    parser.add_argument("--connector", choices=("p2p-nccl", "nixl", "moriio", "mooncake"))
    parser.add_argument("--group", type=form(r"[A-Za-z0-9._-]{1,128}"), help="pairing group label")
    parser.add_argument("--zmq-address", type=form(r"(?!.*___)[\x21-\x7e]{1,256}"), help="the engine's KV control address, if it has one")
    parser.add_argument("--admin", type=endpoint, default=env.get("SWITCHYARD_ADMIN"), help="admin listener, for the drain at SIGTERM")
    parser.add_argument("--token", default=env.get("SWITCHYARD_TOKEN"))
    parser.add_argument("--token-file", default=env.get("SWITCHYARD_TOKEN_FILE"))
    parser.add_argument("--drain-wait-secs", type=float, default=600.0)
    options = parser.parse_args(argv)
    options.http_address = options.http_address or options.engine
    try:
        options.token = secret(options.token, options.token_file)
    except OSError as error:
        parser.error("cannot read the token: %s" % error)
    if options.admin and not options.token:
        parser.error("--admin needs a token to drain with: give --token, --token-file or SWITCHYARD_TOKEN")
    if not 0 <= options.drain_wait_secs <= 86400:
        parser.error("--drain-wait-secs must be seconds from 0 to 86400")
    return options


def main(argv):
    options = read_options(argv)
    may_drain = bool(options.admin)
    ended = threading.Event()
    code = []

    def finish():
        code.append(drain(options) if may_drain else 0)
        ended.set()

    signals = []

    def on_signal(number, _frame):
        signals.append(number)
        if len(signals) > 1:
            os._exit(3)  # a second signal ends at once
        if may_drain:
            log("draining %s as %s" % (options.http_address, options.role))
        else:
            log("the pings end; the router keeps the engine until its registration expires "
                "(give --admin and --token to drain it first)")
        # In a thread of its own: the handler may have interrupted the very wait that it would end.
        threading.Thread(target=finish, daemon=True).start()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    pinger = Pinger(options)
    while not ended.is_set():
        next_ping = time.monotonic() + PING_SECS
        pinger.ping()
        ended.wait(max(0.0, next_ping - time.monotonic()))
    pinger.close()
    if may_drain:
        log("drained" if code[0] == 0 else "not drained")
    return code[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
