import type { Chance } from './chance.ts'
import type { Layer } from './overlay.ts'
import { strategicPatch } from './patch.ts'
import { type Fields, isFields, pathsOf, type Value, valueAt } from './value.ts'
import { NAMESPACES, name, scalar } from './vocabulary.ts'

const LABELS = ['app', 'tier', 'team'] as const
const identity = ({ apiVersion, kind, metadata }: Fields): Fields => {
  const { name: own, namespace } = isFields(metadata) ? metadata : {}
  return { apiVersion: apiVersion!, kind: kind!, metadata: { name: own!, ...(namespace ? { namespace } : {}) } }
}

/** Labels in selectors and templates, which are one value at several places of an object. */
export const sharedLabels = ({ chance }: Layer): Fields => ({
  labels: [
    {
      pairs: { [chance.pick(LABELS)]: chance.pick(['web', 'true', '1']) },
      includeSelectors: chance.is(70),
      ...chance.maybe(40, 'includeTemplates', () => true),
    },
  ],
})

/** Patches of labels and annotations alone, whether they are there or not. */
export function labelPatches({ objects, chance, yaml }: Layer): Fields {
  return {
    patches: chance.list(1, 2, () => {
      const aim = chance.pick(objects)
      const labels = { [chance.pick(LABELS)]: chance.is(15) ? null : scalar(chance) }
      if (chance.is(65)) {
        const { metadata, ...head } = identity(aim)
        return { patch: yaml.document({ ...head, metadata: { ...(metadata as Fields), labels } }) }
      }
      const [key] = Object.keys(labels)
      const path = chance.pick(['/metadata/labels/', '/spec/selector/matchLabels/', '/spec/template/metadata/labels/'])
      const operation = { op: chance.pick(['add', 'replace', 'remove', 'test']), path: `${path}${key}`, value: 'x' }
      return { patch: yaml.document([operation]), target: { kind: aim.kind! } }
    }),
  }
}

/** Patches that make an object another one. */
export function renamingPatches({ objects, chance, yaml }: Layer): Fields {
  return {
    patches: chance.list(1, 2, () => {
      const aim = chance.pick(objects)
      const head = identity(aim)
      const [path, value] = chance.pick<readonly [string, Value]>([
        ['/metadata/name', chance.pick(['renamed', name(chance)])],
        ['/metadata/namespace', chance.pick(NAMESPACES)],
        ['/kind', chance.pick(['Other', 'ConfigMap'])],
        ['/apiVersion', chance.pick(['example.org/v2', 'v1', 'apps/v1'])],
      ])
      const target = { kind: head.kind!, name: (head.metadata as Fields).name! }
      if (chance.is(60)) return { target, patch: yaml.document([{ op: 'add', path, value }]) }
      const metadata =
        path === '/metadata/name' ? { name: value } : path === '/metadata/namespace' ? { namespace: value } : {}
      const changed = path.startsWith('/metadata') ? {} : { [path.slice(1)]: value }
      const patch = { ...head, ...changed, metadata: { ...(head.metadata as Fields), ...metadata } }
      const options = { allowNameChange: chance.is(70), allowKindChange: chance.is(70) }
      return { target, patch: yaml.document(patch), options }
    }),
  }
}

/** A file of several patches, some for the same object. */
export function patchFiles({ directory, files, objects, chance, yaml }: Layer): Fields {
  const path = `several-${chance.upTo(9)}.yaml`
  files.set(
    `${directory}/${path}`,
    yaml.documents(chance.list(2, 3, () => strategicPatch(chance.pick(objects), chance))),
  )
  return chance.is(60) ? { patches: [{ path }] } : { patchesStrategicMerge: [path] }
}

/** JSON6902 patches of the lists of an object: by place, from the end, behind it and beyond. */
export function listPatches({ objects, chance, yaml }: Layer): Fields {
  const aim = chance.pick(objects)
  const lists = pathsOf(aim).filter(path => Array.isArray(valueAt(aim, path)))
  const base = lists.length > 0 ? chance.pick(lists) : ['spec', 'list']
  const place = (): string => `/${base.join('/')}/${chance.pick(['-', '0', '1', '-1', '-2', '2', '01', '+1', ''])}`
  const operations = chance.list(1, 3, () => operation(place, chance))
  return { patches: [{ target: { kind: aim.kind! }, patch: yaml.document(operations) }] }
}

function operation(place: () => string, chance: Chance): Fields {
  const op = chance.pick(['add', 'add', 'replace', 'remove', 'copy', 'move'])
  if (op === 'remove') return { op, path: place() }
  return op === 'copy' || op === 'move'
    ? { op, from: place(), path: place() }
    : { op, path: place(), value: scalar(chance) }
}

/** A generator for what a layer below may have made, under the same name. */
export function generatorsAgain({ files, chance }: Layer): Fields {
  const made = [...files.values()].flatMap(text => {
    const block = /(configMap|secret)Generator:\n(?:.*\n)*?.*\bname: ([\w-]+)\n/.exec(text)
    return block ? [[block[1]!, block[2]!] as const] : []
  })
  const [kind, own] = made.length > 0 ? chance.pick(made) : (['configMap', 'settings'] as const)
  const entry = {
    name: own,
    behavior: chance.pick(['merge', 'merge', 'replace']),
    literals: [chance.pick(['a=9', 'b=2', 'z=1'])],
    ...chance.maybe(25, 'options', () => ({ disableNameSuffixHash: chance.is(60), labels: { app: 'again' } })),
    ...chance.maybe(15, 'namespace', () => chance.pick(NAMESPACES)),
  }
  return { [`${kind}Generator`]: [entry] }
}
