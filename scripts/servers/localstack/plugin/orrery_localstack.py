"""Runs Lambda functions of provided.* runtimes as plain processes, for LocalStack without Docker.

LocalStack loads the class named in orrery_localstack-1.dist-info/entry_points.txt when LAMBDA_RUNTIME_EXECUTOR is
"process". One executor is one environment of a function: it starts the zip's own bootstrap and speaks the Lambda
Runtime API to it, as AWS does, so the bootstraps run unmodified.

Each environment has a temporary folder of its own, below LocalStack's. Not emulated: the memory limit, the
architecture (build the zips for this machine), the role. A function signs its requests with its own name as access
key, so that a proxy can tell functions apart.

From the environment of LocalStack itself:
  ORRERY_FUNCTIONS  a folder. functions/NAME.log gets what a function prints; functions/PID.pid holds the name of the
                    function that runs as process PID; functions/env, if there, holds NAME=value lines that every
                    process gets on top of what the function's configuration says (endpoints of servers beside LocalStack).
"""

import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from localstack.services.apigateway.next_gen.execute_api.handlers import integration_request
from localstack.services.apigateway.next_gen.execute_api.integrations import aws
from localstack.services.lambda_.invocation.executor_endpoint import StatusErrorException
from localstack.services.lambda_.invocation.lambda_models import InvocationResult
from localstack.services.lambda_.invocation.plugins import RuntimeExecutorPlugin
from localstack.services.lambda_.invocation.runtime_executor import RuntimeExecutor

INIT_SECONDS = 10  # what AWS gives a function to ask for its first event
INHERITED = ("PATH", "SSL_CERT_FILE")


class ProcessExecutorPlugin(RuntimeExecutorPlugin):
    name = "process"

    def load(self, *args, **kwargs):
        take_any_media_type()
        return ProcessExecutor


def take_any_media_type():
    """Lets "*/*" among a gateway's binary media types mean every body, as AWS does: LocalStack passes over it, and so
    answers that functions compressed would reach clients as base64."""
    for module in (integration_request, aws):
        named = module.mime_type_matches_binary_media_types
        module.mime_type_matches_binary_media_types = lambda mime_type, binary_media_types, named=named: (
            "*/*" in (binary_media_types or []) or named(mime_type=mime_type, binary_media_types=binary_media_types))


