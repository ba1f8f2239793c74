import { COMMANDS, commandNamed } from './commands.ts'

/** The value of an option: one of these words, a path, any text, or none. */
type ValueWords = readonly string[] | 'path' | 'any' | 'none'

interface CommandWords {
  readonly options: ReadonlyMap<string, ValueWords>
  /** Words allowed as positional arguments; without any, a path is allowed. */
  readonly words: readonly string[]
}

const OPTION = /(?<![\w-])(--?[a-z][a-z-]*)(?:[ =]([A-Za-z][^\s\],]*))?/g

/**
 * `bailiwick __complete WORD...`, which the shells call: the candidates for the last word. `:files` or `:folders`
 * alone: the shell completes a path.
 */
export async function complete(words: readonly string[]): Promise<readonly string[]> {
  const [name = '', ...rest] = words
  const begin = words.at(-1) ?? ''
  const starting = (all: Iterable<string>) => [...all].filter(word => word.startsWith(begin))
  if (rest.length === 0) return starting([...COMMANDS.map(([one]) => one), 'version', 'help'])
  if (name === 'help') return starting(COMMANDS.map(([one]) => one))
  const { options, words: positional } = await commandWords(name)
  const value = options.get(rest.at(-2) ?? '') ?? 'none'
  if (value === 'any') return []
  if (value === 'path') return [':files']
  if (value !== 'none') return starting(value)
  if (begin.startsWith('-')) return starting(options.keys())
  return positional.length > 0 ? starting(positional) : [':folders']
}

/** The options and words of a command, read from its usage text so that completion matches the help. */
export async function commandWords(name: string): Promise<CommandWords> {
  const usage = (await commandNamed(name))?.command.usage ?? ''
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
  options.set('--help', 'none').set('--quiet', 'none').set('--color', ['auto', 'always', 'never'])
  return { options, words: await wordsFor(name, grammar) }
}

async function wordsFor(name: string, grammar: string): Promise<readonly string[]> {
  if (name === 'explain') {
    const { errorGuide } = await import('../../report/error-guide.ts')
    const { rules } = await import('../../rules/registry.ts')
    return [...rules.map(({ id }) => id), ...errorGuide.map(({ code }) => code)]
  }
  const first = grammar.split(' ')[1] ?? ''
  return /^[a-z]+(?:\|[a-z]+)*$/.test(first) ? first.split('|') : []
}

function behind(value: string | undefined): ValueWords {
  if (value === undefined) return 'none'
  if (/^[a-z][a-z-]*(?:\|[a-z-]+)+$/.test(value)) return value.split('|')
  return /DIR|FILE|PATH/.test(value) ? 'path' : 'any'
}
