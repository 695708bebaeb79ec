# Grading in a container. docs/run_a_course.md says how it is built and run, and what keeps submissions apart in it.
FROM python:3.11-slim

# pip's own settings, for a course with a mirror: install_torch.sh says what they are good for.
ARG PIP_EXTRA_INDEX_URL=""
ARG PIP_INDEX_URL=""
ARG PIP_NO_CACHE_DIR=1

WORKDIR /srv/course
COPY requirements.lock autograder/exports/gradescope_bundle/install_torch.sh ./
RUN sh install_torch.sh requirements.lock python pip

COPY pyproject.toml README.md nbgrader_config.py ./
COPY autograder autograder
COPY notebooks notebooks
COPY solutions solutions
COPY data data
# A submission under another user's id cannot enter the course's folder. Whoever runs the container with --user is 1000.
RUN pip install --constraint requirements.lock --editable ".[grade]" \
 && chown --recursive 1000:1000 . \
 && chmod 700 .

# The class's folder is mounted here. It holds course.toml, which may be empty, and keeps the salt: a container keeps nothing.
WORKDIR /srv/class
ENV COURSE_FILE=/srv/class/course.toml COURSE_SALT_FILE=/srv/class/.course-salt HOME=/tmp

# Root, so that each submission gets a user id of its own.
ENTRYPOINT ["autograder"]
