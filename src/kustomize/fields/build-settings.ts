import type { Origin } from '../../base/origin.ts'
import { itemsOf, type MapNode } from '../../kube/node.ts'
import type { Entry } from '../entry.ts'
import {
  type FieldDocs,
  invalid,
  type KustomizationField,
  mapField,
  refuseOtherFields,
  textField,
  textList,
  textPairs,
} from './field.ts'

/** The `apiVersion` of each `kind`, also the default of a file without one. */
const API_VERSIONS = {
  Kustomization: 'kustomize.config.k8s.io/v1beta1',
  Component: 'kustomize.config.k8s.io/v1alpha1',
} as const

const docs: FieldDocs = {
  built: '`Kustomization` (`v1beta1`) and `Component` (`v1alpha1`), or neither',
  refused: 'any other value',
}

/** What it has to be follows from the kind. */
export const apiVersion: KustomizationField<undefined> = {
  goType: '=string',
  effect: 'itself',
  read: root => {
    const name = kind.read(root, '')
    const entry = textField(root, 'apiVersion')
    if (entry?.text && entry.text !== API_VERSIONS[name]) {
      invalid(`apiVersion: not valid for a ${name}. Allowed: ${API_VERSIONS[name]}`, entry.origin)
    }
  },
  docs,
}

export const kind: KustomizationField<keyof typeof API_VERSIONS> = {
  goType: '=string',
  effect: 'itself',
  read: root => {
    const entry = textField(root, 'kind')
    const name = entry?.text || 'Kustomization'
    if (name === 'Kustomization' || name === 'Component') return name
    return invalid('kind: unknown. Allowed: Kustomization or Component', entry!.origin)
  },
  docs,
}

/**
 * A kustomization file whose `apiVersion` is written in other upper or lower case (`apiversion`), spelled as it should be, where it
 * says what holds without it: whether a reader takes it for the field, as Go does, or passes over it, the file means the
 * same. Any other stays, to be refused.
 */
export function spellVersion(root: MapNode): MapNode {
  if (root.fields.has('apiVersion')) return root
  const [name, more] = [...root.fields.keys()].filter(key => key.toLowerCase() === 'apiversion')
  if (name === undefined || more !== undefined) return root
  const kindNode = root.fields.get('kind')?.value
  const isComponent = kindNode?.type === 'scalar' && kindNode.value === 'Component'
  const { value } = root.fields.get(name)!
  if (value.type !== 'scalar' || value.value !== API_VERSIONS[isComponent ? 'Component' : 'Kustomization']) return root
  const fields = [...root.fields].map(([key, field]) => [key === name ? 'apiVersion' : key, field] as const)
  return { ...root, fields: new Map(fields) }
}

/** Metadata of the file itself does not affect the build, but must be what kustomize can read. */
export const metadata: KustomizationField<undefined> = {
  goType: '*Metadata',
  effect: 'itself',
  read: root => {
    const map = mapField(root, 'metadata')
    if (!map) return
    refuseOtherFields(map, ['name', 'namespace', 'labels', 'annotations'], 'metadata')
    for (const name of ['name', 'namespace']) textField(map, name)
    for (const name of ['labels', 'annotations']) textPairs(map, name)
  },
  docs: { built: 'read as kustomize reads it; has no effect' },
}

/** Files and directories that objects come from. */
export const resources: KustomizationField<readonly Entry[]> = {
  olderNames: ['bases'],
  goType: '[string',
  effect: 'brings',
  leftOut: { objects: 'only' },
  paths: itemsOf,
  mayBePinned: true,
  read: root => [...textList(root, 'resources'), ...textList(root, 'bases')],
  docs: {
    built:
      'files and directories of the same repository; for the platform also a readable GitHub repository at a commit ' +
      '(`?ref=` with 40 hex digits, `raw` addresses with them)',
    refused:
      'other addresses (`kustomize-remote-base`), paths outside of the repository (`kustomize-path-escape`), symlinks ' +
      '(`kustomize-symlink`), submodules; objects with annotations that control kustomize',
  },
}

/** Directories whose kustomizations work on what this one has. */
export const components: KustomizationField<readonly Entry[]> = {
  goType: '[string',
  effect: 'brings',
  leftOut: { objects: 'also' },
  paths: itemsOf,
  mayBePinned: true,
  read: root => textList(root, 'components'),
  docs: { built: 'directories with a `Component`, from the same places as `resources`', refused: 'as `resources`' },
}

/** What is noted in the objects (`originAnnotations`) or marks them (`managedByLabel`); counts in the root only, also without objects. */
export const buildMetadata: KustomizationField<readonly Entry[]> = {
  goType: '[string',
  effect: 'changes',
  read: root => textList(root, 'buildMetadata'),
  docs: {
    built: 'of the root: `originAnnotations`, `managedByLabel`',
    refused:
      '`transformerAnnotations`; paths and names that YAML puts in quotes; a patch that removes all annotations, with `originAnnotations`',
  },
}

/** The order of the objects; of a base it has no effect. */
export interface SortOptions {
  readonly origin: Origin
  readonly order?: Entry
  /** Kinds that come first and last, in place of kustomize's own. */
  readonly legacy?: { readonly first: readonly Entry[]; readonly last: readonly Entry[] }
}

/** Whether its order makes sense only the root is asked (`sortObjects`). */
export const sortOptions: KustomizationField<SortOptions | undefined> = {
  goType: '*SortOptions',
  effect: 'itself',
  read: root => {
    const options = mapField(root, 'sortOptions')
    if (!options) return undefined
    refuseOtherFields(options, ['order', 'legacySortOptions'], 'sortOptions')
    const order = textField(options, 'order')
    const legacy = mapField(options, 'legacySortOptions')
    if (legacy) refuseOtherFields(legacy, ['orderFirst', 'orderLast'], 'legacySortOptions')
    return {
      origin: options.origin,
      ...(order ? { order } : {}),
      ...(legacy ? { legacy: { first: textList(legacy, 'orderFirst'), last: textList(legacy, 'orderLast') } } : {}),
    }
  },
  docs: { built: 'of the root; has no effect in a base' },
}
