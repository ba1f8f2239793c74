import { isAbsent } from '../../kube/edit-node.ts'
import type { MapNode, Node } from '../../kube/node.ts'
import type { ConfigMapEntry, Entry, GeneratorOptions } from '../kustomization.ts'
import {
  asMap,
  booleanField,
  invalid,
  listField,
  mapField,
  refuseOtherFields,
  textField,
  textList,
  textPairs,
} from './read-fields.ts'

const OPTIONS = ['labels', 'annotations', 'disableNameSuffixHash', 'immutable']

/** `configMapGenerator` with `generatorOptions` merged into each entry: what an entry says itself wins. */
export function readConfigMaps(root: MapNode): ConfigMapEntry[] {
  const global = readOptions(mapField(root, 'generatorOptions'), 'generatorOptions')
  return listField(root, 'configMapGenerator').map(node => readConfigMap(node, global))
}

function readConfigMap(node: Node, global: GeneratorOptions): ConfigMapEntry {
  const entry = asMap(node, 'configMapGenerator[]')
  refuseOtherFields(entry, ['name', 'namespace', 'behavior', 'literals', 'options'], 'configMapGenerator')
  const name = textField(entry, 'name')
  if (!name?.text) return invalid('a generated ConfigMap needs a name', entry.origin)
  const namespace = textField(entry, 'namespace')
  return {
    origin: entry.origin,
    name,
    ...(namespace?.text ? { namespace } : {}),
    behavior: readBehavior(textField(entry, 'behavior')),
    literals: textList(entry, 'literals'),
    options: merge(readOptions(mapField(entry, 'options'), 'options'), global),
  }
}

function readBehavior(entry: Entry | undefined): ConfigMapEntry['behavior'] {
  const text = entry?.text ?? ''
  if (text === 'create' || text === 'merge' || text === 'replace') return text
  return 'unspecified'
}

function readOptions(options: MapNode | undefined, where: string): GeneratorOptions {
  if (!options) return { labels: [], annotations: [], disableNameSuffixHash: false }
  refuseOtherFields(options, OPTIONS, where)
  const immutable = options.fields.get('immutable')?.value
  const isImmutable = !isAbsent(immutable) && booleanField(options, 'immutable')
  return {
    labels: textPairs(options, 'labels'),
    annotations: textPairs(options, 'annotations'),
    disableNameSuffixHash: booleanField(options, 'disableNameSuffixHash'),
    ...(isImmutable ? { immutable: { text: 'true', origin: immutable.origin } } : {}),
  }
}

function merge(own: GeneratorOptions, global: GeneratorOptions): GeneratorOptions {
  const immutable = own.immutable ?? global.immutable
  return {
    labels: [...new Map([...global.labels, ...own.labels])],
    annotations: [...new Map([...global.annotations, ...own.annotations])],
    disableNameSuffixHash: own.disableNameSuffixHash || global.disableNameSuffixHash,
    ...(immutable ? { immutable } : {}),
  }
}
