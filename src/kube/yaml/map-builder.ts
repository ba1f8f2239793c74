import type { Origin } from '../../origin.ts'
import { fieldLike } from '../edit-node.ts'
import type { Field, MapNode, Node } from '../node.ts'
import type { Expansion } from './expansion.ts'
import type { Key } from './read-key.ts'
import { refuseAmbiguous, refuseUndecided } from './refuse-yaml.ts'

/** Puts the fields of one map together; merge keys are merged at its end. */
export class MapBuilder {
  private readonly fields = new Map<string, Field>()
  private readonly aliasFields: Set<Field>
  private readonly expansion: Expansion
  private merged: Node | undefined

  /** `aliasFields` is that of the document: a merged map brings its own. */
  constructor(aliasFields: Set<Field>, expansion: Expansion) {
    this.aliasFields = aliasFields
    this.expansion = expansion
  }

  /** Throws `yaml-ambiguous` for a key that the map has already. */
  add(key: Key, value: Node): void {
    if (key.merges) {
      if (this.merged) refuseAmbiguous('a second merge key in one map', key.origin)
      this.merged = value
      return
    }
    const field = fieldLike(key, key.origin, value)
    if (key.alias) this.aliasFields.add(field)
    const before = this.fields.size
    this.fields.set(key.text, field)
    if (this.fields.size === before) refuseTwice(key.text, '', key.origin)
  }

  /** Throws `render-limits` where merge keys copy too much. */
  finish(origin: Origin): MapNode {
    return { type: 'map', fields: this.merged ? this.merge(this.merged) : this.fields, origin }
  }

  private mergedField(field: Field): Field {
    const merged: Field = { ...field, merged: true }
    if (this.aliasFields.has(field)) this.aliasFields.add(merged)
    return merged
  }

  /** Keys of the map itself win; of several merged maps the first that has a key wins (YAML merge key type). */
  private merge(merged: Node): Map<string, Field> {
    const sources = merged.type === 'list' ? merged.items : [merged]
    const all = new Map<string, Field>()
    for (const source of [...sources].reverse()) {
      if (source.type !== 'map') refuseAmbiguous('a merge key whose value is no map', source.origin)
      this.expansion.spend(source.fields.size, source.origin)
      for (const [key, field] of source.fields) all.set(key, this.mergedField(field))
    }
    for (const [key, field] of this.fields) {
      const other = all.get(key)
      if (other && (this.aliasFields.has(field) || this.aliasFields.has(other))) {
        refuseTwice(key, ', once by an alias', field.key)
      }
      all.set(key, field)
    }
    return all
  }
}

function refuseTwice(key: string, how: string, origin: Origin): never {
  return refuseUndecided(`the key ${JSON.stringify(key.slice(0, 100))} twice${how}`, origin)
}
