import type { BailiwickError } from '../../errors.ts'
import type { FleetNode, Lockdown } from '../../fleet/model/fleet.ts'
import { isFatal } from '../../flux/is-fatal.ts'
import type { Hole } from '../../kube/hole.ts'

/** What keeps something of a node from being evaluated, and what it so hides. */
export interface LeftOut {
  readonly error: BailiwickError
  /** Digest of all that it hides. */
  readonly hides: string
  /** Flux refuses it too: nothing of the node is applied. */
  readonly isFatal: boolean
  /** The address, where what is missing lies in no repository. */
  readonly remote?: string
}

/** The holes of a node, and the error for which nothing of it could be built. */
export function leftOutOf(node: Pick<FleetNode, 'error' | 'holes' | 'inputs'>): LeftOut[] {
  const { error, holes = [] } = node
  const parts = holes.map(hole => partOf(hole))
  // a hole that Flux refuses is the node's error, too
  if (!error || parts.some(part => isSame(part.error, error))) return parts
  return [...parts, { error, hides: node.inputs ?? '', isFatal: isFatal(error) }]
}

/** Whether something of a node was built, so that findings about it say what is there. */
export function isBuilt({ digest, objects, holes }: Pick<FleetNode, 'digest' | 'objects' | 'holes'>): boolean {
  return digest !== '' || objects.length > 0 || (holes?.length ?? 0) > 0
}

function partOf({ error, fatal, hides, remote }: Hole): LeftOut {
  return { error, hides, isFatal: fatal, ...(remote === undefined ? {} : { remote }) }
}

function isSame(a: BailiwickError, b: BailiwickError): boolean {
  const textOf = ({ code, message, origin }: BailiwickError) => JSON.stringify([code, message, origin ?? null])
  return a === b || textOf(a) === textOf(b)
}

/** A remote file of the platform that Flux fetches: it is listed as not visible, and a new one needs an approval. */
export function isNotVisible(
  { tenant }: FleetNode,
  { remote, isFatal }: Pick<LeftOut, 'remote' | 'isFatal'>,
  lockdown: Lockdown | undefined,
): boolean {
  return remote !== undefined && tenant === undefined && !isFatal && lockdown?.noRemoteBases !== true
}
