import { BailiwickError } from '../../errors.ts'
import { writtenText } from '../../kube/edit-node.ts'
import type { MapNode } from '../../kube/node.ts'
import { isTextForOldYaml } from '../resource/text-for-old-yaml.ts'
import { assignCell, type Cell, type CellField, cellText, fromCell, isMissing, toCell } from './cell.ts'
import { mergeList } from './merge-list.ts'
import { elementSchema, fieldSchema, type Schema, schemaOfObject } from './merge-schema.ts'
import { takeDirective, takeKnownDirective } from './patch-directive.ts'

/**
 * `object` under a strategic merge patch, as kyaml's merge2 does it (with lists growing at the front); undefined where
 * the patch deletes the object. Throws `kustomize-invalid` where a map meets a list or a text, and for a directive that
 * does not exist. `spend` is told what merging lists costs beyond the size of both sides.
 */
export function strategicMerge(
  object: MapNode,
  patch: MapNode,
  spend: (steps: number) => void = () => {},
): MapNode | undefined {
  const replaces = writtenText(patch.fields.get('$patch')?.value) === 'replace'
  const merged = new Merger(spend).merge(toCell(object), toCell(patch), undefined)
  // kustomize computes what a replaced object would be and then forgets it
  if (replaces) return object
  const node = merged && fromCell(merged)
  return node?.type === 'map' ? node : undefined
}

class Merger {
  private readonly spend: (steps: number) => void

  constructor(spend: (steps: number) => void) {
    this.spend = spend
  }

  /** Merges one value; both sides may be missing. */
  merge(dest: Cell | undefined, patch: Cell | undefined, known: Schema): Cell | undefined {
    const first = isMissing(dest) ? patch : dest
    const type = isMissing(first) ? 'map' : first.type
    if (!isMissing(patch) && patch.type !== type) {
      const message = `patch: contains a ${patch.type} where the object has a ${type}`
      throw new BailiwickError('kustomize-invalid', message, { origin: patch.origin })
    }
    if (type === 'scalar') return patch ?? dest
    const schema = known ?? objectSchema(dest) ?? objectSchema(patch)
    if (type === 'map') return this.mergeMap(dest, patch, schema)
    return schema?.keys ? this.mergeKeyed(dest, patch, schema, schema.keys) : (patch ?? dest)
  }

  private mergeMap(dest: Cell | undefined, patch: Cell | undefined, schema: Schema): Cell | undefined {
    const target = chooseMap(dest, patch)
    if (!target) return undefined
    // without a patch nothing is added on the way, and what is removed was already seen
    const names = patch ? new Set([...target.fields.keys(), ...patch.fields.keys()]) : target.fields.keys()
    for (const name of names) {
      if (name === '') refuseEmptyName(patch?.fields.has('') ? patch : target)
      const before = target.fields.get(name)
      const change = patch?.fields.get(name)
      // most of an object: a value that the patch does not speak of
      if (before && !change && before.value.scalar && before.value.scalar.value !== null) {
        quoteField(before.value)
        continue
      }
      const value = this.merge(before?.value, change?.value, fieldSchema(schema, name))
      setField(target, name, value, change)
    }
    return target
  }

  private mergeKeyed(
    dest: Cell | undefined,
    patch: Cell | undefined,
    schema: Schema,
    keys: readonly string[],
  ): Cell | undefined {
    const target = chooseList(dest, patch)
    if (!target) return undefined
    const element = elementSchema(schema)
    return mergeList(target, patch, keys, (before, change) => this.merge(before, change, element), this.spend)
  }
}

/** Which of two maps the fields of both go into; undefined where nothing is left (merge2.go VisitMap). */
function chooseMap(dest: Cell | undefined, patch: Cell | undefined): Cell | undefined {
  if (isMissing(dest)) {
    const missing: Cell | undefined = dest
    if (takeKnownDirective(patch) === 'delete') return undefined
    if (patch || cellText(missing) === '') return patch
    return { ...missing!, keep: true }
  }
  if (patch?.scalar) return undefined
  const directive = takeDirective(patch)
  if (directive === 'delete') return undefined
  return directive === 'replace' ? patch : dest
}

/** The same for lists; a directive for a list that is not there stays in it as an element (merge2.go VisitList). */
function chooseList(dest: Cell | undefined, patch: Cell | undefined): Cell | undefined {
  if (isMissing(dest)) return patch
  if (patch?.scalar) return undefined
  const directive = takeDirective(patch)
  if (directive === 'delete') return undefined
  return directive === 'replace' ? patch : dest
}

/** A value inside another kind's object may be an object itself; kyaml then takes the schema of that. */
function objectSchema(cell: Cell | undefined): Schema {
  const apiVersion = cellText(cell?.fields.get('apiVersion')?.value)
  const kind = cellText(cell?.fields.get('kind')?.value)
  return apiVersion && kind ? schemaOfObject(apiVersion, kind) : undefined
}

/** For kyaml a field without a name is the value itself, which a map is not. */
function refuseEmptyName(map: Cell): never {
  const message = 'patch: the target has a field with an empty name, which is not supported'
  throw new BailiwickError('kustomize-invalid', message, { origin: map.fields.get('')?.key ?? map.origin })
}

/** kyaml's FieldSetter: nothing and null remove the field, unless the null was written where it is. */
function setField(map: Cell, name: string, value: Cell | undefined, change: CellField | undefined): void {
  if (!value || (isMissing(value) && !(value as Cell).keep)) {
    if (map.fields.delete(name) && change) map.removed = new Map(map.removed).set(name, change.key)
    return
  }
  const field = map.fields.get(name)
  if (field && field.value !== value) {
    assignCell(field.value, value)
    // a map or list of the patch stands there as a whole: what it lacks, it removed
    if (change?.value === value && value.type !== 'scalar') map.fields.set(name, { ...field, key: change.key })
    return
  }
  quoteField(value)
  const key = change?.key ?? value.origin
  if (!field) map.fields.set(name, change?.quoted ? { key, value, quoted: true } : { key, value })
}

/** What YAML 1.1 would not read as text gets quotes, so that it stays a text under the next patch. */
function quoteField(cell: Cell): void {
  const { scalar } = cell
  if (typeof scalar?.value !== 'string' || scalar.quoted || scalar.style || isTextForOldYaml(scalar.value)) return
  cell.scalar = { ...scalar, quoted: true }
}
