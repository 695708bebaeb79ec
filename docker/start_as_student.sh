#!/bin/sh
# Gives the student an account of this container, with the name and the number that the hub says, and becomes that student
# for good: start_as_student.sh COMMAND... Each student has a number of their own (NB_UID), or the exchange could not keep
# one from another's work.
set -eu
: "${JUPYTERHUB_USER:?the hub names the student}" "${NB_UID:?the hub gives each student a number, see docs/hub.md}"
[ "$NB_UID" -ge 1000 ]
id -- "$JUPYTERHUB_USER" >/dev/null 2>&1 ||
  useradd --no-create-home --uid "$NB_UID" --home-dir /home/student --shell /bin/bash -- "$JUPYTERHUB_USER"
chown "$NB_UID" /home/student
export HOME=/home/student
exec setpriv --reuid "$NB_UID" --regid "$NB_UID" --clear-groups --no-new-privs -- "$@"
