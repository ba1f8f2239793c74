import { BailiwickError } from '../../errors.ts'
import { isAbsent, textNode, writtenText } from '../../kube/edit-node.ts'
import type { Node, ScalarNode } from '../../kube/node.ts'
import { resolvePlain } from '../../kube/yaml/resolve-scalar.ts'
import type { Entry } from '../model/entry.ts'
import type { FieldSpec } from '../model/field-spec.ts'
import { editField, specMatches } from '../resource/field-spec.ts'
import { originalId, type Resource } from '../resource/resource.ts'
import type { ResourceList } from '../resource/resource-list.ts'
import { toPlain } from '../resource/round-trip.ts'
import type { FieldDocs, TransformingField } from './field.ts'
import { textField } from './read-fields.ts'

/** Kinds whose name the cluster itself gives a meaning (PrefixTransformer.go, 5.8.1). */
const KEPT: readonly FieldSpec[] = [
  { path: '', kind: 'CustomResourceDefinition' },
  { path: '', kind: 'APIService', group: 'apiregistration.k8s.io' },
  { path: '', kind: 'Namespace' },
]

const NAME = 'metadata/name'

const docs: FieldDocs = {
  built:
    'names, and references to renamed objects (the default `nameReference` rows), distinguished by affixes and namespaces',
  refused: 'names with a comma; names that would be numbers; a reference of an object to its own name',
}

export const namePrefix: TransformingField<Entry | undefined> = {
  goType: 'string',
  effect: 'changes',
  toEach: true,
  read: root => textField(root, 'namePrefix'),
  apply: (resources, value, { config, budget }) => {
    if (!value?.text) return
    budget.spendOnRenaming(resources.all, value.origin)
    affixNames(resources, value, 'prefixes', config.namePrefix)
  },
  docs,
}

export const nameSuffix: TransformingField<Entry | undefined> = {
  goType: 'string',
  effect: 'changes',
  toEach: true,
  read: root => textField(root, 'nameSuffix'),
  apply: (resources, value, { config, budget }) => {
    if (!value?.text) return
    budget.spendOnRenaming(resources.all, value.origin)
    affixNames(resources, value, 'suffixes', config.nameSuffix)
  },
  docs,
}

/**
 * Puts a text before or after what the fields hold, names first of all. What an object is called now stays known, and so
 * does the affix: references are told apart by it. Throws `kustomize-invalid` where a field holds no scalar.
 */
export function affixNames(
  resources: ResourceList,
  affix: Entry,
  side: 'prefixes' | 'suffixes',
  specs: readonly FieldSpec[],
): void {
  // kustomize keeps it among the annotations, too
  toPlain(textNode(affix.text, affix.origin))
  for (const resource of resources.all) {
    const id = originalId(resource)
    if (KEPT.some(spec => specMatches(spec, id))) continue
    for (const spec of specs) {
      if (!specMatches(spec, id)) continue
      // kustomize keeps affixes as one text with commas between them
      if (spec.path === NAME) {
        resource[side].push(...affix.text.split(','))
        resource.remember()
      }
      affixField(resource, affix, side, spec)
    }
  }
}

/** The kind that a field belongs to is that of now, though what is to be renamed goes by the first one. */
function affixField(resource: Resource, affix: Entry, side: 'prefixes' | 'suffixes', spec: FieldSpec): void {
  if (!specMatches(spec, resource.current)) return
  const root = editField(resource.root, spec, affix.origin, (node, origin) => {
    if (node === undefined && resolvePlain(affix.text) === affix.text) {
      return { type: 'scalar', value: affix.text, origin, untyped: true }
    }
    if (node === undefined) {
      const message = `${spec.path}: the affix makes it ${JSON.stringify(affix.text)}, which is not a string without quotes`
      throw new BailiwickError('kustomize-unsupported', message, { origin })
    }
    if (node.type === 'scalar') return affixed(node, affix, side, spec)
    const message = `${spec.path}: not a string, so kustomize cannot add a ${side === 'prefixes' ? 'prefix' : 'suffix'}`
    throw new BailiwickError('kustomize-invalid', message, { origin: node.origin })
  })
  resource.overwrite(root)
}

/** kustomize leaves it to the new text whether it is one: a name that becomes a number is not a name any more. */
function affixed(node: ScalarNode, affix: Entry, side: 'prefixes' | 'suffixes', spec: FieldSpec): Node {
  const before = writtenText(node)
  const text = side === 'prefixes' ? affix.text + before : before + affix.text
  const isText = node.quoted || node.style !== undefined || (!isAbsent(node) && resolvePlain(text) === text)
  if (!isText || text === '') {
    const message = `${spec.path}: the affix makes it ${JSON.stringify(text)}, which is not a string without quotes`
    throw new BailiwickError('kustomize-unsupported', message, { origin: node.origin, fix: 'Quote the name.' })
  }
  const { file, line } = affix.origin
  // the name stays the one that was written; the affix is what it came through
  const origin = { ...node.origin, via: [...(node.origin.via ?? []), { step: 'transformer', file, line } as const] }
  return { type: 'scalar', value: text, origin, ...(node.quoted || node.style ? { quoted: true } : { untyped: true }) }
}
