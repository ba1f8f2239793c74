import type { MapNode, Node } from '../../kube/node.ts'
import type { Kustomization } from '../model/kustomization.ts'
import { checkForbidden, KNOWN_FIELDS } from './check-forbidden.ts'
import { invalid, listField, mapField, refuseOtherFields, textField, textList, textPairs } from './read-fields.ts'
import { readGenerators } from './read-generators.ts'
import { readImages } from './read-images.ts'
import { readLabels } from './read-labels.ts'
import { readJsonPatchEntry, readPatch } from './read-patches.ts'
import { readReplacements } from './read-replacements.ts'
import { readReplicas } from './read-replicas.ts'
import { readSortOptions } from './read-sort-options.ts'
import { API_VERSIONS, spellVersion } from './spell-version.ts'

const FIELDS = (
  'apiVersion kind metadata resources bases components configurations namespace namePrefix nameSuffix patches patchesJson6902 patchesStrategicMerge labels commonLabels ' +
  'commonAnnotations replicas images imageTags replacements sortOptions buildMetadata configMapGenerator secretGenerator generatorOptions ' +
  'generators transformers'
).split(' ')

/**
 * Reads a kustomization file as kustomize 5.8.1 would. Throws `kustomize-invalid` for what kustomize refuses, and
 * `kustomize-unsupported` with the field's line for what we do not know; with a `rule` where it is forbidden.
 */
export function readKustomization(file: string, directory: string, documents: readonly Node[]): Kustomization {
  const [written, second] = documents
  const start = { repository: '', file, line: 1, column: 1 }
  if (second) invalid(`${file} has more than one document`, second.origin)
  if (written?.type !== 'map') return invalid(`${file} is empty or no map`, written?.origin ?? start)
  const root = spellVersion(written)
  checkForbidden(root)
  refuseOtherFields(root, FIELDS, file, KNOWN_FIELDS)
  checkMetadata(mapField(root, 'metadata'))
  const kind = readKind(root)
  const kustomization: Kustomization = {
    file,
    directory,
    kind,
    // the older name of the field
    resources: [...textList(root, 'resources'), ...textList(root, 'bases')],
    components: textList(root, 'components'),
    configurations: textList(root, 'configurations'),
    ...optional('namespace', textField(root, 'namespace')),
    ...optional('namePrefix', textField(root, 'namePrefix')),
    ...optional('nameSuffix', textField(root, 'nameSuffix')),
    patches: listField(root, 'patches').map(node => readPatch(node, file)),
    patchesJson6902: listField(root, 'patchesJson6902').map(node => readJsonPatchEntry(node, file)),
    patchesStrategicMerge: textList(root, 'patchesStrategicMerge'),
    labels: readLabels(root),
    commonLabels: textPairs(root, 'commonLabels'),
    commonAnnotations: textPairs(root, 'commonAnnotations'),
    replicas: readReplicas(root),
    images: readImages(root),
    replacements: readReplacements(root, file),
    ...optional('sortOptions', readSortOptions(root)),
    buildMetadata: textList(root, 'buildMetadata'),
    configMapGenerator: readGenerators(root, 'ConfigMap'),
    secretGenerator: readGenerators(root, 'Secret'),
    generators: textList(root, 'generators'),
    transformers: textList(root, 'transformers'),
  }
  refuseEmpty(root, file)
  return kustomization
}

/** Throws `kustomize-invalid` where nothing is set. */
export function refuseEmpty(root: MapNode, file: string): void {
  const content = [...root.fields].filter(([name]) => name !== 'apiVersion' && name !== 'kind')
  if (!content.some(([name, field]) => isSet(name, field.value))) invalid(`${file} is empty`, root.origin)
}

/**
 * kustomize calls a file empty when nothing but null (or an empty text) is set; an empty list is something, unless it is
 * to be added to another field.
 */
function isSet(name: string, value: Node): boolean {
  if (value.type === 'list') return value.items.length > 0 || (name !== 'bases' && name !== 'imageTags')
  return value.type !== 'scalar' || (value.value !== null && value.value !== '')
}

/** Metadata of the file itself says nothing about the build, but has to be what kustomize can read. */
function checkMetadata(metadata: MapNode | undefined): void {
  if (!metadata) return
  refuseOtherFields(metadata, ['name', 'namespace', 'labels', 'annotations'], 'metadata')
  for (const name of ['name', 'namespace']) textField(metadata, name)
  for (const name of ['labels', 'annotations']) textPairs(metadata, name)
}

function readKind(root: MapNode): 'Kustomization' | 'Component' {
  const kind = textField(root, 'kind')
  const name = kind?.text || 'Kustomization'
  if (name !== 'Kustomization' && name !== 'Component') {
    return invalid('kind must be Kustomization or Component', kind!.origin)
  }
  const apiVersion = textField(root, 'apiVersion')
  if (apiVersion?.text && apiVersion.text !== API_VERSIONS[name]) {
    invalid(`apiVersion of a ${name} must be ${API_VERSIONS[name]}`, apiVersion.origin)
  }
  return name
}

function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: V }
}
