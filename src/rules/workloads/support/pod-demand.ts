import type { Node, Path } from '../../../kube/node.ts'

/**
 * `baseline`, `restricted`: the policies of the Pod Security Standards. `unusual`: in neither, but a way to what others
 * keep for themselves.
 */
export type Standard = 'baseline' | 'restricted' | 'unusual'

/** What is asked of one field, wherever it is set. What is not set is never asked about. */
export interface PodRequirement {
  /** Below the pod's spec, the container or its securityContext; `*` is each item of a list. */
  readonly path: Path
  /** Which standard a value breaks; undefined where it may stand. `inUserNamespace`: the pod says `hostUsers: false`. */
  breaks(node: Node, inUserNamespace: boolean): Standard | undefined
  /** What Pod Security admission calls it. */
  readonly reason: string
  /** What may stand there, for people. */
  readonly allowed: string
}

/** Requires one of a set of values. */
export function oneOf(path: Path, values: readonly string[], standard: Standard, reason: string): PodRequirement {
  const known = new Set(values)
  const breaks = (node: Node) => (node.type === 'scalar' && known.has(String(node.value)) ? undefined : standard)
  return { path, breaks, reason, allowed: `${values.filter(value => value !== '').join(', ')} or nothing` }
}

/** Requires what `isFine` decides. */
export function only(
  path: Path,
  isFine: (node: Node) => boolean,
  standard: Standard,
  reason: string,
  allowed: string,
): PodRequirement {
  return { path, breaks: node => (isFine(node) ? undefined : standard), reason, allowed }
}
