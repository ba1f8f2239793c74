import { BailiwickError } from '../../errors.ts'
import { mapNode, textNode, withField } from '../../kube/edit-node.ts'
import type { MapNode, Node } from '../../kube/node.ts'
import type { Origin, Step } from '../../kube/origin.ts'
import type { ConfigMapEntry, Entry } from '../kustomization.ts'
import type { Resource } from '../resource/resource.ts'

/** The ConfigMap of one entry of `configMapGenerator`; each value stands where its literal was written. */
export function generateConfigMap(entry: ConfigMapEntry, file: string): Resource {
  const { name, namespace, options } = entry
  const metadata: (readonly [string, Node])[] = [['name', textNode(name.text, name.origin)]]
  if (namespace) metadata.push(['namespace', textNode(namespace.text, namespace.origin)])
  for (const field of ['labels', 'annotations'] as const) {
    if (options[field].length > 0) metadata.push([field, textMap(options[field], entry.origin)])
  }
  let root: MapNode = mapNode(
    [
      ['apiVersion', textNode('v1', entry.origin)],
      ['kind', textNode('ConfigMap', entry.origin)],
      ['metadata', mapNode(metadata, entry.origin)],
    ],
    entry.origin,
  )
  const data = readLiterals(entry.literals)
  if (data.length > 0) root = withField(root, 'data', textMap(data, entry.origin))
  if (options.immutable) {
    root = withField(root, 'immutable', { type: 'scalar', value: true, origin: options.immutable.origin })
  }
  const step: Step = { step: 'generator', file, line: entry.origin.line }
  const behavior = entry.behavior === 'unspecified' ? {} : { behavior: entry.behavior }
  return { root, previous: [], trail: [step], needsHash: !options.disableNameSuffixHash, ...behavior }
}

function textMap(pairs: readonly (readonly [string, Entry])[], origin: Origin): MapNode {
  const fields = new Map(
    pairs.map(([key, entry]) => [key, { key: entry.origin, value: textNode(entry.text, entry.origin) }] as const),
  )
  return { type: 'map', fields, origin }
}

function readLiterals(literals: readonly Entry[]): (readonly [string, Entry])[] {
  const seen = new Set<string>()
  return literals.map(literal => {
    const equals = literal.text.indexOf('=')
    if (equals <= 0) fail(`the literal ${JSON.stringify(literal.text.slice(0, 40))} is no key=value`, literal.origin)
    const key = literal.text.slice(0, equals)
    if (seen.has(key)) fail(`the key ${JSON.stringify(key)} twice in one ConfigMap`, literal.origin)
    seen.add(key)
    return [key, { text: unquote(literal.text.slice(equals + 1)), origin: literal.origin }] as const
  })
}

/** A literal loses one pair of matching quotes around its value. */
function unquote(value: string): string {
  const first = value.charAt(0)
  return value.length >= 2 && (first === '"' || first === "'") && value.endsWith(first) ? value.slice(1, -1) : value
}

function fail(message: string, origin: Origin): never {
  throw new BailiwickError('kustomize-invalid', message, { origin })
}
