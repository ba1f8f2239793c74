import { errorGuide } from '../report/error-guide.ts'
import { rules } from '../rules/registry.ts'
import type { ListedCommand } from './command.ts'

/** The value of an option: one of these words, a path, any text, or none. */
type ValueWords = { readonly words: readonly string[] } | 'path' | 'any' | 'none'

export interface CommandWords {
  readonly name: string
  readonly summary: string
  readonly options: ReadonlyMap<string, ValueWords>
  /** Words allowed as positional arguments; without any, a path is allowed. */
  readonly words: readonly string[]
}

const COLORS = ['auto', 'always', 'never']
const OPTION = /(?<![\w-])(--?[a-z][a-z-]*)(?:[ =]([A-Za-z][^\s\],]*))?/g

/** All commands with their options, parsed from each command's own usage text so that completion matches the help. */
export async function completionWords(commands: readonly ListedCommand[]): Promise<CommandWords[]> {
  const all = await Promise.all(
    commands.map(async ([name, summary, load]) => wordsOf(name, summary, (await load()).usage)),
  )
  const names = commands.map(([name]) => name)
  return [
    ...all,
    { name: 'version', summary: 'Print the version', options: new Map(), words: [] },
    { name: 'help', summary: 'Explain a command', options: new Map(), words: names },
  ]
}

function wordsOf(name: string, summary: string, usage: string): CommandWords {
  const [grammar = '', ...rest] = usage.split('\n\n')
  // `  --name VALUE   help`: the part before the help text, or the whole line if it has only options
  const named = rest
    .join('\n')
    .split('\n')
    .flatMap(line => /^ {2,}(-.+?)(?: {2,}.*)?$/.exec(line)?.[1] ?? [])
  const options = new Map<string, ValueWords>()
  for (const part of [grammar, ...named])
    for (const [, option = '', value] of part.matchAll(OPTION)) {
      const known = options.get(option)
      if (known === undefined || known === 'none') options.set(option, behind(value))
    }
  const output = options.get('-o')
  if (output) options.set('--output', output)
  options.set('--help', 'none').set('--quiet', 'none').set('--color', { words: COLORS })
  return { name, summary, options, words: wordsFor(name, grammar) }
}

function wordsFor(name: string, grammar: string): readonly string[] {
  if (name === 'explain') return [...rules.map(({ id }) => id), ...errorGuide.map(({ code }) => code)]
  const first = grammar.split(' ')[1] ?? ''
  return /^[a-z]+(?:\|[a-z]+)*$/.test(first) ? first.split('|') : []
}

function behind(value: string | undefined): ValueWords {
  if (value === undefined) return 'none'
  if (/^[a-z][a-z-]*(?:\|[a-z-]+)+$/.test(value)) return { words: value.split('|') }
  return /DIR|FILE|PATH/.test(value) ? 'path' : 'any'
}
