import { allowedWord } from './allowed-word.ts'
import type { Io } from './command.ts'

/** The options of every command, and the remaining arguments. */
interface GlobalOptions {
  readonly rest: readonly string[]
  readonly look: Pick<Io, 'quiet' | 'color'>
}

const COLORS = { auto: {}, always: { color: true }, never: { color: false } } as const

/** Extracts `--quiet` and `--color WHEN` from the arguments before `--`. Throws `usage`. */
export function globalOptions(argv: readonly string[]): GlobalOptions {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  const rest: string[] = []
  let look: GlobalOptions['look'] = {}
  for (let index = 0; index < end; index++) {
    const arg = argv[index]!
    if (arg === '--quiet') look = { ...look, quiet: true }
    else if (arg === '--color') look = { ...look, ...colorOf(index + 1 < end ? argv[++index]! : '') }
    else if (arg.startsWith('--color=')) look = { ...look, ...colorOf(arg.slice('--color='.length)) }
    else rest.push(arg)
  }
  return { rest: [...rest, ...argv.slice(end)], look }
}

function colorOf(when: string): Pick<Io, 'color'> {
  return COLORS[allowedWord('help [COMMAND]', '--color', when, ['auto', 'always', 'never'])]
}
