import { BailiwickError } from '../../base/errors.ts'
import { probably } from '../../base/name-list.ts'
import { visible } from '../../base/visible.ts'
import { type ErrorEntry, errorGuide } from '../../report/error-guide.ts'
import { exampleOf, type RuleExample } from '../../rules/catalogue.ts'
import type { RuleText } from '../../rules/model/rule.ts'
import { rules } from '../../rules/registry.ts'
import type { Command } from './command.ts'
import { table, wrap } from './terminal.ts'
import { TEXT_OR_JSON } from './usage.ts'

const MOST_SIMILAR = 10
/** Shorter texts are part of too many ids. */
const SHORTEST = 3

/** `bailiwick explain`: what a rule requires, why, and how to write it; what an error code means, and what to do. */
export const explain: Command = {
  name: 'explain',
  usage: [
    [
      '[RULE|CODE]',
      'id of a rule, as findings name it, or code of an error, as in error[CODE] (default: a list of all rules)',
    ],
    TEXT_OR_JSON,
  ],
  async run({ positionals: [id], format: output }, io) {
    if (id === undefined) {
      const rows = rules.map(rule => [rule.id, weightOf(rule), rule.title])
      io.stdout(
        output === 'json'
          ? json(rules.map(plain))
          : `${table(['RULE', 'SEVERITY', 'TITLE'], rows, io.columns).join('\n')}\n`,
      )
      return 0
    }
    const rule = rules.find(one => one.id === id)
    const error = errorGuide.find(({ code }) => code === id)
    if (rule) io.stdout(output === 'json' ? json(plain(rule)) : text(rule, io.columns))
    else if (error) io.stdout(output === 'json' ? json(error) : errorText(error, io.columns))
    else throw unknown(id)
    return 0
  },
}

function unknown(id: string): BailiwickError {
  const ids = [...rules.map(rule => rule.id), ...errorGuide.map(({ code }) => code)]
  const meant = probably(id, ids)
  const alike = similar(id, ids)
  const hint = alike.length === 0 ? '' : `Similar: ${alike.join(', ')}. `
  const fix = meant === undefined ? `${hint}Run bailiwick explain for all rules.` : `Did you mean ${meant}?`
  return new BailiwickError('usage', `unknown rule or error code ${JSON.stringify(visible(id, 100))}`, { fix })
}

/** Ids that contain the word, such as every rule about `rbac`. */
function similar(id: string, ids: readonly string[]): readonly string[] {
  return id.length < SHORTEST ? [] : ids.filter(one => one.includes(id.toLowerCase())).slice(0, MOST_SIMILAR)
}

const weightOf = ({ severity, level = 'violation' }: RuleText) =>
  level === 'violation' ? severity : `${level}, ${severity}`

function text(rule: RuleText, width?: number): string {
  const { id, title, why, docs, source, profile } = rule
  const parts = [
    `${id}: ${title} (${weightOf(rule)})`,
    why,
    ...`What to do: ${docs}`.split('\n\n'),
    ...(profile === 'restricted' ? ['Where the profile is "baseline", this is a warning.'] : []),
    ...(source === undefined ? [] : [`Source: ${source}`]),
  ]
  const wrapped = (texts: readonly string[]) => texts.map(part => wrap(part, width).join('\n'))
  return `${[...wrapped(parts), ...exampleLines(exampleOf(id), wrapped)].join('\n\n')}\n`
}

/** Lines of files and of the diff are never wrapped. */
function exampleLines(
  example: RuleExample | undefined,
  wrapped: (texts: readonly string[]) => readonly string[],
): readonly string[] {
  if (!example) return []
  const { files, line, message, fix, patch } = example
  const indented = (lines: readonly string[]) => lines.map(one => `    ${one}`.trimEnd()).join('\n')
  return [
    ...files.flatMap(({ repository, path, text }, at) => [
      `${at === 0 ? 'Example' : 'With'}, ${path} in ${repository === 'fleet' ? 'the fleet repository' : 'the repository of a tenant'}:`,
      indented(text.replace(/\n$/, '').split('\n')),
    ]),
    ...wrapped([`${line === 0 ? 'Finding' : `At line ${line}`}: ${message}`, `Fix: ${fix}`]),
    ...(patch ? [indented(patch)] : []),
  ]
}

function errorText({ code, means, remedy }: ErrorEntry, width?: number): string {
  const parts = [`${code}: error`, means, `What to do: ${remedy}`]
  return `${parts.map(part => wrap(part, width).join('\n')).join('\n\n')}\n`
}

const plain = ({ id, severity, level = 'violation', profile = 'baseline', title, why, docs, source }: RuleText) => ({
  ...{ id, severity, level, profile, title, why, docs },
  ...(source === undefined ? {} : { source }),
  ...(exampleOf(id) ? { example: exampleOf(id) } : {}),
})

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
