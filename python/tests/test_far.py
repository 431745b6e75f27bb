"""Data on other machines, from servers of others: nginx for the web, moto for S3.

What of them is missing is SKIPPED.
"""

import importlib.util
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

import galatea

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests" / "readers" / "recorded"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class KeptPort:
    """A port that no other program can get: a server takes it beside us, by `reuseport`."""

    def __init__(self):
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._socket.bind(("127.0.0.1", 0))
        self.number = self._socket.getsockname()[1]

    def close(self) -> None:
        self._socket.close()


def wait_for(port: int, process: subprocess.Popen) -> None:
    """Until it listens; a server that ends says why."""
    while process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    pytest.fail(f"the server ended with status {process.returncode}: {process.stderr.read()}")


def stop(process: subprocess.Popen) -> None:
    process.terminate()
    process.wait(60)
    process.stderr.close()


@pytest.fixture(autouse=True)
def settings(monkeypatch, tmp_path):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    for name in (
        "AWS_PROFILE",
        "AWS_SESSION_TOKEN",
        "AWS_ENDPOINT_URL",
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def certificate(folder: pathlib.Path, port: int) -> str:
    """Makes one for 127.0.0.1, and gives nginx's lines about it; none without openssl."""
    if shutil.which("openssl") is None:
        return ""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
        + ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
        + ["-keyout", folder / "key.pem", "-out", folder / "certificate.pem"],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    (folder / "secure_port").write_text(str(port))
    return f"""listen 127.0.0.1:{port} ssl reuseport;
            ssl_certificate {folder}/certificate.pem; ssl_certificate_key {folder}/key.pem;"""


@pytest.fixture(scope="module")
def nginx(tmp_path_factory):
    program = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
    if program is None:
        pytest.skip("nginx is not installed (Debian: nginx-light)")
    folder = tmp_path_factory.mktemp("nginx")
    plain, encrypted = KeptPort(), KeptPort()
    port, secure = plain.number, certificate(folder, encrypted.number)
    (folder / "nginx.conf").write_text(
        f"""daemon off; master_process off; pid {folder}/pid; error_log stderr;
        events {{}}
        http {{
          access_log {folder}/access.log;
          client_body_temp_path {folder}/1; proxy_temp_path {folder}/2;
          fastcgi_temp_path {folder}/3; uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
          server {{
            listen 127.0.0.1:{port} reuseport;
            {secure}
            location / {{ root {FOLDER}; }}
            location /moved/ {{ return 302 /c_f32.npy; }}
            location /whole/ {{ alias {FOLDER}/; max_ranges 0; }}
          }}
        }}"""
    )
    process = subprocess.Popen(
        [program, "-c", str(folder / "nginx.conf"), "-p", str(folder)],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_for(port, process)
        yield f"http://127.0.0.1:{port}", folder
    finally:
        stop(process)
        plain.close()
        encrypted.close()


def array_at(path: str) -> np.ndarray:
    @galatea.pipeline_def(batch_size=1)
    def arrays():
        return galatea.fn.readers.numpy(files=[path])

    (batch,) = list(galatea.Loader(arrays()))
    return np.asarray(batch[0].numpy()[0])


@pytest.mark.parametrize("name", ["c_f32.npy", "moved/to", "whole/c_f32.npy"])
def test_files_of_a_web_server_are_those_files(nginx, name):
    np.testing.assert_array_equal(array_at(f"{nginx[0]}/{name}"), np.load(FOLDER / "c_f32.npy"))


def test_containers_of_a_web_server_are_read_in_parts(nginx):
    @galatea.pipeline_def(batch_size=4)
    def samples(path: str):
        return galatea.fn.readers.webdataset(paths=path, ext=["jpg", "cls"])

    far, here = (
        list(galatea.Loader(samples(path=str(p))))
        for p in (f"{nginx[0]}/plain.tar", FOLDER / "plain.tar")
    )
    for a, b in zip(far[0], here[0], strict=True):
        for x, y in zip(a.numpy(), b.numpy(), strict=True):
            np.testing.assert_array_equal(x, y)
    assert '"GET /plain.tar HTTP/1.1" 206' in (nginx[1] / "access.log").read_text()


def test_what_a_web_server_does_not_have_is_told(nginx):
    with pytest.raises(galatea.UserError, match="404 Not Found"):
        array_at(f"{nginx[0]}/nowhere.npy")


def test_certificates_are_looked_at(nginx, monkeypatch):
    if not (nginx[1] / "secure_port").exists():
        pytest.skip("openssl is not installed (Debian: openssl)")
    address = f"https://127.0.0.1:{(nginx[1] / 'secure_port').read_text()}/u8.npy"
    with pytest.raises(galatea.UserError, match="(?i)certificate"):
        array_at(address)
    monkeypatch.setenv("CURL_CA_BUNDLE", str(nginx[1] / "certificate.pem"))
    np.testing.assert_array_equal(array_at(address), np.load(FOLDER / "u8.npy"))


# moto holds signatures against those that botocore makes, once so many requests were made.
SERVER = """
import json, os, sys
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = sys.argv[2]
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=int(sys.argv[1]), verbose=False)
server.start()
sys.stdin.read()
server.stop()
"""

KEYS_WITH_SIGNS = ["train/a b=c+d.npy", "train/é/x.npy", "train/plain.npy"]


@pytest.fixture(scope="module")
def moto(tmp_path_factory):
    for module in ("moto", "boto3", "flask", "flask_cors"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed (PyPI: moto, flask, flask-cors)")
    import boto3

    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(port), str(5 + len(KEYS_WITH_SIGNS))],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_for(port, process)
        address = f"http://127.0.0.1:{port}"
        first = {"endpoint_url": address, "region_name": "us-east-1"}
        first |= {"aws_access_key_id": "x", "aws_secret_access_key": "y"}
        iam, s3 = boto3.client("iam", **first), boto3.client("s3", **first)
        iam.create_user(UserName="reader")  # 1
        statement = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        iam.put_user_policy(UserName="reader", PolicyName="reads", PolicyDocument=policy)  # 2
        key = iam.create_access_key(UserName="reader")["AccessKey"]  # 3
        s3.create_bucket(Bucket="data")  # 4
        for name in KEYS_WITH_SIGNS:
            s3.put_object(Bucket="data", Key=name, Body=(FOLDER / "c_f32.npy").read_bytes())
        tiny = (FOLDER / "u8.npy").read_bytes()
        s3.put_object(Bucket="data", Key="tiny.npy", Body=tiny)  # 5, with the keys above
        yield address, key["AccessKeyId"], key["SecretAccessKey"]
    finally:
        process.stdin.close()
        process.wait(60)
        process.stderr.close()


@pytest.fixture
def account(moto, monkeypatch, tmp_path):
    """The keys lie in a profile."""
    address, access, secret = moto
    folder = tmp_path / ".aws"
    folder.mkdir()
    (folder / "credentials").write_text(
        f"[reader]\naws_access_key_id = {access}\naws_secret_access_key = {secret}\n"
        f"[stranger]\naws_access_key_id = {access}\naws_secret_access_key = {secret[::-1]}\n"
    )
    (folder / "config").write_text(
        f"[profile reader]\nendpoint_url = {address}\nregion = us-east-1\n"
    )
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY", raising=False)
    monkeypatch.setenv("AWS_PROFILE", "reader")
    return address, access, secret


def ask_by_boto3(account, call):
    """SKIPPED where this moto refuses even what boto3 signs: some of its versions mistake what is
    escaped in addresses."""
    import boto3
    from botocore.exceptions import ClientError

    address, access, secret = account
    # The default session is of another test's home.
    session = boto3.Session(access, secret, region_name="us-east-1")
    try:
        call(session.client("s3", endpoint_url=address))
    except ClientError as error:
        pytest.skip(f"this version of moto refuses what boto3 asks: {error}")


@pytest.mark.parametrize("name", KEYS_WITH_SIGNS)
def test_objects_are_asked_for_by_signatures_that_hold(account, name):
    ask_by_boto3(account, lambda s3: s3.get_object(Bucket="data", Key=name))
    np.testing.assert_array_equal(array_at(f"s3://data/{name}"), np.load(FOLDER / "c_f32.npy"))


def test_a_folder_of_a_bucket_is_listed(account):
    folder = {"Bucket": "data", "Prefix": "train/", "Delimiter": "/"}
    ask_by_boto3(account, lambda s3: s3.list_objects_v2(**folder))

    @galatea.pipeline_def(batch_size=3)
    def arrays():
        return galatea.fn.readers.numpy(file_root="s3://data/train")

    (batch,) = list(galatea.Loader(arrays()))
    for sample in batch[0].numpy():
        np.testing.assert_array_equal(sample, np.load(FOLDER / "c_f32.npy"))


def test_wrong_keys_are_told_and_not_shown(account, monkeypatch):
    address, _, secret = account
    monkeypatch.setenv("AWS_PROFILE", "stranger")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", address)

    @galatea.pipeline_def(batch_size=1)
    def files():
        return galatea.fn.readers.file(files=["s3://data/tiny.npy"])

    with pytest.raises(galatea.UserError, match="SignatureDoesNotMatch") as failure:
        list(galatea.Loader(files()))
    assert "profile stranger" in str(failure.value)
    assert secret not in str(failure.value) and secret[::-1] not in str(failure.value)
