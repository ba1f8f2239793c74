import type { FleetRepository } from '../fleet/model/fleet.ts'
import type { Tree } from '../git/tree.ts'
import { followed } from './evaluated-repositories.ts'

/** Names of the facts about content that are others: `content <url> <ref>`, and `own source`. */
export function* changedContents(
  before: readonly FleetRepository[],
  after: readonly FleetRepository[],
): Generator<string> {
  if (before === after) return
  const [old, young] = [new Map<string, Tree>(), new Map<string, Tree>()]
  for (let index = 0; index < Math.max(before.length, after.length); index++) {
    const [was, is] = [before[index], after[index]]
    if (was === is) continue
    if (was) old.set(followed(was), was.tree)
    if (is) young.set(followed(is), is.tree)
  }
  for (const key of new Set([...old.keys(), ...young.keys()])) {
    if (old.get(key) !== young.get(key)) yield `content ${key}`
  }
  const [own, now] = [before[0], after[0]]
  if (own !== now && (!own || !now || followed(own) !== followed(now))) yield 'own source'
}
