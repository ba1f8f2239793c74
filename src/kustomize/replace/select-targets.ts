import type { Entry, Target } from '../kustomization.ts'
import type { Resource } from '../resource/resource.ts'
import { matchesPattern } from '../select/pattern.ts'
import { selectsNotes } from '../select/select.ts'
import type { ReplacementTarget } from './replacement.ts'
import { idsOf, type RawId } from './resource-ids.ts'

const PARTS = ['group', 'version', 'kind', 'name', 'namespace'] as const

/**
 * Whether a target of a replacement takes an object: labels and annotations fit, no rejection does, and one of its ids
 * matches in every part (api/types/replacement.go, TargetSelectorRegex). A rejection with both a name and labels rejects
 * what fits either.
 */
export class TargetSelection {
  private readonly target: ReplacementTarget
  private readonly known = new Map<Entry, Map<string, boolean>>()

  constructor(target: ReplacementTarget) {
    this.target = target
  }

  takes(resource: Resource): boolean {
    const { select, reject } = this.target
    if (!selectsNotes(select, resource)) return false
    for (const one of reject) {
      if ((one.labelSelector || one.annotationSelector) && selectsNotes(one, resource)) return false
    }
    const ids = idsOf(resource)
    const named = reject.filter(one => PARTS.some(part => one[part]))
    if (named.some(one => ids.some(id => this.matches(one, id)))) return false
    return ids.some(id => this.matches(select, id))
  }

  private matches(selector: Target, id: RawId): boolean {
    return PARTS.every(part => {
      const pattern = selector[part]
      return pattern === undefined || this.matchesText(pattern, id[part])
    })
  }

  private matchesText(pattern: Entry, text: string): boolean {
    // what has no special character matches itself alone
    if (/^[\w-]*$/.test(pattern.text)) return pattern.text === text
    const known = this.known.get(pattern) ?? new Map<string, boolean>()
    this.known.set(pattern, known)
    const matches = known.get(text) ?? matchesPattern(pattern, text)
    known.set(text, matches)
    return matches
  }
}
