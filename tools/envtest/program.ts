import { type ChildProcess, spawn } from 'node:child_process'
import { openSync, readFileSync } from 'node:fs'

/** A child process whose output goes to a file. */
export interface Program {
  readonly process: ChildProcess
  /** Set once it has ended. */
  ended(): boolean
  /** The end of its output, for a message. */
  output(): string
  /** SIGTERM, then SIGKILL after `graceMs`; resolves when the process is gone. */
  stop(graceMs: number): Promise<void>
}

/** What kills each program that runs, when this process ends. */
const kills = new Set<() => unknown>()
process.once('exit', () => {
  for (const kill of kills) kill()
})

/** Waits for the end of its input, which is the end of whoever holds the other end, kills $1 and removes $2. */
const WATCH = 'cat >/dev/null; kill -9 "$1" 2>/dev/null; rm -rf "$2"'

/**
 * Starts a program; it is killed when this process ends, however that happens: a watcher holds the
 * end of a pipe. It removes the folder `data` then.
 */
export function startProgram(
  command: string,
  args: readonly string[],
  log: string,
  data = '',
  env: NodeJS.ProcessEnv = process.env,
): Program {
  const file = openSync(log, 'a')
  // what is of Go spends a fifth of its time on collecting garbage of a heap that is small
  const child = spawn(command, args, { stdio: ['ignore', file, file], env: { GOGC: '400', ...env } })
  const kill = () => child.kill('SIGKILL')
  kills.add(kill)
  const watcher = spawn('sh', ['-c', WATCH, 'sh', String(child.pid), data], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  watcher.unref()
  const gone = new Promise<void>(resolve => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  }).then(() => {
    watcher.kill('SIGKILL')
    kills.delete(kill)
  })
  let isGone = false
  void gone.then(() => {
    isGone = true
  })
  return {
    process: child,
    ended: () => isGone,
    output: () => readFileSync(log, 'utf8').slice(-2000),
    async stop(graceMs) {
      if (graceMs > 0) child.kill('SIGTERM')
      else kill()
      const timer = setTimeout(kill, graceMs)
      await gone
      clearTimeout(timer)
    },
  }
}
