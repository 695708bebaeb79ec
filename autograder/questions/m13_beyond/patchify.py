"""Lab 13, patchify: images (B, H, W, C), p → squares as vectors, row by row (B, N, p · p · C)."""

import numpy as np
import torch

from autograder.questions.engine import Observed, Question


def square_by_square(images, p):
    images = np.asarray(images)
    _, H, W, _ = images.shape
    if H % p or W % p:
        raise ValueError("the patches do not fill the image")
    corners = [(r, c) for r in range(0, H, p) for c in range(0, W, p)]
    return np.array([[image[r : r + p, c : c + p].ravel() for r, c in corners] for image in images])


question = Question(square_by_square)


def images(rng, *shape):
    """Images whose numbers are all different."""
    return torch.tensor(rng.permutation(int(np.prod(shape))).reshape(shape) / 2)


@question.family("Square images with one channel.")
def squares(rng):
    yield images(rng, 2, 6, 6, 1), 2
    yield images(rng, 3, 6, 6, 1), 3


@question.family("Images higher than wide, and wider than high.", weight=1.25)
def no_squares(rng):
    for shape, p in (((2, 4, 10, 1), 2), ((3, 9, 3, 1), 3)):
        yield images(rng, *shape), p


@question.family("Several channels keep each pixel's numbers together.", weight=0.75)
def colours(rng):
    for shape, p in (((2, 4, 4, 3), 2), ((2, 6, 6, 2), 3)):
        yield images(rng, *shape), p


@question.family("One image, patches of one pixel, and one patch that is the whole image.", weight=0.75)
def the_smallest_and_the_largest(rng):
    yield images(rng, 2, 4, 4, 3), 1
    yield images(rng, 2, 4, 4, 2), 4
    yield images(rng, 1, 4, 4, 1), 4
    yield images(rng, 2, 3, 3, 1), 1


@question.family("A ValueError where p does not divide both height and width, and only there.", weight=0.75)
def what_does_not_fit(rng):
    yield images(rng, 2, 4, 4, 1), 2
    for shape, p in (
        ((1, 6, 4, 1), 3),
        ((1, 4, 6, 1), 3),
        ((2, 4, 6, 2), 4),
        ((1, 3, 3, 1), 6),
        ((1, 2, 8, 1), 4),
    ):
        yield images(rng, *shape), p


@question.scenario("Images that are transposed views are cut like any others.", weight=0.5)
def transposed_views(student, rng):
    for seen in (images(rng, 2, 3, 6, 4).permute(0, 3, 2, 1), images(rng, 3, 6, 4, 2).permute(3, 2, 1, 0)):
        yield Observed("the patches of a view", np.asarray(student(seen, 2)))


def squares_of(images, p):
    B, H, W, C = images.shape
    if H % p or W % p:
        raise ValueError("the patches do not fit")
    return images.reshape(B, H // p, p, W // p, p, C)  # (B, row, y, column, x, C)


@question.misconception("a bare reshape into patches", costs=3)
def patches_by_reshape(images, p):
    """Your patches are strips of the image's rows, because a reshape keeps the order in memory. Split the height and the width first, then
    bring the axes of the patch together."""
    return squares_of(images, p).reshape(images.shape[0], -1, p * p * images.shape[3])


@question.misconception("patches column by column", costs=2.25)
def patches_by_columns(images, p):
    """Your patches are right, but they go down the columns first. Text goes row by row, and so do the patches."""
    return squares_of(images, p).permute(0, 3, 1, 2, 4, 5).flatten(1, 2).flatten(2)


@question.misconception("pixels column by column", costs=2, because="each patch holds the right pixels")
def pixels_by_columns(images, p):
    """Each of your patches holds the right pixels, turned over: within a patch they should go row by row as well."""
    return squares_of(images, p).permute(0, 1, 3, 4, 2, 5).flatten(1, 2).flatten(2)


@question.misconception("channels first within a patch", costs=1.75)
def channels_first(images, p):
    """Your patches hold all pixels of one colour, then all of the next. The channels of a pixel belong side by side."""
    return squares_of(images, p).permute(0, 1, 3, 5, 2, 4).flatten(1, 2).flatten(2)


@question.misconception("what does not fit is cut off", costs=0.75)
def patches_cut_off(images, p):
    """An image that the patches do not fill loses its last rows or columns, and nobody notices. Raise a ValueError instead."""
    B, H, W, C = images.shape
    squares = squares_of(images[:, : H // p * p, : W // p * p], p)
    return squares.transpose(2, 3).reshape(B, (H // p) * (W // p), p * p * C)


@question.misconception("patches that stay squares", costs=2, because="the patches are right")
def patches_stay_squares(images, p):
    """Your patches are right but still squares: each should be written out as one vector of p · p · C numbers."""
    return squares_of(images, p).transpose(2, 3).flatten(1, 2)


@question.misconception("right for square images only", costs=2, because="right for square images")
def square_images(images, p):
    """You cut as many patches from the width as from the height, so only square images come out right. W / p may differ from H / p."""
    B, H, W, C = images.shape
    if H % p or W % p:
        raise ValueError("the patches do not fit")
    n = H // p
    return images.reshape(B, n, p, n, p, C).transpose(2, 3).reshape(B, n * n, p * p * C)


@question.alternative
def patches_by_unfold(images, p):
    _, H, W, _ = images.shape
    if H / p != H // p or W / p != W // p:
        raise ValueError("no")
    return images.unfold(1, p, p).unfold(2, p, p).permute(0, 1, 2, 4, 5, 3).flatten(3).flatten(1, 2)


@question.alternative
def patches_by_slices(images, p):
    images = images.float().numpy()
    _, H, W, _ = images.shape
    if H % p + W % p > 0:
        raise ValueError("no")
    corners = [(r, c) for r in range(0, H, p) for c in range(0, W, p)]
    return [[image[r : r + p, c : c + p].flatten().tolist() for r, c in corners] for image in images]


@question.impostor
def takes_images_for_squares(right, images, p):
    """It takes the height for the width, and leaves the rest of a wide image out.
    One survives: your images are as high as they are wide."""
    return right(images[:, :, : images.shape[1]], p)


@question.impostor
def goes_down_first(right, images, p):
    """It reads images column by column, from top to bottom.
    One survives: your image looks the same when rows and columns change places."""
    return right(images.transpose(1, 2), p)


@question.impostor
def turns_the_colours_round(right, images, p):
    """It writes each pixel's colours in the wrong order.
    One survives: your pixels have one channel, or equal ones."""
    return right(images.flip(-1), p)


@question.impostor
def sees_the_first_image(right, images, p):
    """It takes the first image for all of them.
    One survives: give a batch of two different images."""
    return right(images[:1].expand_as(images), p)


@question.impostor
def knows_one_size(right, images, p):
    """Its patches are always 2 pixels wide.
    One survives: try another size."""
    return right(images, 2)
