import { BailiwickError } from '../../errors.ts'
import { isAbsent } from '../../kube/edit-node.ts'
import type { ListNode, Node } from '../../kube/node.ts'
import type { Origin } from '../../origin.ts'

/** One operation as it was written: whether it is one is asked when it is applied, and only then, as in kustomize. */
export interface JsonPatchOperation {
  readonly fields: ReadonlyMap<string, Node>
  readonly origin: Origin
  /** Written as JSON, where numbers and texts are compared as they stand. */
  readonly json: boolean
}

/** Words and numbers that YAML 1.1 (which kustomize reads these patches with) takes for something else than 1.2. */
const DIFFERS_IN_YAML_1_1 =
  /^(?:[yYnN]|[yY]es|YES|[nN]o|NO|[oO]n|ON|[oO]ff|OFF|=)$|^[-+]?0[oO]|^[0-9]{4}-[0-9]|^[-+.0-9].*_/s

/**
 * The operations of a JSON6902 patch. Throws `kustomize-invalid` for what is not a list of maps, and `yaml-ambiguous` where
 * YAML versions disagree on a value.
 */
export function readJsonPatch(list: ListNode, json: boolean): JsonPatchOperation[] {
  return list.items.map(node => {
    if (node.type !== 'map' && !isAbsent(node)) fail('patch: an operation is not a map', node.origin)
    const fields = new Map<string, Node>()
    if (node.type === 'map') for (const [name, { value }] of node.fields) fields.set(name, value)
    const value = fields.get('value')
    if (value && !json) checkVersion(value)
    return { fields, json, origin: fields.get('path')?.origin ?? node.origin }
  })
}

function checkVersion(node: Node): void {
  if (node.type === 'list') for (const item of node.items) checkVersion(item)
  if (node.type === 'map') {
    for (const [key, field] of node.fields) {
      if (DIFFERS_IN_YAML_1_1.test(key)) ambiguous(key, field.key)
      checkVersion(field.value)
    }
  }
  if (node.type !== 'scalar' || node.quoted || node.style || isAbsent(node)) return
  const text = node.text ?? String(node.value)
  if (DIFFERS_IN_YAML_1_1.test(text) && !/[A-Za-z]_|_[A-Za-z]/.test(text)) ambiguous(text, node.origin)
}

function ambiguous(text: string, origin: Origin): never {
  const message = `patch: ${JSON.stringify(text)} has another meaning in YAML 1.1, as which kustomize reads JSON6902 patches`
  throw new BailiwickError('yaml-ambiguous', message, { origin, fix: 'Quote the value, or write true or false.' })
}

function fail(message: string, origin: Origin): never {
  throw new BailiwickError('kustomize-invalid', `JSON6902 patch: ${message}`, { origin })
}
