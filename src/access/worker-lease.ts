/** Name of the Lease, in the worker's namespace, that the replica of a worker in a cluster holds while it applies. */
export const WORKER_LEASE = 'bailiwick-worker'
