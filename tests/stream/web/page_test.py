#!/usr/bin/env python3
"""npu-stream's page in headless Chromium: page_test.py NPU_STREAM FOLDER [FOLDER_FOR_PICTURES]

FOLDER: of the environment with selenium and axe, made if this Python lacks them.
Exit code 77 (skipped) without Debian's chromium and chromium-driver."""

import os
import shutil
import sys
import unittest
from pathlib import Path

from service import PATIENCE, SHAPES, Service

TESTS = Path(__file__).resolve().parents[2]
sys.path += [str(TESTS / "support"), str(TESTS / "pipelines")]
import with_packages  # noqa: E402
from clip_counts import crossings, read_visits, stays  # noqa: E402

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if not CHROMIUM or not DRIVER:
    print("skipped: there is no chromium or no chromedriver; Debian has both, as chromium and chromium-driver")
    sys.exit(with_packages.SKIPPED)
with_packages.need(sys.argv[2], selenium="selenium", axe_selenium_python="axe-selenium-python")

from axe_selenium_python import Axe  # noqa: E402
from selenium import webdriver  # noqa: E402
from selenium.common.exceptions import StaleElementReferenceException  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
PICTURES = Path(sys.argv[3]) if len(sys.argv) > 3 else None
TOKEN = "0123456789abcdef0123"
# Each frame is inferred and published: what the lines say after the clip's last one is of the whole clip.
COUNTED = """server: {{port: 0{server}}}
models: {{shapes: {{model: {shapes}/shapes.xml, device: software, threshold: 0.2}}}}
defaults: {{model: shapes, drop: none, count: {{anchor: center}}, publish: "{{id}}.jsonl"}}
streams:
  - id: door
    source: {{file: shapes.mp4, loop: true, realtime: false}}
"""


