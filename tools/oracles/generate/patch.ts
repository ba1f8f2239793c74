import type { Chance } from './chance.ts'
import { type Fields, isFields, pathsOf, type Value, valueAt } from './value.ts'
import { IMAGES, NAMESPACES, name, pairs, scalar, text } from './vocabulary.ts'

const metadataOf = (object: Fields): Fields => (isFields(object.metadata) ? object.metadata : {})

/** A strategic merge patch for `object`: some of its fields, changed, removed or joined by directives. */
export function strategicPatch(object: Fields, chance: Chance): Fields {
  const { namespace } = metadataOf(object)
  const head: Fields = {
    apiVersion: object.apiVersion!,
    kind: object.kind!,
    metadata: { name: metadataOf(object).name!, ...(namespace && chance.is(70) ? { namespace } : {}) },
  }
  if (chance.is(4)) return { ...head, $patch: 'delete' }
  const body: Fields = {}
  for (const [key, value] of Object.entries(object)) {
    if (['apiVersion', 'kind', 'metadata'].includes(key)) continue
    if (chance.is(65)) body[key] = part(value, chance)
  }
  const labels = chance.is(25) ? { labels: chance.is(85) ? pairs(chance, 1, 2) : null } : {}
  const annotations = chance.is(20) ? { annotations: pairs(chance, 1, 2, 25) } : {}
  const extra = chance.is(10) ? { [chance.pick(['spec', 'data', 'extra'])]: { added: scalar(chance) } } : {}
  return { ...head, metadata: { ...(head.metadata as Fields), ...labels, ...annotations }, ...extra, ...body }
}

/** A part of a patch for this value: as it is, changed, or with what it does not have. */
function part(value: Value, chance: Chance): Value {
  if (chance.is(4)) return null
  if (Array.isArray(value)) return listPart(value, chance)
  if (!isFields(value)) return chance.is(60) ? changed(value, chance) : value
  const kept = Object.entries(value).filter(() => chance.is(55))
  const made: Fields = Object.fromEntries(
    kept.map(([key, child]) => [key, MERGE_KEYS.has(key) ? child : part(child, chance)]),
  )
  if (chance.is(12)) made[chance.pick(['added', 'image', 'replicas', 'app', 'a'])] = scalar(chance)
  if (chance.is(4)) made.$patch = chance.pick(['replace', 'delete', 'merge'])
  return made
}

const MERGE_KEYS = new Set(['name', 'containerPort', 'mountPath', 'port', 'key', 'ip', 'topologyKey'])

function listPart(items: readonly Value[], chance: Chance): Value {
  const made: Value[] = items.filter(() => chance.is(65)).map(item => part(item, chance))
  for (const [index, item] of made.entries()) {
    if (isFields(item) && chance.is(6)) made[index] = { ...item, $patch: chance.pick(['delete', 'replace']) }
  }
  const first = items[0]
  if (chance.is(25))
    made.push(
      isFields(first) ? { ...first, ...(first.name ? { name: chance.pick(['main', 'new']) } : {}) } : scalar(chance),
    )
  if (chance.is(4)) made.push({ $patch: chance.pick(['replace', 'delete']) })
  return made
}

function changed(value: Value, chance: Chance): Value {
  if (typeof value === 'number') return chance.pick<Value>([value + 1, String(value), scalar(chance)])
  return chance.is(50) ? text(chance) : scalar(chance)
}

/** Operations of a JSON6902 patch on places that `object` has, or nearly has. */
export function jsonPatch(object: Fields, chance: Chance): Value[] {
  const paths = pathsOf(object).filter(path => path[0] !== 'kind' && path[0] !== 'apiVersion')
  return chance.list(1, 2, () => {
    const path = chance.pick(paths)
    return operation(object, path, chance)
  })
}

