"""Lab 13, ``patchify``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

from autograder.testing import alternative, misconception


def _squares(images, p):
    B, H, W, C = images.shape
    if H % p or W % p:
        raise ValueError("the patches do not fit")
    return images.reshape(B, H // p, p, W // p, p, C)  # (B, row, y, column, x, C)


@misconception("patchify", title="a bare reshape into patches")
def patches_by_reshape(images, p):
    """Your patches are strips of the image's rows, because a reshape keeps the order in memory. Split the height and the width first, then
    bring the axes of the patch together."""
    return _squares(images, p).reshape(images.shape[0], -1, p * p * images.shape[3])


@misconception("patchify", title="patches column by column")
def patches_by_columns(images, p):
    """Your patches are right, but they go down the columns first. Text goes row by row, and so do the patches."""
    return _squares(images, p).permute(0, 3, 1, 2, 4, 5).reshape(images.shape[0], -1, p * p * images.shape[3])


@misconception("patchify", title="pixels column by column")
def pixels_by_columns(images, p):
    """Each of your patches holds the right pixels, turned over: within a patch they should go row by row as well."""
    return _squares(images, p).permute(0, 1, 3, 4, 2, 5).reshape(images.shape[0], -1, p * p * images.shape[3])


@misconception("patchify", title="channels first within a patch", keeps="right for images of one channel")
def channels_first(images, p):
    """Your patches hold all pixels of one colour, then all of the next. The channels of a pixel belong side by side."""
    return _squares(images, p).permute(0, 1, 3, 5, 2, 4).reshape(images.shape[0], -1, p * p * images.shape[3])


@misconception(
    "patchify", title="what does not fit is cut off", keeps="right for every image that the patches fill"
)
def patches_cut_off(images, p):
    """An image that the patches do not fill loses its last rows or columns, and nobody notices. Raise a ValueError instead."""
    B, H, W, C = images.shape
    squares = _squares(images[:, : H // p * p, : W // p * p], p)
    return squares.transpose(2, 3).reshape(B, (H // p) * (W // p), p * p * C)


@misconception("patchify", title="patches that stay squares")
def patches_stay_squares(images, p):
    """Your patches are right but still squares: each should be written out as one vector of p · p · C numbers."""
    return _squares(images, p).transpose(2, 3).flatten(1, 2)


@misconception(
    "patchify",
    title="only the area is checked",
    keeps="right but for some images that the patches do not fill",
)
def area_checked(images, p):
    """You look whether the patches' area divides the image's. Patches of 4 × 4 do not fit into 2 × 8 pixels, though both have 16: p must divide
    the height, and the width."""
    B, H, W, C = images.shape
    if (H * W) % (p * p):
        raise ValueError("the patches do not fit")
    return images.reshape(B, H // p, p, W // p, p, C).transpose(2, 3).reshape(B, -1, p * p * C)


@misconception("patchify", title="right for square images only")
def square_images(images, p):
    """You cut as many patches from the width as from the height, so only square images come out right. W / p may differ from H / p."""
    B, H, W, C = images.shape
    if H % p or W % p:
        raise ValueError("the patches do not fit")
    n = H // p
    return images.reshape(B, n, p, n, p, C).transpose(2, 3).reshape(B, n * n, p * p * C)


@misconception("patchify", title="the number of rows where the number of columns belongs")
def rows_for_columns(images, p):
    """You number the patches r · rows + c. A row of patches has as many as there are columns, so row r begins with patch r · columns; for square images both are
    the same."""
    B, H, W, C = images.shape
    squares = _squares(images, p).transpose(2, 3).reshape(B, H // p, W // p, p * p * C)
    result = squares.new_zeros(B, (H // p) * (W // p), p * p * C)
    for r in range(H // p):
        for c in range(W // p):
            result[:, r * (H // p) + c] = squares[:, r, c]
    return result


@misconception(
    "patchify",
    title="one side that fits is enough",
    keeps="right but for images of which one side is not filled",
)
def one_side_is_enough(images, p):
    """An image passes your test when p divides only one of its sides. It must divide both: H % p or W % p raises the ValueError, not “and”."""
    B, H, W, C = images.shape
    if H % p and W % p:
        raise ValueError("the patches do not fit")
    return images.reshape(B, H // p, p, W // p, p, C).transpose(2, 3).reshape(B, -1, p * p * C)


@misconception(
    "patchify", title="axes of length one are gone", keeps="right for several images of several patches"
)
def axes_of_one_are_gone(images, p):
    """With one image, one patch or one number in it an axis of your result is missing: squeeze() takes out every axis of length one."""
    return _squares(images, p).transpose(2, 3).flatten(3).flatten(1, 2).squeeze()


@misconception(
    "patchify", title="a view that needs its numbers in a row", keeps="right but for images that are views"
)
def view_of_a_view(images, p):
    """Your function fails on images that are a transposed view: view() wants the numbers side by side in memory. reshape copies them where it must."""
    _squares(images, p)
    return _squares(images.view(-1).view(images.shape), p).transpose(2, 3).flatten(3).flatten(1, 2)


@misconception(
    "patchify",
    title="an AssertionError where a ValueError is asked for",
    keeps="the values are right; only the kind of the error is not",
)
def patches_asserted(images, p):
    """What does not fit raises an AssertionError in your function. A ValueError is asked for: assert is for what can't happen, and Python may be
    told to skip it."""
    B, H, W, C = images.shape
    assert H % p == 0 and W % p == 0
    return _squares(images, p).transpose(2, 3).reshape(B, -1, p * p * C)


@alternative("patchify")
def patches_by_unfold(images, p):
    _, H, W, _ = images.shape
    if H / p != H // p or W / p != W // p:
        raise ValueError("no")
    return images.unfold(1, p, p).unfold(2, p, p).permute(0, 1, 2, 4, 5, 3).flatten(3).flatten(1, 2)


@alternative("patchify")
def patches_by_slices(images, p):
    images = images.float().numpy()
    _, H, W, _ = images.shape
    if H % p + W % p > 0:
        raise ValueError("no")
    corners = [(r, c) for r in range(0, H, p) for c in range(0, W, p)]
    return [[image[r : r + p, c : c + p].flatten().tolist() for r, c in corners] for image in images]
