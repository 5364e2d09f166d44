"""The small graphs that methods have stumbled over, which are those of ``edgewise torture``."""

from edgewise.torture.zoo import ZOO as ZOO
