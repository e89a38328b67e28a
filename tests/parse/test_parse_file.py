"""Files in every bad shape: what can be read is read, what cannot is one reject, and in = events + rejects."""

import gzip
import hashlib
import io
import json
import random
from collections.abc import Iterator

import pyarrow as pa
import pytest
import zstandard

from pipeline.sources.parse import lines
from pipeline.sources.parse.file import ParsedBlock, ParseLimits, parse_stream
from pipeline.sources.parse.line import Reject, parse_line
from pipeline.sources.parse.outcome import EVENT_SCHEMA, REJECT_SCHEMA

LIMITS = ParseLimits()


def parsed(content: bytes, name: str = "f.jsonl", limits: ParseLimits = LIMITS) -> list[ParsedBlock]:
    blocks = list(parse_stream(io.BytesIO(content), name, limits))
    for block in blocks:
        assert block.events.schema == EVENT_SCHEMA
        assert block.rejects.schema == REJECT_SCHEMA
        assert block.lines == block.events.num_rows + block.rejects.num_rows
    return blocks


def events(blocks: list[ParsedBlock]) -> pa.Table:
    return pa.Table.from_batches([block.events for block in blocks], EVENT_SCHEMA)


def rejects(blocks: list[ParsedBlock]) -> list[dict[str, object]]:
    return [row for block in blocks for row in block.rejects.to_pylist()]


def compressed(text: bytes, suffix: str) -> bytes:
    return gzip.compress(text) if suffix == "gz" else zstandard.ZstdCompressor().compress(text) if suffix == "zst" else text


@pytest.mark.parametrize("suffix", ["jsonl", "gz", "zst"])
def test_a_whole_capture_comes_through_in_every_compression(capture_lines: list[bytes], suffix: str) -> None:
    blocks = parsed(compressed(b"\n".join(capture_lines), suffix), f"f.{suffix}")
    assert events(blocks).column("source_line").to_pylist() == list(range(1, len(capture_lines) + 1))
    assert set(events(blocks).column("source_file").to_pylist()) == {f"f.{suffix}"}
    assert not rejects(blocks)
    assert not any(block.truncated for block in blocks)


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_members_and_frames_one_after_the_other_are_one_file(capture_lines: list[bytes], suffix: str) -> None:
    parts = [b"\n".join(capture_lines[:100]) + b"\n" + capture_lines[100][:20], capture_lines[100][20:] + b"\n", b"", capture_lines[101]]
    assert events(parsed(b"".join(compressed(part, suffix) for part in parts), f"f.{suffix}")).num_rows == 102


@pytest.mark.parametrize("name", ["f.jsonl", "f.jsonl.gz", "f.jsonl.zst"])
def test_an_empty_file_is_empty(name: str) -> None:
    assert parsed(b"", name) == []


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf", b"\n", b" \r\n\t\n"])
def test_a_file_without_text_has_no_lines(content: bytes) -> None:
    assert sum(block.lines for block in parsed(content)) == 0


def test_a_byte_order_mark_and_windows_line_ends_are_dropped(capture_lines: list[bytes]) -> None:
    blocks = parsed(b"\xef\xbb\xbf" + b"\r\n".join(capture_lines[:9]) + b"\r\nbad\r\nworse\r")
    assert events(blocks).num_rows == 9
    assert [(row["raw"], row["source_line"]) for row in rejects(blocks)] == [("bad", 10), ("worse", 11)]


def test_half_a_last_line_is_a_line(capture_lines: list[bytes]) -> None:
    (reject,) = rejects(parsed(capture_lines[1] + b"\n" + capture_lines[2][:-9]))
    assert (reject["reason"], reject["source_line"], reject["raw"]) == ("not_json", 2, capture_lines[2][:-9].decode())


@pytest.mark.parametrize("suffix", ["gz", "zst"])
@pytest.mark.parametrize("share", [0.02, 0.5, 0.97])
def test_a_truncated_file_gives_what_is_before_and_one_reject(capture_lines: list[bytes], suffix: str, share: float) -> None:
    text = b"\n".join(capture_lines) + b"\n"
    stream = compressed(text, suffix)
    blocks = parsed(stream[: int(len(stream) * share)], f"f.{suffix}")
    (reject,) = rejects(blocks)
    count = events(blocks).num_rows
    assert [block.truncated for block in blocks] == [False] * (len(blocks) - 1) + [True]
    assert (reject["reason"], reject["source_line"]) == ("truncated_file", count + 1)
    assert capture_lines[count].startswith(str(reject["raw"])[:100].encode())


def test_a_gzip_stream_that_lost_its_last_bytes_still_gives_every_line(capture_lines: list[bytes]) -> None:
    blocks = parsed(gzip.compress(b"\n".join(capture_lines) + b"\n")[:-3], "f.gz")
    assert events(blocks).num_rows == len(capture_lines)
    assert [(row["reason"], row["raw"], row["raw_bytes"], row["seq"]) for row in rejects(blocks)] == [("truncated_file", "", 0, None)]
    assert sum(block.lines for block in blocks) == len(capture_lines) + 1


def test_a_cut_last_line_that_is_whole_keeps_its_envelope(capture_lines: list[bytes]) -> None:
    (reject,) = rejects(parsed(gzip.compress(b"\n".join(capture_lines[:3]))[:-3], "f.gz"))
    assert reject["seq"] == json.loads(capture_lines[2])["seq"]


