import type { FieldSpec } from '../model/field-spec.ts'
import { specMatches } from '../resource/field-spec.ts'
import type { ResourceId } from '../resource/resource.ts'
import { FieldTrie } from './field-trie.ts'
import type { ReferenceRule } from './reference-fields.ts'

/** A field that holds names of what a rule is about. */
interface ReferenceField {
  readonly rule: ReferenceRule
  readonly spec: FieldSpec
}

/** All of them of one kind, in the order in which kustomize looks at them. */
interface ReferenceFields {
  readonly fields: readonly ReferenceField[]
  /** Which of them an object has. */
  readonly trie: FieldTrie
}

const tables = new WeakMap<readonly ReferenceRule[], ReferenceTable>()

/** More kinds than builds have; what comes after them is forgotten again. */
const MAX_KINDS = 1_000

/** The table of a list of rules; nearly every build has the same list. */
export function referenceTable(rules: readonly ReferenceRule[]): ReferenceTable {
  const known = tables.get(rules) ?? new ReferenceTable(rules)
  tables.set(rules, known)
  return known
}

/** Which fields of which kinds are references, found once per kind that occurs. */
class ReferenceTable {
  private readonly rules: readonly ReferenceRule[]
  private readonly known = new Map<string, ReferenceFields>()

  constructor(rules: readonly ReferenceRule[]) {
    this.rules = rules
  }

  fieldsOf(id: Pick<ResourceId, 'group' | 'version' | 'kind'>): ReferenceFields {
    const key = `${id.group}\0${id.version}\0${id.kind}`
    const known = this.known.get(key)
    if (known) return known
    const fields = this.rules.flatMap(rule =>
      // a reference is followed, never made
      rule.referrers.filter(spec => specMatches(spec, id)).map(({ path }) => ({ rule, spec: { path } })),
    )
    const found = { fields, trie: new FieldTrie(fields.map(({ spec }) => spec)) }
    if (this.known.size >= MAX_KINDS) this.known.clear()
    this.known.set(key, found)
    return found
  }
}
