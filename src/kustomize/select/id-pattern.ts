import type { BuildBudget } from '../model/build-budget.ts'
import type { Entry, Target } from '../model/entry.ts'
import { checkPattern, matchesPattern } from './pattern.ts'

/** What a target says of the ids of objects. kustomize compiles all of it before it looks at the first object. */
export const ID_PARTS = ['group', 'version', 'kind', 'name', 'namespace'] as const

export type TextTest = (text: string) => boolean

/**
 * The patterns of a target, to be asked for many objects: what is only a name is compared, and what was answered for a
 * text once is known. Throws what `matchesPattern` throws, whether or not there is any object.
 */
export class IdPattern {
  readonly group: TextTest | undefined
  readonly version: TextTest | undefined
  readonly kind: TextTest | undefined
  readonly name: TextTest | undefined
  readonly namespace: TextTest | undefined

  constructor(target: Target, budget: BuildBudget) {
    for (const part of ID_PARTS) if (target[part]) checkPattern(target[part])
    this.group = testOf(target.group, budget)
    this.version = testOf(target.version, budget)
    this.kind = testOf(target.kind, budget)
    this.name = testOf(target.name, budget)
    this.namespace = testOf(target.namespace, budget)
  }

  /** Whether one id is what the target says in every part. */
  matches(id: Readonly<Record<(typeof ID_PARTS)[number], string>>): boolean {
    if (this.kind && !this.kind(id.kind)) return false
    if (this.name && !this.name(id.name)) return false
    if (this.namespace && !this.namespace(id.namespace)) return false
    return !(this.group && !this.group(id.group)) && !(this.version && !this.version(id.version))
  }
}

function testOf(pattern: Entry | undefined, budget: BuildBudget): TextTest | undefined {
  if (!pattern) return undefined
  // what has no special character matches itself alone
  if (/^[\w-]*$/.test(pattern.text)) return text => text === pattern.text
  const known = new Map<string, boolean>()
  return text => {
    const answer = known.get(text) ?? matchesPattern(pattern, text, budget)
    known.set(text, answer)
    return answer
  }
}
