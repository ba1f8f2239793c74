/** Reason of a source that is not read yet; such a graph is not complete. */
export const WANTED = 'it has not been read yet'

/** Reason of a source of which it is not known yet whether it may be read; such a graph is not complete either. */
export const ASKED = 'the permission to read it has not been checked yet'
