"""What people do and what goes wrong: leaving and coming back, no connection, two windows, clips that fail."""

from __future__ import annotations

import json
from collections.abc import Callable

from judging import Judge, Server
from playwright.sync_api import Route, expect

Serve = Callable[..., Server]
Follow = Callable[..., Judge]


def count(server: Server, *kinds: str) -> int:
    return len(server.events(*(kinds or ("answered",))))


def answer(ann: Judge, level: str = "Somewhat similar") -> None:
    ann.hear_all()
    ann.choose(level)
    ann.next()


def test_leave_and_resume_on_another_device(served: Serve, judge: Follow) -> None:
    server = served("grade")
    before = count(server)
    link = server.link()
    ann = judge(link).begin()
    answer(ann)
    ann.expect_saved()
    asked = ann.id
    ann.close()
    again = judge(link).open()
    # No training, no instructions: the question that was on the page.
    expect(again.question).to_have_attribute("data-question", asked)
    expect(again.page.locator(".progress-text")).to_have_text("1 answer")
    answer(again)
    again.expect_saved()
    assert count(server) == before + 2


def test_stop_for_now_and_go_on(served: Serve, judge: Follow) -> None:
    ann = judge(served("grade").link()).begin()
    answer(ann)
    ann.expect_saved()
    page = ann.page
    page.get_by_role("button", name="Stop for now").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    expect(page.get_by_text("You gave 1 answer about 1 piece.")).to_be_visible()
    expect(page.get_by_text("All your answers are saved.")).to_be_visible()
    expect(page.get_by_role("textbox", name="Your link")).to_have_value(ann.link)
    page.get_by_role("button", name="Go on answering").click()
    expect(ann.question).to_be_visible()


def test_offline_in_the_middle(served: Serve, judge: Follow) -> None:
    server = served("grade")
    before = count(server)
    ann = judge(server.link()).begin()
    page = ann.page
    page.wait_for_timeout(300)
    ann.context.set_offline(True)
    ann.hear_all()
    ann.choose("Very similar")
    ann.next()
    expect(page.locator("#banner")).to_contain_text("No connection")
    expect(page.locator("#saved")).to_have_text("Not saved yet")
    # The next question was fetched ahead and can be heard, but not answered before the last answer is saved.
    ann.hear_all()
    ann.choose("Not similar")
    page.locator(".next").click(force=True)
    expect(page.locator(".hint.attempted")).to_contain_text("not saved yet")
    page.wait_for_timeout(2_000)
    assert count(server) == before
    ann.context.set_offline(False)
    ann.expect_saved()
    expect(page.locator("#banner")).to_be_hidden()
    expect(page.get_by_role("radio", name="Not similar", exact=True)).to_be_checked()
    ann.next()
    ann.expect_saved()
    expect(page.locator(".progress-text")).to_have_text("2 answers")
    assert [row["gain"] for row in server.events("answered")[before:]] == [2.0, 0.0]
    ann.problems = [one for one in ann.problems if "ERR_INTERNET_DISCONNECTED" not in one]


def test_an_answer_kept_offline_survives_the_page(served: Serve, judge: Follow) -> None:
    server = served("grade")
    before = count(server)
    ann = judge(server.link()).begin()
    page = ann.page
    page.route("**/api/judge/answers", lambda route: route.abort())
    answer(ann)
    expect(page.locator("#saved")).to_have_text("Not saved yet")
    page.unroute("**/api/judge/answers")
    page.reload()
    expect(page.locator(".progress-text")).to_have_text("1 answer")
    ann.expect_saved()
    assert count(server) == before + 1
    ann.problems = [one for one in ann.problems if "ERR_FAILED" not in one]