class Page(unittest.TestCase):
    def open(self, server="", token=None, scheme="light", width=1200, height=900, **cameras):
        service = Service(PROGRAM, server, **cameras)
        self.addCleanup(service.stop)
        if token:
            (service.folder / "token").write_text(token)
            (service.folder / "token").chmod(0o600)
        service.start()
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
        self.addCleanup(self.browser.quit)
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
        self.browser.get(service.url)
        return service

    def wait(self, what, happened):
        # The page replaces what it shows each second.
        return WebDriverWait(self.browser, PATIENCE, ignored_exceptions=[StaleElementReferenceException]).until(lambda _: happened(), what)

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def see_pictures(self, count=2):
        seen = "return [...document.querySelectorAll('.tile img')].filter(i => i.naturalWidth > 0).length"
        self.wait("a picture of each stream", lambda: self.browser.execute_script(seen) == count)

    def show_large(self):
        self.find("#stream-door button").click()
        self.wait("the large picture", lambda: self.browser.execute_script("return document.getElementById('video').naturalWidth > 0"))

    def keep_picture(self, name):
        if PICTURES:
            self.browser.save_screenshot(str(PICTURES / f"{name}.png"))

    def check_access(self):
        axe = Axe(self.browser)
        axe.inject()
        self.assertEqual([(v["id"], [n["html"] for n in v["nodes"]]) for v in axe.run()["violations"]], [])

    def test_light_dark_and_phone(self):
        for name, scheme, width in (("light", "light", 1200), ("dark", "dark", 1200), ("phone", "light", 390), ("phone-dark", "dark", 390)):
            with self.subTest(name):
                self.open(scheme=scheme, width=width)
                self.see_pictures()
                self.assertEqual(self.browser.execute_script("return document.documentElement.scrollWidth"), width)
                dark = self.browser.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 28)"
                self.assertEqual(dark, scheme == "dark")
                self.keep_picture(name)
                self.check_access()
                self.show_large()
                self.keep_picture(name + "-large")
                self.check_access()
                self.assertEqual(self.browser.execute_script("const d = document.getElementById('large'); return d.scrollWidth - d.clientWidth"), 0)
                self.find("#close").click()
                self.find("#add").click()
                self.keep_picture(name + "-add")
                self.check_access()
                # 503: no picture within two seconds, on a busy machine.
                severe = [m for m in self.browser.get_log("browser") if m["level"] == "SEVERE" and "status of 503" not in m["message"]]
                self.assertEqual(severe, [])

    def at_end_of_clip(self, service, kind):
        """The counts of the only line or zone, in the first line behind the clip's last frame that has them."""
        def found():
            ends = [line for line in service.lines("door") if line["pts"] == 299 * 10**9 // 30 and line.get(kind)]
            return ends and ends[0][kind][0]
        return self.wait(f"counted {kind} at the end of the clip", found)

    def drag(self, start, end):
        stage = self.find("#stage")
        half = stage.size["width"] / 2, stage.size["height"] / 2
        (x, y), (to_x, to_y) = [[round((part * 2 - 1) * (size - 1)) for part, size in zip(point, half)] for point in (start, end)]
        actions = ActionChains(self.browser).move_to_element_with_offset(stage, x, y).click_and_hold()
        actions.move_to_element_with_offset(stage, to_x, to_y).release().perform()

    def test_a_line_drawn_by_mouse_counts_what_crosses_it(self):
        service = self.open(cameras=COUNTED)
        self.see_pictures(1)
        self.show_large()
        self.find("#line").click()
        self.drag((0.5, 0), (0.5, 1))
        self.wait("a count", lambda: any(c in self.find("#places").text for c in "123456789"))
        self.keep_picture("line")
        self.assertIn("line 1", service.file.read_text())
        (x, top), (_, bottom) = service.stream("door")["lines"][0]["points"]
        self.assertLess(top, 0.01)
        self.assertGreater(bottom, 0.99)
        to_right, to_left = crossings(read_visits(SHAPES / "shapes.truth.jsonl"), x * 640)
        counted = self.at_end_of_clip(service, "lines")
        self.assertEqual((counted["backward"], counted["forward"]), (len(to_right), len(to_left)))
        self.assertGreater(min(len(to_right), len(to_left)), 5)
        self.find("#places button").click()
        self.wait("no line", lambda: self.find("#places").text == "")
        self.assertNotIn("line 1", service.file.read_text())

    def test_a_zone_drawn_by_mouse_counts_who_enters(self):
        service = self.open(cameras=COUNTED)
        self.see_pictures(1)
        self.show_large()
        self.find("#zone").click()
        stage = self.find("#stage")
        half = stage.size["width"] // 2, stage.size["height"] // 2
        for x, y in ((0, -half[1]), (half[0] - 1, -half[1]), (half[0] - 1, half[1] - 1), (0, half[1] - 1)):
            ActionChains(self.browser).move_to_element_with_offset(stage, x, y).click().perform()
        self.keep_picture("zone")
        self.find("#finish").click()
        self.wait("a count", lambda: "zone 1" in self.find("#places").text)
        self.assertEqual(len(service.stream("door")["zones"][0]["points"]), 4)
        self.assertIn("zone 1", service.file.read_text())
        truth = stays(read_visits(SHAPES / "shapes.truth.jsonl"), 640 * service.stream("door")["zones"][0]["points"][0][0])
        counted = self.at_end_of_clip(service, "zones")
        self.assertEqual((counted["entered"], counted["left"] + len(counted["inside"])), (len(truth), len(truth)))

    def test_another_model_is_chosen(self):
        service = self.open()
        self.see_pictures()
        self.show_large()
        self.find("#model option[value=strict]").click()
        self.wait("the other model", lambda: service.stream("door")["model"] == "strict" and service.stream("door")["state"] == "playing")
        self.assertIn("strict", service.file.read_text().split("id: door")[1].split("id: yard")[0])
        self.wait("frames", lambda: service.stream("door")["width"] > 0)
        self.assertEqual(self.find("#model").get_attribute("value"), "strict")

    def press(self, *keys):
        ActionChains(self.browser).send_keys(*keys).perform()

    def tab_to(self, selector):
        """By the tabulator key. Each place on the way shows that it has the focus."""
        for _ in range(40):
            self.press(Keys.TAB)
            state = self.browser.execute_script("""
                const e = document.activeElement, s = getComputedStyle(e);
                return [e.matches(arguments[0]), e === document.body, s.outlineStyle, parseFloat(s.outlineWidth), e.outerHTML.slice(0, 80)]""",
                                                selector)
            is_there, is_page, style, width, text = state
            if not is_page:
                self.assertTrue(style != "none" and width >= 2, f"no focus is seen at {text}")
            if is_there:
                return
        self.fail(f"{selector} cannot be reached by the keyboard")

    def test_the_keyboard_alone_adds_pauses_and_removes_a_stream(self):
        service = self.open()
        self.see_pictures()
        self.tab_to("#add")
        self.press(Keys.ENTER)
        self.wait("the form", lambda: self.find("#add-dialog").is_displayed())
        self.assertEqual(self.browser.switch_to.active_element.get_attribute("id"), "new-id")
        self.press("new")
        self.tab_to("#new-source")
        self.press("Video")
        self.tab_to("#new-address")
        self.press("shapes.mp4", Keys.ENTER)
        self.wait("the new stream", lambda: self.browser.find_elements(By.ID, "stream-new"))
        self.wait("the form's end", lambda: not self.find("#add-dialog").is_displayed())
        self.tab_to("#stream-new button")
        self.keep_picture("keyboard")
        self.press(Keys.ENTER)
        self.wait("the large picture", lambda: self.find("#large").is_displayed())
        self.tab_to("#pause")
        self.press(Keys.SPACE)
        self.wait("the pause", lambda: service.stream("new")["state"] == "paused" and self.find("#pause").text == "Go on")
        self.press(Keys.SPACE)
        self.wait("the stream", lambda: service.stream("new")["state"] == "playing" and self.find("#pause").text == "Pause")
        self.press(Keys.ESCAPE)
        self.wait("the grid", lambda: not self.find("#large").is_displayed())
        self.assertTrue(self.browser.switch_to.active_element.find_elements(By.XPATH, "ancestor::li[@id='stream-new']"))
        self.press(Keys.ENTER)
        self.tab_to("#remove")
        self.press(Keys.ENTER)
        self.browser.switch_to.alert.accept()
        self.wait("its end", lambda: not self.browser.find_elements(By.ID, "stream-new"))
        self.assertNotIn("new", service.file.read_text())

    def test_a_stream_is_added_and_removed(self):
        service = self.open()
        self.see_pictures()
        self.find("#add").click()
        self.find("#new-id").send_keys("new")
        self.find("#new-source").send_keys("Video")
        self.find("#new-address").send_keys("/etc/passwd")
        self.find("#add-form button.main").click()
        self.wait("why not", lambda: "source.file" in self.find("#add-error").text)
        self.find("#new-address").clear()
        self.find("#new-address").send_keys("shapes.mp4")
        self.find("#add-form button.main").click()
        self.wait("the new stream", lambda: self.browser.find_elements(By.ID, "stream-new"))
        self.find("#stream-new button").click()
        self.find("#remove").click()
        self.browser.switch_to.alert.accept()
        self.wait("its end", lambda: not self.browser.find_elements(By.ID, "stream-new"))
        self.assertNotIn("new", [s["id"] for s in service.ask("GET", "/api/streams").json()["streams"]])

    def test_the_token_opens_the_page(self):
        service = self.open(", token-file: token", TOKEN)
        self.wait("the form", lambda: self.find("#token").is_displayed())
        self.check_access()
        self.keep_picture("login")
        self.assertEqual(self.browser.find_elements(By.CSS_SELECTOR, ".tile"), [])
        self.press(Keys.ESCAPE)
        self.find("#login-form button").click()  # without a token
        self.assertTrue(self.find("#token").is_displayed())
        self.find("#token").send_keys("wrong")
        self.find("#login-form button").click()
        self.wait("an error", lambda: "wrong" in self.find("#login-error").text)
        self.find("#token").clear()
        self.find("#token").send_keys(TOKEN)
        self.find("#login-form button").click()
        self.see_pictures()
        self.assertEqual(service.ask("GET", "/api/streams").status, 401)
        self.find("#logout").click()
        self.wait("the form", lambda: self.find("#token").is_displayed())
        self.assertEqual(self.browser.find_elements(By.CSS_SELECTOR, ".tile"), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
