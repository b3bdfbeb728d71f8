#!/usr/bin/env python3
"""npu-stream's page in headless Chromium: page_test.py NPU_STREAM [FOLDER_FOR_PICTURES]

Exit code 77 (skipped) without chromium, chromium-driver (Debian), selenium and axe-selenium-python (PyPI)."""

import os
import shutil
import sys
import unittest
from pathlib import Path

from service import PATIENCE, Service

try:
    from axe_selenium_python import Axe
    from selenium import webdriver
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError as error:
    print(f"skipped: {error}; PyPI has selenium and axe-selenium-python")
    sys.exit(77)
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if not CHROMIUM or not DRIVER:
    print("skipped: there is no chromium or no chromedriver; Debian has both, as chromium and chromium-driver")
    sys.exit(77)

PROGRAM = os.path.abspath(sys.argv[1])
PICTURES = Path(sys.argv[2]) if len(sys.argv) > 2 else None
TOKEN = "0123456789abcdef0123"


class Page(unittest.TestCase):
    def open(self, server="", token=None, scheme="light", width=1200, height=900):
        service = Service(PROGRAM, server)
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
        return WebDriverWait(self.browser, PATIENCE).until(lambda _: happened(), what)

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def see_pictures(self):
        seen = "return [...document.querySelectorAll('.tile img')].filter(i => i.naturalWidth > 0).length"
        self.wait("a picture of each stream", lambda: self.browser.execute_script(seen) == 2)

    def check_access(self):
        axe = Axe(self.browser)
        axe.inject()
        self.assertEqual([(v["id"], [n["html"] for n in v["nodes"]]) for v in axe.run()["violations"]], [])

    def test_light_dark_and_phone(self):
        for name, scheme, width in (("light", "light", 1200), ("dark", "dark", 1200), ("phone", "light", 390)):
            with self.subTest(name):
                self.open(scheme=scheme, width=width)
                self.see_pictures()
                self.assertEqual(self.browser.execute_script("return document.documentElement.scrollWidth"), width)
                dark = self.browser.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 28)"
                self.assertEqual(dark, scheme == "dark")
                # 503: no picture within two seconds, on a busy machine.
                severe = [m for m in self.browser.get_log("browser") if m["level"] == "SEVERE" and "status of 503" not in m["message"]]
                self.assertEqual(severe, [])
                self.check_access()
                if PICTURES:
                    self.browser.save_screenshot(str(PICTURES / f"{name}.png"))

    def test_a_line_drawn_by_mouse_counts(self):
        service = self.open()
        self.see_pictures()
        self.find("#stream-door button").click()
        self.wait("the large picture", lambda: self.browser.execute_script("return document.getElementById('video').naturalWidth > 0"))
        self.check_access()
        self.find("#line").click()
        stage = self.find("#stage")
        half = stage.size["width"] // 2 - 4
        drag = ActionChains(self.browser).move_to_element_with_offset(stage, -half, 0).click_and_hold()
        drag.move_to_element_with_offset(stage, half, 0).release().perform()
        self.wait("a count", lambda: any(c in self.find("#places").text for c in "123456789" if f"line 1: {c} forward" in self.find("#places").text))
        self.assertIn("line 1", service.file.read_text())
        self.find("#places button").click()
        self.wait("no line", lambda: self.find("#places").text == "")

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
        self.open(", token-file: token", TOKEN)
        self.wait("the form", lambda: self.find("#token").is_displayed())
        self.find("#token").send_keys("wrong")
        self.find("#login-form button").click()
        self.wait("an error", lambda: "wrong" in self.find("#login-error").text)
        self.find("#token").clear()
        self.find("#token").send_keys(TOKEN)
        self.find("#login-form button").click()
        self.see_pictures()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