def test_an_answer_whose_receipt_is_lost_counts_once(served: Serve, judge: Follow) -> None:
    server = served("grade")
    before = count(server)
    ann = judge(server.link()).begin()
    lost: list[str] = []

    def lose(route: Route) -> None:
        route.fetch()
        lost.append(json.loads(route.request.post_data or "")["key"])
        route.abort() if len(lost) < 2 else route.continue_()

    ann.page.route("**/api/judge/answers", lose)
    answer(ann)
    ann.expect_saved()
    assert len(set(lost)) == 1 < len(lost)
    assert count(server) == before + 1
    ann.problems = [one for one in ann.problems if "ERR_FAILED" not in one]


def test_a_double_click_is_one_answer(served: Serve, judge: Follow) -> None:
    server = served("grade")
    before = count(server)
    ann = judge(server.link()).begin()
    ann.hear_all()
    ann.choose("Very similar")
    first = ann.id
    ann.page.locator(".next").dblclick()
    expect(ann.question).not_to_have_attribute("data-question", first)
    ann.expect_saved()
    ann.page.wait_for_timeout(200)
    assert count(server) == before + 1
    expect(ann.page.locator(".progress-text")).to_have_text("1 answer")


def test_two_tabs(served: Serve, judge: Follow) -> None:
    server = served("grade")
    before = count(server)
    link = server.link()
    ann = judge(link).begin()
    ann.hear_all()
    ann.choose("Very similar")
    first = ann.id
    other = Judge(ann.context, link).open()
    expect(other.question).to_have_attribute("data-question", first)
    other.hear_all()
    other.choose("Not similar")
    # Both answer the same question; the second one is told, and nothing is doubled.
    ann.page.evaluate("document.querySelector('.next').click()")
    ann.expect_saved()
    other.page.locator(".next").click()
    expect(other.question).not_to_have_attribute("data-question", first)
    expect(other.page.locator(".toast")).to_contain_text("another window")
    assert [row["gain"] for row in server.events("answered")[before:]] == [2.0]
    # A tab that is looked at again shows the question of now.
    answer(other)
    other.expect_saved()
    ann.page.bring_to_front()
    ann.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(ann.question).to_have_attribute("data-question", other.id)
    assert not other.problems


def test_a_clip_that_fails(served: Serve, judge: Follow) -> None:
    server = served("grade")
    before = count(server)
    reports = count(server, "unplayable")
    ann = judge(server.link()).open()
    page = ann.page
    page.get_by_role("button", name="Begin").click()
    ann.train()
    broken = page.evaluate("__earmark.player.tracks.get('candidate 0').url")
    page.route(f"**{broken}", lambda route: route.fulfill(status=200, body=b"this is no sound"))
    page.reload()
    page.locator("[data-part=query] .play").click()
    expect(page.locator("[data-part='candidate 0'] .trouble")).to_contain_text("does not play")
    expect(page.locator("[data-part='candidate 0'] .play")).to_be_disabled()
    ann.choose("Very similar")
    page.locator(".next").click(force=True)
    expect(page.locator(".hint.attempted")).to_contain_text("Does not play: Candidate")
    first = ann.id
    page.get_by_role("button", name="Report it and go on").click()
    expect(page.get_by_role("radio", name="Candidate")).to_be_checked()
    page.get_by_label("What happens?").fill("silence")
    page.get_by_role("button", name="Report and go on").click()
    expect(ann.question).not_to_have_attribute("data-question", first)
    ann.expect_saved()
    assert count(server) == before
    assert count(server, "unplayable") == reports + 1


def test_a_clip_that_cannot_be_fetched_can_be_tried_again(served: Serve, judge: Follow) -> None:
    ann = judge(served("grade").link()).begin()
    page = ann.page
    wanted = page.evaluate("__earmark.player.tracks.get('candidate 0').url")
    page.route(f"**{wanted}", lambda route: route.abort())
    page.reload()
    expect(page.locator("[data-part='candidate 0'] .trouble")).to_contain_text("could not be loaded")
    page.unroute(f"**{wanted}")
    page.get_by_role("button", name="Try again").click()
    ann.hear_all()
    ann.choose("Very similar")
    ann.next()
    ann.expect_saved()
    ann.problems = [one for one in ann.problems if "ERR_FAILED" not in one]


