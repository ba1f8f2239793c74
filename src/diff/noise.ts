import type { Operation } from './diff-nodes.ts'

/** What Flux drops before it applies, or the API server writes itself (fluxcd/pkg ssa/normalize). */
const METADATA = new Set(['creationTimestamp', 'generation', 'managedFields', 'resourceVersion', 'selfLink', 'uid'])
const ANNOTATIONS =
  /^(?:kubectl\.kubernetes\.io\/last-applied-configuration$|kustomize\.toolkit\.fluxcd\.io\/checksum$|fluxcd\.io\/sync-|(?:internal\.)?config\.kubernetes\.io\/)/

/** Whether a difference means nothing to the cluster. */
export function isNoise({ path, was, now }: Operation): boolean {
  const [first, second, third] = path
  if (first === 'status' || first === 'sops') return true
  if (first !== 'metadata') return false
  if (typeof second === 'string' && METADATA.has(second)) return true
  if (second !== 'annotations' && second !== 'labels') return false
  if (typeof third === 'string') return second === 'annotations' && ANNOTATIONS.test(third)
  const whole = was ?? now
  return path.length === 2 && !(was && now) && whole?.type === 'map' && [...whole.fields.keys()].every(isStripped)
}

const isStripped = (name: string): boolean => ANNOTATIONS.test(name)