class ProcessExecutor(RuntimeExecutor):
    """One environment: a process, and the Runtime API it asks for events."""

    def __init__(self, id, function_version):
        super().__init__(id=id, function_version=function_version)
        self.folder = Path(os.environ["ORRERY_FUNCTIONS"])
        self.function = function_version.id.function_name
        self.process, self.environment, self.running, self.init_error = None, {}, None, None
        self.events, self.asked, self.lines = queue.Queue(), threading.Event(), []
        self.starting = threading.Lock()
        self.temporary = tempfile.mkdtemp(prefix=f"{self.function}-")
        self.api = ThreadingHTTPServer(("127.0.0.1", 0), RuntimeAPI)
        self.api.daemon_threads, self.api.executor = True, self
        threading.Thread(target=self.api.serve_forever, daemon=True).start()

    def start(self, env_vars):
        self.environment = {name: os.environ[name] for name in INHERITED if name in os.environ}
        self.environment |= {name: str(value) for name, value in env_vars.items()}
        self.environment |= {
            "AWS_LAMBDA_RUNTIME_API": self.get_runtime_endpoint().removeprefix("http://"),
            "AWS_ACCESS_KEY_ID": self.function,
            "LAMBDA_TASK_ROOT": str(self.root()),
            "HOME": self.temporary,
            "TMPDIR": self.temporary,
        }
        self.spawn()

    def spawn(self):
        """Starts the process and waits until it asks for its first event."""
        self.asked.clear()
        self.init_error = None
        with self.starting:
            self.events = queue.Queue()  # of this process: otherwise the last one's request could take an event
            self.process = subprocess.Popen(
                [str(self.root() / "bootstrap")], cwd=self.root(), env=self.environment | self.beside(),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.pid_file().write_text(self.function)
        threading.Thread(target=self.read_output, args=(self.process,), daemon=True).start()
        until = time.time() + INIT_SECONDS
        while not self.asked.wait(0.005):
            if self.process.poll() is not None or self.init_error or time.time() > until:
                self.kill()
                exited = error("Runtime.ExitError", "Error: Runtime exited during init")
                raise StatusErrorException("init failed", payload=self.init_error or exited)

    def beside(self):
        """The variables of functions/env: read at every start, because the file is written after LocalStack started."""
        file = self.folder / "env"
        if not file.exists():
            return {}
        return dict(line.split("=", 1) for line in file.read_text().splitlines() if line)

    def read_output(self, process):
        with open(self.folder / f"{self.function}.log", "a") as log:
            for line in process.stdout:
                text = line.decode(errors="replace")
                self.lines.append(text)
                log.write(text)
                log.flush()

    def invoke(self, payload):
        config, request, began = self.function_version.config, payload["invoke-id"], time.time()
        if self.process.poll() is not None:  # it crashed or ran out of time: the next event gets a new process
            self.spawn()
        first_line, answer = len(self.lines), Future()
        self.running = (request, answer)
        self.events.put((payload, began + config.timeout))
        body, failed = None, True
        while body is None:
            try:
                body, failed = answer.result(timeout=0.05)
            except FutureTimeout:
                if answer.done():
                    continue
                if self.process.poll() is not None:
                    body = error("Runtime.ExitError", f"RequestId: {request} Error: Runtime exited with error: exit status {self.process.returncode}")
                elif time.time() > began + config.timeout:
                    self.kill()
                    body = error("Sandbox.Timedout", f"RequestId: {request} Error: Task timed out after {config.timeout:.2f} seconds")
        self.running, took = None, (time.time() - began) * 1000
        time.sleep(0.002)  # the thread that reads the output takes the last lines meanwhile
        logs = (f"START RequestId: {request} Version: {self.function_version.id.qualifier}\n{''.join(self.lines[first_line:])}"
                f"END RequestId: {request}\nREPORT RequestId: {request}\tDuration: {took:.2f} ms\n")
        return InvocationResult(request, body, is_error=failed, logs=logs)

    def kill(self):
        if not self.process:
            return
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.pid_file().unlink(missing_ok=True)

    def stop(self):
        self.kill()
        self.api.shutdown()
        self.api.server_close()
        shutil.rmtree(self.temporary, ignore_errors=True)

    def pid_file(self):
        return self.folder / f"{self.process.pid}.pid"

    def root(self):
        return self.function_version.config.code.get_unzipped_code_location()

    def get_logs(self):
        return "".join(self.lines)

    def get_address(self):
        return "127.0.0.1"

    get_endpoint_from_executor = get_address  # LocalStack makes the function's AWS_ENDPOINT_URL of it

    def get_runtime_endpoint(self):
        return f"http://127.0.0.1:{self.api.server_address[1]}"

    @classmethod
    def prepare_version(cls, function_version):
        config = function_version.config
        if not (config.runtime or "").startswith("provided"):
            raise ValueError(f"only provided.* runtimes run as a process, not {config.runtime!r}")
        config.code.prepare_for_execution()
        (config.code.get_unzipped_code_location() / "bootstrap").chmod(0o755)

    @classmethod
    def cleanup_version(cls, function_version):
        pass


class RuntimeAPI(BaseHTTPRequestHandler):
    """The side of the Lambda Runtime API that a bootstrap calls."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer leaves as one packet: otherwise Nagle and delayed ACK cost 40 ms each

    def log_message(self, *args):
        pass

    def do_GET(self):  # /2018-06-01/runtime/invocation/next
        executor = self.server.executor
        with executor.starting:
            process, events = executor.process, executor.events
        executor.asked.set()
        while True:
            try:
                event, deadline = events.get(timeout=0.2)
                break
            except queue.Empty:
                if executor.process is not process or process.poll() is not None:
                    return self.answer(410)
        self.answer(200, event["payload"].encode(), {
            "Content-Type": "application/json",
            "Lambda-Runtime-Aws-Request-Id": event["invoke-id"],
            "Lambda-Runtime-Deadline-Ms": str(int(deadline * 1000)),
            "Lambda-Runtime-Invoked-Function-Arn": event["invoked-function-arn"],
            "Lambda-Runtime-Trace-Id": event["trace-id"],
        })

    def do_POST(self):  # …/invocation/ID/response, …/invocation/ID/error, /2018-06-01/runtime/init/error
        body = self.body()
        *_, request, what = self.path.split("/")
        executor = self.server.executor
        if request == "init":
            executor.init_error = body
        elif executor.running and executor.running[0] == request and not executor.running[1].done():
            executor.running[1].set_result((body, what == "error"))
        self.answer(202, b'{"status":"OK"}')

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        chunks = b""
        while (size := int(self.rfile.readline().split(b";")[0], 16)) > 0:
            chunks += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass  # trailers
        return chunks

    def answer(self, status, body=b"", headers=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def error(kind, text):
    return json.dumps({"errorType": kind, "errorMessage": text}).encode()
