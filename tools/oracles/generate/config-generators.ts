import type { Chance } from './chance.ts'
import type { Files } from './overlay.ts'
import { type Fields, Raw, type Value } from './value.ts'
import { NAMESPACES, name, textPairs } from './vocabulary.ts'

const LITERALS = [
  'a=1',
  'b=two words',
  'c="quoted"',
  "d='single'",
  'e=',
  'a=b=c',
  'f= lead',
  'yes=no',
  'KEY=é',
  'g="a',
  'h=""',
  'x.y-z_1=v',
] as const
const CONTENTS = [
  'plain\n',
  'no end',
  '',
  'two\nlines\n',
  'a: b\n',
  '\tx\r\ny\r\n',
  ' lead\n',
  'é\n',
  'end \n',
  '#!/bin/sh\necho "$(VAR)"\n',
  '\u0001',
] as const
const ENVS = [
  'A=1\nB=two\n',
  '# c\n\nA=x=y\n',
  'A="q"\n',
  '\ufeffA=1\n',
  'A=1\r\nB=2\r\n',
  ' A=lead\n',
  'A= sp \n',
  'EMPTY=\n',
] as const

/** One entry of configMapGenerator or secretGenerator; the files that it names are written beside it. */
export function configGenerator(kind: 'configMap' | 'secret', directory: string, files: Files, chance: Chance): Fields {
  const own = chance.is(50) ? name(chance) : chance.pick(['settings', 'web-config'])
  return {
    name: own,
    ...chance.maybe(15, 'namespace', () => chance.pick(NAMESPACES)),
    ...behavior(own, files, chance),
    ...chance.maybe(65, 'literals', () =>
      unlike(
        chance.list(1, 3, () => chance.pick(LITERALS)),
        chance,
      ),
    ),
    ...chance.maybe(35, 'files', () => chance.list(1, 2, index => file(`f${index}`, directory, files, chance))),
    ...chance.maybe(20, 'envs', () => [env(directory, files, chance)]),
    ...chance.maybe(3, 'env', () => env(directory, files, chance)),
    ...(kind === 'secret' ? chance.maybe(25, 'type', () => chance.pick(['Opaque', 'kubernetes.io/tls'])) : {}),
    ...chance.maybe(30, 'options', () => generatorOptions(chance)),
  }
}

/** Mostly of what an other layer makes, as it fails otherwise. */
function behavior(own: string, files: Files, chance: Chance): Fields {
  const isThere = [...files.values()].some(text => text.includes('Generator:') && text.includes(`name: ${own}`))
  if (isThere) return chance.maybe(60, 'behavior', () => chance.pick(['merge', 'merge', 'replace', 'create']))
  return chance.maybe(6, 'behavior', () => chance.pick(['create', 'create', 'merge', 'replace']))
}

/** Mostly no key twice, which fails. */
function unlike(literals: readonly string[], chance: Chance): string[] {
  if (chance.is(3)) return [...literals]
  const keys = literals.map(text => text.slice(0, text.indexOf('=')))
  return literals.filter((_text, index) => keys.indexOf(keys[index]!) === index)
}

function file(stem: string, directory: string, files: Files, chance: Chance): string {
  const path = `${stem}${chance.pick(['.txt', '.yaml', '', '.x.y'])}`
  files.set(`${directory}/${path}`, chance.pick(CONTENTS))
  return chance.is(40) ? `${chance.pick(['key', 'a', 'k.json'])}=${path}` : path
}

function env(directory: string, files: Files, chance: Chance): string {
  const path = chance.pick(['one.env', 'two.env'])
  files.set(`${directory}/${path}`, chance.pick(ENVS))
  return path
}

export function generatorOptions(chance: Chance): Fields {
  return {
    ...chance.maybe(55, 'disableNameSuffixHash', () => chance.pick<Value>([true, true, false, new Raw('True')])),
    ...chance.maybe(35, 'labels', () => textPairs(chance)),
    ...chance.maybe(35, 'annotations', () => textPairs(chance)),
    ...chance.maybe(15, 'immutable', () => true),
  }
}
