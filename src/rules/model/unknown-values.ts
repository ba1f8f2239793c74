/** Of what a worker does not apply as it was evaluated: what is known once the values of the cluster are read. */
export const UNKNOWN_VALUES = 'values that only the cluster has'

/** What is known once the files are opened with a key of the cluster. */
export const SEALED_FILES = 'Secrets that are generated from encrypted files'

/** What is known once the patches are opened with a key of the cluster: until then, what they change is not. */
export const SEALED_PATCHES = 'encrypted patches'

/** What is known once the objects are decrypted with a key of the cluster: more than the values of a Secret or ConfigMap. */
export const SEALED_FIELDS = 'SOPS encryption outside of the data of a Secret or ConfigMap'