function operation(object: Fields, path: readonly string[], chance: Chance): Fields {
  const pointer = pointerOf(path)
  const value = (): Value => {
    const old = valueAt(object, path)
    return old === undefined || chance.is(40) ? scalar(chance) : old
  }
  switch (chance.upTo(9)) {
    case 0:
      return { op: 'remove', path: pointer }
    case 1:
      return {
        op: 'add',
        path: pointerOf([...path.slice(0, -1), chance.pick(['-', '0', 'new', '1', 'a/b~c'])]),
        value: value(),
      }
    case 2:
      return { op: 'add', path: '/metadata/labels', value: pairs(chance, 1, 2, 0) }
    case 3:
      return {
        op: chance.pick(['copy', 'move']),
        from: pointer,
        path: pointerOf([...path.slice(0, -1), /^\d+$/.test(path.at(-1)!) ? '-' : 'copy']),
      }
    case 4:
      return { op: 'test', path: pointer, value: valueAt(object, path) ?? null }
    case 5:
      return { op: 'add', path: pointer, value: value() }
    default:
      return { op: 'replace', path: pointer, value: value() }
  }
}

const pointerOf = (path: readonly string[]): string =>
  path.map(key => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** Who a patch is for: this object, a few like it, or many. */
export function target(object: Fields, chance: Chance): Fields {
  const { name: own, namespace } = metadataOf(object)
  const [group, version] = groupVersion(object)
  const kind = chance.is(75)
    ? { kind: chance.is(85) ? object.kind! : chance.pick(['.*', 'Deploy.*', '(Deployment|StatefulSet)', 'Service']) }
    : {}
  return {
    ...kind,
    ...chance.maybe(55, 'name', () =>
      chance.is(75) ? (own ?? 'web') : chance.pick(['.*', 'we.*', 'w', '[a-c].*', 'web|api', '^web$']),
    ),
    ...(namespace !== undefined && chance.is(35)
      ? { namespace }
      : chance.maybe(5, 'namespace', () => chance.pick(NAMESPACES))),
    ...(group !== '' && chance.is(20) ? { group } : {}),
    ...chance.maybe(15, 'version', () => version),
    ...chance.maybe(8, 'labelSelector', () => chance.pick(['app=web', 'app', '!app', 'app in (web,api)', 'tier!=one'])),
    ...chance.maybe(4, 'annotationSelector', () => chance.pick(['app=web', 'x', 'app notin (web)'])),
  }
}

export function groupVersion(object: Fields): [group: string, version: string] {
  const parts = String(object.apiVersion).split('/')
  return parts.length === 1 ? ['', parts[0]!] : [parts[0]!, parts[1]!]
}

/** What becomes of images: by name, new name, tag or digest. */
export function image(chance: Chance): Fields {
  return {
    name: chance.pick(['nginx', 'example.org/team/app', 'example.org:5000/app', 'app', 'my-nginx', 'example.org/app']),
    ...chance.maybe(40, 'newName', () => chance.pick(IMAGES.filter(text => !/[:@]/.test(text)))),
    ...chance.maybe(60, 'newTag', () => chance.pick<Value>(['v2', '1.10', 'latest', '2'])),
    ...chance.maybe(15, 'digest', () => 'sha256:25a0c4b4a4c0eb97a1aabb8e29f18e917d05abfe1b7a7c07857230879ce7d3d3'),
    ...chance.maybe(8, 'tagSuffix', () => '-x'),
  }
}

/** What patchesJson6902 asks of a target: kind and name. */
export function exactTarget(object: Fields, chance: Chance): Fields {
  const { name: own, namespace } = metadataOf(object)
  const [group, version] = groupVersion(object)
  return {
    ...(group === '' ? {} : { group }),
    version,
    kind: object.kind!,
    name: own ?? 'web',
    ...(namespace === undefined || chance.is(40) ? {} : { namespace }),
  }
}

/** The name of something with replicas, where there is one. */
export function scaledName(objects: readonly Fields[], chance: Chance): Value {
  const scaled = objects.filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
  return scaled.length > 0 && chance.is(85) ? (metadataOf(chance.pick(scaled)).name ?? 'web') : likelyName(chance)
}

/** A name that stands in objects, or stood there before an overlay changed it. */
export const likelyName = (chance: Chance): string =>
  chance.is(85) ? name(chance) : chance.pick(['dev-web', 'web-x', 'none'])