def test_back_and_reload_keep_what_was_typed(served: Serve, judge: Follow) -> None:
    server = served("grade")
    before = count(server)
    ann = judge(server.link())
    page = ann.page
    page.goto(f"{server.address}/")
    ann.begin()
    answer(ann)
    ann.expect_saved()
    asked = ann.id
    ann.hear_all()
    ann.choose("Not similar")
    page.locator("summary").click()
    page.get_by_label("A comment on this question").fill("noisy")
    for move in (page.reload, lambda: (page.go_back(), page.go_forward())):
        move()
        expect(ann.question).to_have_attribute("data-question", asked)
        expect(page.get_by_role("radio", name="Not similar", exact=True)).to_be_checked()
        expect(page.get_by_label("A comment on this question")).to_have_value("noisy")
        expect(page.locator(".hint")).to_have_text("Ready to save.")
    assert count(server) == before + 1
    comments = count(server, "commented")
    ann.next()
    ann.expect_saved()
    assert count(server) == before + 2
    assert server.events("commented")[comments]["text"] == "noisy"


def test_undo(served: Serve, judge: Follow) -> None:
    server = served("grade")
    before = count(server)
    ann = judge(server.link()).begin()
    page = ann.page
    first = ann.id
    expect(page.get_by_role("button", name="Undo the last answer")).to_have_count(0)
    answer(ann, "Very similar")
    ann.expect_saved()
    second = ann.id
    page.get_by_role("button", name="Undo the last answer").click()
    expect(ann.question).to_have_attribute("data-question", first)
    expect(page.get_by_role("radio", name="Very similar", exact=True)).to_be_checked()
    expect(page.locator(".progress-text")).to_have_text("0 answers")
    ann.choose("Not similar")
    ann.next()
    ann.expect_saved()
    expect(ann.question).to_have_attribute("data-question", second)
    expect(page.locator(".progress-text")).to_have_text("1 answer")
    assert server.events("answered")[before:][-1]["gain"] == 0.0


def test_skip(served: Serve, judge: Follow) -> None:
    server = served("grade")
    before, skipped = count(server), count(server, "skipped")
    ann = judge(server.link()).begin()
    first = ann.id
    ann.page.keyboard.press("s")
    ann.page.get_by_label("Why?").fill("too loud")
    ann.page.get_by_role("button", name="Skip it").click()
    expect(ann.question).not_to_have_attribute("data-question", first)
    ann.expect_saved()
    assert (count(server), count(server, "skipped")) == (before, skipped + 1)


def test_listening_comes_first(served: Serve, judge: Follow) -> None:
    server = served("grade")
    ann = judge(server.link()).begin()
    page = ann.page
    ann.choose("Very similar")
    page.locator(".next").click(force=True)
    expect(page.locator(".hint.attempted")).to_have_text("Still to hear: Query (1 s) and Candidate (1 s).")
    expect(page.locator("#alert")).to_contain_text("Still to hear")
    page.locator("[data-part=query] .play").click()
    expect(page.locator(".hint")).to_have_text("Still to hear: Candidate (1 s).")
    page.locator("[data-part='candidate 0'] .play").click()
    expect(page.locator(".hint")).to_have_text("Ready to save.")


def test_an_open_link(served: Serve, judge: Follow) -> None:
    server = served("grade")
    link = server.open_link(1)
    ann = judge(link).open()
    page = ann.page
    page.get_by_role("button", name="Take part").click()
    expect(page.get_by_role("heading", name="What to do")).to_be_visible()
    own = page.url
    assert own != link
    page.reload()
    expect(page.get_by_role("heading", name="What to do")).to_be_visible()
    assert page.url == own
    late = judge(link).open()
    expect(late.page.get_by_role("heading", name="All places are taken")).to_be_visible()


