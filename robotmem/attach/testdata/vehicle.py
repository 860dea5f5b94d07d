"""A vehicle of pymavlink that flies along a line and has a failure at a place.

    vehicle.py PORT

It sends over UDP to a port of this machine, and prints a line of JSON for each text that it gets.
"""
import json, os, sys, time

os.environ["MAVLINK20"] = "1"

from pymavlink import mavutil
from pymavlink.dialects.v20 import common as mavlink2

link = mavutil.mavlink_connection("udpout:127.0.0.1:%s" % sys.argv[1], source_system=7, dialect="common")
mav = link.mav


def heartbeat(mode):
    mav.heartbeat_send(mavlink2.MAV_TYPE_QUADROTOR, mavlink2.MAV_AUTOPILOT_ARDUPILOTMEGA, 0, mode, mavlink2.MAV_STATE_ACTIVE)


def texts():
    while True:
        m = link.recv_match(type="STATUSTEXT", blocking=False)
        if m is None:
            return
        print(json.dumps({"text": m.text, "severity": m.severity}), flush=True)


heartbeat(3)
time.sleep(0.3)
for i in range(200):
    if i % 20 == 0:
        heartbeat(3 if i < 160 else 6)
    mav.attitude_send(i * 50, 0, 0, 1.0, 0, 0, 0)
    # 0.1 m to the north each time
    mav.global_position_int_send(i * 50, int((48.0 + i * 0.1 / 111194.9) * 1e7), int(11.0 * 1e7), 500000, 10000, 0, 0, 0, 0)
    mav.sys_status_send(0, 0, 0, 0, 0, 0, 50 if i < 180 else 9, 0, 0, 0, 0, 0, 0)
    if i == 100:
        long = b"EKF variance: the compass and the position disagree by more than the limit"
        mav.statustext_send(mavlink2.MAV_SEVERITY_CRITICAL, long[:50], 5, 0)
        mav.statustext_send(mavlink2.MAV_SEVERITY_CRITICAL, long[50:], 5, 1)
    if i == 120:
        mav.statustext_send(mavlink2.MAV_SEVERITY_INFO, b"all good", 0, 0)
    time.sleep(0.01)
    texts()
time.sleep(0.5)
texts()
print(json.dumps({"done": 1}), flush=True)
