"""The memory of a robot, in Python.

    from robotmem_node import Memory

    with Memory("arm7.db") as m:
        with m.episode(task="pick the wet glass") as ep:
            ep.learn("grip_force=12.5 N holds the wet glass", context={"params": {"grip_force": 12.5}, "task": {"success": True}})
        print(m.recall("how hard to grip").memories[0].content)

Memory starts the program robotmem, which the wheel carries, or asks a node that runs. AsyncMemory is the
same for asyncio. Submodules: gym (a wrapper for Gymnasium), sb3 (a callback for Stable-Baselines3),
lerobot (episodes of LeRobot datasets), robomimic (demonstrations in HDF5, also of ALOHA), ros (services for ROS 2),
compat (the functions of the Python robotmem).
"""

from ._advisor import Advisor
from ._aio import AsyncEpisode, AsyncMemory
from ._errors import RobotmemError
from ._http import DataReader, Event
from ._memory import Episode, Memory
from ._answer import Answer, Time
from ._operations import AdviseResponse, Briefing, LearnResponse, RecallResponse, SavePerceptionResponse, Session, StoredMemory, Suggestion
from ._recorder import Recorder, RecorderCounts
from ._values import Number
from ._version import VERSION as __version__

__all__ = [
    "AdviseResponse", "Advisor", "Answer", "AsyncEpisode", "AsyncMemory", "Briefing", "DataReader", "Episode", "Event", "LearnResponse", "Memory",
    "Number", "RecallResponse", "Recorder", "RecorderCounts", "RobotmemError", "SavePerceptionResponse", "Session", "StoredMemory", "Suggestion",
    "Time", "__version__",
]
