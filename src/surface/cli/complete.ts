import { COMMANDS, commandNamed } from './commands.ts'
import { termsOf } from './usage.ts'

/** The value of an option: one of these words, a path, any text, or none. */
type ValueWords = readonly string[] | 'path' | 'any' | 'none'

interface CommandWords {
  readonly options: ReadonlyMap<string, ValueWords>
  /** Words allowed as positional arguments; without any, a path is allowed. */
  readonly words: readonly string[]
}

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

/** The options and words of a command. */
export async function commandWords(name: string): Promise<CommandWords> {
  const found = await commandNamed(name)
  const terms = found ? termsOf(found.command) : []
  const options = new Map<string, ValueWords>()
  for (const { name: option, short, isOption, value, words } of terms) {
    const taken = value === undefined ? 'none' : (words ?? (/DIR|FILE|PATH/.test(value) ? 'path' : 'any'))
    for (const one of isOption ? [short ?? option, option] : []) options.set(one, taken)
  }
  options.set('--help', 'none').set('--quiet', 'none').set('--color', ['auto', 'always', 'never'])
  if (name !== 'explain') return { options, words: terms.find(({ isOption }) => !isOption)?.words ?? [] }
  const { errorGuide } = await import('../../report/error-guide.ts')
  const { rules } = await import('../../rules/registry.ts')
  return { options, words: [...rules.map(({ id }) => id), ...errorGuide.map(({ code }) => code)] }
}
