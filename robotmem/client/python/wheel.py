"""Puts the program robotmem into a wheel: ROBOTMEM_WHEEL_PROGRAM is its path, ROBOTMEM_WHEEL_TAG the
platform, such as manylinux_2_17_x86_64. Without them the wheel is pure and looks for it on PATH."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Hook(BuildHookInterface):
    def initialize(self, version, build_data):
        program = os.environ.get("ROBOTMEM_WHEEL_PROGRAM")
        if program:
            build_data["pure_python"] = False
            build_data["tag"] = "py3-none-" + os.environ["ROBOTMEM_WHEEL_TAG"]
            build_data["force_include"][program] = "robotmem_node/bin/" + os.path.basename(program)
