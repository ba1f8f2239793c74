import { isDeepStrictEqual } from 'node:util'
import type { IgnoreRule } from '../flux/apply-settings/apply-settings.ts'
import type { Json } from '../kube/node.ts'
import { isAppliedByOther } from './applied-by-other.ts'
import { ignoredPaths } from './ignored-paths.ts'
import { pointed, stepsOf, withPointed } from './json-pointer.ts'

interface Ignoring {
  readonly rules: readonly IgnoreRule[]
  readonly live: Json
  /** What the dry run of `body` gave. */
  readonly dry: Json
  /** What would be applied. */
  readonly body: Json
  /** Who applies it. */
  readonly manager: string
}

interface Left {
  /** Live object and dry run without what is ignored: whether they differ says whether there is anything to apply. */
  readonly live: Json
  readonly dry: Json
  /** What to apply where there is: an ignored field that differs has the value of the cluster, or is left to its manager. */
  readonly body: Json
}

/**
 * Leaves fields as the cluster has them (`spec.ignore`), as kustomize-controller 1.9 does (fluxcd/pkg ssa
 * computeDriftedPaths): they make no drift; where something else does, one that others apply is left out, and one that
 * nobody else applies keeps its live value. An object that is created has all its fields. Pure.
 */
export function leaveIgnored({ rules, live, dry, body, manager }: Ignoring): Left {
  let left: Left = { live, dry, body }
  for (const path of ignoredPaths(rules, dry)) {
    const steps = stepsOf(path)
    const value = pointed(live, steps)
    if (!isDeepStrictEqual(value, pointed(dry, steps))) {
      const kept = isAppliedByOther(live, steps, manager) ? undefined : value
      left = { ...left, body: withPointed(left.body, steps, kept) }
    }
  }
  for (const path of ignoredPaths(rules, dry)) {
    const steps = stepsOf(path)
    left = { ...left, live: withPointed(left.live, steps, undefined), dry: withPointed(left.dry, steps, undefined) }
  }
  return left
}
