# A student's JupyterLab on a hub whose servers are containers: docs/hub.md. It holds nothing of the course but its packages.
FROM python:3.11-slim

# pip's own settings, for a course with a mirror: install_torch.sh says what they are good for.
ARG PIP_EXTRA_INDEX_URL=""
ARG PIP_INDEX_URL=""
ARG PIP_NO_CACHE_DIR=1

WORKDIR /srv/packages
COPY pyproject.toml requirements.lock docker/start_as_student.sh autograder/exports/gradescope_bundle/install_torch.sh ./
RUN sh install_torch.sh requirements.lock python pip
RUN python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'], sep='\n')" > students.txt \
 && pip install --constraint requirements.lock --requirement students.txt "jupyterhub>=6.1,<7" \
 && jupyter labextension disable @jupyter/nbgrader:create-assignment

WORKDIR /home/student
# It starts as root for as long as it takes to become the student.
ENTRYPOINT ["sh", "/srv/packages/start_as_student.sh"]
CMD ["jupyterhub-singleuser"]
