import { BailiwickError } from '../../errors.ts'
import { isAbsent } from '../../kube/edit-node.ts'
import type { ListNode, MapNode, Node } from '../../kube/node.ts'
import type { Origin } from '../../kube/origin.ts'
import { asMap, textField } from '../read/read-fields.ts'
import type { Operation } from './json-patch.ts'

const OPS = ['add', 'replace', 'remove', 'move', 'copy', 'test']

/** Words and numbers that YAML 1.1 (which kustomize reads these patches with) takes for something else than 1.2. */
const DIFFERS_IN_YAML_1_1 = /^(?:[yYnN]|[yY]es|YES|[nN]o|NO|[oO]n|ON|[oO]ff|OFF|=)$|^[-+]?0[oO]|^[0-9]{4}-[0-9]|_/

/** The operations of a JSON6902 patch. Throws `kustomize-invalid`, and `yaml-ambiguous` where YAML versions disagree. */
export function readJsonPatch(list: ListNode): Operation[] {
  return list.items.map(node => {
    const map = asMap(node, 'an operation of a patch')
    const op = textField(map, 'op')?.text ?? ''
    if (!OPS.includes(op)) fail(`unknown operation ${JSON.stringify(op)}`, map.origin)
    const operation = op as Operation['op']
    const from = operation === 'move' || operation === 'copy' ? readPointer(map, 'from') : undefined
    const value = map.fields.get('value')
    if (value) checkVersion(value.value)
    if (!value && (operation === 'add' || operation === 'replace')) fail(`${op} without a value`, map.origin)
    return {
      op: operation,
      path: readPointer(map, 'path'),
      ...(from ? { from } : {}),
      ...(value ? { value: value.value } : {}),
      origin: map.fields.get('path')!.value.origin,
    }
  })
}

function readPointer(map: MapNode, field: 'path' | 'from'): string[] {
  const entry = textField(map, field)
  if (!entry) return fail(`an operation without ${field}`, map.origin)
  if (entry.text === '') return []
  if (!entry.text.startsWith('/')) return fail(`${JSON.stringify(entry.text)} does not start with /`, entry.origin)
  const parts = entry.text.slice(1).split('/')
  return parts.map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
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
  const message = `${JSON.stringify(text)} means something else in YAML 1.1, which JSON6902 patches are read with`
  throw new BailiwickError('yaml-ambiguous', message, { origin, fix: 'Put it in quotes, or write true or false.' })
}

function fail(message: string, origin: Origin): never {
  throw new BailiwickError('kustomize-invalid', `JSON6902 patch: ${message}`, { origin })
}