@pytest.mark.parametrize("damage", [b"\x00garbage", b"garbage", b"\x1f\x8bgarbage"])
def test_garbage_after_a_gzip_member_is_a_truncation_and_costs_nothing_before_it(capture_lines: list[bytes], damage: bytes) -> None:
    blocks = parsed(gzip.compress(b"\n".join(capture_lines) + b"\n") + damage, "f.gz")
    assert events(blocks).num_rows == len(capture_lines)
    assert [row["reason"] for row in rejects(blocks)] == ["truncated_file"]


def test_zeros_after_a_gzip_member_are_padding(capture_lines: list[bytes]) -> None:
    assert not rejects(parsed(gzip.compress(capture_lines[0]) + b"\0" * 512, "f.gz"))


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_damage_in_the_middle_of_a_compressed_file_keeps_the_first_lines(capture_lines: list[bytes], suffix: str) -> None:
    noise = random.Random(1).randbytes(4000)
    # Many small frames, so that zstd has something whole before the damage.
    whole = b"".join(compressed(b"\n".join(capture_lines[at : at + 100]) + b"\n", suffix) for at in range(0, 1000, 100))
    blocks = parsed(whole + compressed(b"\n".join(capture_lines), suffix)[:50] + noise, f"f.{suffix}")
    assert events(blocks).num_rows >= 1000
    assert rejects(blocks)[-1]["reason"] == "truncated_file"
    assert blocks[-1].truncated


def test_a_line_of_ten_megabytes_is_one_reject_with_its_envelope(capture_lines: list[bytes]) -> None:
    record = json.loads(capture_lines[10])
    huge = json.dumps({**record, "other": "é" * 5_000_000}, ensure_ascii=False).encode()
    blocks = parsed(capture_lines[9] + b"\n" + huge + b"\n" + capture_lines[11])
    (reject,) = rejects(blocks)
    assert events(blocks).column("source_line").to_pylist() == [1, 3]
    assert (reject["reason"], reject["seq"], reject["raw_bytes"]) == ("text_too_long", record["seq"], len(huge))
    assert reject["raw_sha256"] == hashlib.sha256(huge).hexdigest()
    raw = str(reject["raw"])
    assert huge.startswith(raw.encode())
    assert len(raw.encode()) in (LIMITS.raw_bytes, LIMITS.raw_bytes - 1)


@pytest.mark.parametrize("ended", [b"\n", b""])
def test_a_line_too_long_to_be_held_is_hashed_and_cut(capture_lines: list[bytes], ended: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LONGEST_WHOLE_LINE", 600_000)
    huge = b'{"x":"' + b"y" * 2_000_000 + b'"}'
    after = capture_lines[4] + b"\n" if ended else b""
    blocks = parsed(capture_lines[3] + b"\n" + huge + ended + after)
    (reject,) = rejects(blocks)
    assert events(blocks).column("source_line").to_pylist() == ([1, 3] if ended else [1])
    assert (reject["reason"], reject["raw_bytes"], reject["source_line"]) == ("text_too_long", len(huge), 2)
    assert reject["raw_sha256"] == hashlib.sha256(huge).hexdigest()
    assert reject["raw"] == huge[: LIMITS.raw_bytes].decode()


def test_blocks_may_be_cut_anywhere(capture_lines: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"\r\n".join([*capture_lines[:200], b"bad", b"", *capture_lines[200:400]])
    whole = parsed(text)
    for read_bytes, block_bytes in ((7, 1), (1000, 3000), (4096, 100_000)):
        monkeypatch.setattr(lines, "_READ_BYTES", read_bytes)
        monkeypatch.setattr(lines, "BLOCK_BYTES", block_bytes)
        cut = parsed(text)
        assert events(cut).combine_chunks().equals(events(whole).combine_chunks())
        assert rejects(cut) == rejects(whole)


def _damaged(good: list[bytes], dice: random.Random) -> Iterator[tuple[bytes, bool]]:
    for raw in good:
        if dice.random() >= 0.01:
            yield raw, False
            continue
        place = dice.randrange(len(raw))
        byte = dice.choice([value for value in range(256) if value not in b"\n\r"])
        yield raw[:place] + bytes([byte]) + raw[place + dice.choice([0, 1, 5]) :], True


@pytest.mark.parametrize("seed", range(5))
def test_one_percent_of_damage_costs_no_neighbour(capture_lines: list[bytes], seed: int) -> None:
    written = list(_damaged(capture_lines * 3, random.Random(seed)))
    blocks = parsed(b"\n".join(raw for raw, _ in written))
    clean = {row["source_line"]: row for row in events(parsed(b"\n".join(capture_lines * 3))).to_pylist()}
    got = {row["source_line"]: row for row in events(blocks).to_pylist()}
    assert len(got) + len(rejects(blocks)) == len(written) == sum(block.lines for block in blocks)
    assert len(rejects(blocks)) > 10
    undamaged = [number for number, (_, hurt) in enumerate(written, 1) if not hurt]
    assert all(got[number] == clean[number] for number in undamaged)
    for row in rejects(blocks):
        verdict = parse_line(written[int(str(row["source_line"])) - 1][0], LIMITS)
        assert isinstance(verdict, Reject)
        assert (row["reason"], row["detail"]) == (verdict.reason, verdict.detail)
