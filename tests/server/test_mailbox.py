from __future__ import annotations

import asyncio
import threading

from mcpdecl.server.mailbox import LOG_BYTES, LOG_COUNT, Answer, Mailbox


def test_a_waiting_value_is_replaced_by_a_newer_one_of_its_key() -> None:
    async def life() -> None:
        box = Mailbox()
        box.post("progress", b"1")
        box.post("other", b"x")
        box.post("progress", b"2")
        assert box.take() == ([b"x", b"2"], None)
        assert box.take() == ([], None)

    asyncio.run(life())


def test_it_rings_once_until_something_is_taken() -> None:
    async def life() -> None:
        rings: list[int] = []
        box = Mailbox(lambda: rings.append(1), pace=0.0)
        for n in range(10):
            box.post(n, b"x")
        assert len(rings) == 1
        box.take()
        box.post("more", b"x")
        assert len(rings) == 2

    asyncio.run(life())


def test_a_flood_is_paced_and_merged_and_never_holds_the_answer_up() -> None:
    async def life() -> None:
        rings: list[int] = []
        box = Mailbox(lambda: rings.append(1), pace=3600.0)
        box.post("progress", b"first")
        assert len(rings) == 1, "the first goes out at once"
        box.take()
        for n in range(1000):
            box.post("progress", b"%d" % n)
            box.post_log(b"log")
        assert len(rings) == 1
        box.finish(Answer(200, {}, b"end"))
        assert len(rings) == 2
        messages, answer = box.take()
        assert messages[-2:] == [b"999", b"log"]
        assert len(messages) == LOG_COUNT + 1
        assert answer is not None

    asyncio.run(life())


def test_what_is_paced_goes_out_in_time() -> None:
    async def life() -> None:
        rung = asyncio.Event()
        box = Mailbox(rung.set, pace=0.01)
        box.post("progress", b"1")
        box.take()
        rung.clear()
        threading.Thread(target=box.post, args=("progress", b"2")).start()
        await asyncio.wait_for(rung.wait(), 15)
        assert box.take() == ([b"2"], None)

    asyncio.run(life())


def test_what_waits_for_its_time_is_forgotten_with_the_rest() -> None:
    async def life() -> None:
        rings: list[int] = []
        box = Mailbox(lambda: rings.append(1), pace=0.01)
        box.post("progress", b"1")
        box.take()
        box.post("progress", b"2")
        box.discard()
        await asyncio.sleep(0.05)
        assert rings == [1]

    asyncio.run(life())


def test_the_answer_is_last_and_closes() -> None:
    async def life() -> None:
        box = Mailbox()
        box.post("a", b"1")
        box.finish(Answer(200, {}, b"end"))
        box.post("a", b"2")
        box.post_log(b"3")
        box.finish(Answer(200, {}, b"another"))
        assert box.closed
        messages, answer = box.take()
        assert messages == [b"1"]
        assert answer is not None
        assert answer.body == b"end"
        assert box.take() == ([], None)

    asyncio.run(life())


def test_logs_are_bounded_in_number_and_size() -> None:
    async def life() -> None:
        box = Mailbox()
        box.post("progress", b"p")
        for n in range(LOG_COUNT + 50):
            box.post_log(b"%d" % n)
        messages, _ = box.take()
        assert len(messages) == LOG_COUNT + 1
        assert messages[0] == b"p"
        assert messages[-1] == b"%d" % (LOG_COUNT + 49)
        for _ in range(10):
            box.post_log(b"x" * (LOG_BYTES // 2))
        assert len(box.take()[0]) == 2
        box.post_log(b"x" * LOG_BYTES * 2)
        assert len(box.take()[0]) == 1

    asyncio.run(life())


def test_what_is_discarded_is_not_sent() -> None:
    async def life() -> None:
        box = Mailbox()
        box.post("a", b"1")
        box.discard()
        box.finish(Answer())
        assert box.take() == ([], None)

    asyncio.run(life())


def test_threads_may_post_and_the_loop_is_woken() -> None:
    async def life() -> None:
        woken = asyncio.Event()
        seen: list[int] = []

        def wake() -> None:
            seen.append(threading.get_ident())
            woken.set()

        box = Mailbox(wake)

        def work() -> None:
            for n in range(1000):
                box.post("progress", b"%d" % n)
                box.post_log(b"log")

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        await asyncio.wait_for(woken.wait(), 10)
        await asyncio.to_thread(lambda: [t.join() for t in threads])
        messages, _ = box.take()
        assert b"999" in messages or messages == []
        assert set(seen) == {threading.get_ident()}

    asyncio.run(life())


def test_posting_after_the_loop_has_ended_is_harmless() -> None:
    boxes: list[Mailbox] = []

    async def life() -> None:
        boxes.append(Mailbox(lambda: None))

    asyncio.run(life())
    thread = threading.Thread(target=lambda: boxes[0].post("a", b"1"))
    thread.start()
    thread.join()
