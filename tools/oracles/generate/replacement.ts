import type { Chance } from './chance.ts'
import { groupVersion, target } from './patch.ts'
import { type Fields, isFields, pathsOf, type Value, valueAt } from './value.ts'
import { scalar } from './vocabulary.ts'

/** One replacement: a value of one object into places of others. */
export function replacement(objects: readonly Fields[], chance: Chance): Fields {
  const from = chance.pick(objects)
  return {
    ...(chance.is(8)
      ? { sourceValue: chance.pick(['1', 'web', 'yes', 'a: b']) }
      : {
          source: {
            ...exactly(from, chance),
            ...chance.maybe(75, 'fieldPath', () => fieldPath(from, chance)),
            ...chance.maybe(20, 'options', () => options(chance)),
          },
        }),
    targets: chance.list(1, 2, () => {
      const to = chance.pick(objects)
      return {
        select: chance.is(70) ? exactly(to, chance) : target(to, chance),
        ...chance.maybe(10, 'reject', () => [exactly(chance.pick(objects), chance)]),
        ...chance.maybe(92, 'fieldPaths', () => chance.list(1, 2, () => fieldPath(to, chance))),
        ...chance.maybe(35, 'options', () => ({ ...options(chance), ...chance.maybe(60, 'create', () => true) })),
      }
    }),
  }
}

function exactly(object: Fields, chance: Chance): Fields {
  const metadata = isFields(object.metadata) ? object.metadata : {}
  const [group, version] = groupVersion(object)
  return {
    ...chance.maybe(90, 'kind', () => object.kind!),
    ...chance.maybe(80, 'name', () => metadata.name ?? 'web'),
    ...(metadata.namespace !== undefined && chance.is(50) ? { namespace: metadata.namespace } : {}),
    ...(group !== '' && chance.is(20) ? { group } : {}),
    ...chance.maybe(12, 'version', () => version),
  }
}

const options = (chance: Chance): Fields => ({
  ...chance.maybe(60, 'delimiter', () => chance.pick([':', '/', '.', '-', ''])),
  ...chance.maybe(60, 'index', () => chance.pick([0, 1, 2, -1, 5])),
  ...chance.maybe(5, 'encoding', () => 'base64'),
})

function fieldPath(object: Fields, chance: Chance): Value {
  if (chance.is(4)) return scalar(chance)
  if (chance.is(15))
    return chance.pick([
      'metadata.name',
      'metadata.namespace',
      'metadata.labels.app',
      'metadata.annotations.new',
      'spec.new.field',
      'kind',
    ])
  const path = chance.pick(pathsOf(object))
  const steps = path.map((key, index) => step(object, path.slice(0, index), key, chance))
  return steps.join('.')
}

/** One step of a path: escaped where it holds a dot, a list's element by its key, its place or all of them. */
function step(object: Fields, above: readonly string[], key: string, chance: Chance): string {
  const parent = valueAt(object, above)
  if (!Array.isArray(parent)) return key.includes('.') ? (chance.is(50) ? key.replaceAll('.', '\\.') : `[${key}]`) : key
  const item = parent[Number(key)]
  if (isFields(item) && typeof item.name === 'string' && chance.is(60)) return `[name=${item.name}]`
  return chance.pick([key, key, '*', '-', '[name=none]'])
}
