import { parseDocument } from 'yaml'
import type { Trial } from '../trial.ts'
import type { Chance } from './chance.ts'

/** A build, and the same with a part in it that fails. */
export interface Damaged {
  readonly whole: Trial
  readonly damaged: Trial
  readonly part: string
}

interface Insertion {
  readonly field: string
  readonly entry: unknown
  readonly files?: Readonly<Record<string, string>>
}

const JSON_PATCH = JSON.stringify([
  { op: 'add', path: '/metadata/labels', value: { touched: 'yes' } },
  { op: 'remove', path: '/not/there' },
])
const NAMELESS = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n'
const patchOf = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {a: b}\n`

/** Parts that fail in any build; some only where there are objects. */
const INSERTIONS: Readonly<Record<string, Insertion>> = {
  'a file that is not there': { field: 'resources', entry: 'zz-nope.yaml' },
  'a file of invalid YAML': { field: 'resources', entry: 'zz.yaml', files: { 'zz.yaml': 'a: [\n' } },
  'an ambiguous file': { field: 'resources', entry: 'zz.yaml', files: { 'zz.yaml': `${patchOf('zz')}x: !foo y\n` } },
  'an object without name': { field: 'resources', entry: 'zz.yaml', files: { 'zz.yaml': NAMELESS } },
  'a remote file': { field: 'resources', entry: 'https://example.com/zz.yaml' },
  'a base that cannot be read': {
    field: 'resources',
    entry: 'zz',
    files: { 'zz/kustomization.yaml': 'resources: !foo [a.yaml]\n' },
  },
  'a part of a base': {
    field: 'resources',
    entry: 'zz',
    files: { 'zz/kustomization.yaml': 'resources: [nope.yaml]\nnamePrefix: zz-\n' },
  },
  'a patch without object': { field: 'patches', entry: { patch: patchOf('zz-nope') } },
  'a patch without file': { field: 'patches', entry: { path: 'zz-nope.yaml', target: { kind: '.*' } } },
  'a patch that fails half way': { field: 'patches', entry: { patch: JSON_PATCH, target: { kind: '.*' } } },
  'an old patch': { field: 'patchesStrategicMerge', entry: patchOf('zz-nope') },
  'a generator without file': { field: 'configMapGenerator', entry: { name: 'zz', files: ['zz-nope.txt'] } },
  'a generator for nothing': {
    field: 'secretGenerator',
    entry: { name: 'zz', behavior: 'replace', literals: ['a=b'] },
  },
  'a component that is not there': { field: 'components', entry: 'zz-nope' },
  'replicas of nothing': { field: 'replicas', entry: { name: 'zz-nope', count: 2 } },
  'a replacement without source': {
    field: 'replacements',
    entry: { source: { kind: 'ZZ' }, targets: [{ select: { kind: '.*' }, fieldPaths: ['metadata.name'] }] },
  },
  'a transformer without object': {
    field: 'transformers',
    entry: `apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: zz}\ntarget: {kind: .*}\npatch: '${JSON_PATCH}'\n`,
  },
  variables: { field: 'vars', entry: { name: 'ZZ', objref: { apiVersion: 'v1', kind: 'ConfigMap', name: 'zz' } } },
}

const PARTS = Object.keys(INSERTIONS)

/** Puts one of the parts into a kustomization of the trial; undefined where none takes it. */
export function insertPart(trial: Trial, chance: Chance): Damaged | undefined {
  const paths = Object.keys(trial.files).filter(path => /(?:^|\/)kustomization\.ya?ml$/.test(path))
  if (paths.length === 0) return undefined
  const path = chance.pick(paths)
  const part = chance.pick(PARTS)
  const { field, entry, files = {} } = INSERTIONS[part]!
  const content = trial.files[path]
  const document = typeof content === 'string' ? parseDocument(content) : undefined
  const root: unknown = document?.errors.length === 0 ? document.toJS() : undefined
  if (typeof root !== 'object' || root === null || Array.isArray(root)) return undefined
  const fields = root as Readonly<Record<string, unknown>>
  const list = fields[field]
  // Flux asks for other notes where there are no resources
  if (list === undefined ? field === 'resources' : !Array.isArray(list)) return undefined
  const entries = Array.isArray(list) ? [...list] : []
  entries.splice(chance.upTo(entries.length), 0, entry)
  const directory = path.slice(0, path.lastIndexOf('/') + 1)
  const added = Object.fromEntries(Object.entries(files).map(([name, text]) => [directory + name, text]))
  const written = (value: unknown) => ({ ...trial, files: { ...trial.files, [path]: JSON.stringify(value) } })
  const damaged = written({ ...fields, [field]: entries })
  return { whole: written(fields), damaged: { ...damaged, files: { ...damaged.files, ...added } }, part }
}
