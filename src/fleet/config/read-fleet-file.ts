import { BailiwickError } from '../../errors.ts'
import type { Variable, VariableSource } from '../../flux/substitute/variable.ts'
import { plainVariable } from '../../flux/substitute/variable-source.ts'
import type { Tree } from '../../git/tree.ts'
import { isAbsent } from '../../kube/edit-node.ts'
import { type MapNode, type Node, stringAt } from '../../kube/node.ts'
import type { Origin } from '../../kube/origin.ts'
import { parseDocuments } from '../../kube/parse-documents.ts'
import { DEFAULT_CONFIG, type Declaration, FLEET_FILE, type FleetConfig } from './fleet-config.ts'

const KEYS = ['cluster', 'kind', 'namespace', 'name', 'values', 'opaque']

/** Reads the fleet's file; a fleet without one declares nothing. What is wrong with it is its `error`, never thrown. */
export function readFleetFile(tree: Tree, repository: string): FleetConfig {
  if (tree.entry(FLEET_FILE)?.type !== 'file') return DEFAULT_CONFIG
  try {
    const documents = parseDocuments({ repository, path: FLEET_FILE }, tree.read(FLEET_FILE))
    return { ...DEFAULT_CONFIG, substituteFrom: readFile(documents) }
  } catch (error) {
    if (error instanceof BailiwickError) return { ...DEFAULT_CONFIG, error }
    throw error
  }
}

function readFile([root, second]: readonly Node[]): Declaration[] {
  if (!root) return []
  if (second) throw refused(second.origin, 'the file has more than one document')
  if (root.type !== 'map') throw refused(root.origin, 'the file is no map')
  for (const [key, field] of root.fields) {
    if (key !== 'substituteFrom') throw refused(field.key, `${JSON.stringify(key.slice(0, 100))} is an unknown key`)
  }
  const list = root.fields.get('substituteFrom')?.value
  if (isAbsent(list)) return []
  if (list.type !== 'list') throw refused(list.origin, 'substituteFrom is no list')
  const seen = new Set<string>()
  return list.items.map(item => {
    const declaration = readItem(item)
    const { cluster, kind, namespace, name } = declaration
    const key = JSON.stringify([cluster, kind, namespace, name])
    if (seen.has(key)) throw refused(item.origin, 'an entry of substituteFrom is there twice')
    seen.add(key)
    return declaration
  })
}

function readItem(item: Node): Declaration {
  if (item.type !== 'map') throw refused(item.origin, 'an entry of substituteFrom is no map')
  for (const [key, field] of item.fields) {
    if (!KEYS.includes(key)) throw refused(field.key, `${JSON.stringify(key.slice(0, 100))} is an unknown key`)
  }
  const kind = text(item, 'kind')
  if (kind !== 'ConfigMap' && kind !== 'Secret') throw refused(item.origin, 'kind is neither ConfigMap nor Secret')
  return {
    cluster: item.fields.has('cluster') ? text(item, 'cluster') : undefined,
    kind,
    namespace: text(item, 'namespace'),
    name: text(item, 'name'),
    source: readSource(item),
  }
}

function text(item: MapNode, key: string): string {
  const value = stringAt(item, [key])
  if (value) return value
  throw refused(item.fields.get(key)?.value.origin ?? item.origin, `${key} of an entry of substituteFrom is no text`)
}

function readSource(item: MapNode): VariableSource {
  const variables = new Map<string, Variable>()
  const values = item.fields.get('values')?.value
  const opaque = item.fields.get('opaque')?.value
  if (!values && !opaque) throw refused(item.origin, 'an entry of substituteFrom has neither values nor opaque')
  if (values && values.type !== 'map') throw refused(values.origin, 'values is no map')
  for (const [name, { value }] of values?.fields ?? []) {
    const written = stringAt(value, [])
    if (written === undefined) throw refused(value.origin, 'a value is no text: write it between quotes')
    variables.set(name, plainVariable(written, value.origin))
  }
  if (!opaque) return { variables }
  if (opaque.type === 'scalar' && opaque.value === true) {
    return { variables, rest: { value: '', origin: opaque.origin, hidden: 'opaque' } }
  }
  if (opaque.type !== 'list') throw refused(opaque.origin, 'opaque is neither true nor a list of names')
  for (const one of opaque.items) {
    const name = stringAt(one, [])
    if (!name || variables.has(name)) throw refused(one.origin, 'a name under opaque is no text, or there twice')
    variables.set(name, { value: '', origin: one.origin, hidden: 'opaque' })
  }
  return { variables }
}

function refused(origin: Origin, what: string): BailiwickError {
  return new BailiwickError('config', `${FLEET_FILE}: ${what}`, {
    origin,
    fix: 'Write substituteFrom: [{kind, namespace, name, and values or opaque}].',
  })
}
