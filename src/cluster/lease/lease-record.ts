import type { Json } from '../../kube/node.ts'
import { jsonAt, stringAt } from '../json-at.ts'

/** What a Lease of coordination.k8s.io/v1 says about who leads. */
export interface LeaseRecord {
  /** '': nobody leads. */
  readonly holder: string
  readonly seconds: number
  /** As the API server has them; never compared with a clock of ours. */
  readonly acquireTime: string
  readonly renewTime: string
  readonly transitions: number
  readonly uid: string
  readonly resourceVersion: string
}

/** Reads a Lease; what is missing is empty, as client-go reads it. */
export function readLease(object: Json): LeaseRecord {
  return {
    holder: stringAt(object, 'spec', 'holderIdentity'),
    seconds: wholeAt(object, 'leaseDurationSeconds'),
    acquireTime: stringAt(object, 'spec', 'acquireTime'),
    renewTime: stringAt(object, 'spec', 'renewTime'),
    transitions: wholeAt(object, 'leaseTransitions'),
    uid: stringAt(object, 'metadata', 'uid'),
    resourceVersion: stringAt(object, 'metadata', 'resourceVersion'),
  }
}

/** The Lease to write; with the uid and resourceVersion of the record, where it has them, as precondition. */
export function leaseObject(namespace: string, name: string, record: LeaseRecord): Json {
  const { holder, seconds, acquireTime, renewTime, transitions, uid, resourceVersion } = record
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace, ...(uid === '' ? {} : { uid, resourceVersion }) },
    spec: {
      holderIdentity: holder,
      leaseDurationSeconds: seconds,
      acquireTime,
      renewTime,
      leaseTransitions: transitions,
    },
  }
}

/** A MicroTime: Kubernetes reads exactly six digits of a second. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z')
}

function wholeAt(object: Json, key: string): number {
  const value = jsonAt(object, 'spec', key)
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : 0
}
