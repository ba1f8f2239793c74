import type { Node } from '../kube/node.ts'

/** Whether a place in an object lies in a part of it that holds secrets. */
export interface Sealing {
  /** The fields of the nearest object around that hold them. */
  readonly parts: readonly string[]
  /** How many steps lead to such a part. */
  readonly depth?: number
}

/** Parts of kinds that hold nothing but secrets, or nothing that can be read. Any group: an operator may copy the kind. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  Secret: ['data', 'stringData'],
  SealedSecret: ['encryptedData'],
  ConfigMap: ['binaryData'],
}

export const UNSEALED: Sealing = { parts: [] }

/** The sealing of what is in a map, of which there may be two versions: it may be an object inside of another one. */
export function sealingIn(sealing: Sealing, versions: readonly Node[]): Sealing {
  const kinds = versions.flatMap(version => {
    const kind = version.type === 'map' ? version.fields.get('kind')?.value : undefined
    return kind?.type === 'scalar' && typeof kind.value === 'string' ? [kind.value] : []
  })
  if (kinds.length === 0) return sealing
  const parts = kinds.flatMap(kind => (Object.hasOwn(PARTS, kind) ? PARTS[kind]! : []))
  return { ...sealing, parts }
}

/** The sealing of a field that lies `depth` steps deep. */
export function sealingOf(sealing: Sealing, name: string, depth: number): Sealing {
  return sealing.depth === undefined && sealing.parts.includes(name) ? { ...sealing, depth } : sealing
}
