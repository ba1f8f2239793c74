// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the variables of Flux
import type { Chance } from './chance.ts'
import { type Fields, Raw, type Value } from './value.ts'
import { scalar } from './vocabulary.ts'

const VARIABLES = ['A', 'B', 'cluster_env', 'EMPTY', 'NUMBER', 'UNSET', '_x', 'LINES'] as const
const VALUES = [
  'one',
  'two words',
  '',
  '12',
  'true',
  'a/b.c',
  '1.10',
  'x: y',
  '#h',
  '"q"',
  'null',
  'two\nlines',
  '${B}',
  'é',
  '[1]',
  '0x1F',
  '~',
  '- a',
  '{a: b}',
] as const
const OPERATORS = [':-', '-', ':=', '=', ':+', '+', ':?', '?', '#', '##', '%', '%%', '/', '//', '/#', '/%'] as const
const ARGUMENTS = [
  'default',
  '',
  'a b',
  'o',
  '*',
  'a/x',
  'o/0',
  '${B}',
  '$B',
  '"q"',
  'a:b',
  '}',
  '\\',
  '.',
  'x: y',
  '[ab]',
] as const

/** What nearly always builds: every variable is set, and no value changes what its place means. */
const CALM = ['A', 'B', 'cluster_env', 'NUMBER'] as const
const CALM_VALUES = [
  'one',
  'two words',
  '12',
  'true',
  'a/b.c',
  '1.10',
  'é',
  '0x1F',
  'null',
  'x-y',
  '07',
  '1e3',
] as const
const CALM_USES = ['', '', '', ':-b', ':=b', '=b', ':+b', '^', '^^', ',,', ':0:1', ':1', '/o/0', '#o', '%e'] as const

const braced = (inside: string): string => `$\{${inside}}`

function calmReference(chance: Chance): string {
  if (chance.is(15))
    return chance.pick([braced('UNSET:-default'), `$${braced('A')}`, braced('#A'), '$A', braced('UNSET:=x')])
  return braced(chance.pick(CALM) + chance.pick(CALM_USES))
}

/** A reference to a variable, in any form of Flux's grammar or nearly so. */
function reference(chance: Chance, calm: boolean): string {
  if (calm) return calmReference(chance)
  const variable = chance.pick(VARIABLES)
  switch (chance.upTo(13)) {
    case 0:
      return `$${variable}`
    case 1:
      return `$${braced(variable)}`
    case 2:
      return braced(`#${variable}`)
    case 3:
      return braced(variable + chance.pick(['^', '^^', ',', ',,']))
    case 4:
      return braced(
        `${variable}:${chance.pick(['0', '1', '-1', '9', 'a'])}${chance.pick(['', '', ':1', ':2', ':-1', ':99'])}`,
      )
    case 5:
    case 6:
    case 7:
      return braced(variable + chance.pick(OPERATORS) + chance.pick(ARGUMENTS))
    case 8:
      return chance.pick([
        '${',
        '$',
        '$$',
        '${}',
        '${A',
        '$(A)',
        '${ A }',
        '${A B}',
        '${1}',
        '${a.b}',
        '${A:}',
        '$$$A',
        '$1',
        '${A-}',
      ])
    default:
      return braced(variable)
  }
}

const substituted = (chance: Chance, calm: boolean): Value => {
  const text = chance.list(1, 2, () => reference(chance, calm)).join(chance.pick(['', '-', ' ', '/']))
  return chance.is(40) ? new Raw(plainly(text)) : chance.is(30) ? `lead ${text} end` : text
}

/** A text that a person might leave without quotes. */
const plainly = (text: string): string =>
  /^[\w$][^#:'"\n]*$/.test(text) && !/[{}].*[\s,[\]]/.test(text) ? text.trim() : JSON.stringify(text)

/** Objects that are full of variables. */
export function substitutedObjects(chance: Chance, calm = false): Fields[] {
  return chance.list(1, 2, index => ({
    apiVersion: chance.is(80) ? 'v1' : 'example.org/v1',
    kind: chance.is(80) ? 'ConfigMap' : 'MyKind',
    metadata: {
      name:
        calm || chance.is(75)
          ? `vars-${index}${calm && chance.is(25) ? braced('A') : ''}`
          : `vars-${reference(chance, false)}`,
      ...chance.maybe(10, 'namespace', () => '${A}'),
      ...chance.maybe(15, 'annotations', () => ({
        'kustomize.toolkit.fluxcd.io/substitute': chance.pick<Value>([
          'disabled',
          'enabled',
          'Disabled',
          new Raw('disabled'),
          true,
        ]),
      })),
      ...chance.maybe(10, 'labels', () => ({ 'kustomize.toolkit.fluxcd.io/substitute': 'disabled' })),
    },
    data: Object.fromEntries(
      chance.list(1, 3, key => [`k${key}`, chance.is(90) ? substituted(chance, calm) : scalar(chance)]),
    ),
  }))
}

export interface PostBuild {
  readonly postBuild: Fields
  /** ConfigMaps and Secrets of the cluster. */
  readonly objects: Fields[]
}

export function postBuild(chance: Chance, calm = false): PostBuild {
  const objects: Fields[] = []
  const from = chance.list(0, 2, index => {
    const kind = chance.pick(['ConfigMap', 'Secret'])
    const name = `from-${index}`
    const isThere = chance.is(85)
    if (isThere) objects.push(source(kind, name, chance, calm))
    return {
      kind,
      name,
      ...(calm && !isThere ? { optional: true } : chance.maybe(25, 'optional', () => chance.is(70))),
    }
  })
  return {
    objects,
    postBuild: {
      ...chance.maybe(calm ? 100 : 85, 'substitute', () => values(chance, calm)),
      ...(from.length > 0 ? { substituteFrom: from } : {}),
      ...chance.maybe(15, 'substituteStrategy', () => chance.pick(['Always', 'WithVariables'])),
    },
  }
}

const values = (chance: Chance, calm: boolean): { [key: string]: string } => {
  if (calm) return Object.fromEntries(CALM.map(key => [key, chance.pick(CALM_VALUES)]))
  return Object.fromEntries(
    chance.list(0, 5, () => [
      chance.is(96) ? chance.pick(VARIABLES) : chance.pick(['a.b', 'a-b', '1a', '']),
      chance.pick(VALUES),
    ]),
  )
}

function source(kind: string, name: string, chance: Chance, calm: boolean): Fields {
  const data = values(chance, calm)
  const encoded = Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  )
  return { apiVersion: 'v1', kind, metadata: { name, namespace: 'apps' }, data: kind === 'Secret' ? encoded : data }
}
