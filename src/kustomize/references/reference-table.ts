import type { ResourceId } from '../resource/resource.ts'
import { type FieldSpec, specMatches } from '../transform/field-spec.ts'
import type { ReferenceRule } from './reference-fields.ts'

/** A field that holds names of what a rule is about. */
export interface ReferenceField {
  readonly rule: ReferenceRule
  readonly spec: FieldSpec
}

/** Which fields of which kinds are references, found once per kind that occurs. */
export class ReferenceTable {
  private readonly rules: readonly ReferenceRule[]
  private readonly known = new Map<string, readonly ReferenceField[]>()

  constructor(rules: readonly ReferenceRule[]) {
    this.rules = rules
  }

  /** The fields in the order in which kustomize looks at them. */
  fieldsOf(id: Pick<ResourceId, 'group' | 'version' | 'kind'>): readonly ReferenceField[] {
    const key = `${id.group}\0${id.version}\0${id.kind}`
    const known = this.known.get(key)
    if (known) return known
    const fields = this.rules.flatMap(rule =>
      // a reference is followed, never made
      rule.referrers.filter(spec => specMatches(spec, id)).map(({ path }) => ({ rule, spec: { path } })),
    )
    this.known.set(key, fields)
    return fields
  }
}
