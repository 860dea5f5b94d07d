"""The robot: FetchPush and FetchSlide, and the policies that move the hand.

An action is four numbers from -1 to 1: how far the hand is to move in x, y and z (1 asks for 5 cm
in 40 ms), and the fingers, which stay closed. An episode has 50 actions. It succeeded if the object
is less than 5 cm from its goal after the last one.
"""

import gymnasium
import numpy as np

gymnasium.logger.min_level = gymnasium.logger.ERROR  # the next import warns of environments that are not used here
import gymnasium_robotics  # noqa: E402

STEPS = 50

gymnasium.register_envs(gymnasium_robotics)


class World:
    """One simulated table."""

    def __init__(self, task):
        self.env = gymnasium.make({"push": "FetchPush-v4", "slide": "FetchSlide-v4"}[task]).unwrapped

    def run(self, scene, policy_for):
        """Live the episode of a scene, which is a number: the same one has the same object and goal.

        policy_for makes the policy from the first observation."""
        obs, _ = self.env.reset(seed=scene)
        first, policy, actions = obs, policy_for(obs), []
        for _ in range(STEPS):
            actions.append(np.clip(policy.act(obs), -1, 1))
            obs, _, _, _, info = self.env.step(np.array(actions[-1], dtype=np.float32))
        return Episode(first, obs, actions, bool(info["is_success"]))


class Episode:
    """What happened: where the object was, where it should go, and where it went."""

    def __init__(self, first, last, actions, success):
        self.start, self.goal, self.end = first["achieved_goal"], first["desired_goal"], last["achieved_goal"]
        self.last, self.actions, self.success = last, actions, success

    @property
    def error(self):
        """Distance from the goal in metres."""
        return float(np.linalg.norm(self.end - self.goal))


def unit(v):
    return v / max(np.linalg.norm(v), 1e-6)


class Follow:
    """The heuristic of the Python robotmem: rise, move over a point behind the object, descend,
    push towards the goal; again from the start when the object has rolled away.

    standoff is the distance of that point from the object in metres, radius how near to it is near
    enough, level how near to the height of the object, speed the length of the action that pushes."""

    def __init__(self, standoff=0.04, radius=0.015, level=0.01, near=0.06, lift=3.0, speed=1.0):
        self.standoff, self.radius, self.level = standoff, radius, level
        self.near, self.lift, self.speed = near, lift, speed

    def push(self, heading, up):
        """The action of the last stage."""
        return np.array([*(self.speed * heading), up, 0])

    def act(self, obs):
        hand, thing, way = obs["observation"][:3], obs["observation"][3:6], (obs["desired_goal"] - obs["achieved_goal"])[:2]
        if np.linalg.norm(way) < 0.005:
            return np.zeros(4)
        gap = thing[:2] - self.standoff * unit(way) - hand[:2]
        below = thing[2] - hand[2]
        if np.linalg.norm(gap) < self.radius:
            if abs(below) < self.level:
                return self.push(unit(way), self.lift * below)
            return np.array([0, 0, np.sign(below), 0])
        if hand[2] <= thing[2] + 0.04 and np.linalg.norm(hand[:2] - thing[:2]) < self.near:
            return np.array([0, 0, 1, 0])
        return np.array([*unit(gap), 3 * (below + 0.08), 0])


class Blend(Follow):
    """Follow with 0.3 of another action mixed into each push, as the Python robotmem uses what it
    recalls: the mean of the last actions of successful episodes."""

    def __init__(self, action, **parameters):
        super().__init__(**parameters)
        self.action = action

    def push(self, heading, up):
        return 0.7 * np.clip(super().push(heading, up), -1, 1) + 0.3 * self.action


class Strike:
    """Hit the object once and let it slide: rise, move behind it, descend, accelerate, stop.

    heading is the direction of the strike in radians, speed the length of its actions."""

    def __init__(self, obs, heading, speed, standoff=0.06, reach=0.04, settle=0.004, gain=20.0):
        self.heading, self.speed = np.array([np.cos(heading), np.sin(heading)]), speed
        self.thing = obs["observation"][3:6].copy()
        self.behind, self.reach = self.thing[:2] - standoff * self.heading, reach
        self.stage, self.settle, self.gain = "move", settle, gain

    def act(self, obs):
        hand = obs["observation"][:3]
        gap, below = self.behind - hand[:2], self.thing[2] - hand[2]
        if self.stage == "move":
            if np.linalg.norm(gap) > 0.02:
                over = np.linalg.norm(hand[:2] - self.thing[:2]) > 0.09 or below < -0.04
                way = gap * 15 if np.linalg.norm(gap) < 0.067 else unit(gap)
                return np.array([*(way if over else 0 * way), 3 * (below + 0.06), 0])
            self.stage = "descend"
        if self.stage == "descend":
            if abs(below) > 0.01 or np.linalg.norm(gap) > self.settle:
                return np.array([*(15 * gap), 10 * below, 0])
            self.stage = "strike"
        if self.stage == "strike":
            way = hand[:2] - self.thing[:2]
            if way @ self.heading < self.reach:
                aside = way - (way @ self.heading) * self.heading
                return np.array([*(self.speed * self.heading - self.gain * aside), 5 * below, 0])
            self.stage = "rest"
        return np.zeros(4)
