import { BailiwickError } from '../../base/errors.ts'
import { missingPackage } from '../../base/missing-package.ts'
import { removedWarning } from '../../base/removed.ts'
import { programVersion } from '../../base/version.ts'
import { visible } from '../../base/visible.ts'
import { fitLines } from '../../report/text/fit-budget.ts'
import type { Io } from './command.ts'
import { COMMANDS, commandNamed } from './commands.ts'
import { didYouMean, readGiven } from './given.ts'
import { errorLine } from './terminal.ts'
import { helpText } from './usage.ts'

/** Removed commands that checked something: exit code 0 would claim that they still do. */
const UNCHECKED: ReadonlySet<string> = new Set(['policy', 'replay', 'sops', 'validate', 'watch'])

/**
 * Runs one command line and resolves with its exit code: 0 pass or done, 1 new violations, 2 could not be evaluated or
 * bad usage. Any error is one line on stderr: `error[<code>]: what, at <where>. What to do`. Never throws, never exits.
 */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  try {
    const { rest, look } = globalOptions(argv)
    const [name, ...given] = rest
    if (name === undefined) throw usage('COMMAND is missing', 'Run bailiwick help for a list of commands.')
    if (name === '--version' || name === '-v' || name === 'version') return say(io, `${programVersion()}\n`)
    if (name === 'help' || name === '--help' || name === '-h') return say(io, await help(given[0], { ...io, ...look }))
    const removed = removedWarning(`bailiwick ${name}`) ?? removedWarning(`bailiwick ${name} ${given[0]}`)
    if (removed !== undefined) {
      io.stderr(`warning: ${removed}\n`)
      return UNCHECKED.has(name) ? 2 : 0
    }
    const found = await known(name)
    const args = withoutRemoved(given, io)
    if (args.some(arg => arg === '--help' || arg === '-h')) return say(io, helpOf(found, io.columns))
    return await found.command.run(readGiven(found.command, args), { ...io, ...look })
  } catch (error) {
    io.stderr(`${lineOf(error)}\n`)
    return 2
  }
}

/** The arguments without a removed option or output format: a warning names another one, and text is printed. */
function withoutRemoved(args: readonly string[], io: Io): readonly string[] {
  for (const [index, arg] of args.entries()) {
    if (arg === '--') break
    const [, short, inline] = /^(-o|--output$|--output=)(.*)$/.exec(arg) ?? []
    const isAlone = short === undefined
    const warning = removedWarning(isAlone ? arg : `-o ${inline || args[index + 1]}`)
    if (warning === undefined) continue
    io.stderr(`warning: ${warning}\n`)
    return args.toSpliced(index, isAlone || inline ? 1 : 2)
  }
  return args
}

async function help(topic: string | undefined, { columns = 100 }: Io): Promise<string> {
  if (topic !== undefined) return helpOf(await known(topic), columns)
  const width = Math.max(...COMMANDS.map(([name]) => name.length))
  const lines = COMMANDS.map(([name, summary]) => `  ${name.padEnd(width)}  ${summary}`)
  const all = [
    'bailiwick keeps each tenant of a Flux fleet inside their own namespaces and permissions',
    '',
    'usage: bailiwick COMMAND [...]',
    '',
    ...lines,
    `  ${'version'.padEnd(width)}  Print the version`,
    '',
    'Options of every command: --quiet (only what blocks, and the result), --color auto|always|never',
    'Run bailiwick help COMMAND for its options. Exit codes: 0 pass or done, 1 new violations, 2 could not be evaluated or bad usage.',
  ]
  return `${fitLines(all, columns).join('\n')}\n`
}

async function known(name: string): Promise<NonNullable<Awaited<ReturnType<typeof commandNamed>>>> {
  const found = await commandNamed(name)
  if (found) return found
  const meant = didYouMean(name, [...COMMANDS.map(([one]) => one), 'version', 'help'])
  const list = 'Run bailiwick help for a list of commands.'
  throw usage(`unknown command ${JSON.stringify(name)}`, meant === undefined ? list : `${meant} ${list}`)
}

function helpOf({ command, summary }: Awaited<ReturnType<typeof known>>, width = 100): string {
  // an option and its value stay on one line
  const usage = helpText(command).replace(/^.*/, line =>
    line.replace(/\[[^\]]*\]/g, part => part.replaceAll(' ', '\u00a0')),
  )
  const lines = `${summary}\n\nusage: bailiwick ${usage}`.split('\n')
  return `${fitLines(lines, width).join('\n').replaceAll('\u00a0', ' ')}\n`
}

function say(io: Io, text: string): number {
  io.stdout(text)
  return 0
}

function usage(message: string, fix: string): BailiwickError {
  return new BailiwickError('usage', message, { fix })
}

/** The line of an error; an unexpected one is shown by its first line, without the stack. */
function lineOf(error: unknown): string {
  if (error instanceof BailiwickError) return errorLine(error)
  const refused = refusedBySystem(error)
  if (refused) return errorLine(refused)
  const missing = missingPackage(error)
  if (missing !== undefined) return missing
  const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return `error[internal]: ${visible(what, 1000)}. This is a bug in bailiwick, please report it`
}

/** The error for a file or folder that the system refuses: permissions, a full disk, too many open files. */
function refusedBySystem(error: unknown): BailiwickError | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, syscall, path } = error as NodeJS.ErrnoException
  if (code === undefined || syscall === undefined || path === undefined) return undefined
  const isDenied = code === 'EACCES' || code === 'EPERM'
  const fix = isDenied
    ? 'Run as a user who can read it, or correct its permissions.'
    : 'Correct that and run the command again.'
  return new BailiwickError('source-unreadable', `${path}: ${isDenied ? 'permission denied' : code} (${syscall})`, {
    fix,
  })
}

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
  const found = Object.entries(COLORS).find(([name]) => name === when)
  if (found) return found[1]
  const fix = didYouMean(when, Object.keys(COLORS)) ?? 'Write one of them.'
  throw usage(`--color ${JSON.stringify(visible(when, 100))} is not known. Allowed: auto, always, never`, fix)
}
