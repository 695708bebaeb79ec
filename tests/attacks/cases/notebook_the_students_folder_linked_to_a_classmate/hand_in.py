def hand_in(folder, notebook):
    """The whole folder of the student is a symbolic link to a classmate's."""
    student = folder.parent
    folder.rmdir()
    student.rmdir()
    student.symlink_to("honest honest")