def test_a_link_that_is_revoked(served: Serve, judge: Follow) -> None:
    server = served("grade")
    link = server.link("Rita")
    ann = judge(link).begin()
    # Once the clips are there, the answer is the first to be told.
    ann.hear_all()
    ann.choose("Very similar")
    server.link("Rita")
    ann.page.locator(".next").click()
    expect(ann.page.get_by_role("heading", name="This link does not work any more")).to_be_visible()
    ann.page.reload()
    expect(ann.page.get_by_role("heading", name="This link does not work")).to_be_visible()
    ann.problems = [one for one in ann.problems if "401" not in one and "404" not in one]


def test_another_language(served: Serve, judge: Follow) -> None:
    ann = judge(served("grade").link()).open()
    page = ann.page
    page.get_by_role("link", name="Español").click()
    expect(page.get_by_role("heading", name="Qué hay que hacer")).to_be_visible()
    assert page.locator("html").get_attribute("lang") == "es"
    page.get_by_role("button", name="Empezar").click()
    expect(page.get_by_role("heading", name="¿Cuánto se parecen estas dos piezas?")).to_be_visible()


def test_a_pilot_is_told(served: Serve, judge: Follow) -> None:
    ann = judge(served("grade").link(pilot=True)).open()
    expect(ann.page.get_by_text("Pilot: your answers do not count")).to_be_visible()


def test_a_busy_server_is_asked_again_for_a_clip(served: Serve, judge: Follow) -> None:
    ann = judge(served("grade").link()).begin()
    page = ann.page
    wanted = page.evaluate("__earmark.player.tracks.get('candidate 0').url")
    asked: list[int] = []

    def refuse_twice(route: Route) -> None:
        asked.append(503 if asked else 429)
        route.fulfill(status=asked[-1]) if len(asked) < 3 else route.continue_()

    page.route(f"**{wanted}", refuse_twice)
    page.reload()
    ann.hear_all()
    assert len(asked) == 3
    page.unroute(f"**{wanted}")
    # One that stays busy is not called broken.
    page.route(f"**{wanted}", lambda route: route.fulfill(status=503))
    page.reload()
    trouble = page.locator("[data-part='candidate 0'] .trouble")
    expect(trouble).to_contain_text("could not be loaded", timeout=12_000)
    # One that is gone is.
    page.unroute(f"**{wanted}")
    page.route(f"**{wanted}", lambda route: route.fulfill(status=404))
    page.reload()
    expect(trouble).to_contain_text("does not play")
    ann.problems = [one for one in ann.problems if not any(code in one for code in ("429", "503", "404"))]


def test_a_clip_for_which_the_link_is_no_longer_good(served: Serve, judge: Follow) -> None:
    ann = judge(served("grade").link()).begin()
    ann.page.route("**/media/*", lambda route: route.fulfill(status=401))
    ann.page.reload()
    expect(ann.page.get_by_role("heading", name="This link does not work any more")).to_be_visible()
    ann.problems = [one for one in ann.problems if "401" not in one]


def test_few_files_are_fetched_at_once_and_those_on_the_page_first(served: Serve, judge: Follow) -> None:
    ann = judge(served("lists").link()).begin()
    page = ann.page
    page.add_init_script(
        """
        window.fetched = { now: 0, most: 0, order: [] };
        const real = window.fetch;
        window.fetch = async (path, how) => {
          if (!String(path).startsWith("/media/")) return real(path, how);
          fetched.order.push(String(path));
          fetched.most = Math.max(fetched.most, ++fetched.now);
          try {
            const answer = await real(path, how);
            await new Promise((resolve) => setTimeout(resolve, 100));
            return answer;
          } finally {
            fetched.now -= 1;
          }
        };
        """
    )
    page.reload()
    expect(ann.question).to_be_visible()
    page.wait_for_function("() => fetched.order.length > 20 && fetched.now === 0")
    assert page.evaluate("fetched.most") == 4
    here = set(page.evaluate("[...__earmark.player.tracks.values()].map(({ url }) => url)"))
    places = [place for place, path in enumerate(page.evaluate("fetched.order")) if path in here]
    # All but what was on its way when the question came onto the page: its clips and their waveforms.
    assert max(places) < 2 * len(here) + 4
