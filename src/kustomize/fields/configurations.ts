import { BailiwickError } from '../../errors.ts'
import { itemsOf, type MapNode, type Node } from '../../kube/node.ts'
import type { Entry } from '../model/entry.ts'
import type { ReferenceRule } from '../references/reference-fields.ts'
import type { KustomizationField } from './field.ts'
import { readFieldSpecs } from './read-field-specs.ts'
import { asMap, isTextInOldYaml, listField, refuseOtherFields, structNode, textField, textList } from './read-fields.ts'
import { EMPTY_CONFIG, FIELD_LISTS, type TransformerConfig } from './transformer-config.ts'

/** Files that add to the fields which transformers write to. */
export const configurations: KustomizationField<readonly Entry[]> = {
  goType: '[string',
  effect: 'changes',
  leftOut: { reach: 'build' },
  paths: itemsOf,
  read: root => textList(root, 'configurations'),
  docs: {
    built: 'every list of field specs; bases and components pass them on to the kustomizations that use them',
    refused:
      "more than one document; numbers instead of strings; `varReference` with `create`; specs that select kustomize's internal annotations",
  },
}

const FIELDS = [...FIELD_LISTS, 'nameReference', 'varReference']

/**
 * Reads a file of `configurations`: what it adds to the fields that transformers write to. Throws `kustomize-invalid`
 * for what kustomize cannot read, `kustomize-unsupported` for what it reads and we do not.
 */
export function readConfiguration(documents: readonly Node[]): TransformerConfig {
  const [root, second] = documents
  if (second) unsupported('more than one document in a file of configurations', second)
  if (!root || (root.type === 'scalar' && root.value === null)) return EMPTY_CONFIG
  const map = asMap(root, 'configurations')
  refuseOtherFields(map, FIELDS, 'a file of configurations')
  for (const name of FIELDS) for (const item of listField(map, name)) requireText(item)
  // without vars these fields say nothing; one that kustomize knows already may not be created
  for (const spec of readFieldSpecs(map, 'varReference', true)) {
    if (spec.create) unsupported('a varReference with create', map.fields.get('varReference')!.value)
  }
  const lists = FIELD_LISTS.map(name => [name, readFieldSpecs(map, name)] as const)
  const nameReference = listField(map, 'nameReference').map(readRule)
  return { ...EMPTY_CONFIG, ...Object.fromEntries(lists), nameReference }
}

/** Here, unlike in its own file, kustomize makes text of numbers and booleans, with the digits that it likes. */
function requireText(item: Node): void {
  if (item.type !== 'map') return
  for (const part of ['group', 'version', 'kind', 'path']) {
    const node = item.fields.get(part)?.value
    if (node?.type !== 'scalar' || node.value === null || isTextInOldYaml(node)) continue
    unsupported(`a ${part} that is not a string in a file of configurations`, node)
  }
  const specs = item.fields.get('fieldSpecs')?.value
  if (specs?.type === 'list') specs.items.forEach(requireText)
}

function readRule(node: Node): ReferenceRule {
  const entry: MapNode = structNode(node, 'nameReference[]')
  refuseOtherFields(entry, ['group', 'version', 'kind', 'fieldSpecs'], 'nameReference')
  const [group, version, kind] = (['group', 'version', 'kind'] as const).map(part => textField(entry, part)?.text)
  return {
    ...(group ? { group } : {}),
    ...(version ? { version } : {}),
    ...(kind ? { kind } : {}),
    referrers: readFieldSpecs(entry, 'fieldSpecs'),
  }
}

function unsupported(message: string, node: Node): never {
  throw new BailiwickError('kustomize-unsupported', `${message} is not supported`, { origin: node.origin })
}
