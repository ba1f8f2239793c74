import type { Chance } from './chance.ts'
import { Raw, type Value } from './value.ts'

// Few words, so that names meet: references hit, patches match, ids collide.
const NAMES = ['web', 'api', 'db', 'cache', 'web-1'] as const
export const NAMESPACES = ['team', 'apps', 'default', 'kube-system'] as const
export const IMAGES = [
  'nginx',
  'nginx:1.25',
  'example.org/team/app:v1',
  'example.org:5000/app',
  'app@sha256:24a0c4b4a4c0eb97a1aabb8e29f18e917d05abfe1b7a7c07857230879ce7d3d3',
  'example.org/app:v2@sha256:24a0c4b4a4c0eb97a1aabb8e29f18e917d05abfe1b7a7c07857230879ce7d3d3',
  'my-nginx:1',
  '',
] as const
const KEYS = ['app', 'tier', 'team', 'app.kubernetes.io/name', 'example.org/a.b', 'x'] as const
const TEXTS = [
  'web',
  'one',
  'a b',
  'true',
  '1',
  '1.10',
  '',
  'yes',
  'null',
  '$(VAR)',
  'two\nlines\n',
  ' lead',
  'é',
  '0x10',
  'a: b',
  '#c',
  '~',
] as const

/** Plain scalars on which YAML readers have different thoughts, or that come out otherwise than they went in. */
const ODD = [
  '0644',
  '0o17',
  '1_000',
  'yes',
  'On',
  '1e3',
  '1.10',
  '0x1F',
  '~',
  '',
  'null',
  '12:30:45',
  '.5',
  '+5',
  '-0',
  '1.0',
  '9007199254740993',
  '18446744073709551615',
  '1e21',
  'True',
  '=',
  '0b11',
  '08',
  '-1',
  '3.0e2',
] as const

export const name = (chance: Chance): string => chance.pick(NAMES)

export function scalar(chance: Chance): Value {
  switch (chance.upTo(9)) {
    case 0:
      return chance.upTo(3)
    case 1:
      return chance.is(50)
    case 2:
      return new Raw(chance.pick(ODD))
    case 3:
      return null
    default:
      return chance.pick(TEXTS)
  }
}

export const text = (chance: Chance): string => chance.pick(TEXTS)

export function pairs(chance: Chance, min: number, max: number, odd = 8): { [key: string]: Value } {
  return Object.fromEntries(
    chance.list(min, max, () => [
      chance.pick(KEYS),
      chance.is(odd) ? scalar(chance) : chance.pick(['web', 'one', 'two', 'api']),
    ]),
  )
}

export const textPairs = (chance: Chance): { [key: string]: string } =>
  Object.fromEntries(chance.list(1, 2, () => [chance.pick(KEYS), chance.pick(['web', 'one', 'true', '12', 'a-b'])]))
