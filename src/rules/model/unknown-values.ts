/** Of what a worker does not apply as it was evaluated: what may be known once it has read the cluster. */
export const UNKNOWN_VALUES = 'values that only the cluster has'
