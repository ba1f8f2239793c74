import type { Tree } from '../../../src/git/tree.ts'
import { at, type Json, type Node, stringAt, toJson } from '../../../src/kube/node.ts'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'
import { kubectlStep } from './kubectl-step.ts'

export type Fields = { [key: string]: Json }

/** A write of a test, in order. */
export interface ChainsawStep {
  readonly verb: 'apply' | 'create' | 'update' | 'patch' | 'delete' | 'script'
  /** Whole objects; of a deletion their names. */
  readonly objects: readonly Fields[]
  /** Whether the test expects an error for an object; undefined: the test does not say. */
  isRefused(object: Fields): boolean | undefined
  /** Where an object without a namespace goes; absent: the namespace of the test. */
  readonly namespace?: string
  /** Who asks; absent: the administrator. */
  readonly user?: string
  /** Of a script: what it runs. */
  readonly script?: string
}

export interface ChainsawTest {
  readonly path: string
  readonly namespace: string
  readonly steps: readonly ChainsawStep[]
}

/** A part of a test that is not read: a reason to count, not a failure of the program. */
export class UnreadableError extends Error {}

/** Reads a chainsaw-test.yaml and the files that it names. Throws UnreadableError, and what YAML and the tree throw. */
export function readChainsaw(tree: Tree, path: string): ChainsawTest {
  const folder = path.slice(0, path.lastIndexOf('/'))
  const documents = (file: string) => parseDocuments({ repository: '', path: file }, tree.read(file))
  const [root] = documents(path)
  if (stringAt(root, ['apiVersion']) !== 'chainsaw.kyverno.io/v1alpha1') throw new UnreadableError('no chainsaw test')
  const skip = at(root, ['spec', 'skip'])
  if (skip?.type === 'scalar' && skip.value === true) throw new UnreadableError('the test is skipped by its authors')
  const read: Reader = {
    folder,
    bindings: new Map(),
    objects: file => documents(file).flatMap(listed),
    documents,
    text: file => new TextDecoder().decode(tree.read(file)),
    exists: file => tree.entry(file)?.type === 'file',
  }
  const steps = itemsOf(root, ['spec', 'steps']).flatMap(step => stepsOf(step, read))
  return { path, namespace: stringAt(root, ['spec', 'namespace']) ?? 'chainsaw-test', steps }
}

interface Reader {
  readonly folder: string
  readonly bindings: ReadonlyMap<string, string>
  objects(file: string): readonly Fields[]
  documents(file: string): readonly Node[]
  text(file: string): string
  exists(file: string): boolean
}

function stepsOf(step: Node, read: Reader): ChainsawStep[] {
  const template = stringAt(step, ['use', 'template'])
  if (template !== undefined) {
    const bindings = itemsOf(step, ['use', 'with', 'bindings']).map(
      one => [stringAt(one, ['name']) ?? '', stringAt(one, ['value']) ?? ''] as const,
    )
    const [used] = read.documents(joined(read.folder, template))
    return itemsOf(used, ['spec', 'try']).flatMap(one => operationOf(one, { ...read, bindings: new Map(bindings) }))
  }
  if (at(step, ['forEach'])) throw new UnreadableError('forEach of a step')
  return itemsOf(step, ['try']).flatMap(one => operationOf(one, read))
}

const WRITES = ['apply', 'create', 'update', 'patch', 'delete'] as const
/** Operations that only look. */
const READS = ['assert', 'error', 'sleep', 'wait', 'get', 'describe', 'podLogs', 'events', 'proxy']

function operationOf(operation: Node, read: Reader): ChainsawStep[] {
  const verb = WRITES.find(one => at(operation, [one]))
  if (verb) return [written(verb, at(operation, [verb])!, read)]
  const script = stringAt(operation, ['script', 'content'])
  if (script !== undefined) return kubectlStep(script, at(operation, ['script'])!, filesOf(read))
  const command = at(operation, ['command'])
  if (command) {
    const words = itemsOf(command, ['args']).map(one => (one.type === 'scalar' ? String(one.value) : ''))
    return kubectlStep([stringAt(command, ['entrypoint']) ?? '', ...words].join(' '), command, filesOf(read))
  }
  if (READS.some(one => at(operation, [one]))) return []
  throw new UnreadableError('an operation of another kind')
}

/** The files of a test by their names in its scripts; undefined: there is none. */
const filesOf = (read: Reader) => ({
  objects: (name: string) => {
    const file = joined(read.folder, name)
    return read.exists(file) ? read.objects(file) : undefined
  },
  text: (name: string) => {
    const file = joined(read.folder, name)
    return read.exists(file) ? read.text(file) : undefined
  },
})

function written(verb: (typeof WRITES)[number], node: Node, read: Reader): ChainsawStep {
  const isRefused = refusals(itemsOf(node, ['expect']))
  const own = at(node, ['resource']) ?? at(node, ['ref'])
  if (own) return { verb, objects: [toJson(own) as Fields], isRefused }
  const named = stringAt(node, ['file'])
  if (named === undefined) throw new UnreadableError(`${verb} without a file`)
  const bound = /^\(\$(\w+)\)$/.exec(named)
  const file = bound ? read.bindings.get(bound[1]!) : named
  if (file === undefined || /[*()]|^https?:/.test(file)) throw new UnreadableError('a file that is computed')
  return { verb, objects: read.objects(joined(read.folder, file)), isRefused }
}

/** What the expectations say: an error for those that they match, and none for the others. */
function refusals(expectations: readonly Node[]): ChainsawStep['isRefused'] {
  return object => {
    for (const one of expectations) {
      const match = at(one, ['match'])
      if (match && !isPart(toJson(match), object)) continue
      return isError(at(one, ['check']))
    }
    return false
  }
}

function isError(check: Node | undefined): boolean | undefined {
  if (check?.type !== 'map') return undefined
  for (const [key, { value }] of check.fields) {
    const written = value.type === 'scalar' ? value.value : undefined
    if (key === '($error)') return written !== null
    if (/^\(\$error != (?:null|`null`)\)$/.test(key) && typeof written === 'boolean') return written
    if (/^\(\$error == (?:null|`null`)\)$/.test(key) && typeof written === 'boolean') return !written
    if (/^\(contains\(\$error, /.test(key) && written === true) return true
  }
  return undefined
}

function isPart(part: Json, whole: Json | undefined): boolean {
  if (typeof part !== 'object' || part === null) return part === whole
  if (typeof whole !== 'object' || whole === null) return false
  return Object.entries(part).every(([key, value]) => isPart(value as Json, (whole as Fields)[key]))
}

function listed(root: Node): Fields[] {
  if (root.type !== 'map') return []
  if (stringAt(root, ['kind']) !== 'List') return [toJson(root) as Fields]
  return itemsOf(root, ['items']).map(item => toJson(item) as Fields)
}

export const itemsOf = (node: Node | undefined, path: readonly string[]): readonly Node[] => {
  const list = at(node, [...path])
  return list?.type === 'list' ? list.items : []
}

function joined(folder: string, name: string): string {
  const steps = folder.split('/')
  for (const step of name.split('/')) {
    if (step === '..') steps.pop()
    else if (step !== '.' && step !== '') steps.push(step)
  }
  return steps.join('/')
}
