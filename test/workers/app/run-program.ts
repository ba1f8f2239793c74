import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { until } from '../queue/until.ts'

/** A process of a test and what it said. */
export interface Program {
  readonly process: ChildProcess
  readonly said: () => string
  readonly complained: () => string
  /** Its exit code, once it ended. */
  readonly exit: Promise<number | null>
  /** Ends it by its id, at once, when it still runs. */
  end(): Promise<void>
}

/** No test asks the real GitHub, whose answers would depend on where the test runs. */
const NO_GITHUB = 'http://127.0.0.1:1'

/** Starts a program with exactly these variables (and PATH and HOME), in this folder; without a GitHub unless one is given. */
export function runProgram(
  command: readonly string[],
  env: Record<string, string | undefined>,
  cwd = process.cwd(),
): Program {
  const [file = '', ...args] = command
  const program = file === 'node' ? process.execPath : file
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env
  // sources are the same for every test; a bundle is somewhere else each time
  const compiled = /^(?:src|workers)\//.test(args[0] ?? '') ? { NODE_COMPILE_CACHE } : {}
  const child = spawn(program, args, {
    cwd,
    env: { PATH, HOME, GITHUB_API_URL: NO_GITHUB, ...compiled, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', chunk => {
    output.stdout += chunk
  })
  child.stderr.on('data', chunk => {
    output.stderr += chunk
  })
  const exit = once(child, 'close').then(([code]) => code as number | null)
  return {
    process: child,
    said: () => output.stdout,
    complained: () => output.stderr,
    exit,
    end: async () => {
      child.kill('SIGKILL')
      await exit
    },
  }
}

/** A start takes a second, and on a machine that does much else many of them; a program that ends is noticed at once. */
const START_MS = 60_000

/** Resolves when the address answers 200; throws with what the program complained about when it ended instead. */
export async function untilReady(url: string, program: Program): Promise<void> {
  await until(async () => {
    const { exitCode, signalCode } = program.process
    if (exitCode !== null || signalCode !== null) throw new Error(`the program ended: ${program.complained()}`)
    return fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
  }, START_MS)
}
