"""The maps of geometry-chain, from places of the output back to places of the picture, which are counted from corners of pixels."""

import numpy as np

SIZE = 224


def matrices(p, height, width):
    """The maps back of crop, flip, translation, shear and turn."""
    def about(matrix, x, y):
        there, back = np.eye(3), np.eye(3)
        there[:2, 2], back[:2, 2] = (x, y), (-x, -y)
        return there @ matrix @ back

    a = np.deg2rad(float(p["angle"]))
    turn = about(np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]]), width / 2, height / 2)
    shear = np.eye(3)
    shear[0, 1], shear[1, 0] = p["shear"]
    shift = np.eye(3)
    shift[:2, 2] = p["offset"]
    flip = about(np.diag([1 - 2 * int(p["flip"]), 1, 1]), width / 2, height / 2)
    crop = np.eye(3)
    crop[:2, 2] = (width - SIZE) // 2, round((height - SIZE) / 2)
    return crop, flip, shift, shear, turn
