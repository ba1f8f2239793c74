import { BailiwickError } from '../../base/errors.ts'
import type { Origin, Step } from '../../base/origin.ts'
import { isAbsent, type MapNode, type Node } from '../../kube/node.ts'
import type { ParsedFile } from '../../kube/yaml/parse-documents.ts'
import type { Entry, Target } from '../entry.ts'
import { applyReplacement } from '../replace/apply-replacement.ts'
import type {
  FieldOptions,
  Replacement,
  ReplacementEntry,
  ReplacementSource,
  ReplacementTarget,
} from '../replace/source-value.ts'
import {
  asMap,
  booleanField,
  invalid,
  listField,
  mapField,
  pathOfEach,
  refuseOtherFields,
  type TransformingField,
  textField,
  textList,
} from './field.ts'

const ID_FIELDS = ['group', 'version', 'kind', 'name', 'namespace'] as const
const SELECTOR_FIELDS = [...ID_FIELDS, 'labelSelector', 'annotationSelector'] as const
const NAME = 'metadata.name'

/** Values that are copied from object to object, in the order in which they are written. */
export const replacements: TransformingField<readonly ReplacementEntry[]> = {
  goType: '[Replacement',
  effect: 'reads',
  paths: pathOfEach,
  read: readReplacements,
  apply: (resources, entries, { budget, file }) => {
    // kustomize reads all files before it copies anything
    const all = entries.flatMap(entry =>
      'path' in entry ? readReplacementFile(file(entry.path), entry.path) : [entry],
    )
    for (const replacement of all) applyReplacement(resources, replacement, budget)
    resources.checkUnique()
  },
  docs: {
    built:
      'inline and by `path`; `source`, `sourceValue`, `select`, `reject`, every field path, `delimiter`, `index`, ' +
      '`create`; inside strings that contain JSON',
    refused:
      'a path into YAML text; values that kustomize loses (a path into null) or leaks (all annotations of a changed object); an ' +
      'expression whose match depends on quotes or a comment',
  },
}

/** The entries of the field. Throws `kustomize-invalid` for what kustomize refuses. */
function readReplacements(root: MapNode, file: string): ReplacementEntry[] {
  return listField(root, 'replacements').map(node => {
    const entry = asEntry(node)
    const path = textField(entry, 'path')
    if (!path?.text) return readReplacement(entry, stepOf(node, file), ['path'])
    const { origin } = path
    if (!isAbsent(entry.fields.get('source')?.value) || listField(entry, 'targets').length > 0) {
      return invalid('replacements: an entry has both path and inline fields. Allowed: one of them', origin)
    }
    if (!isAbsent(entry.fields.get('sourceValue')?.value))
      refuse('a path next to sourceValue, which kustomize ignores,', origin)
    return { path, step: stepOf(node, file) }
  })
}

/** The replacements of a file that an entry names: a list of them, or one. */
function readReplacementFile(file: ParsedFile, path: Entry): Replacement[] {
  const [node, second] = file.documents
  if (second || file.pieces > 1) refuse('a file of replacements with several documents', path.origin)
  if (node?.type === 'map') return [readReplacement(node, stepOf(node, node.origin.file), [])]
  if (node?.type !== 'list')
    return invalid(`${path.text}: neither a replacement nor a list of replacements`, path.origin)
  return node.items.map(item => readReplacement(asEntry(item), stepOf(item, item.origin.file), [], true))
}

const stepOf = (node: Node, file: string): Step => ({ step: 'replacement', file, line: node.origin.line })

function readReplacement(entry: MapNode, step: Step, more: readonly string[], inFile = more.length === 0): Replacement {
  refuseOtherFields(entry, ['source', 'targets', 'sourceValue', ...more], 'a replacement')
  const source = mapField(entry, 'source')
  const value = textField(entry, 'sourceValue')
  const targets = entry.fields.get('targets')?.value
  // a file may have an empty list of targets, the field of a kustomization loses that on its way
  const hasTargets = inFile ? !isAbsent(targets) : listField(entry, 'targets').length > 0
  if ((!source && !value) || !hasTargets)
    return invalid('replacements: an entry has no source or no targets', entry.origin)
  if (source && value)
    return invalid('replacements: an entry has both source and sourceValue. Allowed: one of them', value.origin)
  return {
    origin: entry.origin,
    step,
    from: source ? readSource(source) : { value: value! },
    targets: listField(entry, 'targets').map(readTarget),
  }
}

function readSource(source: MapNode): ReplacementSource {
  refuseOtherFields(source, [...ID_FIELDS, 'fieldPath', 'options'], 'source of a replacement')
  const fieldPath = textField(source, 'fieldPath')
  return {
    origin: source.origin,
    ...textsOf(source, ID_FIELDS),
    fieldPath: fieldPath?.text ? fieldPath : { text: NAME, origin: fieldPath?.origin ?? source.origin },
    options: readOptions(source),
  }
}

function readTarget(node: Node): ReplacementTarget {
  const target = asEntry(node)
  refuseOtherFields(target, ['select', 'reject', 'fieldPaths', 'options'], 'target of a replacement')
  const select = mapField(target, 'select')
  if (!select) return invalid('replacements: a target has no select', target.origin)
  const fieldPaths = textList(target, 'fieldPaths')
  return {
    origin: target.origin,
    select: readSelector(select),
    reject: listField(target, 'reject').map(item => readSelector(asEntry(item))),
    fieldPaths: fieldPaths.length > 0 ? fieldPaths : [{ text: NAME, origin: target.origin }],
    options: readOptions(target),
  }
}

function readSelector(node: MapNode): Target {
  refuseOtherFields(node, SELECTOR_FIELDS, 'selector of a replacement')
  return textsOf(node, SELECTOR_FIELDS)
}

function textsOf<K extends string>(node: MapNode, names: readonly K[]): { [P in K]?: Entry } {
  const parts = names.map(name => [name, textField(node, name)] as const)
  return Object.fromEntries(parts.filter(([, entry]) => entry?.text)) as { [P in K]?: Entry }
}

function readOptions(node: MapNode): FieldOptions {
  const options = mapField(node, 'options')
  if (!options) return { delimiter: '', index: 0, create: false }
  refuseOtherFields(options, ['delimiter', 'index', 'encoding', 'create'], 'options of a replacement')
  textField(options, 'encoding') // kustomize reads it and does nothing with it
  return {
    delimiter: textField(options, 'delimiter')?.text ?? '',
    index: readIndex(options),
    create: booleanField(options, 'create'),
  }
}

function readIndex(options: MapNode): number {
  const index = options.fields.get('index')?.value
  if (isAbsent(index)) return 0
  const isNumber = index.type === 'scalar' && typeof index.value === 'number' && Number.isSafeInteger(index.value)
  // other ways to write a number are not the same for YAML 1.1
  if (isNumber && index.text === undefined) return index.value as number
  return invalid('replacements: options.index is not a whole number', index.origin)
}

function asEntry(node: Node): MapNode {
  if (isAbsent(node)) return refuse('an empty entry', node.origin)
  return asMap(node, 'an entry of replacements')
}

function refuse(what: string, origin: Origin): never {
  throw new BailiwickError('kustomize-unsupported', `${what} of replacements is not supported`, { origin })
}
