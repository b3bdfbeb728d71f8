#!/usr/bin/python3
"""A network camera on the loopback interface: rtsp_server.py PORT [STREAM]. Prints the port, which the kernel chooses for 0."""

import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

TEST_PICTURE = "( videotestsrc is-live=true ! video/x-raw,format=I420,width=320,height=240,framerate=30/1 ! jpegenc ! rtpjpegpay name=pay0 )"

Gst.init(None)
server = GstRtspServer.RTSPServer(address="127.0.0.1", service=sys.argv[1])
factory = GstRtspServer.RTSPMediaFactory(shared=True)
factory.set_launch(sys.argv[2] if len(sys.argv) > 2 else TEST_PICTURE)
server.get_mount_points().add_factory("/camera", factory)
if not server.attach(None):
    sys.exit(f"port {sys.argv[1]} cannot be bound")
print(server.get_bound_port(), flush=True)
GLib.MainLoop().run()
